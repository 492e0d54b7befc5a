/* pyop2cxx VERSION: flux, strategy atomic */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

static inline void flux(const double *q, double *r, double *total) {
  for (int c = 0; c < 2; c++) {
    double f = q[c] - q[2 + c];
    r[c] += f;
    r[2 + c] -= f;
    total[0] += f * f;
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

// Phase 1 of 2.
// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with slot = n_slots.
// n_slots = 0, then n_slots + (blocks for end - begin)
// total_partial [blocks for end - begin]: kept until the last launch
__kernel void wrap_flux(
    __global const double *restrict q,
    __global double *restrict r,
    __global double *restrict total_partial,
    __global const int *restrict q_map,
    long begin,
    long end,
    long slot) {
  __local double total_tree[256];
  double total_lane[1] = {0};
  for (int n = begin + (int)get_global_id(0); n < end; n += (int)get_global_size(0)) {
    double q_pack[4];
    __global const double *q_pack_from0 = q + q_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    __global const double *q_pack_from1 = q + q_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    double r_pack[4] = {0};
    double total_pack[1] = {0};
    flux(q_pack, r_pack, total_pack);
    __global double *r_pack_to0 = r + q_map[n * 2] * 2;
    op2_atomic_add_float64(&r_pack_to0[0], r_pack[0]);
    op2_atomic_add_float64(&r_pack_to0[1], r_pack[1]);
    __global double *r_pack_to1 = r + q_map[n * 2 + 1] * 2;
    op2_atomic_add_float64(&r_pack_to1[0], r_pack[2]);
    op2_atomic_add_float64(&r_pack_to1[1], r_pack[3]);
    total_lane[0] += total_pack[0];
  }
  // The values of the block's lanes become one.
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    total_tree[lane] = 0;
  }
  total_tree[(int)get_local_id(0)] = total_lane[0];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 128];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 64];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 32];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 16];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 8];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 4];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 2];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 1];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    total_partial[slot + (int)get_group_id(0)] = total_tree[0];
  }
}

// Phase 2 of 2: The values of all blocks become one.
// Launched in one block.
// n_slots = 0, then n_slots + (blocks for end - begin)
// total_partial [blocks for end - begin]: kept until the last launch
__kernel void finish_flux(
    __global double *restrict total,
    __global const double *restrict total_partial,
    long n_slots) {
  __local double total_tree[256];
  double total_lane[1] = {0};
  total_lane[0] = 0;
  for (int k = (int)get_local_id(0); k < n_slots; k += (int)get_local_size(0)) {
    total_lane[0] += total_partial[k];
  }
  // The values of the block's lanes become one.
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    total_tree[lane] = 0;
  }
  total_tree[(int)get_local_id(0)] = total_lane[0];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 128];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 64];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 32];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 16];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 8];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 4];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 2];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    total_tree[lane] += total_tree[lane + 1];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    total[0] += total_tree[0];
  }
}
