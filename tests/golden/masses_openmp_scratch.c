/* pyop2cxx VERSION: masses, strategy scratch */

static inline void masses(double *m, const double *q) {
  double length = q[2] - q[0];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m[i * 2 + j] += length * (i == j ? 2 : 1) / 6;
    }
  }
}

static __attribute__((noinline)) void wrap_masses(long begin, long end,
    const int *__restrict__ m_col_map,
    const double *__restrict__ q,
    const int *__restrict__ q_map,
    double *__restrict__ m_scratch) {
  (void)m_col_map;
  for (long n = begin; n < end; ++n) {
    double m_pack[4] = {0};
    double q_pack[4];
    const long q_pack_from0 = (long)q_map[n * 2] * 2;
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const long q_pack_from1 = (long)q_map[n * 2 + 1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    masses(m_pack, q_pack);
    for (long c = 0; c < 4; ++c) {
      m_scratch[n * 4 + c] = m_pack[c];
    }
  }
}

static __attribute__((noinline)) void sum_masses(long begin, long end,
    double *__restrict__ m,
    const long *__restrict__ m_row_start,
    const unsigned char *__restrict__ m_position,
    const long *__restrict__ incidence_offset,
    const int *__restrict__ incidence,
    const int *__restrict__ touched,
    const double *__restrict__ m_scratch) {
  // m_row_start [n_rows + 1]: where the blocks of each row begin
  // m_position [n_elements, row slots * column slots]: where in its row an entry's block is
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (long t = begin; t < end; ++t) {
    const long target = (touched ? touched[t] : t);
    double *m_row = m + m_row_start[target];
    for (long k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const long n = incidence[k] / 2;
      const long o = incidence[k] - n * 2;
      for (long column = 0; column < 2; ++column) {
        m_row[m_position[n * 4 + (o * 2 + column)]] += m_scratch[n * 4 + (o * 2 + column)];
      }
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
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  const long *const sizes = (const long *)argv[5];
  const long *const incidence_offset = (const long *)argv[6];
  const int *const incidence = (const int *)argv[7];
  const int *const touched = (const int *)argv[8];
  double *m_scratch = (double *)((char *)context->scratch + 0);
  // The results of all elements are kept,
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    wrap_masses(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
        / context->n_threads, m_row_map, q, m_row_map, m_scratch);
  }
  if (context->flags == OP2_IN_TEAM) {
    ((const struct op2_team_v1 *)context->parameters)->wait();
  } else if (n_threads > 1) {
    #pragma omp barrier
  }
  // then each target sums what is its own, in the order of the elements.
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    sum_masses(sizes[0] * slot / context->n_threads, sizes[0] * (slot + 1) / context->n_threads, m, m_row_start,
        m_position, incidence_offset, incidence, touched, m_scratch);
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
