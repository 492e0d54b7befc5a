/* pyop2cxx VERSION: spread, strategy owner */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline void spread(double *r, const double *x, const double *e) {
  double f = x[0] - 2 * x[1] + e[0];
  r[0] += f;
  r[1] -= f;
}

static inline void wall(double *r, const double *x) {
  r[0] += 0.5 * x[0];
}

static inline void more(double *y) {
  y[0] += 1;
}

// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
__kernel void wrap_spread_wall_more(
    __global double *restrict r,
    __global const double *restrict x,
    __global const double *restrict e,
    __global const int *restrict r_map,
    __global const int *restrict r_map_1,
    __global const int *restrict incidence,
    long n_columns,
    long n_rows,
    __global const uchar *restrict has_incidences,
    __global const long *restrict incidence_offset,
    __global const int *restrict incidence_1,
    long begin,
    long end) {
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // has_incidences [n_rows]: 1 where a target has incidences
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence_1 [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  for (int t = begin + (int)get_global_id(0); t < end; t += (int)get_global_size(0)) {
    const int target = t;
    double r_own[1];
    r_own[0] = r[target];
    const uchar is_present = has_incidences[t];
    // Every element that leads to the target, for what the target gets of it.
    long next = (0 < n_columns ? incidence[t] : -1);
    for (int k = 0; k < n_columns; ++k) {
      const int entry = next;
      next = (k + 1 < n_columns ? incidence[(k + 1) * n_rows + t] : -1);
      if (-1 < entry) {
        const int n = entry / 2;
        const int o = entry - n * 2;
        double r_pack[2] = {0};
        double x_pack[2];
        const int x_pack_from0 = r_map[n * 2];
        x_pack[0] = x[x_pack_from0];
        const int x_pack_from1 = r_map[n * 2 + 1];
        x_pack[1] = x[x_pack_from1];
        double e_pack[1];
        const int e_pack_from0 = n;
        e_pack[0] = e[e_pack_from0];
        spread(r_pack, x_pack, e_pack);
        r_own[0] += (o == 0 ? r_pack[0] : r_pack[1]);
      }
    }
    // Every element that leads to the target, for what the target gets of it.
    if (0 < is_present) {
      for (int k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
        const int n = incidence_1[k];
        double r_pack_1[1] = {0};
        double x_pack_1[1];
        const int x_pack_1_from0 = r_map_1[n];
        x_pack_1[0] = x[x_pack_1_from0];
        wall(r_pack_1, x_pack_1);
        r_own[0] += r_pack_1[0];
      }
    }
    more(r_own);
    r[target] = r_own[0];
  }
}
