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

int op2_thread_number(void) __asm__("omp_get_thread_num");
int op2_n_in_team(void) __asm__("omp_get_num_threads");

static __attribute__((noinline)) void op2_launch_power_stage(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv, long thread, long n_threads) {
  // What one of n_threads threads does.
  (void)context;
  (void)argv;
  const float *const x = (const float *)argv[0];
  double *const y = (double *)argv[1];
  const int *const first_1 = (const int *)argv[2];
  const double *const gains = (const double *)argv[3];
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    wrap_power(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
        / context->n_threads, x, y, first_1, gains);
  }
}

int op2_launch_power(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)argc;
  if (context->flags == 1) {
    op2_launch_power_stage(context, begin, end, argv, 0, 1);
  } else if (context->flags == 0) {
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_power_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
  } else if (context->flags == 2) {
    op2_launch_power_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    #pragma omp barrier
  } else if (context->flags == 4) {
    #pragma omp parallel num_threads(context->n_threads)
    {
      (*(void (*const *)(void *))context->parameters)(context->parameters);
    }
  } else if (context->flags == 8) {
    #pragma omp barrier
  } else if (context->flags == 16) {
    return (context->n_threads + op2_n_in_team() - 1) / op2_n_in_team();
  }
  return 0;
}
