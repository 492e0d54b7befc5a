/* pyop2cxx VERSION: masses, strategy block */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

static inline void masses(double *m, const double *q) {
  double length = q[2] - q[0];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m[i * 2 + j] += length * (i == j ? 2 : 1) / 6;
    }
  }
}

static inline void op2_atomic_add_float64(__global double *target, double value) {
  volatile __global ulong *word = (volatile __global ulong *)target;
  ulong before;
  ulong seen = *word;
  do {
    before = seen;
    const double old = as_double(before);
    const double wanted = old + value;
    seen = atom_cmpxchg(word, before, as_ulong(wanted));
  } while (seen != before);
}

// Launched in (end - begin) blocks,
// with first_block = begin, n_elements = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
__kernel void wrap_masses(
    __global const double *restrict q,
    __global const int *restrict m_row_map,
    __global double *restrict m,
    __global const long *restrict m_first_entry,
    __global const int *restrict m_place,
    __global const ushort *restrict m_first_summand,
    __global const ushort *restrict m_summand,
    long first_block,
    long n_elements) {
  // m_first_entry [n_blocks + 1]: where the entries of the matrix, or targets of the Map, begin that a block of
  // elements adds to
  // m_place [n_entries of all blocks]: which scalar of the matrix's values that is, or which target
  // m_first_summand [n_entries + n_blocks]: where its summands begin in those of the block; one number more for each
  // block
  // m_summand [n_elements * scalars or slots of an element]: scalar of the element's matrix, or slot of its row of the
  // Map, * elements of a block + element within the block
  __local double m_shared[512];
  __local ushort m_own[512];
  const int block = first_block + (int)get_group_id(0);
  const int first = block * 128;
  const int n_here = (n_elements - first < 128 ? n_elements - first : 128);
  const int m_begin = m_first_entry[block];
  const int m_n_entries = m_first_entry[block + 1] - m_begin;
  #pragma unroll 4
  for (int i = (int)get_local_id(0); i < n_here * 4; i += (int)get_local_size(0)) {
    m_own[i] = m_summand[first * 4 + i];
  }
  for (int i = (int)get_local_id(0); i < n_here; i += (int)get_local_size(0)) {
    const int n = first + i;
    double m_pack[4] = {0};
    double q_pack[4];
    const int q_pack_from0 = m_row_map[n * 2] * 2;
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const int q_pack_from1 = m_row_map[n * 2 + 1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    masses(m_pack, q_pack);
    for (int c = 0; c < 4; ++c) {
      m_shared[c * 128 + i] = m_pack[c];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int i = (int)get_local_id(0); i < m_n_entries; i += (int)get_local_size(0)) {
    const int place = m_place[m_begin + i];
    const int last = m_first_summand[m_begin + i + block + 1];
    double sum = 0;
    for (int k = m_first_summand[m_begin + i + block]; k < last; ++k) {
      sum += m_shared[m_own[k]];
    }
    op2_atomic_add_float64(&m[place], sum);
  }
}
