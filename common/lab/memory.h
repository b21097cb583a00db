// What the machine must have: memory of the host, a device, and memory on it.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cuda_runtime.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "checks.h"
#include "words.h"
#if defined(LAB_BENCH) && !defined(CUDA_ON_CPU)
#include "carriers.h"
#endif

namespace lab {

// The bytes of memory that this process may use: the machine's, or less inside a container.
inline double host_memory() {
    static double memory = 0;
    if (memory > 0) return memory;
    memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
    for (const char* path :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        double limit;
        std::FILE* file = std::fopen(path, "r");
        if (!file) continue;
        if (std::fscanf(file, "%lf", &limit) == 1) memory = std::min(memory, limit);
        std::fclose(file);
    }
    return memory;
}

// Refuses (exit status 2) when `what` ("two matrices of 1000 x 1000") needs more memory than the
// machine has, or than this process can still get.
inline void require_host_memory(int64_t bytes, const char* what) {
    const double memory = host_memory();
    if (bytes < 0 || double(bytes) > memory) {
        refuse("not enough memory for %s: %s needed, this machine has %s", what,
               bytes < 0 ? "more than 8 EiB" : bytes_text(double(bytes)).c_str(),
               bytes_text(memory).c_str());
    }
    // costs nothing until it is written to; volatile, so that the compiler does not leave it out
    void* volatile trial = std::malloc(size_t(bytes));
    if (!trial && bytes > 0) {
        refuse("not enough memory for %s: the system does not give %s", what,
               bytes_text(double(bytes)).c_str());
    }
    std::free(trial);
}

// Ends the program as skipped (exit status 77) when there is no device. Called after
// Arguments::finish() and before any other CUDA call.
inline void require_device() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) skip("no CUDA device: %s", cudaGetErrorString(status));
    if (count == 0) skip("no CUDA device: none is visible to this program");
}

// Fails (exit status 1) when `what` needs more memory than the device has free.
inline void require_device_memory(int64_t bytes, const char* what) {
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    if (bytes < 0 || double(bytes) > double(available)) {
        fail("not enough device memory for %s: %s needed, %s free of %s", what,
             bytes < 0 ? "more than 8 EiB" : bytes_text(double(bytes)).c_str(),
             bytes_text(double(available)).c_str(), bytes_text(double(total)).c_str());
    }
}

// What a program will need, before it does any work: the host's memory is asked as above, and the
// device's where there is one. In CPU mode the device's memory is the host's. More than half of the
// machine's memory is worth a word: others may be using it.
inline void require_memory(int64_t host_bytes, int64_t device_bytes, const char* what) {
    int count = 0;
    const int64_t bytes = on_cpu ? host_bytes + device_bytes : host_bytes;
    require_host_memory(bytes, what);
    if (double(bytes) > host_memory() / 2) {
        std::fprintf(stderr, "%s: note: %s: %s of memory are needed, this machine has %s\n",
                     program_invocation_short_name, what, bytes_text(double(bytes)).c_str(),
                     bytes_text(host_memory()).c_str());
    }
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
        require_device_memory(device_bytes, what);
    }
}

// cudaMemcpy; in a benchmark, of whose time they are a good part, large copies are carried by several threads.
inline void copy_memory(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
#if defined(LAB_BENCH) && !defined(CUDA_ON_CPU)
    if (bytes >= size_t{64} << 20) {
        static Carriers carriers;
        CHECK(cudaDeviceSynchronize());  // as a copy waits for the other streams
        return kind == cudaMemcpyHostToDevice ? carriers.to_device(to, from, int64_t(bytes))
                                              : carriers.to_host(to, from, int64_t(bytes));
    }
#endif
    CHECK(cudaMemcpy(to, from, bytes, kind));
}

// `count` elements in device memory, or a copy of a host array, freed with the object.
template <class T>
class DeviceArray {
 public:
    explicit DeviceArray(int64_t count = 0) : count_(count) {
        if (count > 0) CHECK(cudaMalloc(&values_, size_t(count) * sizeof(T)));
    }
    explicit DeviceArray(const std::vector<T>& h_values) : DeviceArray(int64_t(h_values.size())) {
        upload(h_values.data(), int64_t(h_values.size()));
    }
    ~DeviceArray() { cudaFree(values_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    // The first `count` elements to the device and back.
    void upload(const T* h_values, int64_t count) {
        if (count > 0)
            copy_memory(values_, h_values, size_t(count) * sizeof(T), cudaMemcpyHostToDevice);
    }
    void download(std::vector<T>& h_values) const {
        if (h_values.empty()) return;
        copy_memory(h_values.data(), values_, h_values.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
    // 0xFF in every byte, which is NaN in a float: what no thread writes will show.
    void poison() {
        if (count_ > 0) CHECK(cudaMemset(values_, 0xFF, size_t(bytes())));
    }

    T* get() const { return values_; }
    int64_t bytes() const { return count_ * int64_t(sizeof(T)); }

 private:
    T* values_ = nullptr;
    int64_t count_;
};

// The name of the device in use.
inline std::string device_name() {
    int device = 0;
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&properties, device));
    return properties.name;
}

// One figure of the device in use.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

}  // namespace lab
