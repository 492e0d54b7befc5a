/* pyop2cxx VERSION: flux, strategy owner */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void flux(const double *x, const double *q, double *r) {
  double dx = x[0] - x[2];
  double dy = x[1] - x[3];
  double f = dx * (q[0] + q[2]) - dy * (q[1] - q[3]) + 0.25 * x[0] * q[3];
  r[0] += f;
  r[1] -= f;
}

static inline void advance(const double *x, double *r, const double *q, double *p) {
  double area = 0;
  for (int i = 0; i < 4; ++i) {
    int j = (i + 1) % 4;
    area += x[2 * i] * x[2 * j + 1] - x[2 * j] * x[2 * i + 1];
  }
  p[0] = q[0] + 0.01 * r[0];
  p[1] = q[1] + 0.01 * area * r[0];
  r[0] = 0;
}

// Launched on lanes for (end - begin) items, or on fewer, which stride.
__kernel void wrap_flux_advance(
    __global const double *restrict x,
    __global const double *restrict q,
    __global double *restrict r,
    __global double *restrict p,
    __global const int *restrict x_map_1,
    __global const uint *restrict neighbour,
    __global const int *restrict x_map_rows,
    __global const uchar *restrict x_map_corner,
    long begin,
    long end) {
  // neighbour [width, n_rows], or [n_rows, width] if a text reads an even number of columns ahead: the element's other
  // target * 4 + the own slot * 2 + 1 where there is none
  // x_map_rows [n_incidences, arity], [n_columns, lanes, arity], [width, n_rows, arity] or [n_rows, width, arity]:
  // where the elements of the incidences lead by a Map; -1 where a padded column has none
  // x_map_corner [width, n_rows] or [n_rows, width]; for lanes [n_groups, width]: 1 where the elements' entries are
  // looked up; or 2 * which of the targets' they are
  for (int t = begin + (int)get_global_id(0); t < end; t += (int)get_global_size(0)) {
    const int target = t;
    double r_own[1];
    r_own[0] = 0;
    int x_map_own[4];
    x_map_own[0] = x_map_1[target * 4];
    x_map_own[1] = x_map_1[target * 4 + 1];
    x_map_own[2] = x_map_1[target * 4 + 2];
    x_map_own[3] = x_map_1[target * 4 + 3];
    uint neighbour_fetched[4];
    uint x_map_corner_fetched[4];
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      const int at = t * 4 + k;
      neighbour_fetched[k] = neighbour[at];
      x_map_corner_fetched[k] = x_map_corner[at];
    }
    double q_pack_own[2];
    __global const double *q_pack_own_from0 = q + target * 2;
    q_pack_own[0] = q_pack_own_from0[0];
    q_pack_own[1] = q_pack_own_from0[1];
    // Every element that leads to the target, for what the target gets of it.
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      const uint code = neighbour_fetched[k];
      const int across = code / 4;
      const int o = code / 2 % 2;
      const uint x_map_code = x_map_corner_fetched[k];
      int x_map_entry[2];
      x_map_entry[0] =
          (x_map_code / 4 % 2 == 0 ? (x_map_code / 2 % 2 == 0 ? x_map_own[0] : x_map_own[1])
          : (x_map_code / 2 % 2 == 0 ? x_map_own[2] : x_map_own[3]));
      x_map_entry[1] =
          (x_map_code / 16 % 2 == 0 ? (x_map_code / 8 % 2 == 0 ? x_map_own[0] : x_map_own[1])
          : (x_map_code / 8 % 2 == 0 ? x_map_own[2] : x_map_own[3]));
      if (x_map_code % 2 == 1) {
        x_map_entry[0] = x_map_rows[(t * 4 + k) * 2];
        x_map_entry[1] = x_map_rows[(t * 4 + k) * 2 + 1];
      }
      double x_pack[4];
      __global const double *x_pack_from0 = x + x_map_entry[0] * 2;
      x_pack[0] = x_pack_from0[0];
      x_pack[1] = x_pack_from0[1];
      __global const double *x_pack_from1 = x + x_map_entry[1] * 2;
      x_pack[2] = x_pack_from1[0];
      x_pack[3] = x_pack_from1[1];
      double q_pack[4];
      double q_pack_other[2];
      __global const double *q_pack_other_from0 = q + across * 2;
      q_pack_other[0] = q_pack_other_from0[0];
      q_pack_other[1] = q_pack_other_from0[1];
      for (int c = 0; c < 2; ++c) {
        q_pack[c] = (o == 0 ? q_pack_own[c] : q_pack_other[c]);
      }
      for (int c = 0; c < 2; ++c) {
        q_pack[2 + c] = (o == 0 ? q_pack_other[c] : q_pack_own[c]);
      }
      double r_pack[2] = {0};
      flux(x_pack, q_pack, r_pack);
      if (code % 2 == 0) {
        r_own[0] += (o == 0 ? r_pack[0] : r_pack[1]);
      }
    }
    double x_pack_1[8];
    __global const double *x_pack_1_from0 = x + x_map_1[target * 4] * 2;
    x_pack_1[0] = x_pack_1_from0[0];
    x_pack_1[1] = x_pack_1_from0[1];
    __global const double *x_pack_1_from1 = x + x_map_1[target * 4 + 1] * 2;
    x_pack_1[2] = x_pack_1_from1[0];
    x_pack_1[3] = x_pack_1_from1[1];
    __global const double *x_pack_1_from2 = x + x_map_1[target * 4 + 2] * 2;
    x_pack_1[4] = x_pack_1_from2[0];
    x_pack_1[5] = x_pack_1_from2[1];
    __global const double *x_pack_1_from3 = x + x_map_1[target * 4 + 3] * 2;
    x_pack_1[6] = x_pack_1_from3[0];
    x_pack_1[7] = x_pack_1_from3[1];
    double q_pack_1[2];
    __global const double *q_pack_1_from0 = q + target * 2;
    q_pack_1[0] = q_pack_1_from0[0];
    q_pack_1[1] = q_pack_1_from0[1];
    double p_pack[2];
    advance(x_pack_1, r_own, q_pack_1, p_pack);
    __global double *p_pack_to0 = p + target * 2;
    p_pack_to0[0] = p_pack[0];
    p_pack_to0[1] = p_pack[1];
    r[target] = r_own[0];
  }
}
