// Feature: launches from kernels | grids that launch grids, a recursive quicksort, streams of the device, `cudaStreamTailLaunch`, `cudaStreamFireAndForget`
// Flags: -rdc=true
#include "../runtime_expect.h"

__global__ void quicksort(int* values, int left, int right, int depth) {
    if (left >= right) return;
    const int middle = values[(left + right) / 2];
    int low = left, high = right;
    while (low <= high) {
        while (values[low] < middle) ++low;
        while (values[high] > middle) --high;
        if (low > high) break;
        const int kept = values[low];
        values[low++] = values[high], values[high--] = kept;
    }
    if (depth > 20) return;
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, streams[0]>>>(values, left, high, depth + 1);
    quicksort<<<1, 1, 0, streams[1]>>>(values, low, right, depth + 1);
    for (const cudaStream_t stream : streams) cudaStreamDestroy(stream);
}

__global__ void fill(int* out, int value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int* out, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += out[i];
    out[count] = sum;
}
// The sum comes when all that this grid has launched is done.
__global__ void parent(int* out) {
    fill<<<2, 16, 0, cudaStreamFireAndForget>>>(out + 32 * threadIdx.x, int(threadIdx.x) + 1);
    if (threadIdx.x == 0) add<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 64);
}
template <int depth>
__global__ void tree(int* leaves) {
    if constexpr (depth == 0) {
        atomicAdd(leaves, 1);
    } else {
        if (threadIdx.x < 2) tree<depth - 1><<<1, 32>>>(leaves);
    }
}

int main() {
    constexpr int count = 64;
    int* values = nullptr;
    SUCCEEDS(cudaMallocManaged(&values, (count + 1) * sizeof(int)));
    for (int i = 0; i < count; ++i) values[i] = i * 37 % count;
    quicksort<<<1, 1>>>(values, 0, count - 1, 0);
    EXPECT_RUN();
    for (int i = 0; i < count; ++i) EXPECT(values[i] == i);
    parent<<<1, 2>>>(values);
    EXPECT_RUN();
    EXPECT(values[0] == 1 && values[63] == 2 && values[64] == 96);
    int* leaves = zeros<int>(1);
    tree<3><<<1, 32>>>(leaves);
    EXPECT_RUN();
    EXPECT(read_back(leaves) == 8 * 32);
    printf("ok\n");
}
