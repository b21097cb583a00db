// CUB: what stands before each element, for the device.
#pragma once

#include "../device_call.cuh"

namespace cub {
namespace detail {

template <class Input, class Output, class T, class Operator>
cudaError_t exclusive_scan(const char* name, Input in, Output out, long long count,
                           Operator combine, T first, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, count);
    return call.run([=] {
        T sum = first;
        for (long long i = 0; i < count; ++i) {
            const T before = sum;
            sum = combine(sum, in[i]);
            out[i] = before;
        }
    });
}
template <class Input, class Output, class Operator>
cudaError_t inclusive_scan(const char* name, Input in, Output out, long long count,
                           Operator combine, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, count);
    return call.run([=] {
        if (count == 0) return;
        ValueOf<Input> sum = in[0];
        out[0] = sum;
        for (long long i = 1; i < count; ++i) out[i] = sum = combine(sum, in[i]);
    });
}

}  // namespace detail

struct DeviceScan {
    template <class Input, class Output>
    static cudaError_t ExclusiveSum(CUDA_CPU_WORK, Input in, Output out, long long count,
                                    cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::exclusive_scan("cub::DeviceScan::ExclusiveSum", in, out, count, cub::Sum(),
                                      detail::ValueOf<Input>{}, stream);
    }
    template <class Input, class Output, class Operator, class T>
    static cudaError_t ExclusiveScan(CUDA_CPU_WORK, Input in, Output out, Operator combine, T first,
                                     long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::exclusive_scan("cub::DeviceScan::ExclusiveScan", in, out, count, combine,
                                      first, stream);
    }
    template <class Input, class Output>
    static cudaError_t InclusiveSum(CUDA_CPU_WORK, Input in, Output out, long long count,
                                    cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::inclusive_scan("cub::DeviceScan::InclusiveSum", in, out, count, cub::Sum(),
                                      stream);
    }
    template <class Input, class Output, class Operator>
    static cudaError_t InclusiveScan(CUDA_CPU_WORK, Input in, Output out, Operator combine,
                                     long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::inclusive_scan("cub::DeviceScan::InclusiveScan", in, out, count, combine,
                                      stream);
    }
    template <class Input, class Output, class Operator, class T>
    static cudaError_t InclusiveScanInit(CUDA_CPU_WORK, Input in, Output out, Operator combine,
                                         T first, long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceScan::InclusiveScanInit", stream);
        call.reads("the input", in, count);
        call.writes("the output", out, count);
        return call.run([=] {
            T sum = first;
            for (long long i = 0; i < count; ++i) out[i] = sum = combine(sum, in[i]);
        });
    }
    // In place.
    template <class Iterator>
    static cudaError_t ExclusiveSum(CUDA_CPU_WORK, Iterator data, long long count,
                                    cudaStream_t stream = nullptr) {
        return ExclusiveSum(work, bytes, data, data, count, stream);
    }
    template <class Iterator>
    static cudaError_t InclusiveSum(CUDA_CPU_WORK, Iterator data, long long count,
                                    cudaStream_t stream = nullptr) {
        return InclusiveSum(work, bytes, data, data, count, stream);
    }
    template <class Iterator, class Operator, class T,
              class = std::enable_if_t<std::is_class_v<Operator>>>
    static cudaError_t ExclusiveScan(CUDA_CPU_WORK, Iterator data, Operator combine, T first,
                                     long long count, cudaStream_t stream = nullptr) {
        return ExclusiveScan(work, bytes, data, data, combine, first, count, stream);
    }

    // Each run of equal keys for itself.
    template <class Keys, class Input, class Output, class Operator, class T, class Same = Equality>
    static cudaError_t ExclusiveScanByKey(CUDA_CPU_WORK, Keys keys, Input in, Output out,
                                          Operator combine, T first, long long count,
                                          Same same = {}, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceScan::ExclusiveScanByKey", stream);
        call.reads("the keys", keys, count);
        call.reads("the input", in, count);
        call.writes("the output", out, count);
        return call.run([=] {
            T sum = first;
            for (long long i = 0; i < count; ++i) {
                if (i > 0 && !same(keys[i - 1], keys[i])) sum = first;
                const T before = sum;
                sum = combine(sum, in[i]);
                out[i] = before;
            }
        });
    }
    template <class Keys, class Input, class Output, class Same = Equality>
    static cudaError_t ExclusiveSumByKey(CUDA_CPU_WORK, Keys keys, Input in, Output out,
                                         long long count, Same same = {},
                                         cudaStream_t stream = nullptr) {
        return ExclusiveScanByKey(work, bytes, keys, in, out, cub::Sum(), detail::ValueOf<Input>{},
                                  count, same, stream);
    }
    template <class Keys, class Input, class Output, class Operator, class Same = Equality>
    static cudaError_t InclusiveScanByKey(CUDA_CPU_WORK, Keys keys, Input in, Output out,
                                          Operator combine, long long count, Same same = {},
                                          cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceScan::InclusiveScanByKey", stream);
        call.reads("the keys", keys, count);
        call.reads("the input", in, count);
        call.writes("the output", out, count);
        return call.run([=] {
            for (long long i = 0; i < count; ++i)
                out[i] = i > 0 && same(keys[i - 1], keys[i])
                             ? combine(static_cast<detail::ValueOf<Input>>(out[i - 1]), in[i])
                             : in[i];
        });
    }
    template <class Keys, class Input, class Output, class Same = Equality>
    static cudaError_t InclusiveSumByKey(CUDA_CPU_WORK, Keys keys, Input in, Output out,
                                         long long count, Same same = {},
                                         cudaStream_t stream = nullptr) {
        return InclusiveScanByKey(work, bytes, keys, in, out, cub::Sum(), count, same, stream);
    }
};

}  // namespace cub
