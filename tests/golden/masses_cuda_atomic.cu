/* pyop2cxx VERSION: masses, strategy atomic */
/* n indices in one word, which stays in no cache for longer than it must. */
template <int n>
static __device__ inline void op2_fetch(int *to, const int *from) {
  if (n == 4) {
    const int4 word = __ldcs((const int4 *)from);
    to[0] = word.x, to[1] = word.y, to[2] = word.z, to[3] = word.w;
  } else if (n == 2) {
    const int2 word = __ldcs((const int2 *)from);
    to[0] = word.x, to[1] = word.y;
  } else {
    to[0] = __ldcs(from);
  }
}

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

// Launched on lanes for (end - begin) items, or on fewer, which stride.
extern "C" __global__ void wrap_masses(
    const double *__restrict__ q,
    const int *__restrict__ m_row_map,
    double *__restrict__ m,
    const long *__restrict__ m_row_start,
    const unsigned char *__restrict__ m_position,
    long begin,
    long end) {
  // m_row_start [n_rows + 1]: where the blocks of each row begin
  // m_position [n_elements, row slots * column slots]: where in its row an entry's block is
  op2_start();
  q = (const double *)__builtin_assume_aligned(q, 16);
  m_row_map = (const int *)__builtin_assume_aligned(m_row_map, 16);
  m = (double *)__builtin_assume_aligned(m, 16);
  m_row_start = (const long *)__builtin_assume_aligned(m_row_start, 16);
  m_position = (const unsigned char *)__builtin_assume_aligned(m_position, 16);
  #pragma unroll 1
  for (int n = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); n < end; n += (int)(gridDim.x * blockDim.x)) {
    int m_row_map_row[2];
    op2_fetch<2>(m_row_map_row, m_row_map + n * 2);
    double m_pack[4] = {0};
    double q_pack[4];
    const double *q_pack_from0 = q + m_row_map_row[0] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    const double *q_pack_from1 = q + m_row_map_row[1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    masses(m_pack, q_pack);
    double *m_pack_to0 = m + m_row_start[m_row_map[n * 2]];
    atomicAdd(&m_pack_to0[m_position[n * 4]], m_pack[0]);
    atomicAdd(&m_pack_to0[m_position[n * 4 + 1]], m_pack[1]);
    double *m_pack_to1 = m + m_row_start[m_row_map[n * 2 + 1]];
    atomicAdd(&m_pack_to1[m_position[n * 4 + 2]], m_pack[2]);
    atomicAdd(&m_pack_to1[m_position[n * 4 + 3]], m_pack[3]);
  }
}
