/* pyop2cxx VERSION: flux, strategy block */

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
    double *__restrict__ r,
    const int *__restrict__ r_map,
    double *__restrict__ total) {
  for (long n = begin; n < end; ++n) {
    double q_pack[4];
    const double *q_pack_from0 = q + (long)q_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    const double *q_pack_from1 = q + (long)q_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    double r_pack[4] = {0};
    double total_pack[1] = {0};
    flux(q_pack, r_pack, total_pack);
    double *r_pack_to0 = r + (long)r_map[n * 2] * 2;
    r_pack_to0[0] += r_pack[0];
    r_pack_to0[1] += r_pack[1];
    double *r_pack_to1 = r + (long)r_map[n * 2 + 1] * 2;
    r_pack_to1[0] += r_pack[2];
    r_pack_to1[1] += r_pack[3];
    total[0] += total_pack[0];
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

static __attribute__((noinline)) void op2_launch_flux_stage(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv) {
  // What one thread does, while others wait.
  (void)context;
  (void)argv;
  const long n_slots = end - begin;
  double *total_partial = (double *)((char *)context->scratch + 0);
  for (long slot = 0; slot < n_slots; ++slot) {
    total_partial[slot * 8] = 0;
  }
}

#define OP2_ONE_THREAD 1u
#define OP2_IN_TEAM 2u
struct op2_team_v1 { int thread; int n_threads; void (*wait)(void); };
int op2_thread_number(void) __asm__("omp_get_thread_num");
int op2_n_in_team(void) __asm__("omp_get_num_threads");

static __attribute__((noinline)) void op2_launch_flux_stage_2(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv, long thread, long n_threads) {
  // What one of n_threads threads does.
  (void)context;
  (void)argv;
  const double *const q = (const double *)argv[0];
  double *const r = (double *)argv[1];
  const int *const q_map = (const int *)argv[3];
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  const long *const sizes = (const long *)argv[4];
  // colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
  const long *const colour_offset = (const long *)argv[5];
  // block_of [n_blocks]: blocks by colour
  const long *const block_of = (const long *)argv[6];
  // block_offset [n_blocks + 1]: where the elements of each block begin
  const long *const block_offset = (const long *)argv[7];
  double *total_partial = (double *)((char *)context->scratch + 0);
  // One colour after the other: what one has updates no target twice.
  for (long colour = 0; colour < sizes[0]; ++colour) {
    const long first = (colour_offset[colour] < begin ? begin : colour_offset[colour]);
    const long last = (colour_offset[colour + 1] < end ? colour_offset[colour + 1] : end);
    for (long k = first + (last - first) * thread / n_threads,
        past = first + (last - first) * (thread + 1) / n_threads; k < past; ++k) {
      const long block = block_of[k];
      wrap_flux(block_offset[block], block_offset[block + 1], q, q_map, r, q_map, total_partial + (k - begin) * 8);
    }
    if (context->flags == OP2_IN_TEAM) {
      ((const struct op2_team_v1 *)context->parameters)->wait();
    } else if (n_threads > 1) {
      #pragma omp barrier
    }
  }
}

static __attribute__((noinline)) void op2_launch_flux_stage_3(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv) {
  // What one thread does, while others wait.
  (void)context;
  (void)argv;
  double *const total = (double *)argv[2];
  const long n_slots = end - begin;
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
    op2_launch_flux_stage(context, begin, end, argv);
    op2_launch_flux_stage_2(context, begin, end, argv, 0, 1);
    op2_launch_flux_stage_3(context, begin, end, argv);
  } else if (context->flags == OP2_IN_TEAM) {
    const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;
    if (team->thread == 0) {
      op2_launch_flux_stage(context, begin, end, argv);
    }
    team->wait();
    op2_launch_flux_stage_2(context, begin, end, argv, team->thread, team->n_threads);
    team->wait();
    if (team->thread == 0) {
      op2_launch_flux_stage_3(context, begin, end, argv);
    }
    team->wait();
  } else {
    op2_launch_flux_stage(context, begin, end, argv);
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_flux_stage_2(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
    op2_launch_flux_stage_3(context, begin, end, argv);
  }
  return 0;
}
