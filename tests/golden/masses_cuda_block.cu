/* pyop2cxx VERSION: masses, strategy block */

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
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      m[(i * 2 + j) * 128] += length * (i == j ? 2 : 1) / 6;
    }
  }
}

// Launched in (end - begin) blocks,
// with first_block = begin, n_elements = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
extern "C" __global__ void wrap_masses(
    const double *__restrict__ q,
    const int *__restrict__ m_row_map,
    double *__restrict__ m,
    const long *__restrict__ m_first_entry,
    const int *__restrict__ m_place,
    const unsigned short *__restrict__ m_first_summand,
    const unsigned short *__restrict__ m_summand,
    long first_block,
    long n_elements) {
  // m_first_entry [n_blocks + 1]: where the entries of the matrix, or targets of the Map, begin that a block of
  // elements adds to
  // m_place [n_entries of all blocks]: which scalar of the matrix's values that is, or which target
  // m_first_summand [n_entries + n_blocks]: where its summands begin in those of the block; one number more for each
  // block
  // m_summand [n_elements * scalars or slots of an element]: scalar of the element's matrix, or slot of its row of the
  // Map, * elements of a block + element within the block
  op2_start();
  q = (const double *)__builtin_assume_aligned(q, 16);
  m_row_map = (const int *)__builtin_assume_aligned(m_row_map, 16);
  m = (double *)__builtin_assume_aligned(m, 16);
  m_first_entry = (const long *)__builtin_assume_aligned(m_first_entry, 16);
  m_place = (const int *)__builtin_assume_aligned(m_place, 16);
  m_first_summand = (const unsigned short *)__builtin_assume_aligned(m_first_summand, 16);
  m_summand = (const unsigned short *)__builtin_assume_aligned(m_summand, 16);
  __shared__ double m_shared[512];
  __shared__ unsigned short m_own[512];
  const int block = first_block + (int)blockIdx.x;
  const int first = block * 128;
  const int n_here = (n_elements - first < 128 ? n_elements - first : 128);
  const int m_begin = m_first_entry[block];
  const int m_n_entries = m_first_entry[block + 1] - m_begin;
  #pragma unroll 4
  for (int i = (int)threadIdx.x; i < n_here * 4; i += (int)blockDim.x) {
    m_own[i] = m_summand[first * 4 + i];
  }
  for (int i = (int)threadIdx.x; i < n_here; i += (int)blockDim.x) {
    const int n = first + i;
    for (int c = 0; c < 4; ++c) {
      m_shared[c * 128 + i] = 0;
    }
    double q_pack[4];
    const int q_pack_from0 = m_row_map[n * 2] * 2;
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const int q_pack_from1 = m_row_map[n * 2 + 1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    masses(m_shared + i, q_pack);
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < m_n_entries; i += (int)blockDim.x) {
    const int place = m_place[m_begin + i];
    const int last = m_first_summand[m_begin + i + block + 1];
    double sum = 0;
    for (int k = m_first_summand[m_begin + i + block]; k < last; ++k) {
      sum += m_shared[m_own[k]];
    }
    atomicAdd(&m[place], sum);
  }
}
