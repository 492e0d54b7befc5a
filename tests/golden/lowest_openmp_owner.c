/* pyop2cxx VERSION: lowest, strategy owner */

static inline double op2_fmin(double a, double b) {
  const double found = a < b ? a : b;
  return b != b ? a : found;
}

static inline double least(double a, double b) {
  return op2_fmin(a, b);
}

static inline void lowest(const double *q, double *low, double *lowest_of_all) {
  double value = least(q[0], q[2]);
  for (int i = 0; i < 2; ++i) {
    if (value < low[i]) {
      low[i] = value;
    }
  }
  if (value < lowest_of_all[0]) {
    lowest_of_all[0] = value;
  }
}

static __attribute__((noinline)) void wrap_lowest(long begin, long end,
    const double *__restrict__ q,
    const int *__restrict__ q_map,
    double *__restrict__ low,
    double *__restrict__ lowest_of_all,
    const long *__restrict__ incidence_offset,
    const int *__restrict__ incidence,
    const int *__restrict__ touched) {
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (long t = begin; t < end; ++t) {
    const long target = (touched ? touched[t] : t);
    double low_own[1];
    low_own[0] = low[target];
    // Every element that leads to the target, for what the target gets of it.
    for (long k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const long n = incidence[k] / 2;
      const long o = incidence[k] - n * 2;
      double q_pack[4];
      const long q_pack_from0 = (long)q_map[n * 2] * 2;
      q_pack[0] = q[q_pack_from0];
      q_pack[1] = q[q_pack_from0 + 1];
      const long q_pack_from1 = (long)q_map[n * 2 + 1] * 2;
      q_pack[2] = q[q_pack_from1];
      q_pack[3] = q[q_pack_from1 + 1];
      double low_pack[2];
      for (long i = 0; i < 2; ++i) {
        low_pack[i] = low_own[0];
      }
      double lowest_of_all_pack[1];
      lowest_of_all_pack[0] = lowest_of_all[0];
      lowest(q_pack, low_pack, lowest_of_all_pack);
      if ((o == 0 ? low_pack[0] : low_pack[1]) < low_own[0]) {
        low_own[0] = (o == 0 ? low_pack[0] : low_pack[1]);
      }
      if (lowest_of_all_pack[0] < lowest_of_all[0]) {
        lowest_of_all[0] = lowest_of_all_pack[0];
      }
    }
    low[target] = low_own[0];
  }
}

struct op2_context_v1 {
  void *queue;
  void *scratch;
  long scratch_bytes;
  void *parameters;
  long *error;
  int n_threads;
  unsigned int flags;
};

#define OP2_ONE_THREAD 1u
#define OP2_IN_TEAM 2u
struct op2_team_v1 { int thread; int n_threads; void (*wait)(void); };
int op2_thread_number(void) __asm__("omp_get_thread_num");
int op2_n_in_team(void) __asm__("omp_get_num_threads");

static __attribute__((noinline)) void op2_launch_lowest_stage(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv, long thread, long n_threads) {
  // What one of n_threads threads does.
  (void)context;
  (void)argv;
  const double *const q = (const double *)argv[0];
  double *const low = (double *)argv[1];
  double *const lowest_of_all = (double *)argv[2];
  const int *const q_map = (const int *)argv[3];
  const long *const incidence_offset = (const long *)argv[4];
  const int *const incidence = (const int *)argv[5];
  const int *const touched = (const int *)argv[6];
  const long n_slots = context->n_threads;
  double *lowest_of_all_partial = (double *)((char *)context->scratch + 0);
  for (long slot = n_slots * thread / n_threads,
      past = n_slots * (thread + 1) / n_threads; slot < past; ++slot) {
    lowest_of_all_partial[slot * 8] = lowest_of_all[0];
  }
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    wrap_lowest(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
        / context->n_threads, q, q_map, low, lowest_of_all_partial + slot * 8, incidence_offset, incidence, touched);
  }
}

static __attribute__((noinline)) void op2_launch_lowest_stage_2(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv) {
  // What one thread does, while others wait.
  (void)context;
  (void)argv;
  (void)begin;
  (void)end;
  double *const lowest_of_all = (double *)argv[2];
  const long n_slots = context->n_threads;
  double *lowest_of_all_partial = (double *)((char *)context->scratch + 0);
  // The slots' results, in their order.
  for (long slot = 0; slot < n_slots; ++slot) {
    if (lowest_of_all_partial[slot * 8] < lowest_of_all[0]) {
      lowest_of_all[0] = lowest_of_all_partial[slot * 8];
    }
  }
}

int op2_launch_lowest(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)argc;
  if (context->flags == OP2_ONE_THREAD) {
    op2_launch_lowest_stage(context, begin, end, argv, 0, 1);
    op2_launch_lowest_stage_2(context, begin, end, argv);
  } else if (context->flags == OP2_IN_TEAM) {
    const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;
    op2_launch_lowest_stage(context, begin, end, argv, team->thread, team->n_threads);
    team->wait();
    if (team->thread == 0) {
      op2_launch_lowest_stage_2(context, begin, end, argv);
    }
    team->wait();
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_lowest_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
    op2_launch_lowest_stage_2(context, begin, end, argv);
  }
  return 0;
}
