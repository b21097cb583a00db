// expect: silent
// A guard in both directions.

#include <vector>

#include "../../common/lab.h"

__global__ void add_one(int* matrix, int width, int height) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < height && column < width) matrix[row * width + column] += 1;
}

int main() {
    constexpr int width = 60, height = 40;
    std::vector<int> h_matrix(width * height);
    lab::DeviceArray<int> matrix(width * height);
    CHECK(cudaMemset(matrix.get(), 0, matrix.bytes()));
    add_one<<<dim3(4, 8), dim3(16, 8)>>>(matrix.get(), width, height);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_matrix.data(), matrix.get(), matrix.bytes(), cudaMemcpyDeviceToHost));
    for (const int value : h_matrix) {
        if (value != 1) return 1;
    }
    return 0;
}
