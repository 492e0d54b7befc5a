/* pyop2cxx VERSION: lowest, strategy block */
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

__kernel void wrap_lowest(
    __global const double *restrict q,
    __global double *restrict low,
    __global const double *restrict lowest_of_all,
    __global double *restrict lowest_of_all_partial,
    __global const int *restrict q_map,
    __global const int *restrict low_ind_map,
    __global const ushort *restrict low_loc_map,
    __global const int *restrict ind_sizes,
    __global const long *restrict ind_offs,
    __global const int *restrict blkmap,
    __global const long *restrict offset,
    __global const int *restrict nelems,
    __global const int *restrict nthrcol,
    __global const int *restrict thrcol,
    long block_offset,
    long slot) {
  __local double lowest_of_all_tree[256];
  double lowest_of_all_lane[1];
  for (int c = 0; c < 1; ++c) {
    lowest_of_all_lane[c] = lowest_of_all[c];
  }
  __local double low_shared[512];
  const int block = blkmap[block_offset + (int)get_group_id(0)];
  const int first = offset[block];
  const int last = first + nelems[block];
  for (int i = (int)get_local_id(0); i < ind_sizes[block]; i += (int)get_local_size(0)) {
    low_shared[i] = low[low_ind_map[ind_offs[block] + i]];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int k = 0; k < (last - first + (int)get_local_size(0) - 1) / (int)get_local_size(0); ++k) {
    const int n = first + k * (int)get_local_size(0) + (int)get_local_id(0);
    double q_pack[4];
    double low_pack[2];
    double lowest_of_all_pack[1];
    if (n < last) {
      __global const double *q_pack_from0 = q + q_map[n * 2] * 2;
      q_pack[0] = q_pack_from0[0];
      q_pack[1] = q_pack_from0[1];
      __global const double *q_pack_from1 = q + q_map[n * 2 + 1] * 2;
      q_pack[2] = q_pack_from1[0];
      q_pack[3] = q_pack_from1[1];
      __global const double *low_pack_from0 = low + q_map[n * 2];
      low_pack[0] = low_pack_from0[0];
      __global const double *low_pack_from1 = low + q_map[n * 2 + 1];
      low_pack[1] = low_pack_from1[0];
      for (int c = 0; c < 1; ++c) {
        lowest_of_all_pack[c] = lowest_of_all_lane[c];
      }
      lowest(q_pack, low_pack, lowest_of_all_pack);
      for (int c = 0; c < 1; ++c) {
        if (lowest_of_all_pack[c] < lowest_of_all_lane[c]) {
          lowest_of_all_lane[c] = lowest_of_all_pack[c];
        }
      }
    }
    const int own_colour = (n < last ? thrcol[n] : -1);
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int low_pack_to0 = low_loc_map[n * 2];
        if (low_pack[0] < low_shared[low_pack_to0]) {
          low_shared[low_pack_to0] = low_pack[0];
        }
        const int low_pack_to1 = low_loc_map[n * 2 + 1];
        if (low_pack[1] < low_shared[low_pack_to1]) {
          low_shared[low_pack_to1] = low_pack[1];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
  }
  for (int i = (int)get_local_id(0); i < ind_sizes[block]; i += (int)get_local_size(0)) {
    if (low_shared[i] < low[low_ind_map[ind_offs[block] + i]]) {
      low[low_ind_map[ind_offs[block] + i]] = low_shared[i];
    }
  }
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      lowest_of_all_tree[c * 256 + lane] = lowest_of_all[c];
    }
  }
  for (int c = 0; c < 1; ++c) {
    lowest_of_all_tree[c * 256 + (int)get_local_id(0)] = lowest_of_all_lane[c];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 128)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 128)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 64)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 64)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 32)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 32)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 16)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 16)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 8)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 8)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 4)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 4)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 2)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 2)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 1)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 1)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    for (int c = 0; c < 1; ++c) {
      lowest_of_all_partial[slot + (int)get_group_id(0) + c] = lowest_of_all_tree[c * 256];
    }
  }
}

__kernel void finish_lowest(
    __global double *restrict lowest_of_all,
    __global const double *restrict lowest_of_all_partial,
    long n_slots) {
  __local double lowest_of_all_tree[256];
  double lowest_of_all_lane[1];
  for (int c = 0; c < 1; ++c) {
    lowest_of_all_lane[c] = lowest_of_all[c];
  }
  for (int k = (int)get_local_id(0); k < n_slots; k += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_partial[k + c] < lowest_of_all_lane[c]) {
        lowest_of_all_lane[c] = lowest_of_all_partial[k + c];
      }
    }
  }
  for (int lane = (int)get_local_size(0) + (int)get_local_id(0); lane < 256; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      lowest_of_all_tree[c * 256 + lane] = lowest_of_all[c];
    }
  }
  for (int c = 0; c < 1; ++c) {
    lowest_of_all_tree[c * 256 + (int)get_local_id(0)] = lowest_of_all_lane[c];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 128; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 128)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 128)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 64; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 64)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 64)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 32; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 32)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 32)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 16; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 16)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 16)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 8; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 8)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 8)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 4; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 4)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 4)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 2; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 2)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 2)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int lane = (int)get_local_id(0); lane < 1; lane += (int)get_local_size(0)) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256 + (lane + 1)] < lowest_of_all_tree[c * 256 + lane]) {
        lowest_of_all_tree[c * 256 + lane] = lowest_of_all_tree[c * 256 + (lane + 1)];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((int)get_local_id(0) == 0) {
    for (int c = 0; c < 1; ++c) {
      if (lowest_of_all_tree[c * 256] < lowest_of_all[c]) {
        lowest_of_all[c] = lowest_of_all_tree[c * 256];
      }
    }
  }
}
