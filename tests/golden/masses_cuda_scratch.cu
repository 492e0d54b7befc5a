/* pyop2cxx VERSION: masses, strategy scratch */

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void masses(double *m, const double *q) {
  double length = q[2] - q[0];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      m[i * 2 + j] += length * (i == j ? 2 : 1) / 6;
    }
  }
}

// Phase 1 of 2: The results of all elements are kept.
// Launched on lanes for (end - begin) items, or on fewer, which stride.
// m_scratch [(end - begin) * 4]: kept until the last launch
extern "C" __global__ void wrap_masses(
    const double *__restrict__ q,
    const int *__restrict__ m_row_map,
    double *__restrict__ m_scratch,
    long begin,
    long end) {
  q = (const double *)__builtin_assume_aligned(q, 16);
  m_row_map = (const int *)__builtin_assume_aligned(m_row_map, 16);
  m_scratch = (double *)__builtin_assume_aligned(m_scratch, 16);
  #pragma unroll 1
  for (int n = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); n < end; n += (int)(gridDim.x * blockDim.x)) {
    double m_pack[4] = {0};
    double q_pack[4];
    const int q_pack_from0 = m_row_map[n * 2] * 2;
    op2_start();
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const int q_pack_from1 = m_row_map[n * 2 + 1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    masses(m_pack, q_pack);
    for (int c = 0; c < 4; ++c) {
      m_scratch[n * 4 + c] = m_pack[c];
    }
  }
}

// Phase 2 of 2: then each target sums what is its own, in the order of the elements.
// Launched on lanes for sizes[0] items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0], begin = 0, end = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// m_scratch [(end - begin) * 4]: kept until the last launch
extern "C" __global__ void sum_masses(
    double *__restrict__ m,
    const long *__restrict__ m_row_start,
    const unsigned char *__restrict__ m_position,
    const int *__restrict__ incidence,
    const int *__restrict__ touched,
    long n_columns,
    long n_rows,
    const double *__restrict__ m_scratch,
    long begin,
    long end) {
  // m_row_start [n_rows + 1]: where the blocks of each row begin
  // m_position [n_elements, row slots * column slots]: where in its row an entry's block is
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  m = (double *)__builtin_assume_aligned(m, 16);
  m_row_start = (const long *)__builtin_assume_aligned(m_row_start, 16);
  m_position = (const unsigned char *)__builtin_assume_aligned(m_position, 16);
  incidence = (const int *)__builtin_assume_aligned(incidence, 16);
  touched = (const int *)__builtin_assume_aligned(touched, 16);
  m_scratch = (const double *)__builtin_assume_aligned(m_scratch, 16);
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = (touched ? touched[t] : t);
    op2_start();
    double *m_row = m + m_row_start[target];
    long next = (0 < n_columns ? incidence[t] : -1);
    for (int k = 0; k < n_columns; ++k) {
      const int entry = next;
      next = (k + 1 < n_columns ? incidence[(k + 1) * n_rows + t] : -1);
      if (-1 < entry) {
        const int n = entry / 2;
        const int o = entry - n * 2;
        for (int column = 0; column < 2; ++column) {
          m_row[m_position[n * 4 + (o * 2 + column)]] += m_scratch[n * 4 + (o * 2 + column)];
        }
      }
    }
  }
}
