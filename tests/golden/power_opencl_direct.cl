/* pyop2cxx VERSION: power, strategy direct */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void power(const float *x, double *y, const int first, const double *gains) {
  y[0] = gains[first] * x[0];
}

// Launched on lanes for (end - begin) items, or on fewer, which stride.
__kernel void wrap_power(
    __global const float *restrict x,
    __global double *restrict y,
    __global const int *restrict first_1,
    __global const double *restrict gains,
    long begin,
    long end) {
  for (int n = begin + (int)get_global_id(0); n < end; n += (int)get_global_size(0)) {
    float x_pack[1];
    __global const float *x_pack_from0 = x + n;
    x_pack[0] = x_pack_from0[0];
    double y_pack[1];
    double gains_pack[2];
    __global const double *gains_pack_from0 = gains;
    gains_pack[0] = gains_pack_from0[0];
    gains_pack[1] = gains_pack_from0[1];
    power(x_pack, y_pack, first_1[0], gains_pack);
    __global double *y_pack_to0 = y + n;
    y_pack_to0[0] = y_pack[0];
  }
}
