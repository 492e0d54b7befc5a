/* pyop2cxx VERSION: power, strategy direct */

static inline void power(const float *x, double *y, const int first, const double *gains) {
  y[0] = gains[first] * x[0];
}

static __attribute__((noinline)) void wrap_power(long begin, long end,
    const float *__restrict__ x,
    double *__restrict__ y,
    const int *__restrict__ first_1,
    const double *__restrict__ gains) {
  for (long n = begin; n < end; ++n) {
    power(x + n, y + n, first_1[0], gains);
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

static int op2_launch_power_in_team(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv) {
  // What is asked of a loop that shares a parallel region with others.
  int n_shares = 0;
  if (context->flags == 4) {
    #pragma omp parallel num_threads(context->n_threads)
    {
      (*(void (*const *)(void *))context->parameters)(context->parameters);
    }
  } else if (context->flags == 8) {
    #pragma omp barrier
  } else if (context->flags == 16) {
    #pragma omp for schedule(static) nowait
    for (int share = 0; share < context->n_threads; ++share) {
      ++n_shares;
    }
  } else {
    const float *const x = (const float *)argv[0];
    double *const y = (double *)argv[1];
    const int *const first_1 = (const int *)argv[2];
    const double *const gains = (const double *)argv[3];
    #pragma omp for schedule(static)
    for (long slot = 0; slot < context->n_threads; ++slot) {
      wrap_power(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
          / context->n_threads, x, y, first_1, gains);
    }
  }
  return n_shares;
}

int op2_launch_power(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  if (context->flags > 1) {
    return op2_launch_power_in_team(context, begin, end, argv);
  }
  const float *const x = (const float *)argv[0];
  double *const y = (double *)argv[1];
  const int *const first_1 = (const int *)argv[2];
  const double *const gains = (const double *)argv[3];
  if (context->flags) {
    for (long slot = 0; slot < context->n_threads; ++slot) {
      wrap_power(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
          / context->n_threads, x, y, first_1, gains);
    }
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      #pragma omp for schedule(static)
      for (long slot = 0; slot < context->n_threads; ++slot) {
        wrap_power(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
            / context->n_threads, x, y, first_1, gains);
      }
    }
  }
  return 0;
}
