// Lab 01, hello_world: host code and device code in one file.
//
// The host says hello and launches a kernel; every thread of the grid answers with one line: its
// block, its place in the block and its number in the whole grid. A launch is asynchronous: it
// returns at once, and the host has to wait before it says goodbye. --no-wait shows what becomes
// of the answers when it does not.

#include <algorithm>
#include <cstdio>

#include "../../common/lab.h"

constexpr int64_t most_threads = 1 << 18;  // each prints a line
constexpr int64_t bytes_per_line = 512;    // what a line takes in the device's buffer, at most

// How many threads a block has, or how many blocks a grid. Compiled twice: for the host, where
// main calls it, and for the device, where the kernel does.
__host__ __device__ int64_t count(dim3 shape) {
    return static_cast<int64_t>(shape.x) * shape.y * shape.z;
}

// Device code. Every thread of the grid runs this function once and prints one line, numbered in
// the order in which memory is numbered too: x runs fastest, then y, then z, block after block.
__global__ void greet_kernel() {
    // TODO (3 lines): the number of this thread's block in the grid, the thread's place in its
    // block, and from both its number in the whole grid. The threads of one block follow each
    // other; count(blockDim) says how many they are. Replace the line below.
    int64_t number = 0;
    printf("device: hello from block (%u, %u, %u), thread (%u, %u, %u), number %lld\n", blockIdx.x,
           blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z,
           static_cast<long long>(number));
}

// Starts one thread for every place of the grid. Returns at once, before any of them has run.
void launch_greet(dim3 grid, dim3 block) {
    // TODO (2 lines): launch greet_kernel with this grid and this block, then check the launch.
    // Replace the line below.
    (void)grid, (void)block;
}

// Returns when every thread that was launched has finished and its line has been printed.
void wait_for_device() {
    // TODO (1 line): wait for the device, and check the call.
}

// Gets the device ready, so that the launch alone is timed: loads the kernel, and makes room for
// every line. What printf writes in a kernel waits in a buffer of 1 MiB on the device until the
// host synchronises; when the buffer is full, the oldest lines are overwritten.
void prepare_device(int64_t threads) {
    size_t room = 0;
    CHECK(cudaDeviceGetLimit(&room, cudaLimitPrintfFifoSize));
    room = std::max(room, static_cast<size_t>(threads * bytes_per_line));
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, room));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, greet_kernel));
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv,
                             "Says hello from the host and from each thread of a grid.");
    dim3 grid = arguments.grid("grid", dim3(2, 2), "blocks in the grid: 4, 2x2 or 2x2x2");
    dim3 block = arguments.block("block", dim3(4, 2), "threads in a block: 32, 4x2 or 4x2x2");
    bool wait = !arguments.flag("no-wait", "say goodbye without waiting for the device");
    arguments.finish();
    if (count(grid) > most_threads / count(block)) {
        lab::refuse("--grid and --block: at most %lld threads in all, please; each prints a line",
                    static_cast<long long>(most_threads));
    }
    lab::require_device();
    prepare_device(count(grid) * count(block));

    // Lines leave one by one, so that those of the host and of the device keep their order in files.
    setvbuf(stdout, nullptr, _IOLBF, 0);
    printf("host: hello, I launch a grid of %s blocks of %s threads\n",
           lab::shape_text(grid).c_str(), lab::shape_text(block).c_str());
    const lab::NvtxRange range("greet");
    lab::HostTimer timer;
    launch_greet(grid, block);
#ifdef LAB_DEBUG
    printf("host: in this debug build CHECK_LAUNCH has waited for the kernel\n");
#endif
    printf("host: the launch took %.3f ms\n", timer.milliseconds());
    if (wait) wait_for_device();
    printf("host: goodbye, %.3f ms after the launch\n", timer.milliseconds());
    if (lab::on_cpu) printf("host: this was CPU mode, these are not the times of a GPU\n");
    return 0;
}
