/* pyop2cxx VERSION: shares, strategy atomic */
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

static __device__ inline void shares(double *r, double *total, const double *q) {
  for (int i = 0; i < 2; ++i) {
    total[i] += q[2 * i] + q[2 * i + 1];
    for (int c = 0; c < 2; ++c) {
      r[2 * i + c] += q[2 * i + c];
    }
  }
}

// Launched in (end - begin) blocks,
// with first_block = begin, n_elements = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
extern "C" __global__ void wrap_shares(
    double *__restrict__ r,
    double *__restrict__ total,
    const double *__restrict__ q,
    const int *__restrict__ r_map,
    const long *__restrict__ r_map_first_entry,
    const int *__restrict__ r_map_place,
    const unsigned short *__restrict__ r_map_first_summand,
    const unsigned short *__restrict__ r_map_summand,
    long first_block,
    long n_elements) {
  // r_map_first_entry [n_blocks + 1]: where the entries of the matrix, or targets of the Map, begin that a block of
  // elements adds to
  // r_map_place [n_entries of all blocks]: which scalar of the matrix's values that is, or which target
  // r_map_first_summand [n_entries + n_blocks]: where its summands begin in those of the block; one number more for
  // each block
  // r_map_summand [n_elements * scalars or slots of an element]: scalar of the element's matrix, or slot of its row of
  // the Map, * elements of a block + element within the block
  op2_start();
  r = (double *)__builtin_assume_aligned(r, 16);
  total = (double *)__builtin_assume_aligned(total, 16);
  q = (const double *)__builtin_assume_aligned(q, 16);
  r_map = (const int *)__builtin_assume_aligned(r_map, 16);
  r_map_first_entry = (const long *)__builtin_assume_aligned(r_map_first_entry, 16);
  r_map_place = (const int *)__builtin_assume_aligned(r_map_place, 16);
  r_map_first_summand = (const unsigned short *)__builtin_assume_aligned(r_map_first_summand, 16);
  r_map_summand = (const unsigned short *)__builtin_assume_aligned(r_map_summand, 16);
  __shared__ double r_shared[1024];
  __shared__ double total_shared[512];
  __shared__ unsigned short r_map_own[512];
  const int block = first_block + (int)blockIdx.x;
  const int first = block * 256;
  const int n_here = (n_elements - first < 256 ? n_elements - first : 256);
  const int r_map_begin = r_map_first_entry[block];
  const int r_map_n_entries = r_map_first_entry[block + 1] - r_map_begin;
  #pragma unroll 4
  for (int i = (int)threadIdx.x; i < n_here * 2; i += (int)blockDim.x) {
    r_map_own[i] = r_map_summand[first * 2 + i];
  }
  for (int i = (int)threadIdx.x; i < n_here; i += (int)blockDim.x) {
    const int n = first + i;
    int r_map_row[2];
    op2_fetch<2>(r_map_row, r_map + n * 2);
    double r_pack[4] = {0};
    double total_pack[2] = {0};
    double q_pack[4];
    const int q_pack_from0 = r_map_row[0] * 2;
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const int q_pack_from1 = r_map_row[1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    shares(r_pack, total_pack, q_pack);
    for (int c = 0; c < 4; ++c) {
      r_shared[(c % 2 * 2 + c / 2) * 256 + i] = r_pack[c];
    }
    for (int c = 0; c < 2; ++c) {
      total_shared[c * 256 + i] = total_pack[c];
    }
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < r_map_n_entries * 2; i += (int)blockDim.x) {
    const int place = r_map_place[r_map_begin + i / 2];
    const int last = r_map_first_summand[r_map_begin + i / 2 + block + 1];
    double sum = 0;
    for (int k = r_map_first_summand[r_map_begin + i / 2 + block]; k < last; ++k) {
      sum += r_shared[i % 2 * 512 + r_map_own[k]];
    }
    atomicAdd(&r[place * 2 + i % 2], sum);
  }
  for (int i = (int)threadIdx.x; i < r_map_n_entries; i += (int)blockDim.x) {
    const int place = r_map_place[r_map_begin + i];
    const int last = r_map_first_summand[r_map_begin + i + block + 1];
    double sum = 0;
    for (int k = r_map_first_summand[r_map_begin + i + block]; k < last; ++k) {
      sum += total_shared[r_map_own[k]];
    }
    atomicAdd(&total[place], sum);
  }
}
