/* pyop2cxx VERSION: lowest, strategy block */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

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

// Phase 1 of 2.
// Launched for each colour in [0, sizes[0]) in (last - first) blocks,
// with block_offset = first, slot = n_slots.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// n_slots = 0, then n_slots + (last - first)
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
// lowest_of_all_partial [end - begin]: kept until the last launch
__kernel void wrap_lowest(
    __global const double *restrict q,
    __global double *restrict low,
    __global const double *restrict lowest_of_all,
    __global double *restrict lowest_of_all_partial,
    __global const int *restrict q_map,
    __global const int *restrict low_ind_map,
    __global const ushort *restrict low_loc_map,
    __global const int *restrict ind_sizes,
    __global const long *restrict ind_offs,
    __global const int *restrict blkmap,
    __global const long *restrict offset,
    __global const int *restrict nelems,
    __global const int *restrict nthrcol,
    __global const int *restrict thrcol,
    long block_offset,
    long slot) {
  // low_ind_map [n_staged of all blocks]: the targets of each block, ascending
  // low_loc_map [n_elements, arity]: where in its block's targets an entry is
  // ind_sizes [n_blocks, n_lists]: targets of a block in a list
  // ind_offs [n_blocks, n_lists]: where they begin in the list
  // blkmap [n_blocks]: blocks by colour
  // offset [n_blocks]: the first element of each block
  // nelems [n_blocks]: elements of each block
  // nthrcol [n_blocks]: colours of the elements of each block
  // thrcol [n_elements]: the colour of an element within its block
  __local double lowest_of_all_tree[256];
  double lowest_of_all_lane[1];
  lowest_of_all_lane[0] = lowest_of_all[0];
  __local double low_shared[512];
  const int block = blkmap[block_offset + (int)get_group_id(0)];
  const int first = offset[block];
  const int last = first + nelems[block];
  // What the block adds to its targets, in memory that its lanes share.
  for (int i = (int)get_local_id(0); i < ind_sizes[block]; i += (int)get_local_size(0)) {
    low_shared[i] = low[low_ind_map[ind_offs[block] + i]];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int k = 0; k < (last - first + (int)get_local_size(0) - 1) / (int)get_local_size(0); ++k) {
    const int n = first + k * (int)get_local_size(0) + (int)get_local_id(0);
    double q_pack[4];
    double low_pack[2];
    double lowest_of_all_pack[1];
    if (n < last) {
      __global const double *q_pack_from0 = q + q_map[n * 2] * 2;
      q_pack[0] = q_pack_from0[0];
      q_pack[1] = q_pack_from0[1];
      __global const double *q_pack_from1 = q + q_map[n * 2 + 1] * 2;
      q_pack[2] = q_pack_from1[0];
      q_pack[3] = q_pack_from1[1];
      __global const double *low_pack_from0 = low + q_map[n * 2];
      low_pack[0] = low_pack_from0[0];
      __global const double *low_pack_from1 = low + q_map[n * 2 + 1];
      low_pack[1] = low_pack_from1[0];
      lowest_of_all_pack[0] = lowest_of_all_lane[0];
      lowest(q_pack, low_pack, lowest_of_all_pack);
      if (lowest_of_all_pack[0] < lowest_of_all_lane[0]) {
        lowest_of_all_lane[0] = lowest_of_all_pack[0];
      }
    }
    const int own_colour = (n < last ? thrcol[n] : -1);
    // Elements of one thread colour share no target.
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int low_pack_to0 = low_loc_map[n * 2];
        if (low_pack[0] < low_shared[low_pack_to0]) {
          low_shared[low_pack_to0] = low_pack[0];
        }
        const int low_pack_to1 = low_loc_map[n * 2 + 1];
        if (low_pack[1] < low_shared[low_pack_to1]) {
          low_shared[low_pack_to1] = low_pack[1];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
  }
  // The targets themselves.
  for (int i = (int)get_local_id(0); i < ind_sizes[block]; i += (int)get_local_size(0)) {
    if (low_shared[i] < low[low_ind_map[ind_offs[block] + i]]) {
      low[low_ind_map[ind_offs[block] + i]] = low_shared[i];
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
// n_slots = 0, then n_slots + (last - first)
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
// lowest_of_all_partial [end - begin]: kept until the last launch
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
