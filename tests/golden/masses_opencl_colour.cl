/* pyop2cxx VERSION: masses, strategy colour */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void masses(double *m, const double *q) {
  double length = q[2] - q[0];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m[i * 2 + j] += length * (i == j ? 2 : 1) / 6;
    }
  }
}

// One colour after the other: what one has updates no target twice.
// Launched for each colour in [0, sizes[0]) on lanes for (last - first) items, or on fewer, which stride,
// with begin = first, end = last.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
__kernel void wrap_masses(
    __global const double *restrict q,
    __global const int *restrict m_row_map,
    __global double *restrict m,
    __global const long *restrict m_row_start,
    __global const uchar *restrict m_position,
    __global const int *restrict element,
    long begin,
    long end) {
  // m_row_start [n_rows + 1]: where the blocks of each row begin
  // m_position [n_elements, row slots * column slots]: where in its row an entry's block is
  // element [n_elements]: elements by colour
  for (int k = begin + (int)get_global_id(0); k < end; k += (int)get_global_size(0)) {
    const int n = element[k];
    double m_pack[4] = {0};
    double q_pack[4];
    __global const double *q_pack_from0 = q + m_row_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    __global const double *q_pack_from1 = q + m_row_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    masses(m_pack, q_pack);
    __global double *m_pack_to0 = m + m_row_start[m_row_map[n * 2]];
    m_pack_to0[m_position[n * 4]] += m_pack[0];
    m_pack_to0[m_position[n * 4 + 1]] += m_pack[1];
    __global double *m_pack_to1 = m + m_row_start[m_row_map[n * 2 + 1]];
    m_pack_to1[m_position[n * 4 + 2]] += m_pack[2];
    m_pack_to1[m_position[n * 4 + 3]] += m_pack[3];
  }
}
