// libcu++'s own, which is compiled for the host even where FLAGS=-D__CUDACC__ is given for a program's sake.
#pragma once
#pragma push_macro("__CUDACC__")
#pragma push_macro("__NVCC__")
#undef __CUDACC__
#undef __NVCC__
#include_next <cuda/std/__cccl/compiler.h>
#pragma pop_macro("__NVCC__")
#pragma pop_macro("__CUDACC__")
