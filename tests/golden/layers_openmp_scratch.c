/* pyop2cxx VERSION: layers, strategy scratch */

static inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
  }
}

static __attribute__((noinline)) void wrap_layers(long begin, long end,
    const double *__restrict__ x,
    const int *__restrict__ x_map,
    const long *__restrict__ layers_1,
    double *__restrict__ y_scratch) {
  for (long position = begin; position < end; ++position) {
    const long row = position / layers_1[0];
    const long n = row;
    const long level = layers_1[1] + (position - row * layers_1[0]);
    double x_pack[4];
    const long x_pack_from0 = (long)x_map[n * 4] + level;
    x_pack[0] = x[x_pack_from0];
    const long x_pack_from1 = (long)x_map[n * 4 + 1] + level;
    x_pack[1] = x[x_pack_from1];
    const long x_pack_from2 = (long)x_map[n * 4 + 2] + level;
    x_pack[2] = x[x_pack_from2];
    const long x_pack_from3 = (long)x_map[n * 4 + 3] + level;
    x_pack[3] = x[x_pack_from3];
    double y_pack[4] = {0};
    layers(x_pack, y_pack);
    for (long c = 0; c < 4; ++c) {
      y_scratch[position * 4 + c] = y_pack[c];
    }
  }
}

static __attribute__((noinline)) void sum_layers(long begin, long end,
    double *__restrict__ y,
    const long *__restrict__ incidence_offset,
    const int *__restrict__ incidence,
    const int *__restrict__ touched,
    const double *__restrict__ y_scratch) {
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (long t = begin; t < end; ++t) {
    const long target = (touched ? touched[t] : t);
    double y_own[1];
    y_own[0] = y[target];
    for (long k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const long position = incidence[k] / 4;
      const long o = incidence[k] - position * 4;
      y_own[0] += y_scratch[position * 4 + o];
    }
    y[target] = y_own[0];
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
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  const long *const sizes = (const long *)argv[4];
  const long *const incidence_offset = (const long *)argv[5];
  const int *const incidence = (const int *)argv[6];
  const int *const touched = (const int *)argv[7];
  double *y_scratch = (double *)((char *)context->scratch + 0);
  // The results of all elements are kept,
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    wrap_layers(begin + (end - begin) * slot / context->n_threads, begin + (end - begin) * (slot + 1)
        / context->n_threads, x, x_map, layers_1, y_scratch);
  }
  if (context->flags == OP2_IN_TEAM) {
    ((const struct op2_team_v1 *)context->parameters)->wait();
  } else if (n_threads > 1) {
    #pragma omp barrier
  }
  // then each target sums what is its own, in the order of the elements.
  for (long slot = context->n_threads * thread / n_threads,
      past = context->n_threads * (thread + 1) / n_threads; slot < past; ++slot) {
    sum_layers(sizes[0] * slot / context->n_threads, sizes[0] * (slot + 1) / context->n_threads, y, incidence_offset,
        incidence, touched, y_scratch);
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
