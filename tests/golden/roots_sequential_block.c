/* pyop2cxx VERSION: roots, strategy block */

#pragma GCC diagnostic ignored "-Wpsabi"
typedef double op2_float64x4 __attribute__((vector_size(32)));
typedef long op2_int64x4 __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) op2_float64x4 op2_sqrt_float64x4(op2_float64x4 a) {
  return (op2_float64x4){__builtin_sqrt(a[0]), __builtin_sqrt(a[1]), __builtin_sqrt(a[2]), __builtin_sqrt(a[3])};
}

static inline __attribute__((always_inline)) op2_float64x4 op2_blend_float64x4(op2_int64x4 mask, op2_float64x4 on,
    op2_float64x4 off) {
  return (op2_float64x4)(((op2_int64x4)(on) & mask) | ((op2_int64x4)(off) & ~mask));
}

static inline void roots(const op2_float64x4 *q, op2_float64x4 *r) {
  op2_float64x4 d = q[0] - q[2];
  op2_float64x4 l = op2_sqrt_float64x4(d * d + 1.0);
  const op2_int64x4 op2_mask1 = l > (2.0 - (op2_float64x4){0});
  {
    l = op2_blend_float64x4(op2_mask1, 2.0 / l, l);
  }
  r[0] += l;
  r[1] -= d * l;
}

typedef double op2_float64x2_row __attribute__((vector_size(16), aligned(8), may_alias));
typedef double op2_float64x2 __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) void op2_gather_float64x4_by2(op2_float64x4 *out,
    const double *row0,
    const double *row1,
    const double *row2,
    const double *row3) {
  const op2_float64x2 v0 = *(const op2_float64x2_row *)row0;
  const op2_float64x2 v1 = *(const op2_float64x2_row *)row1;
  const op2_float64x2 v2 = *(const op2_float64x2_row *)row2;
  const op2_float64x2 v3 = *(const op2_float64x2_row *)row3;
  const op2_float64x4 v4 = __builtin_shufflevector(v0, v2, 0, 1, 2, 3);
  const op2_float64x4 v5 = __builtin_shufflevector(v1, v3, 0, 1, 2, 3);
  const op2_float64x4 v6 = __builtin_shufflevector(v4, v5, 0, 4, 2, 6);
  const op2_float64x4 v7 = __builtin_shufflevector(v4, v5, 1, 5, 3, 7);
  out[0] = v6;
  out[1] = v7;
}

static inline __attribute__((always_inline)) void op2_rows_float64x4_by2(op2_float64x2 *rows, const op2_float64x4 *in) {
  const op2_float64x4 v0 = __builtin_shufflevector(in[0], in[1], 0, 4, 2, 6);
  const op2_float64x4 v1 = __builtin_shufflevector(in[0], in[1], 1, 5, 3, 7);
  rows[0] = __builtin_shufflevector(v0, v0, 0, 1);
  rows[1] = __builtin_shufflevector(v1, v1, 0, 1);
  rows[2] = __builtin_shufflevector(v0, v0, 2, 3);
  rows[3] = __builtin_shufflevector(v1, v1, 2, 3);
}

static __attribute__((noinline)) void wrap_roots(long begin, long end,
    const double *__restrict__ q,
    const int *__restrict__ q_map,
    double *__restrict__ r,
    const int *__restrict__ r_map) {
  (void)r_map;
  // 4 elements side by side; what goes beyond the end repeats the last one and is not stored.
  for (long n = begin; n < end; n += 4) {
    const long live = (4 < end - n ? 4 : end - n);
    const long final = n + (live - 1);
    const long lane1 = (n + 1 < final ? n + 1 : final);
    const long lane2 = (n + 2 < final ? n + 2 : final);
    const long lane3 = (n + 3 < final ? n + 3 : final);
    op2_float64x4 q_pack[4];
    op2_gather_float64x4_by2(q_pack,
        q + (long)q_map[n * 2] * 2,
        q + (long)q_map[lane1 * 2] * 2,
        q + (long)q_map[lane2 * 2] * 2,
        q + (long)q_map[lane3 * 2] * 2);
    op2_gather_float64x4_by2(q_pack + 2,
        q + (long)q_map[n * 2 + 1] * 2,
        q + (long)q_map[lane1 * 2 + 1] * 2,
        q + (long)q_map[lane2 * 2 + 1] * 2,
        q + (long)q_map[lane3 * 2 + 1] * 2);
    op2_float64x4 r_pack[4] = {0};
    roots(q_pack, r_pack);
    op2_float64x2 r_pack_rows[4];
    op2_rows_float64x4_by2(r_pack_rows, r_pack);
    op2_float64x2 r_pack_rows_[4];
    op2_rows_float64x4_by2(r_pack_rows_, r_pack + 2);
    for (long lane = 0; lane < 4; ++lane) {
      if (lane < live) {
        const long n_lane = n + lane;
        *(op2_float64x2_row *)(r + (long)q_map[n_lane * 2] * 2) += r_pack_rows[lane];
        *(op2_float64x2_row *)(r + (long)q_map[n_lane * 2 + 1] * 2) += r_pack_rows_[lane];
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

int op2_launch_roots(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  const double *const q = (const double *)argv[0];
  double *const r = (double *)argv[1];
  const int *const q_map = (const int *)argv[2];
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  const long *const sizes = (const long *)argv[3];
  // colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
  const long *const colour_offset = (const long *)argv[4];
  // block_of [n_blocks]: blocks by colour
  const long *const block_of = (const long *)argv[5];
  // block_offset [n_blocks + 1]: where the elements of each block begin
  const long *const block_offset = (const long *)argv[6];
  // One colour after the other: what one has updates no target twice.
  for (long colour = 0; colour < sizes[0]; ++colour) {
    const long first = (colour_offset[colour] < begin ? begin : colour_offset[colour]);
    const long last = (colour_offset[colour + 1] < end ? colour_offset[colour + 1] : end);
    for (long k = first; k < last; ++k) {
      const long block = block_of[k];
      wrap_roots(block_offset[block], block_offset[block + 1], q, q_map, r, q_map);
    }
  }
  return 0;
}
