/* pyop2cxx VERSION: spread, strategy owner */

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void spread(double *r, const double *x, const double *e) {
  double f = x[0] - 2 * x[1] + e[0];
  r[0] += f;
  r[1] -= f;
}

static __device__ inline void wall(double *r, const double *x) {
  r[0] += 0.5 * x[0];
}

static __device__ inline void more(double *y) {
  y[0] += 1;
}

// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
extern "C" __global__ void wrap_spread_wall_more(
    double *__restrict__ r,
    const double *__restrict__ x,
    const double *__restrict__ e,
    const int *__restrict__ r_map,
    const int *__restrict__ r_map_1,
    const int *__restrict__ incidence,
    long n_columns,
    long n_rows,
    const unsigned char *__restrict__ has_incidences,
    const long *__restrict__ incidence_offset,
    const int *__restrict__ incidence_1,
    long begin,
    long end) {
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // has_incidences [n_rows]: 1 where a target has incidences
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence_1 [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  op2_start();
  r = (double *)__builtin_assume_aligned(r, 16);
  x = (const double *)__builtin_assume_aligned(x, 16);
  e = (const double *)__builtin_assume_aligned(e, 16);
  r_map = (const int *)__builtin_assume_aligned(r_map, 16);
  r_map_1 = (const int *)__builtin_assume_aligned(r_map_1, 16);
  incidence = (const int *)__builtin_assume_aligned(incidence, 16);
  has_incidences = (const unsigned char *)__builtin_assume_aligned(has_incidences, 16);
  incidence_offset = (const long *)__builtin_assume_aligned(incidence_offset, 16);
  incidence_1 = (const int *)__builtin_assume_aligned(incidence_1, 16);
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = t;
    double r_own[1];
    r_own[0] = r[target];
    const unsigned char is_present = has_incidences[t];
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
