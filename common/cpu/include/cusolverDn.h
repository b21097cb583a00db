// cuSOLVER's dense part on a LAPACK of the system: columns first, as both have it. A call works in the memory that
// its bufferSize has asked for, as far as LAPACK needs any.
#pragma once

#include "cuda_cpu/libraries/solver_batched.h"
#include "cuda_cpu/libraries/solver_eigen.h"
#include "cuda_cpu/libraries/solver_factors.h"
#include "cuda_cpu/libraries/solver_handle.h"
#include "cuda_cpu/libraries/solver_singular.h"
#include "cuda_cpu/libraries/solver_x.h"
