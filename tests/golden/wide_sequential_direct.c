/* pyop2cxx VERSION: wide, strategy direct */

static inline void wide(const double *x, double *y) {
  for (int i = 0; i < 8; ++i) {
    y[i] = x[7 - i];
  }
}

static __attribute__((noinline)) void wrap_wide(long begin, long end,
    const double *__restrict__ x,
    double *__restrict__ y) {
  for (long n = begin; n < end; ++n) {
    wide(x + n * 8, y + n * 8);
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

int op2_launch_wide(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  const double *const x = (const double *)argv[0];
  double *const y = (double *)argv[1];
  wrap_wide(begin, end, x, y);
  return 0;
}
