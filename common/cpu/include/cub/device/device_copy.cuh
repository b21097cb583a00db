// CUB: many copies in one call, for the device.
#pragma once

#include "../device_call.cuh"

namespace cub {

struct DeviceMemcpy {  // of bytes
    template <class Sources, class Targets, class Sizes>
    static cudaError_t Batched(CUDA_CPU_WORK, Sources from, Targets to, Sizes sizes,
                               long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceMemcpy::Batched", stream);
        return call.run([=] {
            for (long long i = 0; i < count; ++i)
                std::memcpy(to[i], from[i], static_cast<size_t>(sizes[i]));
        });
    }
};
struct DeviceCopy {  // of elements
    template <class Sources, class Targets, class Sizes>
    static cudaError_t Batched(CUDA_CPU_WORK, Sources from, Targets to, Sizes sizes,
                               long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceCopy::Batched", stream);
        return call.run([=] {
            for (long long i = 0; i < count; ++i)
                for (long long j = 0; j < static_cast<long long>(sizes[i]); ++j)
                    to[i][j] = from[i][j];
        });
    }
};

}  // namespace cub
