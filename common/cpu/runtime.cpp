// CUDA on the CPU: the runtime API. One object file, compiled once and linked to every program.
//
//   runtime/memory.h     device memory that host code may not touch
//   runtime/patterns.h   what memory holds that nobody has written
//   runtime/scheduler.h  the threads of a block: fibers, barriers, warps
//   runtime/grid.h       blocks over the cores, launches from kernels
//   runtime/queue.h      work that the host has not yet waited for: streams and events
//   runtime/devices.h    the devices that the CPU pretends to be
//   runtime/faults.h     memory faults in words
//   runtime/leaks.h      device memory that is never freed
//   runtime/record.h     what a program has launched and copied, for its checker
//   runtime/names.h      what a kernel is called
//   runtime/order.h      other orders of blocks and threads
//   runtime/observer.h   what `make sanitize` wants to know: runtime/bounds.h, runtime/races.h
//   runtime/calls.h      what the compiler calls before each access, for that and for `make explain`: accesses.h
#include <pthread.h>

#include <map>
#include <utility>

#include "include/cuda_runtime.h"
#include "runtime/devices.h"
#include "runtime/faults.h"
#include "runtime/grid.h"
#include "runtime/leaks.h"
#include "runtime/memory.h"
#include "runtime/queue.h"
#include "runtime/record.h"
#include "runtime/report.h"
#include "runtime/scheduler.h"
#if defined(CUDA_CPU_BOUNDS)
#include "runtime/bounds.h"
#elif defined(CUDA_CPU_RACES)
#include "runtime/races.h"
#elif defined(CUDA_CPU_ACCESSES)
#include "runtime/accesses.h"
#endif

__thread uint3 threadIdx{}, blockIdx{};
__thread dim3 blockDim, gridDim;

namespace cuda_cpu {

__thread Runner* running = nullptr;
__thread Runner* front_runner = nullptr;
__thread Runner* left_runner = nullptr;
__thread bool aborting = false;
__thread unsigned int barrier_result = 0;
__thread char* dynamic_shared_start = nullptr;
__thread unsigned long long block_serial = 0;
__thread unsigned int spins = 0;
__thread const uint3* thread_order = nullptr;

namespace {

std::atomic<bool> used{false};  // some call has been made
bool lost_in_fork = false;

// All __managed__ variables stand between these two, which the linker makes when there are any.
extern "C" char __start_cuda_managed[] __attribute__((weak));
extern "C" char __stop_cuda_managed[] __attribute__((weak));

void register_managed_variables() {
    const auto bytes = static_cast<size_t>(__stop_cuda_managed - __start_cuda_managed);
    if (bytes > 0) Memory::instance().add(__start_cuda_managed, bytes, MemoryKind::managed);
}

[[noreturn]] void refuse_in_kernel(const char* function) {
    const char* const advice =
        std::strstr(function, "Synchronize") == nullptr
            ? "."
            : ": a kernel never waits for the grids that it launches. Launch the work that must "
              "come after them into cudaStreamTailLaunch.";
    stop(learners_place() + format("kernel %s calls %s, which device code cannot call%s",
                                   current_kernel(), function, advice));
}

const bool prepared = [] {
    Core::mine();
    Leaks::instance();
    Record::instance();
    install_fault_handler();
    register_managed_variables();
    // As on a GPU, a child of a process that has used CUDA cannot use it.
    pthread_atfork(nullptr, nullptr, [] { lost_in_fork = used; });
    return true;
}();

// ---------------------------------------------------------------- errors
thread_local std::string last_detail;  // what was wrong with the last failed call
thread_local cudaError_t detailed_error = cudaSuccess;
std::atomic<cudaError_t> lost_device{cudaSuccess};  // set by a kernel that was aborted
thread_local bool in_host_function = false;         // the host functions of a stream run

// The last error of this thread of the host, or of the block that runs.
cudaError_t& last_error() {
    static thread_local cudaError_t of_host = cudaSuccess, of_block = cudaSuccess;
    static thread_local unsigned long long block = 0;
    if (!in_kernel()) return of_host;
    if (block != block_serial) block = block_serial, of_block = cudaSuccess;
    return of_block;
}

cudaError_t failed(cudaError_t error, const std::string& detail = "") {
    last_error() = detailed_error = error;
    last_detail = detail;
    return error;
}

// A mistake that CUDA answers with an error, which the program may ignore. `make sanitize` names it.
cudaError_t refused(const char* kind, const std::string& detail) {
    if (findings_are_wanted()) note(kind, learners_place() + detail + ".");
    return failed(cudaErrorInvalidValue, detail);
}

// What every call answers first: the device may be lost, or there may be none.
cudaError_t device_state() {
    used = true;
    if (lost_in_fork) return failed(cudaErrorInitializationError);
    if (lost_device != cudaSuccess) return failed(lost_device);
    if (devices().empty()) return failed(cudaErrorNoDevice);
    if (in_host_function) return failed(cudaErrorNotPermitted);
    return cudaSuccess;
}

// Holds the queue's lock for the length of a call of the host.
struct Call {
    explicit Call(const char* function = __builtin_FUNCTION()) {
        if (in_kernel()) refuse_in_kernel(function);
        lock = std::unique_lock(Queue::instance().mutex());
        state = device_state();
    }
    explicit operator bool() const { return state == cudaSuccess; }

    std::unique_lock<std::recursive_mutex> lock;
    cudaError_t state;
};

bool is_stream(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           Queue::instance().streams.count(stream) != 0;
}
bool is_event(cudaEvent_t event) { return Queue::instance().events.count(event) != 0; }

bool is_device(int device) { return device >= 0 && device < static_cast<int>(devices().size()); }

thread_local int current_device = 0;
std::atomic<int> largest_dynamic_shared{shared_per_block};  // raised by cudaFuncSetAttribute

// How much dynamic shared memory a block may have.
size_t shared_limit(const DeviceFacts& facts) {
    return static_cast<size_t>(
        std::min(largest_dynamic_shared.load(), facts.shared_per_block_optin));
}

}  // namespace

// ---------------------------------------------------------------- kernels
namespace {
thread_local std::vector<PointerArgument> pointers_of_launch;
}

void check_pointer_argument(const Kernel& kernel, const char* arguments, int position,
                            const void* pointer, const Site& site) {
    if (pointer == nullptr) return;
    pointers_of_launch.push_back({position, pointer});
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
    if (!wrong.empty()) {
        failed(cudaErrorInvalidConfiguration, where() + wrong);
        return false;
    }
    const size_t limit = shared_limit(facts);
    if (shape.shared_bytes > limit) {
        failed(cudaErrorInvalidValue,
               where() + format("asks for %zu bytes of shared memory; at most %zu are allowed%s",
                                shape.shared_bytes, limit,
                                limit == shared_per_block ? " before cudaFuncSetAttribute" : ""));
        return false;
    }
    if (in_kernel()) return true;
    if (!is_stream(shape.stream)) {
        failed(cudaErrorInvalidResourceHandle, where() + "names a stream that does not exist");
        return false;
    }
    return true;
}

namespace {

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

void submit(const char* arguments, const Shape& shape, std::unique_ptr<Kernel> kernel) {
    auto grid = std::make_unique<Grid>(shape, std::move(kernel));
    // Not in the middle of a sanitizer's report, which lets no thread start.
    if constexpr (is_observed) name_of(*grid->kernel);
    if (Record::instance().wanted())
        Record::instance().launched(name_of(*grid->kernel), shape, !in_kernel());
    grid->facts = {arguments, std::exchange(pointers_of_launch, {})};
    if (in_kernel()) return submit_from_kernel(std::move(grid));
    const Call call;
    Queue::instance().add(shape.stream, [grid = std::shared_ptr<Grid>(std::move(grid))] {
        if (lost_device != cudaSuccess) return;
        Memory::instance().set_open(true);
        run_grid(*grid);
        if constexpr (is_observed) return;  // then the line itself is known
        if (const Allocation* const allocation = Memory::instance().overrun()) {
            stop(format("%s: kernel %s wrote past the end of the allocation of %s: compare "
                        "the index with the number of elements before the access.",
                        to_string(grid->shape.site).c_str(), name_of(*grid->kernel).c_str(),
                        in_bytes(allocation->bytes).c_str()),
                 "bounds");
        }
    });
    static const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking != nullptr && *blocking == '1') Queue::instance().run_all();
}

void refuse_call(const char* signature, int template_parameters) {
    const std::string name = name_from(signature, template_parameters);
    if (asked_for_name) throw KernelName{name};
    stop(learners_place(nullptr, true) +
         format("kernel %s was called like a function: launch it with %s<<<grid, block>>>(...).",
                name.c_str(), name.c_str()));
}

void poison(void* start, size_t bytes) {
    fill_with(never_written_shared, static_cast<char*>(start), static_cast<char*>(start) + bytes);
}

#ifdef CUDA_CPU_OBSERVED
char* place_shared(SharedVariable& variable, size_t bytes) {
    return Core::mine().place_shared(variable, bytes);
}
void name_dynamic_shared(const char* name) { Core::mine().dynamic_name = name; }
#endif

namespace {
[[noreturn]] __attribute__((noinline)) void refuse_on_host(const Site& site, const char* what) {
    stop(
        format("%s: host code calls %s, which only a kernel can do. To wait for a kernel, call "
               "cudaDeviceSynchronize().",
               to_string(site).c_str(), what));
}
}  // namespace

void leave_kernel() { throw KernelAbort{}; }

Runner* arrive_at_barrier(bool predicate, const Site& site) {
    if (__builtin_expect(!in_kernel(), false)) refuse_on_host(site, "__syncthreads()");
    return Core::mine().arrive_at_barrier(predicate, site);
}
Runner* arrive_in_warp(WarpOperation operation, unsigned int mask, uint64_t value, int source,
                       const Site& site) {
    if (__builtin_expect(!in_kernel(), false)) refuse_on_host(site, "a warp primitive");
    return Core::mine().arrive_in_warp(operation, mask, value, source, site);
}
unsigned int active_lanes(const Site& site) {
    if (__builtin_expect(!in_kernel(), false)) refuse_on_host(site, "__activemask()");
    return Core::mine().active_lanes(site);
}
unsigned int this_lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
void yield() {
    if (in_kernel()) Core::mine().yield();
}
void trap() {
    lost_device = cudaErrorLaunchFailure;
    Core::mine().abort_kernel();
}
void assertion_failed(const char* condition, const char* file, int line, const char* function) {
    if (!in_kernel()) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function,
                     condition);
        std::abort();
    }
    std::fprintf(stderr, "%s:%d: %s: block %s, thread %s: Assertion `%s' failed.\n", file, line,
                 function, to_string(blockIdx).c_str(), to_string(threadIdx).c_str(), condition);
    lost_device = cudaErrorAssert;
    Core::mine().abort_kernel();
}

// Nothing is known of registers and static shared memory, so 32 registers a thread and none are
// assumed; both are given out in the units of the hardware.
cudaError_t occupancy(int* blocks, int block_size, size_t dynamic_shared_bytes) {
    if (const Call call; !call) return call.state;
    const DeviceFacts& facts = *devices()[static_cast<size_t>(current_device)];
    if (block_size <= 0) return failed(cudaErrorInvalidValue);
    *blocks = 0;
    const int warps = (block_size + 31) / 32;
    if (block_size > 1024 || dynamic_shared_bytes > shared_limit(facts)) return cudaSuccess;
    const int by_threads = facts.threads_per_multiprocessor / (warps * 32);
    const int by_registers =
        registers_per_multiprocessor / (warps * 32 * assumed_registers_per_thread);
    int most = std::min({by_threads, by_registers, facts.blocks_per_multiprocessor});
    const size_t shared = round_up(
        dynamic_shared_bytes + static_cast<size_t>(facts.shared_reserved), shared_unit(facts));
    if (shared > 0) {
        most = std::min(
            most, static_cast<int>(static_cast<size_t>(facts.shared_per_multiprocessor) / shared));
    }
    *blocks = most;
    return cudaSuccess;
}

cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value) {
    if (const Call call; !call) return call.state;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    const int limit = devices()[static_cast<size_t>(current_device)]->shared_per_block_optin;
    if (value < 0 || value > limit) {
        return failed(
            cudaErrorInvalidValue,
            format("%d bytes of dynamic shared memory; at most %d a block", value, limit));
    }
    largest_dynamic_shared = std::max(largest_dynamic_shared.load(), value);
    return cudaSuccess;
}

cudaError_t function_attributes(cudaFuncAttributes* attributes) {
    if (const Call call; !call) return call.state;
    const DeviceFacts& facts = *devices()[static_cast<size_t>(current_device)];
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = assumed_registers_per_thread;
    attributes->ptxVersion = attributes->binaryVersion = 10 * facts.major + facts.minor;
    attributes->maxDynamicSharedSizeBytes = largest_dynamic_shared;
    return cudaSuccess;
}

// ---------------------------------------------------------------- copies
namespace {

struct Side {
    bool on_host = true, on_device = false;  // managed and pinned memory is on both
    bool pinned = true;                      // no copy to it has to be waited for
    std::string wrong;                       // why it cannot be used
    const char* kind = "other";              // what kind of mistake that is
};

Side look_at(const void* pointer, size_t bytes, const char* which) {
    Side side;
    if (pointer == nullptr) {
        side.wrong = format("the %s is a null pointer", which);
        return side;
    }
    const Allocation* const allocation = Memory::instance().find(pointer);
    if (allocation == nullptr) {
        side.pinned = false;
        return side;
    }
    side.on_device = true;
    side.on_host = allocation->kind != MemoryKind::device && allocation->kind != MemoryKind::symbol;
    const char* const start = static_cast<const char*>(pointer);
    const char* const end = allocation->start + allocation->bytes;
    if (allocation->freed) {
        side.wrong = format("the %s was given to cudaFree", which);
        side.kind = "freed";
    } else if (start > end || bytes > static_cast<size_t>(end - start)) {
        side.wrong = format("%zu bytes at the %s go past the end of its allocation of %zu bytes",
                            bytes, which, allocation->bytes);
        side.kind = "bounds";
    }
    return side;
}

std::string wrong_direction(const Side& target, const Side& source, cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) return "";
    if (to_device && !target.on_device)
        return "the direction says device, but the target is host memory";
    if (!to_device && !target.on_host)
        return "the direction says host, but the target is device memory";
    if (from_device && !source.on_device)
        return "the direction says device, but the source is host memory";
    if (!from_device && !source.on_host)
        return "the direction says host, but the source is device memory";
    return "";
}

Way way_of(const Side& target, const Side& source, cudaMemcpyKind kind) {
    if (kind == cudaMemcpyHostToDevice) return Way::to_device;
    if (kind == cudaMemcpyDeviceToHost) return Way::to_host;
    if (kind == cudaMemcpyDeviceToDevice) return Way::on_device;
    if (!target.on_device || (target.on_host && !source.on_host)) return Way::to_host;
    return source.on_device ? Way::on_device : Way::to_device;
}

struct Rectangle {
    char* target;
    size_t target_pitch;
    const char* source;
    size_t source_pitch, width, height;
};

cudaError_t copy(const Rectangle& r, cudaMemcpyKind kind, cudaStream_t stream, bool blocking,
                 const char* function = __builtin_FUNCTION()) {
    const Call call(function);
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return failed(cudaErrorInvalidMemcpyDirection);
    }
    if (r.width == 0 || r.height == 0) return cudaSuccess;
    if (r.height > 1 && (r.width > r.target_pitch || r.width > r.source_pitch)) {
        return failed(cudaErrorInvalidPitchValue);
    }
    const Side target = look_at(r.target, r.target_pitch * (r.height - 1) + r.width, "target");
    const Side source = look_at(r.source, r.source_pitch * (r.height - 1) + r.width, "source");
    for (const Side* side : {&target, &source}) {
        if (!side->wrong.empty()) return refused(side->kind, "copy: " + side->wrong);
    }
    const std::string wrong = wrong_direction(target, source, kind);
    if (!wrong.empty()) return refused("copy-direction", "copy: " + wrong);

    const uint64_t number = Queue::instance().add(stream, [r] {
        Memory::instance().set_open(true);
        for (size_t row = 0; row < r.height; ++row) {
            char* const to = r.target + row * r.target_pitch;
            const char* const from = r.source + row * r.source_pitch;
            observer::copied(to, from, r.width);
            std::memmove(to, from, r.width);
        }
    });
    const bool through_host = target.on_host || source.on_host;
    if (Record::instance().wanted() && kind != cudaMemcpyHostToHost) {
        Record::instance().copied(way_of(target, source, kind), r.width * r.height, stream);
    }
    if (through_host && (blocking || !target.pinned || !source.pinned)) {
        Queue::instance().run_until(number);
    }
    return device_state();
}

cudaError_t fill(void* target, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t stream, bool blocking, const char* function = __builtin_FUNCTION()) {
    const Call call(function);
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return failed(cudaErrorInvalidPitchValue);
    const Side side = look_at(target, pitch * (height - 1) + width, "target");
    if (!side.wrong.empty()) return refused(side.kind, "set: " + side.wrong);
    if (!side.on_device) return refused("host-pointer", "set: the target is host memory");
    const uint64_t number = Queue::instance().add(stream, [=] {
        Memory::instance().set_open(true);
        for (size_t row = 0; row < height; ++row) {
            observer::filled(static_cast<char*>(target) + row * pitch, width);
            std::memset(static_cast<char*>(target) + row * pitch, value, width);
        }
    });
    if (blocking && side.on_host) Queue::instance().run_until(number);
    return device_state();
}

}  // namespace

// From now on `symbol` is device memory. Only a variable at namespace scope can be one.
cudaError_t register_symbol(const void* symbol, size_t size) {
    if (const Call call; !call) return call.state;
    const char* const address = static_cast<const char*>(symbol);
    if (!in_program(address)) {
        return failed(cudaErrorInvalidSymbol,
                      "give the __device__ or __constant__ variable itself, not a pointer");
    }
    if (Memory::instance().find(symbol) == nullptr) {
        Memory::instance().add(symbol, size, MemoryKind::symbol);
    }
    return cudaSuccess;
}

cudaError_t place_in_symbol(const void* symbol, size_t size, size_t bytes, size_t offset) {
    const cudaError_t error = register_symbol(symbol, size);
    if (error != cudaSuccess || (offset <= size && bytes <= size - offset)) return error;
    return refused("bounds",
                   format("copy: %zu bytes at offset %zu go past the end of a symbol of %zu bytes",
                          bytes, offset, size));
}

}  // namespace cuda_cpu

// ==================================================================================== the API
using namespace cuda_cpu;

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define CUDA_CPU_NAME(name, value, sentence) \
    case name:                               \
        return #name;
        CUDA_CPU_ERRORS(CUDA_CPU_NAME)
#undef CUDA_CPU_NAME
    }
    return "unrecognized error code";
}

// NVIDIA's sentence; behind it, in parentheses, what was wrong with the last call of this kind.
const char* cudaGetErrorString(cudaError_t error) {
    static thread_local std::map<cudaError_t, std::string> sentences;
    std::string& sentence = sentences[error];
    switch (error) {
#define CUDA_CPU_SENTENCE(name, value, text) \
    case name:                               \
        sentence = text;                     \
        break;
        CUDA_CPU_ERRORS(CUDA_CPU_SENTENCE)
#undef CUDA_CPU_SENTENCE
        default:
            return "unrecognized error code";
    }
    if (error == detailed_error && !last_detail.empty()) sentence += " (" + last_detail + ")";
    return sentence.c_str();
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = cudaPeekAtLastError();
    last_error() = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    if (!in_kernel()) Record::instance().checked();
    return last_error();
}

// ---------------------------------------------------------------- devices
cudaError_t cudaGetDeviceCount(int* count) {
    *count = static_cast<int>(devices().size());
    return device_state();
}

cudaError_t cudaGetDevice(int* device) {
    *device = current_device;
    return device_state();
}

cudaError_t cudaSetDevice(int device) {
    if (const Call call; !call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (const Call call; !call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    *properties = properties_of(*devices()[static_cast<size_t>(device)]);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (const Call call; !call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    const cudaError_t error =
        attribute_of(*devices()[static_cast<size_t>(device)], attribute, value);
    return error == cudaSuccess ? error : failed(error);
}

cudaError_t cudaSetDeviceFlags(unsigned int) {
    const Call call;
    return call.state;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
    const Call call;
    return call.state;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    const Call call;
    return call.state;
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    const Call call;
    *config = cudaSharedMemBankSizeFourByte;
    return call.state;
}

// All pretend devices share their memory.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    const Call call;
    if (!call) return call.state;
    if (!is_device(device) || !is_device(peer)) return failed(cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int) {
    const Call call;
    if (!call) return call.state;
    return is_device(peer) && peer != current_device ? cudaSuccess : failed(cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int* version) {
    *version = 0;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    const Call call;
    if (!call) return call.state;
    Queue::instance().run_all();
    return device_state();
}

cudaError_t cudaDeviceReset() {
    const Call call;
    if (!call && lost_device == cudaSuccess) return call.state;
    Queue::instance().run_all();
    Queue::instance().forget_all();
    Memory::instance().release_all();
    lost_device = cudaSuccess;
    last_error() = cudaSuccess;
    return cudaSuccess;
}

namespace {
// Stack and printf buffer, in bytes; heap; depth; pending launches: CUDA's defaults.
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048};
}  // namespace

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (const Call call; !call) return call.state;
    if (limit < 0 || limit > cudaLimitDevRuntimePendingLaunchCount)
        return failed(cudaErrorInvalidValue);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    if (const Call call; !call) return call.state;
    if (limit < 0 || limit > cudaLimitDevRuntimePendingLaunchCount)
        return failed(cudaErrorInvalidValue);
    *value = limits[limit];
    return cudaSuccess;
}

// ---------------------------------------------------------------- memory
namespace {

size_t capacity() { return devices()[static_cast<size_t>(current_device)]->memory_bytes; }

cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind,
                     const char* function = __builtin_FUNCTION()) {
    const Call call(function);
    if (!call) return call.state;
    if (pointer == nullptr) return failed(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    *pointer = Memory::instance().allocate(bytes, kind, capacity());
    if (*pointer != nullptr) {
        Leaks::instance().allocated(*pointer);
        if constexpr (is_observed) observer::allocated(*Memory::instance().find(*pointer));
        return cudaSuccess;
    }
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    return failed(cudaErrorMemoryAllocation,
                  format("%zu bytes asked for, %zu of %zu free", bytes, free, total));
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return allocate(pointer, bytes, MemoryKind::device);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    const Call call;
    if (!call) return call.state;
    *pitch = round_up(width, 512);
    size_t bytes;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return failed(cudaErrorMemoryAllocation);
    return allocate(pointer, bytes, MemoryKind::device);
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int) {
    return allocate(pointer, bytes, MemoryKind::managed);
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int) {
    const Call call;
    if (!call) return call.state;
    *pointer = bytes == 0 ? nullptr : std::aligned_alloc(page_bytes, round_up(bytes, page_bytes));
    if (*pointer == nullptr) return bytes == 0 ? cudaSuccess : failed(cudaErrorMemoryAllocation);
    Memory::instance().add(*pointer, bytes, MemoryKind::pinned);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
    return cudaMallocHost(pointer, bytes, flags);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
    const Call call;
    if (!call) return call.state;
    const Allocation* const allocation = Memory::instance().find(host);
    if (allocation == nullptr || !is_pinned(*allocation)) return failed(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
    return cudaMalloc(pointer, bytes);
}

// Waits for the work that may still use the memory, as on a GPU.
cudaError_t cudaFree(void* pointer) {
    const Call call;
    if (!call) return call.state;
    Queue::instance().run_all();
    if (pointer == nullptr) return device_state();
    if (!Memory::instance().release(pointer, MemoryKind::device, MemoryKind::managed)) {
        const Allocation* const allocation = Memory::instance().find(pointer);
        const bool again =
            allocation != nullptr && allocation->freed && allocation->start == pointer;
        return refused("double-free",
                       again ? "cudaFree: this memory was freed before"
                             : "cudaFree: the pointer is not one that cudaMalloc returned");
    }
    if constexpr (is_observed) observer::released(*Memory::instance().find(pointer));
    return device_state();
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }

cudaError_t cudaFreeHost(void* pointer) {
    const Call call;
    if (!call) return call.state;
    Queue::instance().run_all();
    if (pointer == nullptr) return cudaSuccess;
    if (!Memory::instance().release(pointer, MemoryKind::pinned, MemoryKind::pinned)) {
        return failed(cudaErrorInvalidValue, "cudaFreeHost: not memory of cudaMallocHost");
    }
    std::free(pointer);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int) {
    const Call call;
    if (!call) return call.state;
    if (pointer == nullptr || bytes == 0) return failed(cudaErrorInvalidValue);
    if (Memory::instance().find(pointer) != nullptr) {
        return failed(cudaErrorHostMemoryAlreadyRegistered);
    }
    Memory::instance().add(pointer, bytes, MemoryKind::registered);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
    const Call call;
    if (!call) return call.state;
    Queue::instance().run_all();
    if (Memory::instance().release(pointer, MemoryKind::registered, MemoryKind::registered)) {
        return cudaSuccess;
    }
    return failed(cudaErrorHostMemoryNotRegistered);
}

namespace {

// What may be said of a range of managed memory changes nothing here.
cudaError_t check_managed(const void* pointer, size_t bytes,
                          const char* function = __builtin_FUNCTION()) {
    const Call call(function);
    if (!call) return call.state;
    const Side side = look_at(pointer, bytes, "range");
    if (!side.wrong.empty()) return failed(cudaErrorInvalidValue, side.wrong);
    const Allocation* const allocation = Memory::instance().find(pointer);
    if (allocation != nullptr && allocation->kind == MemoryKind::managed) return cudaSuccess;
    return failed(cudaErrorInvalidValue, "only managed memory can be moved or advised");
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int, cudaStream_t) {
    return check_managed(pointer, bytes);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise, int) {
    return check_managed(pointer, bytes);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    const Call call;
    if (!call) return call.state;
    *total = capacity();
    *free = std::min(*total - std::min(*total, Memory::instance().used()),
                     Memory::host_bytes_available());
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (const Call call; !call) return call.state;
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, const_cast<void*>(pointer)};
    const Allocation* const allocation = Memory::instance().find(pointer);
    if (allocation == nullptr || allocation->freed) return cudaSuccess;
    void* const address = const_cast<void*>(pointer);
    const bool managed = allocation->kind == MemoryKind::managed;
    const bool pinned = is_pinned(*allocation);
    attributes->type = managed  ? cudaMemoryTypeManaged
                       : pinned ? cudaMemoryTypeHost
                                : cudaMemoryTypeDevice;
    attributes->device = current_device;
    attributes->devicePointer = address;
    attributes->hostPointer = managed || pinned ? address : nullptr;
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    return copy(
        {static_cast<char*>(target), bytes, static_cast<const char*>(source), bytes, bytes, 1},
        kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy(
        {static_cast<char*>(target), bytes, static_cast<const char*>(source), bytes, bytes, 1},
        kind, stream, false);
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    return copy({static_cast<char*>(target), target_pitch, static_cast<const char*>(source),
                 source_pitch, width, height},
                kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return copy({static_cast<char*>(target), target_pitch, static_cast<const char*>(source),
                 source_pitch, width, height},
                kind, stream, false);
}

cudaError_t cudaMemset(void* target, int value, size_t bytes) {
    return fill(target, bytes, value, bytes, 1, nullptr, true);
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
    return fill(target, bytes, value, bytes, 1, stream, false);
}

cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
    return fill(target, pitch, value, width, height, nullptr, true);
}

cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return fill(target, pitch, value, width, height, stream, false);
}

// ---------------------------------------------------------------- streams
namespace {

// Runs a function of the host in its turn; it may make no CUDA calls.
template <class Function>
cudaError_t add_host_function(cudaStream_t stream, Function function) {
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    Queue::instance().add(stream, [function] {
        Memory::instance().set_open(false);
        in_host_function = true;
        function();
        in_host_function = false;
    });
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

// In a kernel all streams are one: its launches run in the order in which they were made.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    if (in_kernel()) {
        *stream = cudaStreamFireAndForget;
        return cudaSuccess;
    }
    const Call call;
    if (!call) return call.state;
    if (flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
    *stream = new CUstream_st{flags, 0};
    Queue::instance().streams.insert(*stream);
    return cudaSuccess;
}

namespace {
constexpr int lowest_priority = 0, highest_priority = -5;
}

// Priorities are kept, but the queue keeps the order of the calls.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    const cudaError_t error = cudaStreamCreateWithFlags(stream, flags);
    if (error == cudaSuccess && !in_kernel()) {
        (*stream)->priority = std::clamp(priority, highest_priority, lowest_priority);
    }
    return error;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
    if (const Call call; !call) return call.state;
    if (lowest != nullptr) *lowest = lowest_priority;
    if (highest != nullptr) *highest = highest_priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    *priority = Queue::instance().streams.count(stream) != 0 ? stream->priority : lowest_priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    *flags = Queue::instance().streams.count(stream) != 0 ? stream->flags : cudaStreamDefault;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (Queue::instance().streams.erase(stream) == 0) return failed(cudaErrorInvalidResourceHandle);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    Queue::instance().run_until(Queue::instance().last_of(stream));
    return device_state();
}

// Asking makes progress: each question runs one more operation.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    Queue& queue = Queue::instance();
    if (queue.is_done(queue.last_of(stream))) return device_state();
    queue.run_one();
    return cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream) || !is_event(event)) return failed(cudaErrorInvalidResourceHandle);
    if (event->record != nullptr) Queue::instance().wait(stream, event->record->number);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    const Call call;
    if (!call) return call.state;
    if (function == nullptr) return failed(cudaErrorInvalidValue);
    return add_host_function(stream, [=] { function(data); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned int) {
    const Call call;
    if (!call) return call.state;
    if (callback == nullptr) return failed(cudaErrorInvalidValue);
    return add_host_function(stream, [=] { callback(stream, lost_device, data); });
}

// ---------------------------------------------------------------- events
cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

// Launches of a kernel run in order, so events mean nothing there.
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    if (in_kernel()) {
        *event = nullptr;
        return cudaSuccess;
    }
    const Call call;
    if (!call) return call.state;
    *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0, nullptr};
    Queue::instance().events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (Queue::instance().events.erase(event) == 0) return failed(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (!is_event(event) || !is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    const auto record = std::make_shared<EventRecord>();
    event->record = record;
    record->number = Queue::instance().add(stream, [record] {
        record->time = std::chrono::steady_clock::now();
        record->done = true;
    });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const Call call;
    if (!call) return call.state;
    if (!is_event(event)) return failed(cudaErrorInvalidResourceHandle);
    if (event->record != nullptr) Queue::instance().run_until(event->record->number);
    return device_state();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    const Call call;
    if (!call) return call.state;
    if (!is_event(event)) return failed(cudaErrorInvalidResourceHandle);
    if (event->record == nullptr || event->record->done) return device_state();
    Queue::instance().run_one();
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    const Call call;
    if (!call) return call.state;
    for (const cudaEvent_t event : {start, stop}) {
        if (!is_event(event) || !event->timing || event->record == nullptr) {
            return failed(cudaErrorInvalidResourceHandle);
        }
    }
    if (!start->record->done || !stop->record->done) return cudaErrorNotReady;
    const std::chrono::duration<float, std::milli> elapsed =
        stop->record->time - start->record->time;
    *milliseconds = elapsed.count();
    return cudaSuccess;
}
