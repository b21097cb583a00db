// 18 memory_spaces: one computation, and each kind of memory that it could take its numbers from. You
// write TODO 1 to 8.
//
// A chain of rotors. Each has an angle and a speed; a field turns it, by its angle, and the rotors before
// and behind it in the chain pull. A step of the chain reads each angle many times, a table of weights in
// the same order in all threads, and the table of the field at random places.
//
// Part one, on the device: what a step takes
//   structures   an array of structures; nothing to write
//   arrays       a structure of arrays
//   constant     arrays, and the weights from constant memory
//   texture      arrays, and the field through a texture
//   shared       arrays, and the angles from shared memory
//   field_in_constant, field_in_shared, together   in further/
// Part two, between host and device: what a round takes in which both work on the same angles
//   pageable, pinned   copied there and back; you write the memory
//   mapped       the kernels reach into the host's memory
//   managed      pages move to where they are touched
//   prefetched   pages are sent ahead
//   advised      and those of the field stay on both sides

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/lab.h"
#include "given/rotors.cuh"

// ---------- Part one: on the device --------------------------------------------------------------------

// A rotor as one thinks of it. A step looks at three of its eight numbers.
struct Rotor {
    uint32_t angle[2];  // now, and after the step: they take turns
    uint32_t speed;
    uint32_t others[5];  // what other kernels would need
};

// One step, the model of all others. A warp reads 32 angles that lie 32 bytes apart.
__global__ void step_structures(Rotor* rotors,  // (chain.count)
                                int now, Chain chain) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chain.count) return;
    const uint32_t own = rotors[i].angle[now];
    uint32_t force = chain.field[cell_of(own, chain.cells)];
    for (int d = 1; d <= chain.reach; ++d) {
        const uint32_t left =
            rotors[max(i - d, 0)].angle[now];  // beyond its ends the chain goes on
        const uint32_t right = rotors[min(i + d, chain.count - 1)].angle[now];
        force += pull(own, left, right, chain.weights[d - 1]);
    }
    rotors[i].speed += force;
    rotors[i].angle[1 - now] = own + rotors[i].speed;
}

// The same of a structure of arrays: a warp reads 32 angles side by side.
__global__ void step_arrays(Chain chain) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chain.count) return;
    // TODO 1 (about 9 lines): the same step, from chain.angle and chain.speed; the new angle goes to
    // chain.next.
}

lab::Launch launch_arrays(const Chain& chain) {
    const lab::Launch shape = shape_of(chain);
    step_arrays<<<shape.grid, shape.block>>>(chain);
    CHECK_LAUNCH();
    return shape;
}

// Constant memory: 64 KiB for all of a program, written by the host, read through a cache of its own. A
// warp gets one word at a time: as fast as a register where all lanes want the same one, as they do here.
__constant__ int32_t constant_weights[most_reach];

void fill_constant_weights(const int32_t* h_weights, int reach) {
    // TODO 2a (1 line): copy them to constant_weights. It is a symbol, not a pointer: cudaMemcpyToSymbol.
    (void)h_weights, (void)reach;  // delete this line
}

__global__ void step_constant(Chain chain) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chain.count) return;
    const uint32_t own = chain.angle[i];
    uint32_t force = chain.field[cell_of(own, chain.cells)];
    for (int d = 1; d <= chain.reach; ++d) {
        const uint32_t left = chain.angle[max(i - d, 0)];
        const uint32_t right = chain.angle[min(i + d, chain.count - 1)];
        // TODO 2b (a change): the weight comes from constant memory.
        force += pull(own, left, right, chain.weights[d - 1]);
    }
    turn(chain, i, own, force);  // the speed and the next angle, as in step_arrays
}

lab::Launch launch_constant(const Chain& chain) {
    const lab::Launch shape = shape_of(chain);
    step_constant<<<shape.grid, shape.block>>>(chain);
    CHECK_LAUNCH();
    return shape;
}

// A texture: memory of the device that is read through an object, which knows its size and its type.
cudaTextureObject_t make_texture(const int32_t* d_field, int cells) {
    cudaTextureObject_t texture = 0;
    // TODO 3a (about 8 lines): a cudaResourceDesc says what is read: linear memory, where it lies, of
    // which channel format (cudaCreateChannelDesc), how many bytes. A cudaTextureDesc says how: as it is
    // stored. cudaCreateTextureObject makes the object of both.
    (void)d_field, (void)cells;  // delete this line
    return texture;
}

__global__ void step_texture(Chain chain) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chain.count) return;
    const uint32_t own = chain.angle[i];
    // TODO 3b (a change): fetch the element of the field through chain.texture.
    uint32_t force = chain.field[cell_of(own, chain.cells)];
    for (int d = 1; d <= chain.reach; ++d) {
        const uint32_t left = chain.angle[max(i - d, 0)];
        const uint32_t right = chain.angle[min(i + d, chain.count - 1)];
        force += pull(own, left, right, chain.weights[d - 1]);
    }
    turn(chain, i, own, force);
}

lab::Launch launch_texture(const Chain& chain) {
    const lab::Launch shape = shape_of(chain);
    step_texture<<<shape.grid, shape.block>>>(chain);
    CHECK_LAUNCH();
    return shape;
}

// Shared memory: the block loads its angles once, with those of `reach` rotors before and behind them.
__global__ void step_shared(Chain chain) {
    __shared__ uint32_t tile[block_size + 2 * most_reach];
    const int i = blockIdx.x * block_size + threadIdx.x;
    const int first = blockIdx.x * block_size - chain.reach;  // the rotor whose angle is in tile[0]
    // TODO 4a (about 4 lines): all threads together fill tile[0] to tile[block_size + 2 * reach - 1], in
    // steps of block_size; tile[t] is the angle of rotor first + t, or of the nearest that there is. Then
    // they wait. This line brings only a thread's own: delete it.
    (void)first, tile[threadIdx.x + chain.reach] = chain.angle[min(i, chain.count - 1)];
    if (i >= chain.count) return;
    const int here = threadIdx.x + chain.reach;  // where its own angle is in the tile
    const uint32_t own = tile[here];
    uint32_t force = chain.field[cell_of(own, chain.cells)];
    for (int d = 1; d <= chain.reach; ++d) {
        // TODO 4b (1 line): add the pull of the two neighbours; both angles come from the tile.
        (void)d;  // delete this line
    }
    turn(chain, i, own, force);
}

lab::Launch launch_shared(const Chain& chain) {
    const lab::Launch shape = shape_of(chain);
    step_shared<<<shape.grid, shape.block>>>(chain);
    CHECK_LAUNCH();
    return shape;
}

// ---------- Part two: between host and device ----------------------------------------------------------

enum class Kind { pageable, pinned, mapped, managed };

// Memory that the host can use, of each kind.
void* allocate(Kind kind, size_t bytes) {
    void* memory = nullptr;
    if (kind == Kind::pageable) memory = std::malloc(bytes);
    // TODO 5a (3 lines): pinned (cudaMallocHost), mapped (cudaHostAlloc, with cudaHostAllocMapped) and
    // managed memory (cudaMallocManaged). The next line is to be deleted.
    if (kind != Kind::pageable) memory = std::malloc(bytes);
    return memory;
}

void release(Kind kind, void* memory) {
    if (kind == Kind::pageable) std::free(memory);
    // TODO 5b (2 lines): pinned and mapped memory have a function of their own for this; managed memory
    // is given back like the device's. The next line is to be deleted.
    if (kind != Kind::pageable) std::free(memory);
}

// The address by which kernels reach mapped memory.
uint32_t* device_pointer(uint32_t* h_mapped) {
    uint32_t* d_mapped = nullptr;
    // TODO 5c (1 line): ask for it (cudaHostGetDevicePointer).
    (void)h_mapped;  // delete this line
    return d_mapped;
}

// A round: the host kicks some of the rotors, the device makes some steps, and the host can read all angles
// again. In `copied` they lie twice, and are copied; below, chain.angle leads to the host's own.
lab::Launch round_copied(const Round& round) {
    const size_t bytes = round.chain.count * sizeof(uint32_t);
    kick(round);
    CHECK(cudaMemcpyAsync(round.chain.angle, round.h_angle, bytes, cudaMemcpyHostToDevice));
    const lab::Launch shape = run_steps(round.chain, round.steps, launch_arrays);
    CHECK(cudaMemcpyAsync(round.h_angle, round.chain.angle, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceSynchronize());
    return shape;
}

lab::Launch round_in_place(const Round& round) {
    kick(round);
    const lab::Launch shape = run_steps(round.chain, round.steps, launch_arrays);
    // TODO 6 (1 line): no copy waits here for the kernels, and the host is about to read what they write.
    return shape;
}

// Pages that are touched and are not there cost a fault each. These are sent before. `device_place()` and
// `host_place()` (in given/rotors.cuh) are the two ends; CUDA 13 has another type for them than 12.
lab::Launch round_prefetched(const Round& round) {
    const size_t angle_bytes = round.chain.count * sizeof(uint32_t);
    const size_t field_bytes = round.chain.cells * sizeof(int32_t);
    kick(round);
    // TODO 7a (2 lines): send the angles and the field to the device,
    // cudaMemPrefetchAsync(pointer, bytes, place, 0).
    (void)angle_bytes, (void)field_bytes;  // delete this line
    const lab::Launch shape = run_steps(round.chain, round.steps, launch_arrays);
    // TODO 7b (2 lines): and back to the host.
    CHECK(cudaDeviceSynchronize());
    return shape;
}

// Both sides read the field, and nobody writes it. Said once, this makes the same prefetches cheaper.
void advise(const int32_t* field, int cells) {
    // TODO 8 (1 line): say that it is read mostly: cudaMemAdvise(pointer, bytes, advice, place). For this
    // advice the place does not matter.
    (void)field, (void)cells;  // delete this line
}

// ---------- Nothing to edit below ----------------------------------------------------------------------

#ifdef LAB_FURTHER
#include "further/fields.cuh"
#endif
#include "given/run_device.cuh"
#include "given/run_rounds.cuh"

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Steps of a chain of rotors, from each kind of memory.");
    Request request(arguments);
    lab::Study study(arguments, variant_names(), further_names());
    arguments.finish();
    request.finish(arguments, study);
    const int count = int(request.angles.size());
    if (count == 0) return request.write_nothing();
    lab::require_device();
    lab::require_memory(60LL * count, 50LL * count, "the chain");
    study.size(lab::format("%d rotors, reach %zu, %zu cells, %d steps", count,
                           request.weights.size(), request.field.size(), request.steps));
    run_device(study, request);
    run_rounds(study, request);
    return study.finish();
}
