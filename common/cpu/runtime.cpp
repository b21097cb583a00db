// CUDA on the CPU: the runtime. One object file, compiled once and linked to every program, and the
// contents page of its parts.
#define CUDA_CPU_RUNTIME

#include <pthread.h>

#include "include/cuda_runtime.h"
#include "runtime/devices.h"     // the devices that the CPU pretends to be
#include "runtime/faults.h"      // memory faults in words
#include "runtime/grid.h"        // launches
#include "runtime/host_calls.h"  // what the system touches for the host
#include "runtime/leaks.h"       // device memory that is never freed
#include "runtime/memory.h"      // device memory that host code may not touch
#include "runtime/names.h"       // what a kernel is called
#include "runtime/order.h"       // other orders of blocks and threads
#include "runtime/paging.h"      // managed memory that moves in pages
#include "runtime/patrol.h"      // blocks that run for long
#include "runtime/patterns.h"    // what memory holds that nobody has written
#include "runtime/queue.h"       // work that the host has not yet waited for: streams and events
#include "runtime/record.h"      // what a program has launched and copied, for its checker
#include "runtime/report.h"      // what is said, and how a program ends
#include "runtime/scheduler.h"   // the threads of a block: fibers, barriers, warps
#include "runtime/team.h"        // blocks over the cores, launches from kernels

// What `make sanitize` and `make explain` want to know; calls.h is what the compiler calls before
// each access for the last two.
#include "runtime/observer.h"
#if defined(CUDA_CPU_BOUNDS)
#include "runtime/bounds.h"
#elif defined(CUDA_CPU_RACES)
#include "runtime/races.h"
#ifdef CUDA_CPU_REPLAY
#include "runtime/film_steps.h"  // what `make replay` shows, with film.h and film_reel.h
#endif
#elif defined(CUDA_CPU_ACCESSES)
#include "runtime/accesses.h"
#endif

// The API, as the headers in include/ declare it.
#include "runtime/api_arrays.h"         // cudaMallocArray, cudaMemcpy3D, ...
#include "runtime/api_call.h"           // what every call begins and ends with
#include "runtime/api_capture.h"        // cudaStreamBeginCapture, ...
#include "runtime/api_copies.h"         // cudaMemcpy, cudaMemset, symbols
#include "runtime/api_devices.h"        // cudaSetDevice, cudaDeviceSynchronize, ...
#include "runtime/api_errors.h"         // cudaGetLastError, cudaGetErrorString, ...
#include "runtime/api_events.h"         // cudaEventRecord, ...
#include "runtime/api_graph_changes.h"  // cudaGraphExecKernelNodeSetParams, ...
#include "runtime/api_graphs.h"         // cudaGraphCreate, ...
#include "runtime/api_in_kernels.h"     // barriers, warps, __trap, ...
#include "runtime/api_kernels.h"        // launches
#include "runtime/api_libraries.h"      // what cuBLAS and its kin ask for
#include "runtime/api_memory.h"         // cudaMalloc, cudaFree, ...
#include "runtime/api_nccl_calls.h"     // ncclAllReduce, ...
#include "runtime/api_occupancy.h"      // cudaOccupancy..., cudaFuncSetAttribute, ...
#include "runtime/api_pools.h"          // cudaMemPoolCreate, cudaMallocAsync, ...
#include "runtime/api_random.h"         // direction vectors of Sobol sequences
#include "runtime/api_streams.h"        // cudaStreamCreate, ...
#include "runtime/textures.h"           // cudaCreateTextureObject, what tex2D and its kin give

// The linker puts a program's thread-local variables in front of those of the runtime, and these in front of all of those:
// an index that is too large for a __shared__ array meets them before it changes what the runtime lives on.
asm(".pushsection .tbss.cuda_cpu_shared_end, \"awT\", %nobits\n"
    ".globl cuda_cpu_shared_end\n"
    "cuda_cpu_shared_end: .zero 1\n"
    ".popsection\n"
    ".pushsection .tbss.cuda_cpu_shared_guard, \"awT\", %nobits\n"
    ".balign 4096\n"
    ".globl cuda_cpu_shared_guard\n"
    "cuda_cpu_shared_guard: .zero 32768\n"
    ".popsection");

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

void register_managed_variables() {
    const auto bytes = static_cast<size_t>(__stop_cuda_managed - __start_cuda_managed);
    if (bytes > 0) Memory::instance().add(__start_cuda_managed, bytes, MemoryKind::managed);
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

}  // namespace

}  // namespace cuda_cpu
