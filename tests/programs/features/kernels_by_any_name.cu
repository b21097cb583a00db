// Feature: kernels by any name | in namespaces with and without a name, `static`, `extern "C"`; launched by pointers, in conditions, macros and lambdas, with `>` and templates in `<<<>>>`, also written `<< <` and `>> >`
#include <type_traits>

#include "../runtime_expect.h"

namespace outer {
namespace {
__global__ void hidden(int* out) { *out = 1; }
}  // namespace
inline namespace inner {
__global__ void plain(int* out) { *out = 2; }
}  // namespace inner
void launch_here(int* out) { hidden<<<1, 1>>>(out); }
}  // namespace outer
static __global__ void local(int* out) { *out = 3; }
extern "C" __global__ void with_c_name(int* out) { *out = 4; }
__global__ void __launch_bounds__(64, 1) bounded(int* out, int value) { *out = value; }
__global__ void overloaded(int* out, int) { *out = 6; }
__global__ void overloaded(int* out, float) { *out = 7; }
int* g_out;
__global__ void with_launcher(int* out) { *out = 8; }
void with_launcher() { with_launcher<<<1, 1>>>(g_out); }
template <class T, int n>
__global__ void sized(T* out) {
    *out = T(n * sizeof(T));
}

using Kernel = void (*)(int*);
struct Table {
    Kernel kernels[2];
    const Kernel& operator[](int i) const { return kernels[i]; }
};
template <Kernel kernel>
void launch_constant(int* out) {
    kernel<<<1, 1>>>(out);
}
#define LAUNCH(kernel, blocks, threads, ...)          \
    do {                                              \
        kernel<<<(blocks), (threads)>>>(__VA_ARGS__); \
        EXPECT_RUN();                                 \
    } while (0)

int result(const int* out) {
    EXPECT_RUN();
    return read_back(out);
}

int main() {
    int* out = zeros<int>(64);
    outer::launch_here(out);
    EXPECT(result(out) == 1);
    outer::plain<<<1, 1>>>(out);
    EXPECT(result(out) == 2);
    ::local<<<1, 1>>>(out);
    EXPECT(result(out) == 3);
    LAUNCH(with_c_name, 1, 1, out);
    EXPECT(result(out) == 4);
    LAUNCH(bounded, 1, 64, out, 5);
    EXPECT(result(out) == 5);
    overloaded<<<1, 1>>>(out, 1);
    EXPECT(result(out) == 6);
    overloaded<<<1, 1>>>(out, 1.0f);
    EXPECT(result(out) == 7);
    g_out = out;
    with_launcher();
    EXPECT(result(out) == 8);
    LAUNCH((sized<int, 3>), 1, 1, out);
    EXPECT(result(out) == 12);

    const Table table = {{local, outer::plain}};
    Kernel chosen = table[1];
    chosen<<<1, 1>>>(out);
    EXPECT(result(out) == 2);
    (*chosen)<<<1, 1>>>(out);
    table[0]<<<1, 1>>>(out);
    EXPECT(result(out) == 3);
    const int n = 2;
    (n > 1 ? with_c_name : local)<<<1, 1>>>(out);
    EXPECT(result(out) == 4);
    launch_constant<outer::plain>(out);
    EXPECT(result(out) == 2);

    const auto later = [&](int blocks) { bounded<<<blocks, (n > 1) ? 32 : 64>>>(out, blocks); };
    later(8 >> 1);
    EXPECT(result(out) == 4);
    bounded<<<dim3(1), dim3(std::is_same<int, float>::value ? 64 : 1), 0, 0>>>(out, n > 1);
    EXPECT(result(out) == 1);
    if (n > 5)
        local<<<1, 1>>>(out);
    else
        sized<int, (5 > 3)><<<1, 1>>>(out);
    EXPECT(result(out) == 4);
    for (int i = 0; i < 3; ++i) bounded<<<1, 1>>>(out, i);
    EXPECT(result(out) == 2);
    // clang-format off
    sized<int, 3> << <dim3(4 >> 2), 1 >> > (out);
    EXPECT(result(out) == 12);
    outer::plain<< <n / 2, 1>> >(out);
    EXPECT(result(out) == 2);
    // clang-format on
    printf("ok\n");
}
