// cuSPARSE: sparse matrices by rows (CSR), by columns (CSC) and by coordinates (COO), their products with dense
// vectors and matrices, and their changes of form. CPU mode computes them itself.
#pragma once

#include "cuda_cpu/libraries/sparse_conversions.h"
#include "cuda_cpu/libraries/sparse_matrices.h"
#include "cuda_cpu/libraries/sparse_products.h"
