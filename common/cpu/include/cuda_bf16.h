// Numbers with the exponent of float and 8 bits of fraction (bfloat16), under CUDA's names.
#pragma once
#include "cuda_cpu/narrow.h"
#include "cuda_runtime.h"

CUDA_CPU_NARROW(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw, bfloat16,
                bfloat162, 8, 7)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
