// Feature: managed memory | pages that move between host and device when they are touched, prefetch, all advice, counted (`CUDA_CPU_RECORD`, `cuda_cpu::page_traffic`)
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "../runtime_expect.h"

#if CUDART_VERSION >= 13000
const cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0},
                      on_host = {cudaMemLocationTypeHost, 0};
#else
const int on_device = 0, on_host = cudaCpuDeviceId;
#endif

constexpr int count = 5 * 16384 - 1024, page = 16384;  // five pages of 64 KiB

__global__ void add(int* values, int first, int end, int amount) {
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end) values[i] += amount;
}
__global__ void sum(const int* values, unsigned long long* total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(total, static_cast<unsigned long long>(values[i]));
}
void add_to(int* values, int first, int end, int amount) {
    add<<<(end - first + 255) / 256, 256>>>(values, first, end, amount);
    EXPECT_RUN();
}

// What was counted since the last call; a card counts elsewhere.
void expect_moved(const int* values, size_t device_faults, size_t to_device, size_t host_faults,
                  size_t to_host) {
#ifdef CUDA_ON_CPU
    static const int* last_values;
    static cuda_cpu::PageTraffic last;
    if (values != last_values) last = {};
    const cuda_cpu::PageTraffic now = cuda_cpu::page_traffic(values);
    const bool right = now.device_faults - last.device_faults == device_faults &&
                       now.to_device - last.to_device == to_device &&
                       now.host_faults - last.host_faults == host_faults &&
                       now.to_host - last.to_host == to_host;
    if (!right)
        printf("%zu %zu %zu %zu\n", now.device_faults - last.device_faults,
               now.to_device - last.to_device, now.host_faults - last.host_faults,
               now.to_host - last.to_host);
    EXPECT(right);
    last = now, last_values = values;
#else
    (void)values, (void)device_faults, (void)to_device, (void)host_faults, (void)to_host;
#endif
}

int* managed() {
    int* values;
    SUCCEEDS(cudaMallocManaged(&values, count * sizeof(int)));
    return values;
}
void fill(int* values) {
    for (int i = 0; i < count; ++i) values[i] = i;
}

void check_pages() {
    int* const values = managed();
    fill(values);
    expect_moved(values, 0, 0, 0, 0);
    add_to(values, 0, count, 1);
    expect_moved(values, 5, 5, 0, 0);
    add_to(values, 0, count, 1);
    expect_moved(values, 0, 0, 0, 0);
    EXPECT(values[0] == 2 && values[1] == 3 && values[3 * page] == 3 * page + 2);
    expect_moved(values, 0, 0, 2, 2);
    values[page] = 0;
    add_to(values, 0, count, 1);
    expect_moved(values, 3, 3, 1, 1);
    EXPECT(values[page] == 1);
    SUCCEEDS(cudaFree(values));
}

void check_first_touch() {
    int* const values = managed();
    SUCCEEDS(cudaMemset(values, 0, count * sizeof(int)));
    add_to(values, 0, count, 1);
    expect_moved(values, 0, 0, 0, 0);
    int* const fresh = managed();
    add_to(fresh, 0, 1, 1);
    expect_moved(fresh, 1, 0, 0, 0);
    int copied[2];
    SUCCEEDS(cudaMemcpy(copied, values, sizeof copied, cudaMemcpyDeviceToHost));
    EXPECT(copied[0] == 1 && copied[1] == 1);
    expect_moved(fresh, 0, 0, 0, 0);
    SUCCEEDS(cudaFree(values));
    SUCCEEDS(cudaFree(fresh));
}

void check_prefetch() {
    int* const values = managed();
    fill(values);
    SUCCEEDS(cudaMemPrefetchAsync(values, count * sizeof(int), on_device, 0));
    add_to(values, 0, count, 1);
    SUCCEEDS(cudaMemPrefetchAsync(values, 2 * page * sizeof(int), on_host, 0));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(values[5] == 6 && values[2 * page - 1] == 2 * page);
    expect_moved(values, 0, 5, 0, 2);
    EXPECT(values[count - 1] == count);
    expect_moved(values, 0, 0, 1, 1);
    SUCCEEDS(cudaFree(values));
}

void check_read_mostly() {
    int* const values = managed();
    auto* const total = zeros<unsigned long long>(1);
    fill(values);
    SUCCEEDS(cudaMemAdvise(values, count * sizeof(int), cudaMemAdviseSetReadMostly, on_device));
    for (int time = 0; time < 3; ++time) {
        sum<<<(count + 255) / 256, 256>>>(values, total);
        EXPECT_RUN();
        EXPECT(values[count - 1] == count - 1);
    }
    EXPECT(read_back(total) == 3ull * count * (count - 1) / 2);
    expect_moved(values, 5, 5, 0, 0);
    values[page] = 7;  // the copy at the device is dropped
    expect_moved(values, 0, 0, 1, 0);
    sum<<<(count + 255) / 256, 256>>>(values, total);
    EXPECT_RUN();
    expect_moved(values, 1, 1, 0, 0);
    SUCCEEDS(cudaMemAdvise(values, count * sizeof(int), cudaMemAdviseUnsetReadMostly, on_device));
    add_to(values, 0, page, 1);
    expect_moved(values, 1, 1, 0, 0);
    SUCCEEDS(cudaFree(values));
    SUCCEEDS(cudaFree(total));
}

// Where the device may read the host's memory, nothing moves.
void check_over_the_bus() {
    int* values = managed();
    fill(values);
    SUCCEEDS(cudaMemAdvise(values, count * sizeof(int), cudaMemAdviseSetAccessedBy, on_device));
    add_to(values, 0, count, 1);
    EXPECT(values[0] == 1);
    expect_moved(values, 0, 0, 0, 0);
    SUCCEEDS(cudaFree(values));
    values = managed();
    fill(values);
    SUCCEEDS(
        cudaMemAdvise(values, count * sizeof(int), cudaMemAdviseSetPreferredLocation, on_host));
    add_to(values, 0, count, 1);
    add_to(values, 0, count, 1);
    EXPECT(values[0] == 2);
    expect_moved(values, 5, 0, 0, 0);
    SUCCEEDS(cudaFree(values));
}

// Calls of the system reach what lies at the device.
void check_files() {
    int* const values = managed();
    fill(values);
    const size_t bytes = count * sizeof(int);
    char name[] = "/tmp/managed_XXXXXX";
    const int file = mkstemp(name);
    EXPECT(file >= 0);
    add_to(values, 0, count, 1);
    EXPECT(write(file, values, bytes) == ssize_t(bytes));
    add_to(values, 0, count, 1);
    EXPECT(pread(file, &values[0], 0, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
    EXPECT(read(file, values, bytes) == ssize_t(bytes) && values[0] == 1 &&
           values[count - 1] == count);
    close(file);
    add_to(values, 0, count, 1);
    std::ofstream(name, std::ios::binary).write(reinterpret_cast<char*>(values), bytes);
    add_to(values, 0, count, 1);
    std::ifstream(name, std::ios::binary).read(reinterpret_cast<char*>(values), bytes);
    EXPECT(values[0] == 2 && values[count - 1] == count + 1);
    add_to(values, 0, count, 1);
    FILE* stream = fopen(name, "wb");
    EXPECT(fwrite(values, 1, bytes, stream) == bytes);
    fclose(stream);
    add_to(values, 0, count, 1);
    stream = fopen(name, "rb");
    EXPECT(fread(values, 1, bytes, stream) == bytes && values[count - 1] == count + 2);
    fclose(stream);
    unlink(name);
    SUCCEEDS(cudaFree(values));
}

int main() {
    check_pages();
    check_first_touch();
    check_prefetch();
    check_read_mostly();
    check_over_the_bus();
    check_files();
    int* const device = zeros<int>(1);
    EXPECT(cudaMemAdvise(device, 4, cudaMemAdviseSetReadMostly, on_device) ==
           cudaErrorInvalidValue);
    EXPECT(cudaMemPrefetchAsync(device, 4, on_device, 0) == cudaErrorInvalidValue);
    printf("ok\n");
}
