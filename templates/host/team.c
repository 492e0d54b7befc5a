/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams of OpenMP's threads, which several loops share: pyop2cxx/cpp/base/abi.h, op2_open_team_v1. */
struct op2_team_v1 {
  int thread;
  int n_threads;
  void (*wait)(void);
};
int op2_thread_number(void) __asm__("omp_get_thread_num");
int op2_n_in_team(void) __asm__("omp_get_num_threads");

static void op2_wait(void) {
  #pragma omp barrier
}

__attribute__((visibility("default"))) void op2_open_team(
    int n_threads, void (*work)(const struct op2_team_v1 *team, void *given), void *given) {
  #pragma omp parallel num_threads(n_threads)
  {
    const struct op2_team_v1 team = {op2_thread_number(), op2_n_in_team(), op2_wait};
    work(&team, given);
  }
}
