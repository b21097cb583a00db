// NVIDIA's library, for comparison, in a benchmark build. It chooses its own grid.
#pragma once

#if defined(LAB_BENCH) && __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>
#define LAB_CUB

inline lab::Launch launch_cub_sum(const SumJob& job) {
    size_t bytes = job.workspace_bytes;
    CHECK(cub::DeviceReduce::Sum(job.d_workspace, bytes, job.d_input, job.d_result, job.count));
    return {};
}

inline lab::Launch launch_cub_histogram(const HistogramJob& job) {
    size_t bytes = job.workspace_bytes;
    CHECK(cub::DeviceHistogram::HistogramEven(job.d_workspace, bytes, job.d_input, job.d_result,
                                              bins + 1, 0, bins, job.count));
    return {};
}
#endif
