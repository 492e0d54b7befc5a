/* pyop2cxx VERSION: lowest, strategy direct */

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
    const int *__restrict__ low_map,
    double *__restrict__ lowest_of_all) {
  for (long n = begin; n < end; ++n) {
    double q_pack[4];
    const double *q_pack_from0 = q + (long)q_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    const double *q_pack_from1 = q + (long)q_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    double low_pack[2];
    const double *low_pack_from0 = low + (long)low_map[n * 2];
    low_pack[0] = low_pack_from0[0];
    const double *low_pack_from1 = low + (long)low_map[n * 2 + 1];
    low_pack[1] = low_pack_from1[0];
    double lowest_of_all_pack[1];
    lowest_of_all_pack[0] = lowest_of_all[0];
    lowest(q_pack, low_pack, lowest_of_all_pack);
    double *low_pack_to0 = low + (long)low_map[n * 2];
    if (low_pack[0] < low_pack_to0[0]) {
      low_pack_to0[0] = low_pack[0];
    }
    double *low_pack_to1 = low + (long)low_map[n * 2 + 1];
    if (low_pack[1] < low_pack_to1[0]) {
      low_pack_to1[0] = low_pack[1];
    }
    if (lowest_of_all_pack[0] < lowest_of_all[0]) {
      lowest_of_all[0] = lowest_of_all_pack[0];
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

int op2_launch_lowest(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  const double *const q = (const double *)argv[0];
  double *const low = (double *)argv[1];
  double *const lowest_of_all = (double *)argv[2];
  const int *const q_map = (const int *)argv[3];
  wrap_lowest(begin, end, q, q_map, low, q_map, lowest_of_all);
  return 0;
}
