/* pyop2cxx VERSION: layers, strategy block */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
  }
}

// Launched for each colour in [0, sizes[0]) in (last - first) blocks,
// with block_offset = first.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
__kernel void wrap_layers(
    __global const double *restrict x,
    __global double *restrict y,
    __global const int *restrict x_map,
    __global const long *restrict layers_1,
    __global const int *restrict blkmap,
    __global const long *restrict offset,
    __global const int *restrict nelems,
    __global const int *restrict nthrcol,
    __global const int *restrict thrcol,
    long block_offset) {
  // blkmap [n_blocks]: blocks by colour
  // offset [n_blocks]: the first element of each block
  // nelems [n_blocks]: elements of each block
  // nthrcol [n_blocks]: colours of the elements of each block
  // thrcol [n_elements]: the colour of an element within its block
  const int block = blkmap[block_offset + (int)get_group_id(0)];
  const int first = offset[block];
  const int last = first + nelems[block];
  for (int k = 0; k < (last - first + (int)get_local_size(0) - 1) / (int)get_local_size(0); ++k) {
    const int position = first + k * (int)get_local_size(0) + (int)get_local_id(0);
    const int own_colour = (position < last ? thrcol[position] : -1);
    // Elements of one thread colour share no target.
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int row = position / layers_1[0];
        const int n = row;
        const int level = layers_1[1] + (position - row * layers_1[0]);
        double x_pack[4];
        __global const double *x_pack_from0 = x + x_map[n * 4] + level;
        x_pack[0] = x_pack_from0[0];
        __global const double *x_pack_from1 = x + x_map[n * 4 + 1] + level;
        x_pack[1] = x_pack_from1[0];
        __global const double *x_pack_from2 = x + x_map[n * 4 + 2] + level;
        x_pack[2] = x_pack_from2[0];
        __global const double *x_pack_from3 = x + x_map[n * 4 + 3] + level;
        x_pack[3] = x_pack_from3[0];
        double y_pack[4] = {0};
        layers(x_pack, y_pack);
        __global double *y_pack_to0 = y + x_map[n * 4] + level;
        y_pack_to0[0] += y_pack[0];
        __global double *y_pack_to1 = y + x_map[n * 4 + 1] + level;
        y_pack_to1[0] += y_pack[1];
        __global double *y_pack_to2 = y + x_map[n * 4 + 2] + level;
        y_pack_to2[0] += y_pack[2];
        __global double *y_pack_to3 = y + x_map[n * 4 + 3] + level;
        y_pack_to3[0] += y_pack[3];
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
  }
}
