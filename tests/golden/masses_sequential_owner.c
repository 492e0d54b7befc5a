/* pyop2cxx VERSION: masses, strategy owner */

#pragma GCC diagnostic ignored "-Wpsabi"
typedef double op2_float64x4 __attribute__((vector_size(32)));

static inline void masses(op2_float64x4 *m, const op2_float64x4 *q) {
  op2_float64x4 length = q[2] - q[0];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m[i * 2 + j] += length * (double)(i == j ? 2 : 1) / (double)6;
    }
  }
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

static __attribute__((noinline)) void wrap_masses(long begin, long end,
    double *__restrict__ m,
    const int *__restrict__ m_col_map,
    const double *__restrict__ q,
    const long *__restrict__ m_row_start,
    const unsigned char *__restrict__ m_position,
    const long *__restrict__ sizes,
    const long *__restrict__ column_offset,
    const int *__restrict__ column_slot,
    const int *__restrict__ incidence,
    const int *__restrict__ row_target,
    const int *__restrict__ q_map_rows) {
  // m_row_start [n_rows + 1]: where the blocks of each row begin
  // m_position [n_elements, row slots * column slots]: where in its row an entry's block is
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  // column_offset [n_groups + 1]: where the columns of each group of targets begin
  // column_slot [n_columns]: the slot that all incidences of a column have
  // incidence [n_columns, lanes]: the element; -1 - another one where there is none
  // row_target [n_rows]: the target of each lane, group by group
  // q_map_rows [n_incidences, arity], [n_columns, lanes, arity], [width, n_rows, arity] or [n_rows, width, arity]:
  // where the elements of the incidences lead by a Map; -1 where a padded column has none
  (void)m_col_map;
  // 4 targets side by side; what goes beyond the end repeats the last one and is not stored.
  for (long group = begin; group < end; ++group) {
    const long live = (4 < sizes[0] - group * 4 ? 4 : sizes[0] - group * 4);
    // A column has an element that leads to each target, by the same slot; or to none.
    for (long k = column_offset[group]; k < column_offset[group + 1]; ++k) {
      const long o = column_slot[k];
      const long at0 = k * 4;
      const long at1 = k * 4 + 1;
      const long at2 = k * 4 + 2;
      const long at3 = k * 4 + 3;
      op2_float64x4 m_pack[4] = {0};
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
      masses(m_pack, q_pack);
      for (long lane = 0; lane < 4; ++lane) {
        if (lane < live) {
          const long t_lane = (group * 4 + lane < sizes[0] - 1 ? group * 4 + lane : sizes[0] - 1);
          const long target_lane = row_target[t_lane];
          const long at_lane = k * 4 + lane;
          const long entry_lane = incidence[at_lane];
          const long n_lane = (entry_lane < 0 ? -1 - entry_lane : entry_lane);
          if (-1 < entry_lane) {
            double *m_row = m + m_row_start[target_lane];
            for (long column = 0; column < 2; ++column) {
              m_row[m_position[n_lane * 4 + (o * 2 + column)]] += ((double *)m_pack)[(o * 2 + column) * 4 + lane];
            }
          }
        }
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

int op2_launch_masses(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)context;
  (void)argc;
  double *const m = (double *)argv[0];
  const double *const q = (const double *)argv[1];
  const int *const m_row_map = (const int *)argv[2];
  const long *const m_row_start = (const long *)argv[3];
  const unsigned char *const m_position = (const unsigned char *)argv[4];
  const long *const sizes = (const long *)argv[5];
  const long *const column_offset = (const long *)argv[6];
  const int *const column_slot = (const int *)argv[7];
  const int *const incidence = (const int *)argv[8];
  const int *const row_target = (const int *)argv[9];
  const int *const q_map_rows = (const int *)argv[10];
  wrap_masses(begin, end, m, m_row_map, q, m_row_start, m_position, sizes, column_offset, column_slot, incidence,
      row_target, q_map_rows);
  return 0;
}
