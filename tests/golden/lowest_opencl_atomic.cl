/* pyop2cxx VERSION: lowest, strategy atomic */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

static inline double least(double a, double b) {
  return fmin(a, b);
}

static inline void lowest(const double *q, double *low, double *lowest_of_all) {
  double value = least(q[0], q[2]);
  for (int i = 0; i < 2; ++i) {
    if (value < low[i]) {
      low[i] = value;
    }
  }
  if (value < lowest_of_all[0]) {
    lowest_of_all[0] = value;
  }
}

static inline void op2_atomic_min_float64(__global double *target, double value) {
  volatile __global ulong *word = (volatile __global ulong *)target;
  ulong before;
  ulong seen = *word;
  do {
    before = seen;
    const double old = as_double(before);
    const double wanted = value < old ? value : old;
    seen = atom_cmpxchg(word, before, as_ulong(wanted));
  } while (seen != before);
}

// Phase 1 of 2.
// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with slot = n_slots.
// n_slots = 0, then n_slots + (blocks for end - begin)
// lowest_of_all_partial [blocks for end - begin]: kept until the last launch
__kernel void wrap_lowest(
    __global const double *restrict q,
    __global double *restrict low,
    __global const double *restrict lowest_of_all,
    __global double *restrict lowest_of_all_partial,
    __global const int *restrict q_map,
    long begin,
    long end,
    long slot) {
  __local double lowest_of_all_tree[256];
  double lowest_of_all_lane[1];
  lowest_of_all_lane[0] = lowest_of_all[0];
  for (int n = begin + (int)get_global_id(0); n < end; n += (int)get_global_size(0)) {
    double q_pack[4];
    __global const double *q_pack_from0 = q + q_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    __global const double *q_pack_from1 = q + q_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    double low_pack[2];
    __global const double *low_pack_from0 = low + q_map[n * 2];
    low_pack[0] = low_pack_from0[0];
    __global const double *low_pack_from1 = low + q_map[n * 2 + 1];
    low_pack[1] = low_pack_from1[0];
    double lowest_of_all_pack[1];
    lowest_of_all_pack[0] = lowest_of_all_lane[0];
    lowest(q_pack, low_pack, lowest_of_all_pack);
    __global double *low_pack_to0 = low + q_map[n * 2];
    op2_atomic_min_float64(&low_pack_to0[0], low_pack[0]);
    __global double *low_pack_to1 = low + q_map[n * 2 + 1];
    op2_atomic_min_float64(&low_pack_to1[0], low_pack[1]);
    if (lowest_of_all_pack[0] < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_pack[0];
    }
  }
  // The values of the block's lanes become one.
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    lowest_of_all_tree[lane] = lowest_of_all[0];
  }
  lowest_of_all_tree[(int)get_local_id(0)] = lowest_of_all_lane[0];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 128] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 128];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 64] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 64];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 32] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 32];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 16] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 16];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 8] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 8];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 4] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 4];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 2] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 2];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 1] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 1];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    lowest_of_all_partial[slot + (int)get_group_id(0)] = lowest_of_all_tree[0];
  }
}

// Phase 2 of 2: The values of all blocks become one.
// Launched in one block.
// n_slots = 0, then n_slots + (blocks for end - begin)
// lowest_of_all_partial [blocks for end - begin]: kept until the last launch
__kernel void finish_lowest(
    __global double *restrict lowest_of_all,
    __global const double *restrict lowest_of_all_partial,
    long n_slots) {
  __local double lowest_of_all_tree[256];
  double lowest_of_all_lane[1];
  lowest_of_all_lane[0] = lowest_of_all[0];
  for (int k = (int)get_local_id(0); k < n_slots; k += (int)get_local_size(0)) {
    if (lowest_of_all_partial[k] < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_partial[k];
    }
  }
  // The values of the block's lanes become one.
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    lowest_of_all_tree[lane] = lowest_of_all[0];
  }
  lowest_of_all_tree[(int)get_local_id(0)] = lowest_of_all_lane[0];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 128] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 128];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 64] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 64];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 32] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 32];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 16] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 16];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 8] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 8];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 4] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 4];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 2] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 2];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 1] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 1];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    if (lowest_of_all_tree[0] < lowest_of_all[0]) {
      lowest_of_all[0] = lowest_of_all_tree[0];
    }
  }
}
