/* pyop2cxx VERSION: masses, strategy atomic */

static inline void masses(double *m, const double *q) {
  double length = q[2] - q[0];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m[i * 2 + j] += length * (i == j ? 2 : 1) / 6;
    }
  }
}

static inline void op2_atomic_add_float64(double *target, double value) {
  double seen;
  double wanted;
  __atomic_load(target, &seen, __ATOMIC_RELAXED);
  do {
    wanted = (double)(seen + value);
  } while (!__atomic_compare_exchange(target, &seen, &wanted, 1, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED));
}

static __attribute__((noinline)) void wrap_masses(long begin, long end,
    double *__restrict__ m,
    const int *__restrict__ m_row_map,
    const int *__restrict__ m_col_map,
    const double *__restrict__ q,
    const int *__restrict__ q_map,
    const long *__restrict__ m_row_start,
    const unsigned char *__restrict__ m_position) {
  // m_row_start [n_rows + 1]: where the blocks of each row begin
  // m_position [n_elements, row slots * column slots]: where in its row an entry's block is
  (void)m_col_map;
  for (long n = begin; n < end; ++n) {
    double m_pack[4] = {0};
    double q_pack[4];
    const double *q_pack_from0 = q + (long)q_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    const double *q_pack_from1 = q + (long)q_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    masses(m_pack, q_pack);
    double *m_pack_to0 = m + m_row_start[m_row_map[n * 2]];
    op2_atomic_add_float64(&m_pack_to0[m_position[n * 4]], m_pack[0]);
    op2_atomic_add_float64(&m_pack_to0[m_position[n * 4 + 1]], m_pack[1]);
    double *m_pack_to1 = m + m_row_start[m_row_map[n * 2 + 1]];
    op2_atomic_add_float64(&m_pack_to1[m_position[n * 4 + 2]], m_pack[2]);
    op2_atomic_add_float64(&m_pack_to1[m_position[n * 4 + 3]], m_pack[3]);
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

static __attribute__((noinline)) void op2_launch_masses_stage(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv, long thread, long n_threads) {
  // What one of n_threads threads does.
  (void)context;
  (void)argv;
  double *const m = (double *)argv[0];
  const double *const q = (const double *)argv[1];
  const int *const m_row_map = (const int *)argv[2];
  const long *const m_row_start = (const long *)argv[3];
  const unsigned char *const m_position = (const unsigned char *)argv[4];
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    wrap_masses(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
        / context->n_threads, m, m_row_map, m_row_map, q, m_row_map, m_row_start, m_position);
  }
}

int op2_launch_masses(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)argc;
  if (context->flags == OP2_ONE_THREAD) {
    op2_launch_masses_stage(context, begin, end, argv, 0, 1);
  } else if (context->flags == OP2_IN_TEAM) {
    const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;
    op2_launch_masses_stage(context, begin, end, argv, team->thread, team->n_threads);
    team->wait();
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_masses_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
  }
  return 0;
}
