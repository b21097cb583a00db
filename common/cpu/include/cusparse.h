// cuSPARSE: sparse matrices by rows (CSR), by columns (CSC) and by coordinates (COO), sparse vectors; products, triangular systems,
// incomplete factors, and their changes of form. CPU mode computes them itself; tridiagonal systems are LAPACK's.
#pragma once

#include "cuda_cpu/libraries/sparse_conversions.h"
#include "cuda_cpu/libraries/sparse_gemm.h"
#include "cuda_cpu/libraries/sparse_incomplete.h"
#include "cuda_cpu/libraries/sparse_matrices.h"
#include "cuda_cpu/libraries/sparse_older.h"
#include "cuda_cpu/libraries/sparse_products.h"
#include "cuda_cpu/libraries/sparse_sorting.h"
#include "cuda_cpu/libraries/sparse_triangular.h"
#include "cuda_cpu/libraries/sparse_vectors.h"
