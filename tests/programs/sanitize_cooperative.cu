// For tests/test_sanitize.py: a cooperative launch in which the blocks wait for each other, and one in which they do not.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

// Each block reads what the next one has written; the second barrier is missing.
__global__ void shift(int* values, int* out, int meets) {
    const cg::grid_group grid = cg::this_grid();
    const unsigned int i = grid.thread_rank(), count = grid.size();
    values[i] = i;
    if (meets) grid.sync();
    out[i] = values[(i + blockDim.x) % count];
}

int main() {
    int *values, *out, meets = 1, races = 0;
    cudaMalloc(&values, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    void* first[] = {&values, &out, &meets};
    void* second[] = {&values, &out, &races};
    cudaLaunchCooperativeKernel(shift, 4, 32, first);
    cudaLaunchCooperativeKernel(shift, 4, 32, second);
    cudaDeviceSynchronize();
    cudaFree(values);
    cudaFree(out);
}
