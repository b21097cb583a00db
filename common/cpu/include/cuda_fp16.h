// Half precision under CUDA's names.
#pragma once
#include "cuda_cpu/narrow.h"
#include "cuda_runtime.h"

CUDA_CPU_NARROW(__half, __half2, __half_raw, __half2_raw, half, half2, 5, 10)
using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
