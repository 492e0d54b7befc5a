/* pyop2cxx VERSION: ends, strategy block */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void ends(double *r, double *last, const double *q) {
  for (int i = 0; i < 2; ++i) {
    r[i] += q[2 * i];
  }
  last[0] -= q[3];
}

// Launched for each colour in [0, sizes[0]) in (last - first) blocks,
// with block_offset = first.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
__kernel void wrap_ends(
    __global double *restrict r,
    __global const double *restrict q,
    __global const int *restrict r_map,
    __global const int *restrict r_ind_map,
    __global const int *restrict r_ind_map_1,
    __global const ushort *restrict r_loc_map,
    __global const ushort *restrict r_loc_map_1,
    __global const int *restrict ind_sizes,
    __global const long *restrict ind_offs,
    __global const int *restrict blkmap,
    __global const long *restrict offset,
    __global const int *restrict nelems,
    __global const int *restrict nthrcol,
    __global const int *restrict thrcol,
    long block_offset) {
  // r_ind_map [n_staged of all blocks]: the targets of each block, ascending
  // r_ind_map_1 [n_staged of all blocks]: the targets of each block, ascending
  // r_loc_map [n_elements, arity]: where in its block's targets an entry is
  // r_loc_map_1 [n_elements, arity]: where in its block's targets an entry is
  // ind_sizes [n_blocks, n_lists]: targets of a block in a list
  // ind_offs [n_blocks, n_lists]: where they begin in the list
  // blkmap [n_blocks]: blocks by colour
  // offset [n_blocks]: the first element of each block
  // nelems [n_blocks]: elements of each block
  // nthrcol [n_blocks]: colours of the elements of each block
  // thrcol [n_elements]: the colour of an element within its block
  __local double r_shared[512];
  __local double r_shared_1[256];
  const int block = blkmap[block_offset + (int)get_group_id(0)];
  const int first = offset[block];
  const int last = first + nelems[block];
  // What the block adds to its targets, in memory that its lanes share.
  for (int i = (int)get_local_id(0); i < ind_sizes[block * 2]; i += (int)get_local_size(0)) {
    r_shared[i] = 0;
  }
  for (int i = (int)get_local_id(0); i < ind_sizes[block * 2 + 1]; i += (int)get_local_size(0)) {
    r_shared_1[i] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int k = 0; k < (last - first + (int)get_local_size(0) - 1) / (int)get_local_size(0); ++k) {
    const int n = first + k * (int)get_local_size(0) + (int)get_local_id(0);
    double r_pack[2] = {0};
    double last_pack[1] = {0};
    double q_pack[4];
    if (n < last) {
      __global const double *q_pack_from0 = q + r_map[n * 2] * 2;
      q_pack[0] = q_pack_from0[0];
      q_pack[1] = q_pack_from0[1];
      __global const double *q_pack_from1 = q + r_map[n * 2 + 1] * 2;
      q_pack[2] = q_pack_from1[0];
      q_pack[3] = q_pack_from1[1];
      ends(r_pack, last_pack, q_pack);
    }
    const int own_colour = (n < last ? thrcol[n] : -1);
    // Elements of one thread colour share no target.
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int r_pack_to0 = r_loc_map[n * 2];
        r_shared[r_pack_to0] += r_pack[0];
        const int r_pack_to1 = r_loc_map[n * 2 + 1];
        r_shared[r_pack_to1] += r_pack[1];
        const int last_pack_to0 = r_loc_map_1[n];
        r_shared_1[last_pack_to0] += last_pack[0];
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
  }
  // The targets themselves.
  for (int i = (int)get_local_id(0); i < ind_sizes[block * 2]; i += (int)get_local_size(0)) {
    r[r_ind_map[ind_offs[block * 2] + i]] += r_shared[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int i = (int)get_local_id(0); i < ind_sizes[block * 2 + 1]; i += (int)get_local_size(0)) {
    r[r_ind_map_1[ind_offs[block * 2 + 1] + i]] += r_shared_1[i];
  }
}
