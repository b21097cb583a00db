// A transposition with three mistakes: what make explain says of them is in docs/explain.md.
#include <cuda_runtime.h>

constexpr int side = 512, tile_side = 32;

__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[tile_side][tile_side];
    const int x = blockIdx.x * tile_side + threadIdx.x, y = blockIdx.y * tile_side + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * side + x];
    __syncthreads();
    out[(blockIdx.x * tile_side + threadIdx.y) * side + blockIdx.y * tile_side + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_naive(const float* in, float* out, int* nonzero) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float value = in[y * side + x];
    out[x * side + y] = value;
    if (threadIdx.x % 2 == 0 && value != 0) atomicAdd(nonzero, 1);
}

int main() {
    float *in = nullptr, *out = nullptr;
    int* nonzero = nullptr;
    cudaMalloc(&in, sizeof(float) * side * side);
    cudaMalloc(&out, sizeof(float) * side * side);
    cudaMalloc(&nonzero, sizeof(int));
    cudaMemset(in, 1, sizeof(float) * side * side);
    const dim3 block(32, 8), tiles(side / tile_side, side / tile_side);
    transpose_naive<<<dim3(side / 32, side / 8), block>>>(in, out, nonzero);
    transpose<<<tiles, dim3(tile_side, tile_side)>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
