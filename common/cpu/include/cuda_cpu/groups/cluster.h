// Thread block clusters: blocks that run at the same time, meet, and see each other's shared memory.
#pragma once

#include "block.h"

namespace cuda_cpu {

// The cluster around the running block; one block is a cluster of its own.
unsigned int rank_in_cluster();
dim3 shape_of_cluster();
void cluster_barrier(const Site& site);
// Where what lies at an address of this block's shared memory is in that of another one.
void* in_block_of_cluster(void* address, unsigned int rank);
unsigned int block_of_cluster(const void* address);

}  // namespace cuda_cpu

namespace cooperative_groups {

class cluster_group {
 public:
    static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        cuda_cpu::cluster_barrier({file, line});
    }
    // Here a thread that arrives goes on, and waits only in barrier_wait.
    struct arrival_token {};
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        sync(file, line);
    }
    static void barrier_wait(arrival_token&&, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
        sync(file, line);
    }
    static dim3 dim_blocks() { return cuda_cpu::shape_of_cluster(); }
    static unsigned int num_blocks() {
        const dim3 shape = dim_blocks();
        return shape.x * shape.y * shape.z;
    }
    static unsigned int block_rank() { return cuda_cpu::rank_in_cluster(); }
    static dim3 block_index() {
        const dim3 shape = dim_blocks();
        return dim3(blockIdx.x % shape.x, blockIdx.y % shape.y, blockIdx.z % shape.z);
    }
    static unsigned int thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned int num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned int size() { return num_threads(); }
    static dim3 dim_threads() {
        const dim3 shape = dim_blocks();
        return dim3(shape.x * blockDim.x, shape.y * blockDim.y, shape.z * blockDim.z);
    }
    static dim3 thread_index() {
        const dim3 block = block_index();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    template <class T>
    static T* map_shared_rank(T* address, int rank) {
        return static_cast<T*>(cuda_cpu::in_block_of_cluster(
            const_cast<void*>(static_cast<const volatile void*>(address)),
            static_cast<unsigned int>(rank)));
    }
    static unsigned int query_shared_rank(const void* address) {
        return cuda_cpu::block_of_cluster(address);
    }
};
inline cluster_group this_cluster() { return {}; }

}  // namespace cooperative_groups
