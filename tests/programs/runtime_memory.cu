// Memory: kinds, copies in every direction, ranges, what is refused.
#include <cstring>
#include <vector>

#include "runtime_expect.h"

constexpr int count = 1000;
constexpr size_t bytes = count * sizeof(int);

__managed__ int managed_total = 3;
__device__ __managed__ float managed_row[4];

__global__ void add_kernel(int* values, int amount) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] += amount;
}
__global__ void managed_kernel(int* total) {
    atomicAdd(total, 1);
    managed_row[threadIdx.x % 4] = threadIdx.x % 4;
}
__global__ void pitched_kernel(char* rows, size_t pitch, int width, int height) {
    for (int y = threadIdx.y; y < height; y += blockDim.y) {
        float* const row = reinterpret_cast<float*>(rows + y * pitch);
        for (int x = threadIdx.x; x < width; x += blockDim.x) row[x] = 100 * y + x;
    }
}
__global__ void node_kernel(int** rows, const int* begin, const int* end) {
    for (const int* value = begin; value != end; ++value) *rows[0] += *value;
}

void check_kinds() {
    int *device, *managed, *pinned, *mapped, *alias, host[count];
    SUCCEEDS(cudaMalloc(&device, bytes));
    SUCCEEDS(cudaMallocManaged(&managed, bytes));
    SUCCEEDS(cudaMallocHost(&pinned, bytes));
    SUCCEEDS(cudaHostAlloc(&mapped, bytes, cudaHostAllocMapped));
    SUCCEEDS(cudaHostGetDevicePointer(&alias, mapped, 0));
    EXPECT(reinterpret_cast<size_t>(device) % 256 == 0);
    for (int i = 0; i < count; ++i) host[i] = managed[i] = pinned[i] = mapped[i] = i;

    // The kernel sees and changes each kind; managed and mapped memory shows it without a copy.
    SUCCEEDS(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    for (int* const values : {device, managed, alias}) add_kernel<<<4, 256>>>(values, 5);
    EXPECT_RUN();
    EXPECT(managed[7] == 12 && mapped[7] == 12 && read_back(device + 7) == 12);

    // Blocking copies are done when they return, whatever the memory of the host is.
    for (int* const target : {host, pinned, managed}) {
        std::memset(target, 0, bytes);
        add_kernel<<<4, 256>>>(device, 1);
        SUCCEEDS(cudaMemcpy(target, device, bytes, cudaMemcpyDeviceToHost));
        EXPECT(target[count - 1] == read_back(device + count - 1) && target[0] != 0);
        std::memset(target, 0, bytes);
        SUCCEEDS(cudaMemcpy(target, device, bytes, cudaMemcpyDefault));
        EXPECT(target[count - 1] == read_back(device + count - 1));
        SUCCEEDS(cudaMemcpy(device, target, bytes, cudaMemcpyHostToDevice));
        SUCCEEDS(cudaMemcpy(device, target, bytes, cudaMemcpyDefault));
    }
    int* const second = zeros<int>(count);
    SUCCEEDS(cudaMemcpy(second, device, bytes, cudaMemcpyDeviceToDevice));
    SUCCEEDS(cudaMemcpy(second + 1, second + 500, 8, cudaMemcpyDefault));
    EXPECT(read_back(second + 2) == read_back(device + 501));
    SUCCEEDS(cudaMemcpy(host, pinned, bytes, cudaMemcpyHostToHost));
    SUCCEEDS(cudaMemset(managed, 1, 8));
    EXPECT(managed[1] == 0x01010101);

    SUCCEEDS(cudaHostRegister(host, bytes, cudaHostRegisterDefault));
    SUCCEEDS(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(host[5] == read_back(device + 5));
    FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, bytes, 0));
    SUCCEEDS(cudaHostUnregister(host));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));

    cudaPointerAttributes attributes;
    SUCCEEDS(cudaPointerGetAttributes(&attributes, device + 3));
    EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device + 3);
    SUCCEEDS(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    SUCCEEDS(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT(attributes.type == cudaMemoryTypeHost);
    SUCCEEDS(cudaPointerGetAttributes(&attributes, host));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);

    for (int* const values : {device, managed, second}) SUCCEEDS(cudaFree(values));
    for (int* const values : {pinned, mapped}) SUCCEEDS(cudaFreeHost(values));
    SUCCEEDS(cudaFree(nullptr));
    SUCCEEDS(cudaFreeHost(nullptr));
}

void check_managed_variables() {
    managed_kernel<<<3, 32>>>(&managed_total);
    EXPECT_RUN();
    EXPECT(managed_total == 99 && managed_row[3] == 3);
    int copy = 0;
    SUCCEEDS(cudaMemcpy(&copy, &managed_total, sizeof copy, cudaMemcpyDeviceToHost));
    EXPECT(copy == 99);
#ifdef CUDA_ON_CPU
    SUCCEEDS(cudaMemPrefetchAsync(&managed_total, sizeof(int), 0));
    SUCCEEDS(cudaMemAdvise(managed_row, sizeof managed_row, cudaMemAdviseSetReadMostly, 0));
#endif
    int* const device = zeros<int>(1);
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
    SUCCEEDS(cudaMemPrefetchAsync(&managed_total, sizeof(int), here, 0, nullptr));
    SUCCEEDS(cudaMemAdvise(&managed_total, sizeof(int), cudaMemAdviseSetPreferredLocation, here));
    FAILS(cudaErrorInvalidValue, cudaMemPrefetchAsync(device, sizeof(int), here, 0, nullptr));
    SUCCEEDS(cudaFree(device));
}

void check_pitched() {
    const int width = 100, height = 33;
    char* rows;
    size_t pitch;
    SUCCEEDS(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
    EXPECT(pitch >= width * sizeof(float) && pitch % 256 == 0);
    SUCCEEDS(cudaMemset2D(rows, pitch, 0, width * sizeof(float), height));
    pitched_kernel<<<1, dim3(32, 8)>>>(rows, pitch, width, height);
    std::vector<float> image(width * height, -1.0f);
    const size_t row_bytes = width * sizeof(float);
    SUCCEEDS(cudaMemcpy2D(image.data(), row_bytes, rows, pitch, row_bytes, height,
                          cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) EXPECT(image[y * width + x] == 100 * y + x);
    }
    // A window of 10 columns and 5 rows goes back.
    std::vector<float> window(50, 7.0f);
    SUCCEEDS(
        cudaMemcpy2D(rows + 3 * pitch + 8, pitch, window.data(), 40, 40, 5, cudaMemcpyDefault));
    EXPECT(read_back(reinterpret_cast<float*>(rows + 7 * pitch) + 11) == 7);
    EXPECT(read_back(reinterpret_cast<float*>(rows + 7 * pitch) + 12) == 712);
    FAILS(cudaErrorInvalidPitchValue,
          cudaMemcpy2D(rows, 39, window.data(), 40, 40, 5, cudaMemcpyHostToDevice));
    SUCCEEDS(cudaFree(rows));
}

void check_pointers_in_memory() {
    int** const rows = zeros<int*>(1);
    int* const values = zeros<int>(count);
    int* const sum = zeros<int>(1);
    SUCCEEDS(cudaMemcpy(rows, &sum, sizeof sum, cudaMemcpyHostToDevice));
    add_kernel<<<4, 256>>>(values, 2);
    node_kernel<<<1, 1>>>(rows, values, values + count);  // the end of an array is a fair argument
    EXPECT_RUN();
    EXPECT(read_back(sum) == 2 * count);
}

void check_refusals() {
    int *device = zeros<int>(count), host[count] = {}, *pinned, *nothing = nullptr;
    SUCCEEDS(cudaMallocHost(&pinned, bytes));
    const auto to_device = cudaMemcpyHostToDevice, to_host = cudaMemcpyDeviceToHost;
    // Directions.
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, bytes, to_host));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, device, bytes, to_device));
    FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host, bytes, cudaMemcpyKind(5)));
    SUCCEEDS(cudaMemcpy(device, device, bytes, to_device));
    SUCCEEDS(cudaMemcpy(device, device, bytes, to_host));
    SUCCEEDS(cudaMemcpy(host, device, bytes, cudaMemcpyHostToHost));
#ifdef CUDA_ON_CPU
    // Some GPUs can reach all memory of the host, and take these.
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, bytes, cudaMemcpyDeviceToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, host + 500, 8, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMemset(host, 0, bytes));
#endif
    // Ranges.
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, bytes + 4096, to_device));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, device + 1, size_t(-4), to_host));
#ifdef CUDA_ON_CPU
    // A GPU's allocations come in larger pieces.
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, bytes + 1, to_device));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, device + 1, bytes, to_host));
    FAILS(cudaErrorInvalidValue, cudaMemset(device + count - 1, 0, 5));
    FAILS(cudaErrorInvalidValue, cudaMemcpyAsync(pinned, device, bytes + 1, to_host));
    FAILS(cudaErrorInvalidValue, cudaMemcpy2D(device, 400, host, 400, 400, 11, to_device));
    EXPECT(cudaMemcpy(device, host, bytes + 1, to_device) == cudaErrorInvalidValue);
    EXPECT(std::strstr(cudaGetErrorString(cudaGetLastError()), "4001 bytes at the target") !=
           nullptr);
#endif
    FAILS(cudaErrorInvalidValue, cudaMemcpy(nothing, host, 4, to_device));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, nothing, 4, to_device));
    SUCCEEDS(cudaMemcpy(device, host, 0, to_device));
    SUCCEEDS(cudaMemcpy(nothing, nothing, 0, to_device));
    // Freeing.
    FAILS(cudaErrorInvalidValue, cudaFree(device + 1));
    FAILS(cudaErrorInvalidValue, cudaFree(host));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(device));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(host));
    SUCCEEDS(cudaFree(device));
    FAILS(cudaErrorInvalidValue, cudaFree(device));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, device, 4, to_host));
    FAILS(cudaErrorInvalidValue, cudaMemset(device, 0, 4));
    SUCCEEDS(cudaFreeHost(pinned));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(pinned));
}

void check_sizes() {
    int* pointer = reinterpret_cast<int*>(8);
    SUCCEEDS(cudaMalloc(&pointer, 0));
    EXPECT(pointer == nullptr);
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, size_t(1) << 45));
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, size_t(-1)));
    FAILS(cudaErrorInvalidValue, cudaMalloc(static_cast<int**>(nullptr), 4));
    size_t free_before, free_between, free_after, total;
    SUCCEEDS(cudaMemGetInfo(&free_before, &total));
    SUCCEEDS(cudaMalloc(&pointer, 64 << 20));
    SUCCEEDS(cudaMemGetInfo(&free_between, &total));
    EXPECT(free_between < free_before && free_before <= total);
    SUCCEEDS(cudaFree(pointer));
    SUCCEEDS(cudaMemGetInfo(&free_after, &total));
    EXPECT(free_after > free_between);
#ifdef CUDA_ON_CPU
    // Fresh memory is poisoned.
    SUCCEEDS(cudaMalloc(&pointer, 12));
    EXPECT(unsigned(read_back(pointer + 2)) == 0xfffbe1f1);
#endif
}

// Memory that is given back is closed, and asking for it over and over costs no more each time.
void check_many() {
    for (int i = 0; i < 5000; ++i) SUCCEEDS(cudaFree(zeros<int>(1)));
    std::vector<int*> rows(2000);
    for (int*& row : rows) row = zeros<int>(count);
    for (int* const row : rows) add_kernel<<<1, 32>>>(row, 1);
    EXPECT_RUN();
    for (int* const row : rows) SUCCEEDS(cudaFree(row));
}

// One after the other, more than the system has mappings for.
void check_again_and_again() {
    for (int i = 0; i < 40000; ++i) {
        void* memory = nullptr;
        EXPECT(cudaMalloc(&memory, 4) == cudaSuccess);
        EXPECT(cudaFree(memory) == cudaSuccess);
    }
}

int main() {
    check_kinds();
    check_managed_variables();
    check_pitched();
    check_pointers_in_memory();
    check_refusals();
    check_sizes();
    check_many();
    check_again_and_again();
    std::printf("ok\n");
}
