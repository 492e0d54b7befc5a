/* pyop2cxx VERSION: layers, strategy scratch */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
  }
}

// Phase 1 of 2: The results of all elements are kept.
// Launched on lanes for (end - begin) items, or on fewer, which stride.
// y_scratch [(end - begin) * 4]: kept until the last launch
__kernel void wrap_layers(
    __global const double *restrict x,
    __global const int *restrict x_map,
    __global const long *restrict layers_1,
    __global double *restrict y_scratch,
    long begin,
    long end) {
  for (int position = begin + (int)get_global_id(0); position < end; position += (int)get_global_size(0)) {
    const int row = position / layers_1[0];
    const int n = row;
    const int level = layers_1[1] + (position - row * layers_1[0]);
    double x_pack[4];
    const int x_pack_from0 = x_map[n * 4] + level;
    x_pack[0] = x[x_pack_from0];
    const int x_pack_from1 = x_map[n * 4 + 1] + level;
    x_pack[1] = x[x_pack_from1];
    const int x_pack_from2 = x_map[n * 4 + 2] + level;
    x_pack[2] = x[x_pack_from2];
    const int x_pack_from3 = x_map[n * 4 + 3] + level;
    x_pack[3] = x[x_pack_from3];
    double y_pack[4] = {0};
    layers(x_pack, y_pack);
    for (int c = 0; c < 4; ++c) {
      y_scratch[position * 4 + c] = y_pack[c];
    }
  }
}

// Phase 2 of 2: then each target sums what is its own, in the order of the elements.
// Launched on lanes for sizes[0] items, or on fewer, which stride,
// with begin = 0, end = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// y_scratch [(end - begin) * 4]: kept until the last launch
__kernel void sum_layers(
    __global double *restrict y,
    __global const long *restrict incidence_offset,
    __global const int *restrict incidence,
    __global const int *restrict touched,
    __global const double *restrict y_scratch,
    long begin,
    long end) {
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (int t = begin + (int)get_global_id(0); t < end; t += (int)get_global_size(0)) {
    const int target = (touched ? touched[t] : t);
    double y_own[1];
    y_own[0] = 0;
    for (int k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const int position = incidence[k] / 4;
      const int o = incidence[k] - position * 4;
      y_own[0] += y_scratch[position * 4 + o];
    }
    y[target] += y_own[0];
  }
}
