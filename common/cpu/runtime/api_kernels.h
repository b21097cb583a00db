// The API of kernels: launches.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api_call.h"
#include "behind_the_host.h"
#include "devices.h"
#include "grid.h"
#include "memory.h"
#include "names.h"
#include "record.h"
#include "team.h"

namespace cuda_cpu {

namespace {

void check_pointer_argument(const Kernel& kernel, const char* arguments, int position,
                            const void* pointer, const Site& site) {
    const auto argument = [&] {
        return format("%s: argument %d of kernel %s (%s) is ", to_string(site).c_str(), position,
                      name_of(kernel).c_str(), arguments);
    };
    if (in_kernel()) {
        if (const char* const memory = Core::mine().own_memory(pointer)) {
            stop(argument() +
                     format("a pointer to %s. The grids that a kernel launches can only use "
                            "global memory.",
                            memory),
                 "host-pointer");
        }
        return;
    }
    // Some pass the end of an array, which belongs to it here.
    const Allocation* allocation = Memory::instance().find(pointer);
    if (allocation == nullptr) {
        allocation = Memory::instance().find(static_cast<const char*>(pointer) - 1);
    }
    if (allocation == nullptr) {
        stop(
            argument() + format("a host pointer, %p. A kernel can only use device memory: allocate "
                                "it with cudaMalloc and copy the data there with cudaMemcpy.",
                                pointer),
            "host-pointer");
    }
    if (allocation->freed && pointer < allocation->start + allocation->bytes) {
        stop(argument() + "a pointer into memory that was given to cudaFree.", "freed");
    }
    const int owner = allocation->device;
    if (allocation->kind == MemoryKind::device && !(reach_of(current_device) >> owner & 1)) {
        stop(argument() + format("memory of device %d, but the kernel runs on device %d, which %s.",
                                 owner, current_device, how_to_reach(owner).c_str()));
    }
}

bool valid_launch(const Kernel& kernel, const Shape& shape) {
    if (!in_kernel()) Record::instance().launch_begins(kernel, shape.site);
    if (!in_kernel() && device_state() != cudaSuccess) return false;
    const dim3 grid = shape.grid, block = shape.block;
    const DeviceFacts& facts = *devices()[static_cast<size_t>(in_kernel() ? 0 : current_device)];
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    std::string wrong;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
        wrong = "has a side of zero blocks";
    } else if (threads == 0) {
        wrong = "has blocks with a side of zero threads";
    } else if (threads > 1024) {
        wrong = format("has blocks of %llu threads; at most 1024 are allowed",
                       static_cast<unsigned long long>(threads));
    } else if (block.z > 64) {
        wrong = format("has blocks of %u threads in z; at most 64 are allowed", block.z);
    } else if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) {
        wrong = format(
            "has a grid of %u x %u x %u blocks; at most 2147483647 x 65535 x 65535 are "
            "allowed",
            grid.x, grid.y, grid.z);
    }
    const auto where = [&] {
        return format("%s: the launch of %s ", to_string(shape.site).c_str(),
                      name_of(kernel).c_str());
    };
    const auto refuse = [&](cudaError_t error, const std::string& why) {
        failed(error, where() + why);
        const std::string sentence = where() + why + ". So the kernel does not run.";
        note("launch", sentence);
        if (notes_are_wanted() && !in_kernel() && Unheeded::instance().sentence.empty())
            Unheeded::instance().sentence = sentence + " Ask cudaGetLastError() after a launch.";
        return false;
    };
    if (!wrong.empty()) return refuse(cudaErrorInvalidConfiguration, wrong);
    const size_t limit = shared_limit(facts);
    if (shape.shared_bytes > limit) {
        return refuse(cudaErrorInvalidValue,
                      format("asks for %zu bytes of shared memory; at most %zu are allowed%s",
                             shape.shared_bytes, limit,
                             limit == shared_per_block ? " before cudaFuncSetAttribute" : ""));
    }
    if (shape.cooperative) {
        int together = 0;
        if (occupancy(&together, static_cast<int>(threads), shape.shared_bytes) != cudaSuccess)
            return false;
        together *= facts.multiprocessors;
        if (uint64_t{grid.x} * grid.y * grid.z > static_cast<uint64_t>(together)) {
            return refuse(cudaErrorCooperativeLaunchTooLarge,
                          format("is cooperative and has %u x %u x %u blocks; at most %d of them "
                                 "run at the same time",
                                 grid.x, grid.y, grid.z, together));
        }
    }
    if (const dim3 cluster = shape.cluster; cluster.x != 0) {
        const uint64_t blocks = uint64_t{cluster.x} * cluster.y * cluster.z;
        if (blocks == 0 || blocks > 16 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
            grid.z % cluster.z != 0)
            return refuse(
                cudaErrorInvalidClusterSize,
                format("has a grid of %u x %u x %u blocks in clusters of %u x %u x %u: at most "
                       "16 blocks make up a cluster, and each side of the grid is a multiple of "
                       "the cluster's",
                       grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
    }
    if (!in_kernel() && Queue::instance().breaks_capture(shape.stream))
        return refuse(cudaErrorStreamCaptureImplicit,
                      "goes to the default stream, which would have to wait for a stream that is "
                      "captured");
    if (!in_kernel() && !is_stream(shape.stream))
        return refuse(cudaErrorInvalidResourceHandle, "names a stream that does not exist");
    if (!in_kernel() && Queue::device_of(shape.stream) != current_device)
        return refuse(cudaErrorInvalidResourceHandle,
                      format("names a stream of device %d, but device %d is current: call "
                             "cudaSetDevice before it",
                             Queue::device_of(shape.stream), current_device));
    return true;
}

void submit_from_kernel(std::unique_ptr<Grid> grid) {
    Grid& parent = *current_grid;
    grid->depth = parent.depth + 1;
    if (grid->depth > 24) {
        failed(cudaErrorLaunchMaxDepthExceeded);
        return;
    }
    grid->parent_block =
        blockIdx.x + uint64_t{gridDim.x} * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
    const bool tail = grid->shape.stream == cudaStreamTailLaunch;
    std::lock_guard<std::mutex> lock(parent.children_mutex);
    (tail ? parent.tails : parent.children).push_back(std::move(grid));
}

}  // namespace

bool submit(Kernel* taken, const char* arguments, const Shape& shape, const void* const* pointers,
            int count) {
    std::unique_ptr<Kernel> kernel(taken);
    if (!valid_launch(*kernel, shape)) return false;
    std::vector<PointerArgument> used;
    for (int i = 0; i < count; i++) {
        if (pointers[i] == nullptr) continue;
        check_pointer_argument(*kernel, arguments, i + 1, pointers[i], shape.site);
        used.push_back({i + 1, pointers[i]});
    }
    auto grid = std::make_unique<Grid>(shape, std::move(kernel));
    // Not in the middle of a sanitizer's report, which lets no thread start.
    if constexpr (is_observed) name_of(*grid->kernel);
    if (Record::instance().wanted())
        Record::instance().launched(name_of(*grid->kernel), shape, !in_kernel());
    grid->facts = {arguments, std::move(used)};
    if (in_kernel()) {
        submit_from_kernel(std::move(grid));
        return true;
    }
    const Call call;
    if (CallLog::instance().wanted() && open_calls == 1)
        CallLog::instance().launches(name_of(*grid->kernel));
    grid->device = current_device;
    const Grid* const launched = grid.get();
    const auto run = [grid = std::shared_ptr<Grid>(std::move(grid))] {
        if (lost_device != cudaSuccess) return;
        grid->begin();  // as a node of a graph it may have run before
        Memory::instance().set_open(reach_of(grid->device));
        Paging::instance().serve(Paging::device);
        run_grid(*grid);
        if constexpr (is_observed) return;  // then the line itself is known
        if (const Allocation* const allocation = Memory::instance().overrun()) {
            stop(format("%s: kernel %s wrote past the end of the allocation of %s: compare "
                        "the index with the number of elements before the access.",
                        to_string(grid->shape.site).c_str(), name_of(*grid->kernel).c_str(),
                        in_bytes(allocation->bytes).c_str()),
                 "bounds");
        }
    };
    const uint64_t number = Queue::instance().add(shape.stream, run, 0, launched);
    if (number != 0 && Memory::instance().meets_host()) run_behind_the_host(number, Behind::kernel);
    static const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking != nullptr && *blocking == '1') Queue::instance().wait_for_all();
    return true;
}

// What kernels of before CUDA 12 call: waits for all that the running block has launched.
cudaError_t synchronize_in_kernel() {
    if (!in_kernel()) return cudaDeviceSynchronize();
    if constexpr (is_observed) {
        stop(
            "make sanitize, explain and replay do not watch kernels that wait for what they "
            "launch: make run does.");
    }
    const uint64_t block =
        blockIdx.x + uint64_t{gridDim.x} * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
    for (Grid& parent = *current_grid;;) {
        std::unique_lock<std::mutex> lock(parent.children_mutex);
        auto& children = parent.children;
        const auto next = std::find_if(children.begin(), children.end(), [&](const auto& child) {
            return child->parent_block == block;
        });
        if (next == children.end()) return cudaSuccess;
        std::unique_ptr<Grid> child = std::move(*next);
        children.erase(next);
        lock.unlock();
        if (!Team::instance().run_for(std::move(child))) Core::mine().abort_kernel();
    }
}

namespace {
std::map<const void*, MakeLaunchable>& noted_kernels() {
    static auto& kernels = *new std::map<const void*, MakeLaunchable>;
    return kernels;
}
}  // namespace
void note_kernel(const void* function, MakeLaunchable make) {
    std::lock_guard<std::recursive_mutex> lock(Queue::instance().mutex());
    noted_kernels()[function] = make;
}
cudaError_t launch_by_address(const void* function, void** arguments, const Shape& shape) {
    const auto found = noted_kernels().find(function);
    if (found == noted_kernels().end()) {
        const Call call("cudaLaunchKernel");
        return failed(cudaErrorInvalidDeviceFunction,
                      "the address is not one of a kernel of this program: write (void*)kernel");
    }
    const std::unique_ptr<Launchable> made = found->second(function, arguments);
    const bool valid = submit(made->kernel().release(), "", shape, nullptr, 0);
    const cudaError_t error = cudaPeekAtLastError();
    return valid ? cudaSuccess : error;
}

void refuse_call(const char* signature, int template_parameters) {
    const std::string name = name_from(signature, template_parameters);
    if (asked_for_name) throw KernelName{name};
    stop(learners_place(nullptr, true) +
         format("kernel %s was called like a function: launch it with %s<<<grid, block>>>(...).",
                name.c_str(), name.c_str()));
}

}  // namespace cuda_cpu
