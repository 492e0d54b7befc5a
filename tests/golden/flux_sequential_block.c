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

int op2_launch_flux(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  const double *const q = (const double *)argv[0];
  double *const r = (double *)argv[1];
  double *const total = (double *)argv[2];
  const int *const q_map = (const int *)argv[3];
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  const long *const sizes = (const long *)argv[4];
  // colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
  const long *const colour_offset = (const long *)argv[5];
  // block_of [n_blocks]: blocks by colour
  const long *const block_of = (const long *)argv[6];
  // block_offset [n_blocks + 1]: where the elements of each block begin
  const long *const block_offset = (const long *)argv[7];
  // One colour after the other: what one has updates no target twice.
  for (long colour = 0; colour < sizes[0]; ++colour) {
    const long first = (colour_offset[colour] < begin ? begin : colour_offset[colour]);
    const long last = (colour_offset[colour + 1] < end ? colour_offset[colour + 1] : end);
    for (long k = first; k < last; ++k) {
      const long block = block_of[k];
      wrap_flux(block_offset[block], block_offset[block + 1], q, q_map, r, q_map, total);
    }
  }
  return 0;
}
