// For tests/test_sanitize.py and tests/test_explain.py: memory that kernels allocate, surfaces,
// textures, a kernel that waits for ever. The argument chooses a fault; without one all is right.
#include <cstdlib>

constexpr int threads = 64;
__device__ int* kept;

__global__ void keep() {
    kept = static_cast<int*>(malloc(threads * sizeof(int)));
    for (int i = 0; i < threads; ++i) kept[i] = i;
}
__global__ void use(int fault) {
    kept[fault == 1 ? threadIdx.x / 2 : threadIdx.x] += 1;  // LINE 1
}
__global__ void drop() { free(kept); }

// One thread allocates for all.
__global__ void in_block(int* out, int fault) {
    __shared__ int* piece;
    if (threadIdx.x == 0) piece = static_cast<int*>(malloc(threads * sizeof(int)));
    __syncthreads();
    if (fault != 2 || threadIdx.x < 32) piece[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = piece[threads - 1 - threadIdx.x];  // LINE 2 3
    if (fault != 3) __syncthreads();
    if (threadIdx.x == 0) free(piece);  // LINE 3
}

// The same with new.
struct Pair {
    int first, second;
    __device__ explicit Pair(int value) : first(value), second(-value) {}
};
__global__ void with_new(int* out, int fault) {
    __shared__ Pair* pair;
    __shared__ int* piece;
    if (threadIdx.x == 0) {
        pair = new Pair(3);
        piece = new int[threads];
    }
    __syncthreads();
    piece[fault == 9 ? threadIdx.x / 2 : threadIdx.x] = static_cast<int>(threadIdx.x);  // LINE 9
    const int base = pair->second;
    __syncthreads();
    if (fault == 9) return;
    out[threadIdx.x] = piece[threads - 1 - threadIdx.x] + base;  // LINE 10
    if (fault != 10) __syncthreads();
    if (threadIdx.x == 0) {
        delete pair;
        delete[] piece;  // LINE 10
    }
}

__global__ void shift(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int fault) {
    const int x = static_cast<int>(threadIdx.x), next = (x + 1) % threads;
    const int value = surf2Dread<int>(from, next * 4, fault == 7);                // LINE 4 7
    surf2Dwrite(value, fault == 4 ? from : to, (fault == 5 ? x + 1 : x) * 4, 0);  // LINE 4 5
}
__global__ void look_up(cudaTextureObject_t texture, int* out) {
    const int next = static_cast<int>(threadIdx.x + 1) % threads;
    out[threadIdx.x] = tex1Dfetch<int>(texture, next);  // LINE 6
}
__global__ void wait_for_others(int* flag) {
    if (threadIdx.x % 2 == 0) atomicAdd(flag, 1);
    while (atomicAdd(flag, 0) < threads) {  // LINE 8
    }
}

__global__ void wait_for_plain(int* flag, int fault) {
    if (threadIdx.x == 0) {
        while (*flag == 0) {  // LINE 11 12
        }
    }
    if (fault == 11 && threadIdx.x == 1) *flag = 1;  // LINE 11
}

int main(int argc, char** argv) {
    const int fault = argc > 1 ? std::atoi(argv[1]) : 0;
    int* out;
    cudaMalloc(&out, threads * sizeof(int));
    cudaMemset(out, 0, threads * sizeof(int));
    keep<<<1, 1>>>();
    use<<<1, threads>>>(fault);
    drop<<<1, 1>>>();
    in_block<<<1, threads>>>(out, fault);
    with_new<<<1, threads>>>(out, fault);
    cudaArray_t arrays[2];
    cudaSurfaceObject_t surfaces[2];
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaResourceDesc resource{};
    for (int i = 0; i < 2; ++i) {
        cudaMallocArray(&arrays[i], &format, threads, 2, cudaArraySurfaceLoadStore);
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = arrays[i];
        cudaCreateSurfaceObject(&surfaces[i], &resource);
        cudaMemcpy2DToArray(arrays[i], 0, 0, out, sizeof(int) * threads, sizeof(int) * threads, 1,
                            cudaMemcpyDeviceToDevice);
    }
    shift<<<1, threads>>>(surfaces[0], surfaces[1], fault);
    cudaTextureDesc how{};
    cudaTextureObject_t texture;
    int* read = out;
    if (fault != 6) cudaMalloc(&read, threads * sizeof(int));
    if (fault != 6) cudaMemset(read, 0, threads * sizeof(int));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = read;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = threads * sizeof(int);
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    look_up<<<1, threads>>>(texture, out);
    if (fault == 8) cudaMemset(out, 0, sizeof(int));
    if (fault == 8) wait_for_others<<<1, threads>>>(out);
    if (fault > 10) cudaMemset(out, 0, sizeof(int));
    if (fault > 10) wait_for_plain<<<1, threads>>>(out, fault);
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; ++i) {
        cudaDestroySurfaceObject(surfaces[i]);
        cudaFreeArray(arrays[i]);
    }
    cudaDestroyTextureObject(texture);
    if (fault != 6) cudaFree(read);
    cudaFree(out);
}
