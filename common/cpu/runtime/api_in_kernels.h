// What a kernel calls: barriers, warps, shared memory, the end of a kernel.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "api_call.h"
#include "grid.h"
#include "patterns.h"

namespace cuda_cpu {

void poison(void* start, size_t bytes) {
    fill_with(never_written_shared, static_cast<char*>(start), static_cast<char*>(start) + bytes);
}

#ifdef CUDA_CPU_OBSERVED
char* place_shared(SharedVariable& variable, size_t bytes) {
    return Core::mine().place_shared(variable, bytes);
}
void poison_for_each_block(SharedVariable& variable, size_t bytes) {
    Core::mine().poison_for_each_block(variable, bytes);
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
    return Core::mine().active_lanes(site, true);
}
bool grid_is_cooperative() { return in_kernel() && current_grid->barrier != nullptr; }
void grid_barrier(const Site& site) {
    if (!in_kernel()) refuse_on_host(site, "grid.sync()");
    if (!grid_is_cooperative()) {
        stop(to_string(site) +
                 ": grid.sync() in a kernel that was launched with <<<...>>>: its blocks do not "
                 "all run at the same "
                 "time. Launch it with cudaLaunchCooperativeKernel.",
             "barrier");
    }
    // Its first thread waits for the other blocks, while those of its own block wait for it.
    if (const unsigned int here = block_barrier(true, site),
        all = blockDim.x * blockDim.y * blockDim.z;
        here != all)
        stop(format("%s: only %u of the %u threads of block %s reach this grid.sync(); the others "
                    "ended before it. Every thread of the grid must reach it: no return before it.",
                    to_string(site).c_str(), here, all, to_string(blockIdx).c_str()),
             "barrier");
    const bool first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
    if (first && !current_grid->barrier->wait(site)) Core::mine().abort_kernel();
    block_barrier(false, site);
}
dim3 shape_of_cluster() { return current_cluster != nullptr ? current_cluster->shape : dim3(); }
unsigned int rank_in_cluster() {
    const dim3 shape = shape_of_cluster();
    return blockIdx.x % shape.x +
           shape.x * (blockIdx.y % shape.y + shape.y * (blockIdx.z % shape.z));
}
// The same for a cluster; whose first thread has ended, the next one waits for the other blocks.
void cluster_barrier(const Site& site) {
    block_barrier(false, site);
    if (current_cluster == nullptr) return;
    unsigned int& threads = Core::mine().threads_at_cluster;
    if (threads++ == 0 && !current_cluster->barrier.wait(site)) Core::mine().abort_kernel();
    block_barrier(false, site);
    threads = 0;
}
void* in_block_of_cluster(void* address, unsigned int rank) {
    const size_t blocks = current_cluster != nullptr ? current_cluster->cores.size() : 1;
    if (rank >= blocks) {
        stop(learners_place() + this_thread() +
                 format("asks for the shared memory of block %u of its cluster, which has %zu: "
                        "their ranks begin at 0.",
                        rank, blocks),
             "bounds");
    }
    if (current_cluster == nullptr) return address;
    const uint64_t offset = shared_offset(reinterpret_cast<uint64_t>(address));
    Core& other = *current_cluster->cores[rank];
#ifdef CUDA_CPU_OBSERVED
    if (const auto* const place = Core::mine().shared_near(static_cast<const char*>(address)))
        other.place_like(Core::mine(), *place);
#endif
    return reinterpret_cast<void*>(other.shared_address(offset));
}
unsigned int block_of_cluster(const void* address) {
    const auto number = reinterpret_cast<uint64_t>(address);
    for (unsigned int rank = 0; current_cluster != nullptr; ++rank) {
        if (rank == current_cluster->cores.size()) break;
        if (current_cluster->cores[rank]->shared_offset(number) != number) return rank;
    }
    return rank_in_cluster();
}
// A kernel with __cluster_dims__ that was launched by another name than its own.
void needs_clusters(unsigned int x, unsigned int y, unsigned int z) {
    const dim3 shape = shape_of_cluster();
    if (shape.x == x && shape.y == y && shape.z == z) return;
    stop(
        format("%s: kernel %s has __cluster_dims__(%u, %u, %u), but was launched by a pointer or "
               "in clusters of another shape. "
               "In CPU mode launch it by its name.",
               to_string(current_grid->shape.site).c_str(), current_kernel(), x, y, z));
}
void step(const volatile void* address, const Site& site, bool everywhere) {
    if (!in_kernel()) return;
    const char* const memory = Core::mine().own_memory(const_cast<const void*>(address));
    const bool is_shared = memory != nullptr && std::strcmp(memory, "shared memory") == 0;
    if (is_shared || (everywhere && memory == nullptr)) Core::mine().active_lanes(site, false);
    if (!is_shared) spin();  // it may be a flag that another block or warp sets
}
uint64_t shared_offset(uint64_t address) { return Core::mine().shared_offset(address); }
uint64_t shared_address(uint64_t offset) { return Core::mine().shared_address(offset); }
NumberedBarrier* numbered_barriers() { return Core::mine().numbered_barriers(); }
unsigned int this_lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
void yield() {
    spins = 0;  // so that each time the same count is in a register of whoever spins (stillness.h)
    if (in_kernel()) Core::mine().yield();
}
bool copies_beside() {
    if constexpr (is_observed) return false;  // of those the operation that runs is known
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    bool any = false;
    while (Queue::instance().copies_beside()) any = true;
    return any;
}
void tell_waiting_for_ever(const std::string& others) {
    const std::string who = learners_place() + this_thread();
    if (const Grid* const other = Queue::instance().could_run_beside()) {
        const bool is_far = other->device != current_grid->device;
        stop(who + "waits here, and all threads that run wait for a change" + others +
                 format(
                     ". CPU mode runs one kernel after the other; on a card kernel %s (%s), which "
                     "is %s, could run at the same time. If it is to make that change, this "
                     "program needs %s.",
                     name_of(*other->kernel).c_str(), to_string(other->shape.site).c_str(),
                     is_far ? format("for device %d", other->device).c_str() : "in another stream",
                     is_far ? "several cards" : "a card"),
             "barrier");
    }
    stop(who +
             "waits here for ever: it asks again and again for a change, but all threads that run "
             "wait for one" +
             others +
             ", and no other block can begin. What it waits for must be done by a thread that has "
             "not ended and does not itself wait, in a block that runs at the same time.",
         "barrier");
}
void tell_endless_loop(const char* place) {
    stop(learners_place(const_cast<char*>(place) + 1) + this_thread() +
             "loops here for ever: nothing that this loop looks at can change. A variable that is "
             "not volatile is read "
             "once, before a loop; and what another thread would write must not wait for this one. "
             "Let it read with an atomic "
             "(atomicAdd(&flag, 0), cuda::atomic_ref), or declare the variable volatile.",
         "barrier");
}
void trap() {
    if (findings_are_wanted())
        note("other", learners_place() + this_thread() + "calls __trap(), which ends the kernel.");
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
    note("other", to_string(Site{file, line}) + ": " + this_thread() + "asserts that " + condition +
                      ", which does not hold. That ends the kernel.");
    lost_device = cudaErrorAssert;
    Core::mine().abort_kernel();
}

}  // namespace cuda_cpu
