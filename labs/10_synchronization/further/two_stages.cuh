// two_stages: the sum without atomics, and with the same bits in every run, on every card.
//
// Known before: vectorised and block_sum (tasks 5 to 7), and that (a + b) + c is not always
// a + (b + c) (handout, "How exact is it?"). Atomics come in any order, so the last digits of a sum of
// fractions differ from run to run. Here nobody adds to a sum that another adds to. Each block stores
// its part in a place of its own, and a second kernel of one block adds the parts in a fixed order:
//
//     values   | tile 0 | tile 1 | tile 2 | tile 3 | tile 4 | ...     dealt out to the blocks in turn
//                  |        |        |        |        |
//     block        0        1        2        0        1              sum_into_parts, as vectorised
//     parts     parts[0] parts[1] parts[2]                            each stored by its block
//     -------------------------------------------------------------   the end of the kernel
//     *sum      block_sum(parts[0], parts[1], parts[2])               sum_of_parts, one block
//
// The second kernel begins when the first has ended: the end of a kernel is the one barrier for a
// whole grid. The number of parts depends on the number of elements alone, never on the card.
//
// What it brought, on an NVIDIA H200 with CUDA 13.0 (1 December 2026): of 256 Mi floats
// 0.2517 ms, where vectorised takes 0.2489: 1 % is lost. Of 1 Mi floats 0.0086 ms, where vectorised
// takes 0.0067: there the second launch counts.
#pragma once

__global__ void __launch_bounds__(block_size)
    sum_into_parts(const float* values, int64_t count, float* parts) {
    const float total = block_sum(sum_of_thread(values, count));
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

__global__ void sum_of_parts(const float* parts, int count, float* sum) {
    const int i = threadIdx.x;
    const float total = block_sum(i < count ? parts[i] : 0);
    if (threadIdx.x == 0) *sum = total;
}

lab::Launch launch_two_stages(const SumJob& job) {
    const int64_t tiles = lab::divide_up(job.count, tile_elements);
    const int64_t blocks = std::min(tiles, std::min<int64_t>(most_parts, job.most_blocks));
    const lab::Launch launch = {dim3(blocks), dim3(block_size)};
    float* const d_parts = static_cast<float*>(job.d_workspace);
    sum_into_parts<<<launch.grid, launch.block>>>(job.d_input, job.count, d_parts);
    CHECK_LAUNCH();
    sum_of_parts<<<1, most_parts>>>(d_parts, launch.grid.x, job.d_result);
    CHECK_LAUNCH();
    return launch;
}
