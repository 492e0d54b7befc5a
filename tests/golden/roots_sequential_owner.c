/* pyop2cxx VERSION: roots, strategy owner */

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

typedef int op2_int32x4_row __attribute__((vector_size(16), aligned(4), may_alias));
typedef int op2_int32x4 __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) op2_int64x4 op2_on_int64x4_by_int32(const int *entries) {
  return __builtin_convertvector(*(const op2_int32x4_row *)entries >= (op2_int32x4){0}, op2_int64x4);
}

static inline __attribute__((always_inline)) op2_float64x4 op2_share_add_float64x4(op2_int64x4 on, op2_float64x4 sum,
    op2_float64x4 value) {
  const op2_float64x4 next = sum + value;
  return (op2_float64x4)(((op2_int64x4)(next) & on) | ((op2_int64x4)(sum) & ~on));
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
    double *__restrict__ r,
    const long *__restrict__ sizes,
    const long *__restrict__ column_offset,
    const int *__restrict__ column_slot,
    const int *__restrict__ incidence,
    const int *__restrict__ row_target,
    const int *__restrict__ q_map_rows) {
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  // column_offset [n_groups + 1]: where the columns of each group of targets begin
  // column_slot [n_columns]: the slot that all incidences of a column have
  // incidence [n_columns, lanes]: the element; -1 - another one where there is none
  // row_target [n_rows]: the target of each lane, group by group
  // q_map_rows [n_incidences, arity], [n_columns, lanes, arity], [width, n_rows, arity] or [n_rows, width, arity]:
  // where the elements of the incidences lead by a Map; -1 where a padded column has none
  // 4 targets side by side; what goes beyond the end repeats the last one and is not stored.
  for (long group = begin; group < end; ++group) {
    const long live = (4 < sizes[0] - group * 4 ? 4 : sizes[0] - group * 4);
    const long t0 = (group * 4 < sizes[0] - 1 ? group * 4 : sizes[0] - 1);
    const long t1 = (group * 4 + 1 < sizes[0] - 1 ? group * 4 + 1 : sizes[0] - 1);
    const long t2 = (group * 4 + 2 < sizes[0] - 1 ? group * 4 + 2 : sizes[0] - 1);
    const long t3 = (group * 4 + 3 < sizes[0] - 1 ? group * 4 + 3 : sizes[0] - 1);
    const long target0 = row_target[t0];
    const long target1 = row_target[t1];
    const long target2 = row_target[t2];
    const long target3 = row_target[t3];
    op2_float64x4 r_own[2];
    op2_gather_float64x4_by2(r_own,
        r + target0 * 2,
        r + target1 * 2,
        r + target2 * 2,
        r + target3 * 2);
    // A column has an element that leads to each target, by the same slot; or to none.
    for (long k = column_offset[group]; k < column_offset[group + 1]; ++k) {
      const long o = column_slot[k];
      const long at0 = k * 4;
      const long at1 = k * 4 + 1;
      const long at2 = k * 4 + 2;
      const long at3 = k * 4 + 3;
      op2_float64x4 q_pack[4];
      op2_gather_float64x4_by2(q_pack,
          q + (long)q_map_rows[at0 * 2] * 2,
          q + (long)q_map_rows[at1 * 2] * 2,
          q + (long)q_map_rows[at2 * 2] * 2,
          q + (long)q_map_rows[at3 * 2] * 2);
      op2_gather_float64x4_by2(q_pack + 2,
          q + (long)q_map_rows[at0 * 2 + 1] * 2,
          q + (long)q_map_rows[at1 * 2 + 1] * 2,
          q + (long)q_map_rows[at2 * 2 + 1] * 2,
          q + (long)q_map_rows[at3 * 2 + 1] * 2);
      op2_float64x4 r_pack[4] = {0};
      roots(q_pack, r_pack);
      r_own[0] = op2_share_add_float64x4(op2_on_int64x4_by_int32(incidence + k * 4), r_own[0], r_pack[o * 2]);
      r_own[1] = op2_share_add_float64x4(op2_on_int64x4_by_int32(incidence + k * 4), r_own[1], r_pack[o * 2 + 1]);
    }
    op2_float64x2 r_own_rows[4];
    op2_rows_float64x4_by2(r_own_rows, r_own);
    for (long lane = 0; lane < 4; ++lane) {
      if (lane < live) {
        const long t_lane = (group * 4 + lane < sizes[0] - 1 ? group * 4 + lane : sizes[0] - 1);
        const long target_lane = row_target[t_lane];
        *(op2_float64x2_row *)(r + target_lane * 2) = r_own_rows[lane];
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
  const long *const sizes = (const long *)argv[3];
  const long *const column_offset = (const long *)argv[4];
  const int *const column_slot = (const int *)argv[5];
  const int *const incidence = (const int *)argv[6];
  const int *const row_target = (const int *)argv[7];
  const int *const q_map_rows = (const int *)argv[8];
  wrap_roots(begin, end, q, r, sizes, column_offset, column_slot, incidence, row_target, q_map_rows);
  return 0;
}
