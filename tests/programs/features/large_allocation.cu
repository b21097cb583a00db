// Feature: large allocations | what is asked for and never touched takes no memory; managed memory of more than the device has
#include <unistd.h>

#include <fstream>
#include <string>

#include "../runtime_expect.h"

__global__ void touch(char* memory, size_t bytes, size_t distance, unsigned int* touched) {
    const size_t first = (blockIdx.x * size_t{blockDim.x} + threadIdx.x) * distance;
    for (size_t i = first; i < bytes; i += distance * gridDim.x * blockDim.x) {
        memory[i] = 1;
        atomicAdd(touched, 1u);
    }
}
__global__ void count(const char* memory, size_t bytes, size_t distance, unsigned int* ones) {
    for (size_t i = threadIdx.x * distance; i < bytes; i += distance * blockDim.x) {
        if (memory[i] == 1) atomicAdd(ones, 1u);
    }
}

int main() {
    setenv("CUDA_CPU_DEVICE", "rtx4060laptop", 1);  // 8 GiB
    const size_t bytes = (size_t{1} << 30) + 12, distance = 32 << 20;
    char *memory, *managed, last = 0;
    SUCCEEDS(cudaMalloc(&memory, bytes));
    unsigned int* found = zeros<unsigned int>(2);
    touch<<<8, 32>>>(memory, bytes, distance, found);
    count<<<1, 32>>>(memory, bytes, distance, found + 1);
    EXPECT_RUN();
    EXPECT(read_back(found) == 33 && read_back(found + 1) == 33);
    SUCCEEDS(cudaMemset(memory + bytes - 3, 5, 3));
    SUCCEEDS(cudaMemcpy(&last, memory + bytes - 1, 1, cudaMemcpyDeviceToHost));
    EXPECT(last == 5);
    SUCCEEDS(cudaMallocManaged(&managed, bytes));
    managed[bytes / 2] = 3;
    EXPECT(managed[bytes / 2] == 3);
    SUCCEEDS(cudaFree(memory));
    SUCCEEDS(cudaFree(managed));
    SUCCEEDS(cudaFree(found));
#ifdef CUDA_ON_CPU
    // Managed memory may be more than the device has, as far as this machine has it.
    size_t free = 0, total = 0;
    SUCCEEDS(cudaMemGetInfo(&free, &total));
    if (size_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE) > total + bytes) {
        SUCCEEDS(cudaMallocManaged(&managed, total + bytes));
        managed[total + bytes - 1] = 3;
        SUCCEEDS(cudaFree(managed));
    }
    // Not getrusage(), which counts what this process was before exec.
    std::ifstream status("/proc/self/status");
    long most = 0;
    for (std::string word; status >> word;)
        if (word == "VmHWM:") status >> most;
    EXPECT(most > 0 && most < 400 * 1024);  // KiB
#endif
    printf("ok\n");
}
