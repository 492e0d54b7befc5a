/* pyop2cxx VERSION: masses, strategy owner */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void masses(double *m, const double *q) {
  double length = q[2] - q[0];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m[i * 2 + j] += length * (i == j ? 2 : 1) / 6;
    }
  }
}

// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
__kernel void wrap_masses(
    __global const double *restrict q,
    __global const int *restrict m_row_map,
    __global double *restrict m,
    __global const long *restrict m_row_start,
    __global const uchar *restrict m_position,
    __global const int *restrict incidence,
    __global const int *restrict touched,
    long n_columns,
    long n_rows,
    long begin,
    long end) {
  // m_row_start [n_rows + 1]: where the blocks of each row begin
  // m_position [n_elements, row slots * column slots]: where in its row an entry's block is
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (int t = begin + (int)get_global_id(0); t < end; t += (int)get_global_size(0)) {
    const int target = (touched ? touched[t] : t);
    __global double *m_row = m + m_row_start[target];
    // Every element that leads to the target, for what the target gets of it.
    long next = (0 < n_columns ? incidence[t] : -1);
    for (int k = 0; k < n_columns; ++k) {
      const int entry = next;
      next = (k + 1 < n_columns ? incidence[(k + 1) * n_rows + t] : -1);
      if (-1 < entry) {
        const int n = entry / 2;
        const int o = entry - n * 2;
        double m_pack[4] = {0};
        double q_pack[4];
        const int q_pack_from0 = m_row_map[n * 2] * 2;
        q_pack[0] = q[q_pack_from0];
        q_pack[1] = q[q_pack_from0 + 1];
        const int q_pack_from1 = m_row_map[n * 2 + 1] * 2;
        q_pack[2] = q[q_pack_from1];
        q_pack[3] = q[q_pack_from1 + 1];
        masses(m_pack, q_pack);
        for (int column = 0; column < 2; ++column) {
          m_row[m_position[n * 4 + (o * 2 + column)]] += m_pack[o * 2 + column];
        }
      }
    }
  }
}
