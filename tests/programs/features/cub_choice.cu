// Feature: CUB, choosing and parting | `DevicePartition` (flags, a condition, three parts), `DeviceSelect::UniqueByKey`, in place, `FlaggedIf`; `DeviceRunLengthEncode::NonTrivialRuns`, `DeviceReduce::ArgMin`, `DeviceMemcpy::Batched`
#include <cub/cub.cuh>
#include <vector>

#include "../device_copies.h"

struct Below {
    int limit;
    __host__ __device__ bool operator()(int x) const { return x < limit; }
};

// Asks for the memory, then calls again with it.
template <class Call>
void run(Call call) {
    void* work = nullptr;
    size_t bytes = 0;
    SUCCEEDS(call(nullptr, bytes));
    EXPECT(bytes > 0);
    SUCCEEDS(cudaMalloc(&work, bytes));
    SUCCEEDS(call(work, bytes));
    SUCCEEDS(cudaDeviceSynchronize());
    SUCCEEDS(cudaFree(work));
}

int main() {
    const std::vector<int> in{5, 1, 9, 2, 7, 3, 8, 4};
    const int n = static_cast<int>(in.size());
    int *d_in = on_device(in), *out = on_device(std::vector<int>(n)),
        *second = on_device(std::vector<int>(n)), *rest = on_device(std::vector<int>(n)),
        *chosen = on_device(std::vector<int>(2));
    char* flags = on_device(std::vector<char>{1, 0, 0, 1, 0, 0, 1, 0});
    // What is not chosen comes behind, in reverse order.
    run([&](void* work, size_t& bytes) {
        return cub::DevicePartition::Flagged(work, bytes, d_in, flags, out, chosen, n);
    });
    EXPECT(back(chosen, 1)[0] == 3 && back(out, n) == (std::vector<int>{5, 2, 8, 4, 3, 7, 9, 1}));
    run([&](void* work, size_t& bytes) {
        return cub::DevicePartition::If(work, bytes, d_in, out, chosen, n, Below{5});
    });
    EXPECT(back(chosen, 1)[0] == 4 && back(out, n) == (std::vector<int>{1, 2, 3, 4, 8, 7, 9, 5}));
    run([&](void* work, size_t& bytes) {
        return cub::DevicePartition::If(work, bytes, d_in, out, second, rest, chosen, n, Below{3},
                                        Below{6});
    });
    EXPECT(back(chosen, 2) == (std::vector<int>{2, 3}) &&
           back(out, 2) == (std::vector<int>{1, 2}) &&
           back(second, 3) == (std::vector<int>{5, 3, 4}) &&
           back(rest, 3) == (std::vector<int>{9, 7, 8}));

    int *keys = on_device(std::vector<int>{0, 2, 2, 9, 5, 5, 5, 8}),
        *unique = on_device(std::vector<int>(n)), *lengths = on_device(std::vector<int>(n));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSelect::UniqueByKey(work, bytes, keys, d_in, unique, out, chosen, n);
    });
    EXPECT(back(chosen, 1)[0] == 5 && back(unique, 5) == (std::vector<int>{0, 2, 9, 5, 8}) &&
           back(out, 5) == (std::vector<int>{5, 1, 2, 7, 4}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceRunLengthEncode::NonTrivialRuns(work, bytes, keys, unique, lengths,
                                                          chosen, n);
    });
    EXPECT(back(chosen, 1)[0] == 2 && back(unique, 2) == (std::vector<int>{1, 4}) &&
           back(lengths, 2) == (std::vector<int>{2, 3}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSelect::If(work, bytes, d_in, chosen, n, Below{5});
    });
    EXPECT(back(chosen, 1)[0] == 4 && back(d_in, 4) == (std::vector<int>{1, 2, 3, 4}));
#if CUDART_VERSION >= 13000
    SUCCEEDS(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSelect::FlaggedIf(work, bytes, d_in, keys, out, chosen, n, Below{3});
    });
    EXPECT(back(chosen, 1)[0] == 3 && back(out, 3) == (std::vector<int>{5, 1, 9}));
    // The least and its place, each for itself.
    run([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::ArgMin(work, bytes, d_in, out, chosen, n);
    });
    EXPECT(back(out, 1)[0] == 1 && back(chosen, 1)[0] == 1);
    // Two copies of different lengths in one call.
    int** from = on_device(std::vector<int*>{d_in, d_in + 4});
    int** to = on_device(std::vector<int*>{second, rest});
    size_t* sizes = on_device(std::vector<size_t>{3 * sizeof(int), 2 * sizeof(int)});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceMemcpy::Batched(work, bytes, from, to, sizes, 2);
    });
    EXPECT(back(second, 3) == (std::vector<int>{5, 1, 9}) &&
           back(rest, 2) == (std::vector<int>{7, 3}));
    for (void* pointer : std::vector<void*>{from, to, sizes}) SUCCEEDS(cudaFree(pointer));
#endif
    for (int* pointer : {d_in, out, second, rest, chosen, keys, unique, lengths})
        SUCCEEDS(cudaFree(pointer));
    SUCCEEDS(cudaFree(flags));
    std::puts("ok");
}
