// The CUDA runtime on the CPU: the header that a lab includes under its CUDA name when it is built
// by common/cpu/compile.sh. What a lab may use of CUDA is declared in the five parts below; what
// happens behind it is in common/cpu/runtime.cpp. docs/cpu-mode.md says what is left out.
#pragma once

#define CUDART_VERSION 13000
// The include guards of CUDA's own headers: NVIDIA's helper_cuda.h asks by them what there is.
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__

// What nvcc includes by itself.
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_cpu/api.h"                // cudaMalloc, cudaMemcpy, streams, events
#include "cuda_cpu/atomics.h"            // atomicAdd, ...
#include "cuda_cpu/cached_loads.h"       // __ldg, __stcs, ...
#include "cuda_cpu/device.h"             // barriers, warp primitives
#include "cuda_cpu/device_properties.h"  // cudaGetDeviceProperties, ...
#include "cuda_cpu/errors.h"             // cudaError_t
#include "cuda_cpu/graphs.h"             // cudaGraphCreate, cudaStreamBeginCapture, ...
#include "cuda_cpu/launch.h"        // threadIdx and its kin; what k<<<grid, block>>>(...) becomes
#include "cuda_cpu/launch_calls.h"  // cudaLaunchKernel, cudaLaunchKernelEx, ...
#include "cuda_cpu/math.h"          // the intrinsics and the overloads of min and max
#include "cuda_cpu/matrix_lanes.h"  // mma and ldmatrix of PTX
#include "cuda_cpu/older.h"         // what CUDA 13 has taken away
#include "cuda_cpu/pools.h"         // memory pools, attributes of streams
#include "cuda_cpu/ptx.h"           // what inline PTX becomes
#include "cuda_cpu/rounding.h"      // __fadd_rd and its kin
#include "cuda_cpu/shared_addresses.h"    // addresses as PTX has them, barriers by numbers
#include "cuda_cpu/shared_memory.h"       // __shared__
#include "cuda_cpu/small_calls.h"         // calls that follow from others
#include "cuda_cpu/texture_references.h"  // textures, surfaces, arrays, memory of three dimensions
#include "cuda_cpu/types.h"  // dim3, float4, ... and the qualifiers __global__, __device__, ...
#include "cuda_cpu/video.h"  // the intrinsics on the bytes and halves of a word
