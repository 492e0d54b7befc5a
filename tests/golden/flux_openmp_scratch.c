/* pyop2cxx VERSION: flux, strategy scratch */

static inline void flux(const double *q, double *r, double *total) {
  for (int c = 0; c < 2; c++) {
    double f = q[c] - q[2 + c];
    r[c] += f;
    r[2 + c] -= f;
    total[0] += f * f;
  }
}

static __attribute__((noinline)) void wrap_flux(long begin, long end,
    const double *__restrict__ q,
    const int *__restrict__ q_map,
    double *__restrict__ total,
    double *__restrict__ r_scratch) {
  for (long n = begin; n < end; ++n) {
    double q_pack[4];
    const long q_pack_from0 = (long)q_map[n * 2] * 2;
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const long q_pack_from1 = (long)q_map[n * 2 + 1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    double r_pack[4] = {0};
    double total_pack[1] = {0};
    flux(q_pack, r_pack, total_pack);
    for (long c = 0; c < 4; ++c) {
      r_scratch[n * 4 + c] = r_pack[c];
    }
    total[0] += total_pack[0];
  }
}

static __attribute__((noinline)) void sum_flux(long begin, long end,
    double *__restrict__ r,
    const long *__restrict__ incidence_offset,
    const int *__restrict__ incidence,
    const int *__restrict__ touched,
    const double *__restrict__ r_scratch) {
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (long t = begin; t < end; ++t) {
    const long target = (touched ? touched[t] : t);
    double r_own[2];
    for (long c = 0; c < 2; ++c) {
      r_own[c] = r[target * 2 + c];
    }
    for (long k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const long n = incidence[k] / 2;
      const long o = incidence[k] - n * 2;
      for (long c = 0; c < 2; ++c) {
        r_own[c] += r_scratch[n * 4 + o * 2 + c];
      }
    }
    for (long c = 0; c < 2; ++c) {
      r[target * 2 + c] = r_own[c];
    }
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

static __attribute__((noinline)) void op2_launch_flux_stage(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv, long thread, long n_threads) {
  // What one of n_threads threads does.
  (void)context;
  (void)argv;
  const double *const q = (const double *)argv[0];
  double *const r = (double *)argv[1];
  const int *const q_map = (const int *)argv[3];
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  const long *const sizes = (const long *)argv[4];
  const long *const incidence_offset = (const long *)argv[5];
  const int *const incidence = (const int *)argv[6];
  const int *const touched = (const int *)argv[7];
  const long n_slots = context->n_threads;
  double *total_partial = (double *)((char *)context->scratch + 0);
  double *r_scratch = (double *)((char *)context->scratch + n_slots * 64);
  for (long slot = n_slots * thread / n_threads,
      past = n_slots * (thread + 1) / n_threads; slot < past; ++slot) {
    total_partial[slot * 8] = 0;
  }
  // The results of all elements are kept,
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    wrap_flux(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
        / context->n_threads, q, q_map, total_partial + slot * 8, r_scratch);
  }
  if (context->flags == OP2_IN_TEAM) {
    ((const struct op2_team_v1 *)context->parameters)->wait();
  } else if (n_threads > 1) {
    #pragma omp barrier
  }
  // then each target sums what is its own, in the order of the elements.
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    sum_flux(sizes[0] * slot / context->n_threads, sizes[0] * (slot + 1) / context->n_threads, r, incidence_offset,
        incidence, touched, r_scratch);
  }
}

static __attribute__((noinline)) void op2_launch_flux_stage_2(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv) {
  // What one thread does, while others wait.
  (void)context;
  (void)argv;
  (void)begin;
  (void)end;
  double *const total = (double *)argv[2];
  const long n_slots = context->n_threads;
  double *total_partial = (double *)((char *)context->scratch + 0);
  // The slots' results, in their order.
  for (long slot = 0; slot < n_slots; ++slot) {
    total[0] += total_partial[slot * 8];
  }
}

int op2_launch_flux(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)argc;
  if (context->flags == OP2_ONE_THREAD) {
    op2_launch_flux_stage(context, begin, end, argv, 0, 1);
    op2_launch_flux_stage_2(context, begin, end, argv);
  } else if (context->flags == OP2_IN_TEAM) {
    const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;
    op2_launch_flux_stage(context, begin, end, argv, team->thread, team->n_threads);
    team->wait();
    if (team->thread == 0) {
      op2_launch_flux_stage_2(context, begin, end, argv);
    }
    team->wait();
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_flux_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
    op2_launch_flux_stage_2(context, begin, end, argv);
  }
  return 0;
}
