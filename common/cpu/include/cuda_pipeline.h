// Asynchronous copies by their plain functions: those of a thread between two commits are a group.
#pragma once

#include "cuda_cpu/pipeline.h"

namespace cuda_cpu {
// The pipeline of the thread that runs, anew for each block.
inline cuda::pipeline<cuda::thread_scope_thread>& pipeline_of_thread() {
    struct OfBlock {
        unsigned long long block = 0;
        cuda::pipeline<cuda::thread_scope_thread> pipe;
    };
    static thread_local std::vector<OfBlock> threads(1024);
    OfBlock& mine = threads[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)];
    if (mine.block != block_serial) mine = {block_serial, {}};
    return mine.pipe;
}
}  // namespace cuda_cpu

// The last `zeros` bytes of the target are filled with 0.
inline void __pipeline_memcpy_async(void* target, const void* source, size_t bytes,
                                    size_t zeros = 0) {
    std::memset(static_cast<char*>(target) + bytes - zeros, 0, zeros);
    cuda_cpu::pipeline_of_thread().begin_copy(target, source, bytes - zeros);
}
inline void __pipeline_commit() { cuda_cpu::pipeline_of_thread().producer_commit(); }
inline void __pipeline_wait_prior(size_t newest) {
    cuda_cpu::pipeline_of_thread().wait_prior(static_cast<unsigned int>(newest));
}
