/* pyop2cxx VERSION: shares, strategy atomic */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

static inline void shares(double *r, double *total, const double *q) {
  for (int i = 0; i < 2; ++i) {
    total[i] += q[2 * i] + q[2 * i + 1];
    for (int c = 0; c < 2; ++c) {
      r[2 * i + c] += q[2 * i + c];
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
__kernel void wrap_shares(
    __global double *restrict r,
    __global double *restrict total,
    __global const double *restrict q,
    __global const int *restrict r_map,
    __global const long *restrict r_map_first_entry,
    __global const int *restrict r_map_place,
    __global const ushort *restrict r_map_first_summand,
    __global const ushort *restrict r_map_summand,
    long first_block,
    long n_elements) {
  // r_map_first_entry [n_blocks + 1]: where the entries of the matrix, or targets of the Map, begin that a block of
  // elements adds to
  // r_map_place [n_entries of all blocks]: which scalar of the matrix's values that is, or which target
  // r_map_first_summand [n_entries + n_blocks]: where its summands begin in those of the block; one number more for
  // each block
  // r_map_summand [n_elements * scalars or slots of an element]: scalar of the element's matrix, or slot of its row of
  // the Map, * elements of a block + element within the block
  __local double r_shared[1024];
  __local double total_shared[512];
  __local ushort r_map_own[512];
  const int block = first_block + (int)get_group_id(0);
  const int first = block * 256;
  const int n_here = (n_elements - first < 256 ? n_elements - first : 256);
  const int r_map_begin = r_map_first_entry[block];
  const int r_map_n_entries = r_map_first_entry[block + 1] - r_map_begin;
  #pragma unroll 4
  for (int i = (int)get_local_id(0); i < n_here * 2; i += (int)get_local_size(0)) {
    r_map_own[i] = r_map_summand[first * 2 + i];
  }
  for (int i = (int)get_local_id(0); i < n_here; i += (int)get_local_size(0)) {
    const int n = first + i;
    double r_pack[4] = {0};
    double total_pack[2] = {0};
    double q_pack[4];
    const int q_pack_from0 = r_map[n * 2] * 2;
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const int q_pack_from1 = r_map[n * 2 + 1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    shares(r_pack, total_pack, q_pack);
    for (int c = 0; c < 4; ++c) {
      r_shared[(c % 2 * 2 + c / 2) * 256 + i] = r_pack[c];
    }
    for (int c = 0; c < 2; ++c) {
      total_shared[c * 256 + i] = total_pack[c];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int i = (int)get_local_id(0); i < r_map_n_entries * 2; i += (int)get_local_size(0)) {
    const int place = r_map_place[r_map_begin + i / 2];
    const int last = r_map_first_summand[r_map_begin + i / 2 + block + 1];
    double sum = 0;
    for (int k = r_map_first_summand[r_map_begin + i / 2 + block]; k < last; ++k) {
      sum += r_shared[i % 2 * 512 + r_map_own[k]];
    }
    op2_atomic_add_float64(&r[place * 2 + i % 2], sum);
  }
  for (int i = (int)get_local_id(0); i < r_map_n_entries; i += (int)get_local_size(0)) {
    const int place = r_map_place[r_map_begin + i];
    const int last = r_map_first_summand[r_map_begin + i + block + 1];
    double sum = 0;
    for (int k = r_map_first_summand[r_map_begin + i + block]; k < last; ++k) {
      sum += total_shared[r_map_own[k]];
    }
    op2_atomic_add_float64(&total[place], sum);
  }
}
