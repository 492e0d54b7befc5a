/* pyop2cxx VERSION: wide, strategy direct */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void wide(const double *x, double *y) {
  for (int i = 0; i < 8; ++i) {
    y[i] = x[7 - i];
  }
}

// Launched on lanes for (end - begin) items, or on fewer, which stride.
__kernel void wrap_wide(
    __global const double *restrict x,
    __global double *restrict y,
    long begin,
    long end) {
  for (int n = begin + (int)get_global_id(0); n < end; n += (int)get_global_size(0)) {
    double x_pack[8];
    __global const double *x_pack_from0 = x + n * 8;
    x_pack[0] = x_pack_from0[0];
    x_pack[1] = x_pack_from0[1];
    x_pack[2] = x_pack_from0[2];
    x_pack[3] = x_pack_from0[3];
    x_pack[4] = x_pack_from0[4];
    x_pack[5] = x_pack_from0[5];
    x_pack[6] = x_pack_from0[6];
    x_pack[7] = x_pack_from0[7];
    double y_pack[8];
    wide(x_pack, y_pack);
    __global double *y_pack_to0 = y + n * 8;
    y_pack_to0[0] = y_pack[0];
    y_pack_to0[1] = y_pack[1];
    y_pack_to0[2] = y_pack[2];
    y_pack_to0[3] = y_pack[3];
    y_pack_to0[4] = y_pack[4];
    y_pack_to0[5] = y_pack[5];
    y_pack_to0[6] = y_pack[6];
    y_pack_to0[7] = y_pack[7];
  }
}
