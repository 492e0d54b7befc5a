/* pyop2cxx VERSION: layers, strategy atomic */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

static inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
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

// Launched on lanes for (end - begin) items, or on fewer, which stride.
__kernel void wrap_layers(
    __global const double *restrict x,
    __global double *restrict y,
    __global const int *restrict x_map,
    __global const long *restrict layers_1,
    long begin,
    long end) {
  for (int position = begin + (int)get_global_id(0); position < end; position += (int)get_global_size(0)) {
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
    op2_atomic_add_float64(&y_pack_to0[0], y_pack[0]);
    __global double *y_pack_to1 = y + x_map[n * 4 + 1] + level;
    op2_atomic_add_float64(&y_pack_to1[0], y_pack[1]);
    __global double *y_pack_to2 = y + x_map[n * 4 + 2] + level;
    op2_atomic_add_float64(&y_pack_to2[0], y_pack[2]);
    __global double *y_pack_to3 = y + x_map[n * 4 + 3] + level;
    op2_atomic_add_float64(&y_pack_to3[0], y_pack[3]);
  }
}
