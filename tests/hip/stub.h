// SPDX-License-Identifier: BSD-3-Clause
/* What generated text uses of HIP's language, so that a compiler can check it where AMD's headers
 * are not installed. */
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))

struct Triple {
  unsigned x, y, z;
};
extern const __device__ Triple threadIdx, blockIdx, blockDim, gridDim;

__device__ void __syncthreads();
__device__ void __threadfence();
template <class T>
__device__ T __shfl(T value, int lane, int width);

__device__ unsigned atomicInc(unsigned* target, unsigned limit);
template <class T>
__device__ T atomicAdd(T* target, T value);
template <class T>
__device__ T atomicMin(T* target, T value);
template <class T>
__device__ T atomicMax(T* target, T value);
template <class T>
__device__ T atomicCAS(T* target, T expected, T wanted);

__device__ double __longlong_as_double(long long bits);
__device__ long long __double_as_longlong(double value);
__device__ float __int_as_float(int bits);
__device__ int __float_as_int(float value);

__device__ double sqrt(double x);
__device__ double fabs(double x);
__device__ double fmin(double x, double y);
