/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launches of small kernels under OpenCL: a kernel object a launch, whose arguments are set once; a
 * command buffer (cl_khr_command_buffer) of the same launches; and one kernel object, whose
 * arguments are set before each launch.
 *
 *   cc -O2 command_buffers.c -lOpenCL -o command_buffers && ./command_buffers 20 64 300
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define MOST 2000

typedef void *Buffer;
typedef Buffer (*Create)(cl_uint, const cl_command_queue *, const intptr_t *, cl_int *);
typedef cl_int (*Command)(Buffer, cl_command_queue, const cl_ulong *, cl_kernel, cl_uint,
                          const size_t *, const size_t *, const size_t *, cl_uint, const cl_uint *,
                          cl_uint *, void **);
typedef cl_int (*Finalize)(Buffer);
typedef cl_int (*Enqueue)(cl_uint, cl_command_queue *, Buffer, cl_uint, const cl_event *,
                          cl_event *);

static const char *const source =
    "kernel void add(global double *x, global const double *y) {\n"
    "  size_t i = get_global_id(0);\n"
    "  x[i] += y[i];\n"
    "}\n";

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(cl_int status, const char *doing) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "cannot %s: %d\n", doing, status);
  exit(1);
}

static void set(cl_kernel kernel, cl_mem x, cl_mem y) {
  check(clSetKernelArg(kernel, 0, sizeof x, &x), "set an argument");
  check(clSetKernelArg(kernel, 1, sizeof y, &y), "set an argument");
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s LAUNCHES ITEMS ROUNDS\n", argv[0]);
    return 2;
  }
  const int n = atoi(argv[1]);
  const size_t items = (size_t)atoll(argv[2]), local = 64;
  if (n < 1 || n > MOST || items == 0 || items % local != 0) {
    fprintf(stderr, "1 to %d launches of a multiple of %zu items\n", MOST, local);
    return 2;
  }
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  check(clGetPlatformIDs(1, &platform, NULL), "find a platform");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "find a device");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "make a context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "make a queue");
  cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &status);
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "compile");
  cl_mem memory[2];
  for (int i = 0; i < 2; ++i) {
    memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, 8 * items, NULL, &status);
    check(status, "allocate");
  }
  static cl_kernel kernels[MOST];
  for (int i = 0; i < n; ++i) {
    kernels[i] = clCreateKernel(program, "add", &status);
    check(status, "find the kernel");
    set(kernels[i], memory[i % 2], memory[(i + 1) % 2]);
  }
#define FUNCTION(type, name) (type) clGetExtensionFunctionAddressForPlatform(platform, name)
  const Create create = FUNCTION(Create, "clCreateCommandBufferKHR");
  const Command command = FUNCTION(Command, "clCommandNDRangeKernelKHR");
  const Finalize finalize = FUNCTION(Finalize, "clFinalizeCommandBufferKHR");
  const Enqueue enqueue = FUNCTION(Enqueue, "clEnqueueCommandBufferKHR");
  if (!create || !command || !finalize || !enqueue) {
    fprintf(stderr, "the platform has no command buffers\n");
    return 1;
  }
  Buffer recorded = create(1, &queue, NULL, &status);
  check(status, "make a command buffer");
  for (int i = 0; i < n; ++i) {
    cl_uint point;
    check(command(recorded, NULL, NULL, kernels[i], 1, NULL, &items, &local, 0, NULL, &point, NULL),
          "record a launch");
  }
  check(finalize(recorded), "end the recording");

  double best[3] = {1e9, 1e9, 1e9};
  for (int round = 0; round < atoi(argv[3]); ++round) {
    for (int way = 0; way < 3; ++way) {
      check(clFinish(queue), "wait");
      const double start = now();
      if (way == 1) check(enqueue(1, &queue, recorded, 0, NULL, NULL), "replay");
      for (int i = 0; way != 1 && i < n; ++i) {
        cl_kernel kernel = way == 0 ? kernels[i] : kernels[0];
        if (way == 2) set(kernel, memory[i % 2], memory[(i + 1) % 2]);
        check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &local, 0, NULL, NULL),
              "launch");
      }
      check(clFinish(queue), "wait");
      const double took = now() - start;
      if (took < best[way]) best[way] = took;
    }
  }
  printf("%d launches of %zu items, us a launch: bound once %.2f, command buffer %.2f, bound each "
         "time %.2f\n",
         n, items, 1e6 * best[0] / n, 1e6 * best[1] / n, 1e6 * best[2] / n);
  return 0;
}
