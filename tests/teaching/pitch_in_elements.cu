// expect: bounds 9
// The pitch counts bytes; as a number of elements it leads past the end of the matrix.

#include "../../common/lab.h"

__global__ void fill_rows(float* matrix, size_t pitch, int width) {
    const int row = blockIdx.x, column = threadIdx.x;
    float* const start = matrix + row * pitch;
    if (column < width) start[column] = row;
}

int main() {
    constexpr int width = 50, height = 16;
    float* matrix = nullptr;
    size_t pitch = 0;
    float h_matrix[height][width];
    CHECK(cudaMallocPitch(&matrix, &pitch, width * sizeof(float), height));
    fill_rows<<<height, 64>>>(matrix, pitch, width);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy2D(h_matrix, width * sizeof(float), matrix, pitch, width * sizeof(float),
                       height, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(matrix));
    for (int row = 0; row < height; ++row) {
        if (h_matrix[row][width - 1] != row) return 1;
    }
    return 0;
}
