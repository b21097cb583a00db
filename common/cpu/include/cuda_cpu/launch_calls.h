// Launches by a call: cudaLaunchKernel and its kin, with a kernel or the address of one.
#pragma once

#include "launch.h"
#include "pools.h"

namespace cuda_cpu {

template <class... Parameters, size_t... Positions>
bool launch_with(void (*kernel)(Parameters...), const Shape& shape, void** arguments,
                 std::index_sequence<Positions...>) {
    return try_launch<decltype(kernel), Parameters...>(
        "(of cudaLaunchKernel)", "", shape, kernel, kernel,
        Kept<Parameters>::at(arguments[Positions])...);
}

}  // namespace cuda_cpu

// `arguments` points to one value for each parameter. The kernel is given with its type.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             cuda_cpu::Site site = cuda_cpu::Site::here(__builtin_FILE(),
                                                                        __builtin_LINE())) {
    const cuda_cpu::Shape shape(grid, block, shared_bytes, stream, site);
    const auto positions = std::index_sequence_for<Parameters...>();
    const bool valid = cuda_cpu::launch_with(kernel, shape, arguments, positions);
    const cudaError_t error = cudaPeekAtLastError();  // asked for, so that the launch is checked
    return valid ? cudaSuccess : error;
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(
    void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
    cudaStream_t stream = nullptr,
    cuda_cpu::Site site = cuda_cpu::Site::here(__builtin_FILE(), __builtin_LINE())) {
    cuda_cpu::Shape shape(grid, block, shared_bytes, stream, site);
    shape.cooperative = true;
    const auto positions = std::index_sequence_for<Parameters...>();
    const bool valid = cuda_cpu::launch_with(kernel, shape, arguments, positions);
    const cudaError_t error = cudaPeekAtLastError();
    return valid ? cudaSuccess : error;
}

namespace cuda_cpu {

// A kernel with its arguments, to be launched as often as one likes.
struct Launchable {
    virtual ~Launchable() = default;
    virtual std::unique_ptr<Kernel> kernel() const = 0;
};
template <class... Parameters>
struct LaunchableOf final : Launchable {
    Function<Parameters...> function;
    std::tuple<Kept<Parameters>...> arguments;
    LaunchableOf(Function<Parameters...> function, Kept<Parameters>... arguments)
        : function(function), arguments(arguments...) {}
    std::unique_ptr<Kernel> kernel() const override {
        return std::apply(
            [&](const auto&... kept) -> std::unique_ptr<Kernel> {
                return std::make_unique<KernelOf<Function<Parameters...>, Parameters...>>(
                    "(by its address)", function, function, kept...);
            },
            arguments);
    }
};
// Where a program takes the address of a kernel as a void*, its parameters are noted (translate.py).
using MakeLaunchable = std::unique_ptr<Launchable> (*)(const void* function, void** arguments);
void note_kernel(const void* function, MakeLaunchable make);
template <class... Parameters, size_t... Positions>
MakeLaunchable maker(std::index_sequence<Positions...>) {
    return
        [](const void* function, [[maybe_unused]] void** arguments) -> std::unique_ptr<Launchable> {
            return std::make_unique<LaunchableOf<Parameters...>>(
                reinterpret_cast<Function<Parameters...>>(const_cast<void*>(function)),
                Kept<Parameters>::at(arguments[Positions])...);
        };
}
template <class... Parameters>
void* kernel_address(void (*function)(Parameters...)) {
    void* const address = reinterpret_cast<void*>(function);
    note_kernel(address, maker<Parameters...>(std::index_sequence_for<Parameters...>()));
    return address;
}
// Something else that has the name of a kernel.
template <class T>
T kernel_address(T other) {
    return other;
}
cudaError_t launch_by_address(const void* function, void** arguments, const Shape& shape);

}  // namespace cuda_cpu

inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    cuda_cpu::Site site = cuda_cpu::Site::here(__builtin_FILE(),
                                                                               __builtin_LINE())) {
    return cuda_cpu::launch_by_address(kernel, arguments,
                                       cuda_cpu::Shape(grid, block, shared_bytes, stream, site));
}
inline cudaError_t cudaLaunchCooperativeKernel(
    const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
    cudaStream_t stream = nullptr,
    cuda_cpu::Site site = cuda_cpu::Site::here(__builtin_FILE(), __builtin_LINE())) {
    cuda_cpu::Shape shape(grid, block, shared_bytes, stream, site);
    shape.cooperative = true;
    return cuda_cpu::launch_by_address(kernel, arguments, shape);
}

// ---------------------------------------------------------------- launches with attributes
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    char pad[4];
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned int numAttrs;
};

namespace cuda_cpu {
// What is not looked at changes only when a kernel runs.
inline Shape shape_of(const cudaLaunchConfig_t& config, const Site& site) {
    Shape shape(config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream, site);
    for (unsigned int i = 0; i < config.numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config.attrs[i];
        if (attribute.id == cudaLaunchAttributeCooperative)
            shape.cooperative = attribute.val.cooperative != 0;
        if (attribute.id == cudaLaunchAttributeClusterDimension)
            shape.cluster = dim3(attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                                 attribute.val.clusterDim.z);
    }
    return shape;
}
// A configuration, and the line in which it is given to a call.
struct ConfigurationHere {
    const cudaLaunchConfig_t* config;
    Site site;
    ConfigurationHere(const cudaLaunchConfig_t* config,
                      Site site = Site::here(__builtin_FILE(), __builtin_LINE()))
        : config(config), site(site) {}
};
}  // namespace cuda_cpu

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(cuda_cpu::ConfigurationHere given, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
    const cuda_cpu::Shape shape = cuda_cpu::shape_of(*given.config, given.site);
    const bool valid = cuda_cpu::try_launch<decltype(kernel), Parameters...>(
        "(of cudaLaunchKernelEx)", "", shape, kernel, kernel,
        cuda_cpu::Kept<Parameters>(static_cast<Parameters>(arguments))...);
    const cudaError_t error = cudaPeekAtLastError();
    return valid ? cudaSuccess : error;
}
inline cudaError_t cudaLaunchKernelExC(
    const cudaLaunchConfig_t* config, const void* kernel, void** arguments,
    cuda_cpu::Site site = cuda_cpu::Site::here(__builtin_FILE(), __builtin_LINE())) {
    return cuda_cpu::launch_by_address(kernel, arguments, cuda_cpu::shape_of(*config, site));
}
// The grids of a stream come one after another, whatever they allow.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

// As many as fit on the device at the same time, and the most blocks of one.
template <class KernelFunction>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, KernelFunction,
                                           const cudaLaunchConfig_t* config) {
    const dim3 block = config->blockDim, cluster = cuda_cpu::shape_of(*config, {"", 0}).cluster;
    int blocks = 0, multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    const cudaError_t error = cuda_cpu::occupancy(
        &blocks, static_cast<int>(block.x * block.y * block.z), config->dynamicSmemBytes);
    *clusters = blocks * multiprocessors / static_cast<int>(cluster.x * cluster.y * cluster.z);
    return error;
}
template <class KernelFunction>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, KernelFunction,
                                                 const cudaLaunchConfig_t*) {
    *blocks = 8;
    return cudaSuccess;
}

// Before CUDA 12 a kernel could wait for what it had launched. nvcc 12 still takes that for cards before compute
// capability 9.0, with this definition.
namespace cuda_cpu {
cudaError_t synchronize_in_kernel();
}
#ifdef CUDA_FORCE_CDP1_IF_SUPPORTED
#define cudaDeviceSynchronize() ::cuda_cpu::synchronize_in_kernel()
#endif
