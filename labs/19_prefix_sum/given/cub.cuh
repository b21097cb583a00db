// NVIDIA's library, for comparison, in a benchmark build. It chooses its own grids.
#pragma once

#if defined(LAB_BENCH) && __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>
#define LAB_CUB

struct IsKept {
    template <class T>
    __host__ __device__ bool operator()(T value) const {
        return is_kept(value);
    }
};

// With no memory to work in, each call says how much it wants; older versions count elements in an
// int.
template <class T>
void cub_scan(void* space, size_t& bytes, const Scan<T>& scan) {
    const int count = int(scan.count);
    if (scan.shift == 1) {
        CHECK(cub::DeviceScan::ExclusiveSum(space, bytes, scan.input, scan.output, count));
    } else {
        CHECK(cub::DeviceScan::InclusiveSum(space, bytes, scan.input, scan.output, count));
    }
}
template <class T>
void cub_select(void* space, size_t& bytes, const Scan<T>& scan, uint32_t* kept_count) {
    CHECK(cub::DeviceSelect::If(space, bytes, scan.input, scan.output, kept_count, int(scan.count),
                                IsKept()));
}
template <class T>
void cub_radix(void* space, size_t& bytes, const Scan<T>& scan) {
    CHECK(cub::DeviceRadixSort::SortKeys(
        space, bytes, reinterpret_cast<const uint32_t*>(scan.input),
        reinterpret_cast<uint32_t*>(scan.output), int(scan.count), 0, 8));
}

template <class T>
Scan<T> only_count(int64_t count) {
    if (count > INT32_MAX) lab::refuse("--variant cub: its older versions take at most 2^31 - 1");
    return {nullptr, nullptr, count, 0};
}
template <class T>
int64_t cub_scan_bytes(int64_t count) {
    size_t bytes = 0;
    cub_scan(nullptr, bytes, only_count<T>(count));
    return int64_t(bytes);
}
template <class T>
int64_t cub_select_bytes(int64_t count) {
    size_t bytes = 0;
    cub_select<T>(nullptr, bytes, only_count<T>(count), nullptr);
    return int64_t(bytes);
}
template <class T>
int64_t cub_radix_bytes(int64_t count) {
    size_t bytes = 0;
    cub_radix(nullptr, bytes, only_count<T>(count));
    return int64_t(bytes);
}

template <class T>
lab::Launch run_cub_scan(const Work<T>& work) {
    size_t bytes = work.space_bytes;
    cub_scan(work.space, bytes, work.scan);
    return {};
}
template <class T>
lab::Launch run_cub_select(const Work<T>& work) {
    size_t bytes = work.space_bytes;
    cub_select(work.space, bytes, work.scan, work.kept_count);
    return {};
}
template <class T>
lab::Launch run_cub_radix(const Work<T>& work) {
    size_t bytes = work.space_bytes;
    cub_radix(work.space, bytes, work.scan);
    return {};
}
#endif
