/* pyop2cxx VERSION: flux, strategy colour */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void flux(const double *q, double *r, double *total) {
  for (int c = 0; c < 2; c++) {
    double f = q[c] - q[2 + c];
    r[c] += f;
    r[2 + c] -= f;
    total[0] += f * f;
  }
}

// Phase 1 of 2: One colour after the other: what one has updates no target twice.
// Launched for each colour in [0, sizes[0]) on lanes for (last - first) items, or on fewer, which stride,
// with begin = first, end = last, slot = n_slots.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// n_slots = 0, then n_slots + (blocks for last - first)
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
// total_partial [(blocks for end - begin) * sizes[0]]: kept until the last launch
__kernel void wrap_flux(
    __global const double *restrict q,
    __global double *restrict r,
    __global double *restrict total_partial,
    __global const int *restrict q_map,
    __global const int *restrict element,
    long begin,
    long end,
    long slot) {
  // element [n_elements]: elements by colour
  __local double total_tree[256];
  double total_lane[1] = {0};
  for (int k = begin + (int)get_global_id(0); k < end; k += (int)get_global_size(0)) {
    const int n = element[k];
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
    r_pack_to0[0] += r_pack[0];
    r_pack_to0[1] += r_pack[1];
    __global double *r_pack_to1 = r + q_map[n * 2 + 1] * 2;
    r_pack_to1[0] += r_pack[2];
    r_pack_to1[1] += r_pack[3];
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
// n_slots = 0, then n_slots + (blocks for last - first)
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
// total_partial [(blocks for end - begin) * sizes[0]]: kept until the last launch
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
