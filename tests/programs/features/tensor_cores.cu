// Feature: tensor cores | `wmma` fragments of half, `__nv_bfloat16`, tf32, 8-bit integers and double in their shapes: load, fill, `mma_sync`, store, elements
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

#include "../runtime_expect.h"

using namespace nvcuda;

// Small whole numbers, so that each sum is exact; A by rows and B by columns, with gaps between the lines.
__host__ __device__ inline int number(int i) { return i * 37 % 13 - 6; }

template <int m, int n, int k, class Number, class Kept, class Sum, class LayoutA, class LayoutB>
__global__ void multiply(const Kept* A, const Kept* B, const Sum* C, Sum* D, int leading,
                         wmma::layout_t layout) {
    wmma::fragment<wmma::matrix_a, m, n, k, Number, LayoutA> a;
    wmma::fragment<wmma::matrix_b, m, n, k, Number, LayoutB> b;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> c, d;
    wmma::load_matrix_sync(a, A, leading);
    wmma::load_matrix_sync(b, B, leading);
    wmma::load_matrix_sync(c, C, leading, layout);
    for (int i = 0; i < c.num_elements; ++i) c.x[i] = c.x[i] + c.x[i];
    wmma::fill_fragment(d, Sum(0));
    wmma::mma_sync(d, a, b, c);
    wmma::mma_sync(d, a, b, d);
    wmma::store_matrix_sync(D, d, leading, layout);
}

template <int m, int n, int k, class Number, class Kept, class Sum, class LayoutA, class LayoutB>
void expect_product(wmma::layout_t layout) {
    const int leading = 48;
    Kept *A, *B;
    Sum *C, *D;
    SUCCEEDS(cudaMallocManaged(&A, leading * leading * sizeof(Kept)));
    SUCCEEDS(cudaMallocManaged(&B, leading * leading * sizeof(Kept)));
    SUCCEEDS(cudaMallocManaged(&C, leading * leading * sizeof(Sum)));
    SUCCEEDS(cudaMallocManaged(&D, leading * leading * sizeof(Sum)));
    const int shift = std::is_unsigned<Kept>::value ? 6 : 0;
    for (int i = 0; i < leading * leading; ++i) {
        A[i] = Kept(float(number(i) + shift));
        B[i] = Kept(float(number(i + 5) + shift));
        C[i] = Sum(number(i + 9));
        D[i] = Sum(-1);
    }
    multiply<m, n, k, Number, Kept, Sum, LayoutA, LayoutB><<<1, 32>>>(A, B, C, D, leading, layout);
    EXPECT_RUN();
    const bool rows_A = std::is_same<LayoutA, wmma::row_major>::value,
               rows_B = std::is_same<LayoutB, wmma::row_major>::value;
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
            const int place =
                layout == wmma::mem_row_major ? row * leading + column : column * leading + row;
            float sum = 2 * number(place + 9);
            for (int j = 0; j < k; ++j) {
                const int at_A = rows_A ? row * leading + j : j * leading + row,
                          at_B = rows_B ? j * leading + column : column * leading + j;
                sum += 2.0f * float(number(at_A) + shift) * float(number(at_B + 5) + shift);
            }
            EXPECT(float(D[place]) == sum);
        }
    EXPECT(float(D[leading - 1]) == -1);
    SUCCEEDS(cudaFree(A));
    SUCCEEDS(cudaFree(B));
    SUCCEEDS(cudaFree(C));
    SUCCEEDS(cudaFree(D));
}

int main() {
    using wmma::col_major;
    using wmma::row_major;
    expect_product<16, 16, 16, __half, __half, float, row_major, col_major>(wmma::mem_row_major);
    expect_product<32, 8, 16, __half, __half, float, col_major, row_major>(wmma::mem_col_major);
    expect_product<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, row_major>(
        wmma::mem_row_major);
    expect_product<16, 16, 8, wmma::precision::tf32, float, float, row_major, col_major>(
        wmma::mem_row_major);
    expect_product<8, 32, 16, unsigned char, unsigned char, int, row_major, col_major>(
        wmma::mem_row_major);
    expect_product<8, 8, 4, double, double, double, row_major, col_major>(wmma::mem_row_major);
    std::puts("ok");
}
