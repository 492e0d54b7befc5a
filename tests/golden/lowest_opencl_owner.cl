/* pyop2cxx VERSION: lowest, strategy owner */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline double least(double a, double b) {
  return fmin(a, b);
}

static inline void lowest(const double *q, double *low, double *lowest_of_all) {
  double value = least(q[0], q[2]);
  for (int i = 0; i < 2; ++i) {
    if (value < low[i]) {
      low[i] = value;
    }
  }
  if (value < lowest_of_all[0]) {
    lowest_of_all[0] = value;
  }
}

// Phase 1 of 2.
// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0], slot = n_slots.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// n_slots = 0, then n_slots + (blocks for end - begin)
// lowest_of_all_partial [blocks for end - begin]: kept until the last launch
__kernel void wrap_lowest(
    __global const double *restrict q,
    __global double *restrict low,
    __global const double *restrict lowest_of_all,
    __global double *restrict lowest_of_all_partial,
    __global const int *restrict q_map,
    __global const int *restrict incidence,
    __global const int *restrict touched,
    long n_columns,
    long n_rows,
    long begin,
    long end,
    long slot) {
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  __local double lowest_of_all_tree[256];
  double lowest_of_all_lane[1];
  lowest_of_all_lane[0] = lowest_of_all[0];
  for (int t = begin + (int)get_global_id(0); t < end; t += (int)get_global_size(0)) {
    const int target = (touched ? touched[t] : t);
    double low_own[1];
    low_own[0] = low[target];
    // Every element that leads to the target, for what the target gets of it.
    long next = (0 < n_columns ? incidence[t] : -1);
    for (int k = 0; k < n_columns; ++k) {
      const int entry = next;
      next = (k + 1 < n_columns ? incidence[(k + 1) * n_rows + t] : -1);
      if (-1 < entry) {
        const int n = entry / 2;
        const int o = entry - n * 2;
        double q_pack[4];
        const int q_pack_from0 = q_map[n * 2] * 2;
        q_pack[0] = q[q_pack_from0];
        q_pack[1] = q[q_pack_from0 + 1];
        const int q_pack_from1 = q_map[n * 2 + 1] * 2;
        q_pack[2] = q[q_pack_from1];
        q_pack[3] = q[q_pack_from1 + 1];
        double low_pack[2];
        for (int i = 0; i < 2; ++i) {
          low_pack[i] = low_own[0];
        }
        double lowest_of_all_pack[1];
        lowest_of_all_pack[0] = lowest_of_all_lane[0];
        lowest(q_pack, low_pack, lowest_of_all_pack);
        if ((o == 0 ? low_pack[0] : low_pack[1]) < low_own[0]) {
          low_own[0] = (o == 0 ? low_pack[0] : low_pack[1]);
        }
        if (lowest_of_all_pack[0] < lowest_of_all_lane[0]) {
          lowest_of_all_lane[0] = lowest_of_all_pack[0];
        }
      }
    }
    low[target] = low_own[0];
  }
  // The values of the block's lanes become one.
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    lowest_of_all_tree[lane] = lowest_of_all[0];
  }
  lowest_of_all_tree[(int)get_local_id(0)] = lowest_of_all_lane[0];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 128] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 128];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 64] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 64];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 32] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 32];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 16] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 16];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 8] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 8];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 4] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 4];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 2] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 2];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 1] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 1];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    lowest_of_all_partial[slot + (int)get_group_id(0)] = lowest_of_all_tree[0];
  }
}

// Phase 2 of 2: The values of all blocks become one.
// Launched in one block.
// n_slots = 0, then n_slots + (blocks for end - begin)
// lowest_of_all_partial [blocks for end - begin]: kept until the last launch
__kernel void finish_lowest(
    __global double *restrict lowest_of_all,
    __global const double *restrict lowest_of_all_partial,
    long n_slots) {
  __local double lowest_of_all_tree[256];
  double lowest_of_all_lane[1];
  lowest_of_all_lane[0] = lowest_of_all[0];
  for (int k = (int)get_local_id(0); k < n_slots; k += (int)get_local_size(0)) {
    if (lowest_of_all_partial[k] < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_partial[k];
    }
  }
  // The values of the block's lanes become one.
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    lowest_of_all_tree[lane] = lowest_of_all[0];
  }
  lowest_of_all_tree[(int)get_local_id(0)] = lowest_of_all_lane[0];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 128] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 128];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 64] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 64];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 32] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 32];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 16] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 16];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 8] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 8];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 4] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 4];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 2] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 2];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    if (lowest_of_all_tree[lane + 1] < lowest_of_all_tree[lane]) {
      lowest_of_all_tree[lane] = lowest_of_all_tree[lane + 1];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    if (lowest_of_all_tree[0] < lowest_of_all[0]) {
      lowest_of_all[0] = lowest_of_all_tree[0];
    }
  }
}
