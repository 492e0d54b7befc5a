/* pyop2cxx VERSION: flux, strategy owner */

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void flux(const double *x, const double *q, double *r) {
  double dx = x[0] - x[2];
  double dy = x[1] - x[3];
  double f = dx * (q[0] + q[2]) - dy * (q[1] - q[3]) + 0.25 * x[0] * q[3];
  r[0] += f;
  r[1] -= f;
}

static __device__ inline void advance(const double *x, double *r, const double *q, double *p) {
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
extern "C" __global__ void __launch_bounds__(128, 7) wrap_flux_advance(
    const double *__restrict__ x,
    const double *__restrict__ q,
    double *__restrict__ r,
    double *__restrict__ p,
    const int *__restrict__ x_map_1,
    const unsigned int *__restrict__ neighbour,
    const int *__restrict__ x_map_rows,
    const unsigned char *__restrict__ x_map_corner,
    long begin,
    long end) {
  // neighbour [width, n_rows], or [n_rows, width] if a text reads an even number of columns ahead: the element's other
  // target * 4 + the own slot * 2 + 1 where there is none
  // x_map_rows [n_incidences, arity], [n_columns, lanes, arity], [width, n_rows, arity] or [n_rows, width, arity]:
  // where the elements of the incidences lead by a Map; -1 where a padded column has none
  // x_map_corner [width, n_rows] or [n_rows, width]; for lanes [n_groups, width]: 1 where the elements' entries are
  // looked up; or 2 * which of the targets' they are
  op2_start();
  x = (const double *)__builtin_assume_aligned(x, 16);
  q = (const double *)__builtin_assume_aligned(q, 16);
  r = (double *)__builtin_assume_aligned(r, 16);
  p = (double *)__builtin_assume_aligned(p, 16);
  x_map_1 = (const int *)__builtin_assume_aligned(x_map_1, 16);
  neighbour = (const unsigned int *)__builtin_assume_aligned(neighbour, 16);
  x_map_rows = (const int *)__builtin_assume_aligned(x_map_rows, 16);
  x_map_corner = (const unsigned char *)__builtin_assume_aligned(x_map_corner, 16);
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = t;
    double r_own[1];
    r_own[0] = r[target];
    int x_map_own[4];
    x_map_own[0] = x_map_1[target * 4];
    x_map_own[1] = x_map_1[target * 4 + 1];
    x_map_own[2] = x_map_1[target * 4 + 2];
    x_map_own[3] = x_map_1[target * 4 + 3];
    unsigned int neighbour_fetched[4];
    unsigned int x_map_corner_fetched[4];
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      const int at = t * 4 + k;
      neighbour_fetched[k] = neighbour[at];
      x_map_corner_fetched[k] = x_map_corner[at];
    }
    double q_pack_own[2];
    const double *q_pack_own_from0 = q + target * 2;
    q_pack_own[0] = q_pack_own_from0[0];
    q_pack_own[1] = q_pack_own_from0[1];
    // Every element that leads to the target, for what the target gets of it.
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      const unsigned int code = neighbour_fetched[k];
      const int across = code / 4;
      const int o = code / 2 % 2;
      const unsigned int x_map_code = x_map_corner_fetched[k];
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
      const double *x_pack_from0 = x + x_map_entry[0] * 2;
      x_pack[0] = x_pack_from0[0];
      x_pack[1] = x_pack_from0[1];
      const double *x_pack_from1 = x + x_map_entry[1] * 2;
      x_pack[2] = x_pack_from1[0];
      x_pack[3] = x_pack_from1[1];
      double q_pack[4];
      double q_pack_other[2];
      const double *q_pack_other_from0 = q + across * 2;
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
    const double *x_pack_1_from0 = x + x_map_1[target * 4] * 2;
    x_pack_1[0] = x_pack_1_from0[0];
    x_pack_1[1] = x_pack_1_from0[1];
    const double *x_pack_1_from1 = x + x_map_1[target * 4 + 1] * 2;
    x_pack_1[2] = x_pack_1_from1[0];
    x_pack_1[3] = x_pack_1_from1[1];
    const double *x_pack_1_from2 = x + x_map_1[target * 4 + 2] * 2;
    x_pack_1[4] = x_pack_1_from2[0];
    x_pack_1[5] = x_pack_1_from2[1];
    const double *x_pack_1_from3 = x + x_map_1[target * 4 + 3] * 2;
    x_pack_1[6] = x_pack_1_from3[0];
    x_pack_1[7] = x_pack_1_from3[1];
    double q_pack_1[2];
    const double *q_pack_1_from0 = q + target * 2;
    q_pack_1[0] = q_pack_1_from0[0];
    q_pack_1[1] = q_pack_1_from0[1];
    double p_pack[2];
    advance(x_pack_1, r_own, q_pack_1, p_pack);
    double *p_pack_to0 = p + target * 2;
    p_pack_to0[0] = p_pack[0];
    p_pack_to0[1] = p_pack[1];
    r[target] = r_own[0];
  }
}
