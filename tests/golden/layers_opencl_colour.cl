/* pyop2cxx VERSION: layers, strategy colour */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
  }
}

// One colour after the other: what one has updates no target twice.
// Launched for each colour in [0, sizes[0]) on lanes for (last - first) items, or on fewer, which stride,
// with begin = first, end = last.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
__kernel void wrap_layers(
    __global const double *restrict x,
    __global double *restrict y,
    __global const int *restrict x_map,
    __global const long *restrict layers_1,
    __global const int *restrict element,
    long begin,
    long end) {
  // element [n_elements]: elements by colour
  for (int k = begin + (int)get_global_id(0); k < end; k += (int)get_global_size(0)) {
    const int position = element[k];
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
}
