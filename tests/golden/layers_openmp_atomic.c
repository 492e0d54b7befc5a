/* pyop2cxx VERSION: layers, strategy atomic */

static inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
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

static __attribute__((noinline)) void wrap_layers(long begin, long end,
    const double *__restrict__ x,
    const int *__restrict__ x_map,
    double *__restrict__ y,
    const int *__restrict__ y_map,
    const long *__restrict__ layers_1) {
  for (long position = begin; position < end; ++position) {
    const long row = position / layers_1[0];
    const long n = row;
    const long level = layers_1[1] + (position - row * layers_1[0]);
    double x_pack[4];
    const double *x_pack_from0 = x + (long)x_map[n * 4] + level;
    x_pack[0] = x_pack_from0[0];
    const double *x_pack_from1 = x + (long)x_map[n * 4 + 1] + level;
    x_pack[1] = x_pack_from1[0];
    const double *x_pack_from2 = x + (long)x_map[n * 4 + 2] + level;
    x_pack[2] = x_pack_from2[0];
    const double *x_pack_from3 = x + (long)x_map[n * 4 + 3] + level;
    x_pack[3] = x_pack_from3[0];
    double y_pack[4] = {0};
    layers(x_pack, y_pack);
    double *y_pack_to0 = y + (long)y_map[n * 4] + level;
    op2_atomic_add_float64(&y_pack_to0[0], y_pack[0]);
    double *y_pack_to1 = y + (long)y_map[n * 4 + 1] + level;
    op2_atomic_add_float64(&y_pack_to1[0], y_pack[1]);
    double *y_pack_to2 = y + (long)y_map[n * 4 + 2] + level;
    op2_atomic_add_float64(&y_pack_to2[0], y_pack[2]);
    double *y_pack_to3 = y + (long)y_map[n * 4 + 3] + level;
    op2_atomic_add_float64(&y_pack_to3[0], y_pack[3]);
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

static __attribute__((noinline)) void op2_launch_layers_stage(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv, long thread, long n_threads) {
  // What one of n_threads threads does.
  (void)context;
  (void)argv;
  const double *const x = (const double *)argv[0];
  double *const y = (double *)argv[1];
  const int *const x_map = (const int *)argv[2];
  const long *const layers_1 = (const long *)argv[3];
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    wrap_layers(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
        / context->n_threads, x, x_map, y, x_map, layers_1);
  }
}

int op2_launch_layers(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)argc;
  if (context->flags == OP2_ONE_THREAD) {
    op2_launch_layers_stage(context, begin, end, argv, 0, 1);
  } else if (context->flags == OP2_IN_TEAM) {
    const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;
    op2_launch_layers_stage(context, begin, end, argv, team->thread, team->n_threads);
    team->wait();
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_layers_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
  }
  return 0;
}
