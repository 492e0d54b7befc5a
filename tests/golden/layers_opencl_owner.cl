/* pyop2cxx VERSION: layers, strategy owner */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
  }
}

// Launched on lanes for (end - begin) items, or on fewer, which stride.
__kernel void wrap_layers(
    __global const double *restrict x,
    __global double *restrict y,
    __global const int *restrict x_map,
    __global const long *restrict layers_1,
    __global const long *restrict incidence_offset,
    __global const int *restrict incidence,
    __global const int *restrict touched,
    long begin,
    long end) {
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  for (int t = begin + (int)get_global_id(0); t < end; t += (int)get_global_size(0)) {
    const int target = (touched ? touched[t] : t);
    double y_own[1];
    y_own[0] = 0;
    // Every element that leads to the target, for what the target gets of it.
    for (int k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const int position = incidence[k] / 4;
      const int o = incidence[k] - position * 4;
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
      y_own[0] += (o == 0 ? y_pack[0] : (o == 1 ? y_pack[1] : (o == 2 ? y_pack[2] : y_pack[3])));
    }
    y[target] += y_own[0];
  }
}
