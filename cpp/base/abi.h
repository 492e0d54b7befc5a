/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common interface of every Executable: just-in-time objects, ahead-of-time tables and
 * built-in kernels. Generated C repeats these declarations verbatim instead of including the file,
 * so generated C compiles without any header; a test compares the two.
 */
#ifndef OP2_ABI_H
#define OP2_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

#define OP2_ABI_VERSION 2

/* Flags of a launch. Without a flag, a loop for a team opens a team. */
/* One thread does the work of n_threads, part by part, so results have the same bits. */
#define OP2_ONE_THREAD 1u
/* Each thread of a team makes the same call, does its part and waits for all: see op2_team_v1. */
#define OP2_IN_TEAM 2u

/* `parameters` of OP2_IN_TEAM: the team, as seen by one of the threads. */
struct op2_team_v1 {
  int thread; /* in [0, n_threads) */
  int n_threads;
  void (*wait)(void); /* until all threads of the team have come here */
};

/*
 * Opens a team of at most n_threads threads; each thread calls `work` once. The core has no
 * OpenMP: templates/host/team.c is compiled once, and serves all loops, so no loop asks its own
 * run-time.
 */
typedef void (*op2_open_team_v1)(int n_threads,
                                 void (*work)(const struct op2_team_v1* team, void* given),
                                 void* given);

/* The input of a launch besides the arguments. Lives for the call only. */
struct op2_context_v1 {
  void* queue;   /* null: nothing reads it */
  void* scratch; /* scratch_bytes bytes, 64-byte aligned, contents undefined on entry */
  long scratch_bytes;
  void* parameters;   /* of OP2_IN_TEAM: struct op2_team_v1; else null */
  long* error;        /* [4]: code, argument, element, detail; all zero on entry. A code other than
                         0 means a failed check, in spite of any result of the launch */
  int n_threads;      /* threads a host launch may use, >= 1 */
  unsigned int flags; /* 0, or a flag above */
};

/*
 * Run work items [begin, end): elements, targets or blocks, as the strategy counts them.
 * argv: the arguments in the loop's order, then unique maps, then the plan's arrays, as the
 * Executable's ArgLayout describes. Returns 0, or a positive code explained by `error`.
 */
typedef int (*op2_launch_v1)(const struct op2_context_v1* context, long begin, long end,
                             void* const* argv, unsigned int argc);

#ifdef __cplusplus
}
#endif

#endif
