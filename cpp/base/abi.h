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
/*
 * Several loops of a graph in one parallel region. Only for loops that open a team themselves.
 * IN_TEAM: each thread of a team calls it alike, does its part, and waits for all.
 * OPEN_TEAM: n_threads threads call `parameters->work(parameters)`, nothing else.
 * WAIT_FOR_TEAM: wait until all threads of the team have come here, nothing else.
 * COUNT_SHARES: return how many of n_threads shares this thread gets: 1 if the team is this loop's,
 * too, and not one of another OpenMP run-time.
 */
#define OP2_IN_TEAM 2u
#define OP2_OPEN_TEAM 4u
#define OP2_WAIT_FOR_TEAM 8u
#define OP2_COUNT_SHARES 16u

/* How `parameters` begin for OP2_OPEN_TEAM. */
struct op2_team_v1 {
  void (*work)(void* team);
};

/* What a launch needs besides its arguments. Lives for the call only. */
struct op2_context_v1 {
  void* queue;   /* reserved for a device's queue, null */
  void* scratch; /* scratch_bytes bytes, 64-byte aligned, contents undefined on entry */
  long scratch_bytes;
  void* parameters;   /* of OP2_OPEN_TEAM, else null */
  long* error;        /* [4]: code, argument, element, detail; all zero on entry. A code other than
                         0 says that a check failed, whatever the launch returns */
  int n_threads;      /* threads a host launch may use, >= 1 */
  unsigned int flags; /* 0, or one of the above */
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
