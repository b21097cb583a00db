// cuBLAS on a BLAS of the system: columns first, as both have it. What a call is given is checked as cuBLAS
// checks it, then the call joins the handle's stream.
#pragma once

#include "cuda_cpu/libraries/blas_batched.h"
#include "cuda_cpu/libraries/blas_batched_solve.h"
#include "cuda_cpu/libraries/blas_handle.h"
#include "cuda_cpu/libraries/blas_level1.h"
#include "cuda_cpu/libraries/blas_level2.h"
#include "cuda_cpu/libraries/blas_level3.h"
#include "cuda_cpu/libraries/blas_more.h"
#include "cuda_cpu/libraries/blas_types.h"
