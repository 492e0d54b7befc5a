/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one interface of every Executable: just-in-time objects, ahead-of-time tables and built-in
 * kernels all look like this. Generated C repeats these declarations verbatim instead of including
 * the file, so that it compiles without any header; a test compares the two.
 */
#ifndef OP2_ABI_H
#define OP2_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

#define OP2_ABI_VERSION 1

/* One thread does what n_threads would, part by part, so that results have the same bits. */
#define OP2_ONE_THREAD 1u

/* What a launch needs besides its arguments. Lives for the call only. */
struct op2_context_v1 {
  void* queue;   /* reserved for a device's queue, null */
  void* scratch; /* scratch_bytes bytes, 64-byte aligned, contents undefined on entry */
  long scratch_bytes;
  void* parameters;   /* reserved for the parameters of a graph, null */
  long* error;        /* [4]: code, argument, element, detail; all zero on entry. A code other than
                         0 says that a check failed, whatever the launch returns */
  int n_threads;      /* threads a host launch may use, >= 1 */
  unsigned int flags; /* 0, or OP2_ONE_THREAD */
};

/*
 * Run work items [begin, end): elements, targets or blocks, as the strategy counts them.
 * argv: the arguments in the loop's order, then unique maps, then the plan's arrays, as the
 * Executable's ArgLayout describes. Returns 0, or a positive code that `error` explains.
 */
typedef int (*op2_launch_v1)(const struct op2_context_v1* context, long begin, long end,
                             void* const* argv, unsigned int argc);

#ifdef __cplusplus
}
#endif

#endif
