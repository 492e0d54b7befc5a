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

#define OP2_ONE_THREAD 1u
#define OP2_IN_TEAM 2u
struct op2_team_v1 { int thread; int n_threads; void (*wait)(void); };
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
  if (context->flags == OP2_ONE_THREAD) {
    op2_launch_power_stage(context, begin, end, argv, 0, 1);
  } else if (context->flags == OP2_IN_TEAM) {
    const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;
    op2_launch_power_stage(context, begin, end, argv, team->thread, team->n_threads);
    team->wait();
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_power_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
  }
  return 0;
}
