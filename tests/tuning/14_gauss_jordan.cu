// Compiled as 13_matrix_product.cu is, with -lcusolver besides; the flags are
// -DLAB_FURTHER -I../../solutions/14_gauss_jordan -I../../labs/14_gauss_jordan.
// Tuning: panels by height and by who factors them, what stands beside them, the update by tiles, and the whole
// LU by levels (block / span / look-ahead), cuSOLVER beside it. Each result of the whole is checked first.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "../../common/lab.h"
#define main lab_main
#define private public  // the launches inside LuFactors, one by one
#include "../../solutions/14_gauss_jordan/gauss_jordan.cu"
#undef private
#undef main
#include <cusolverDn.h>

template <class W>
double time_of(const System<double>& s, const double* pristine, W&& work, int runs) {
    std::vector<double> times;
    for (int i = 0; i <= runs; i++) {
        CHECK(cudaMemcpy(s.values, pristine, s.n * s.stride * 8, cudaMemcpyDeviceToDevice));
        lab::EventTimer timer;
        CHECK(cudaDeviceSynchronize());
        timer.start();
        work();
        timer.stop();
        if (i > 0) times.push_back(timer.milliseconds());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

__global__ void transpose_kernel(const double* from, double* to, int n, int64_t stride) {
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x)
        for (int j = threadIdx.x; j < n; j += blockDim.x) to[i * n + j] = from[j * stride + i];
}

struct Matrix {
    int n, side;
    int64_t stride;
    std::vector<double> host;
    DeviceArray<double> a, b, x, r;
    DeviceArray<int> singular;
    System<double> s, pristine;
    double norm = 0;

    explicit Matrix(int n)
        : n(n),
          side(first_side_of(n)),
          stride(stride_of(n, 1)),
          host(lab::random_values<double>(n * stride, 0, 10, n)),
          a(n * stride),
          b(n * stride),
          x(n),
          r(n),
          singular(1) {
        CHECK(cudaMemset(singular.get(), 0xFF, singular.bytes()));
        for (int i = 0; i < n; i++) {
            for (int j = n; j < side; j++) host[i * stride + j] = 0;
            double sum = 0;
            for (int j = 0; j < n; j++) sum += std::fabs(host[i * stride + j]);
            norm = std::max(norm, sum);
        }
        CHECK(cudaMemcpy(b.get(), host.data(), b.bytes(), cudaMemcpyHostToDevice));
        s = {a.get(), n, side, side + 1, stride}, pristine = {b.get(), n, side, side + 1, stride};
    }
    double error() {
        find_residual<<<n, 256>>>(pristine, x.get(), r.get());
        std::vector<double> hx(n), hr(n);
        CHECK(cudaMemcpy(hx.data(), x.get(), n * 8, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(hr.data(), r.get(), n * 8, cudaMemcpyDeviceToHost));
        double big = 0, res = 0;
        for (int i = 0; i < n; i++) {
            big = std::max(big, std::fabs(hx[i]));
            if (!(std::fabs(hr[i]) <= res)) res = std::fabs(hr[i]);
        }
        return res / (norm * big * n * 0x1p-52);
    }
};

double cusolver(Matrix& m) {
    cusolverDnHandle_t handle;
    cusolverDnCreate(&handle);
    const int n = m.n;
    DeviceArray<double> t(int64_t(n) * n), y(n);
    DeviceArray<int> pivots(n), info(1);
    int size = 0;
    cusolverDnDgetrf_bufferSize(handle, n, n, t.get(), n, &size);
    DeviceArray<double> work(size);
    std::vector<double> times;
    for (int i = 0; i < 4; i++) {
        transpose_kernel<<<1024, 256>>>(m.b.get(), t.get(), n, m.stride);
        CHECK(cudaMemcpy2D(y.get(), 8, m.b.get() + m.side, m.stride * 8, 8, n,
                           cudaMemcpyDeviceToDevice));
        CHECK(cudaDeviceSynchronize());
        lab::EventTimer timer;
        timer.start();
        cusolverDnDgetrf(handle, n, n, t.get(), n, work.get(), pivots.get(), info.get());
        cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 1, t.get(), n, pivots.get(), y.get(), n,
                         info.get());
        timer.stop();
        if (i) times.push_back(timer.milliseconds());
    }
    std::sort(times.begin(), times.end());
    cusolverDnDestroy(handle);
    return times[1];
}

// The levels that are worth a try for so many unknowns.
std::vector<Levels> levels_for(int n) {
    if (n <= 512) return {{32, 32, false}, {64, 64, false}};
    if (n <= 2048) return {{32, 32, false}, {32, 32, true}, {64, 64, false}, {32, 64, true}};
    if (n <= 4096)
        return {{32, 32, true}, {32, 64, true}, {64, 64, true}, {32, 128, true}, {128, 128, true}};
    if (n <= 8192)
        return {{32, 64, true},   {64, 64, true},  {32, 128, true}, {64, 128, true},
                {128, 128, true}, {64, 256, true}, {128, 256, true}};
    return {{64, 128, true}, {64, 256, true},  {128, 256, true},
            {64, 512, true}, {128, 512, true}, {128, 1024, true}};
}

void whole(int n) {
    Matrix m(n);
    const int runs = n >= 8192 ? 3 : 7;
    LuFactors<double> lu(n, PanelBy::team, UpdateBy::tensor_cores, m.singular.get()),
        registers(n, PanelBy::team, UpdateBy::registers, m.singular.get());
    const auto run = [&](LuFactors<double>& solver) {
        CHECK(cudaMemset(m.x.get(), 0xFF, m.x.bytes()));
        const double ms = time_of(
            m.s, m.b.get(), [&] { solver.solve(m.s, m.x.get()); }, runs);
        const double wrong = m.error();
        return lab::format("%8.3f%s", ms,
                           wrong < 1 ? "" : lab::format(" WRONG (%.2g)", wrong).c_str());
    };
    std::printf("n %5d ms: cuSOLVER %8.3f;", n, cusolver(m));
    std::printf(" usual levels %s;", run(lu).c_str());
    std::printf(" by registers %s;", run(registers).c_str());
    const auto substitute_only = [&] {
        lu.launch_substitute<false>(m.s, {m.a.get() + m.side, m.stride, 1}, m.x.get(), nullptr);
    };
    std::printf(" of that solving %6.3f\n", time_of(m.s, m.b.get(), substitute_only, runs));
    for (const Levels levels : levels_for(n)) {
        lu.levels() = levels;
        std::printf("  %4d/%4d%s %s;", levels.block, levels.span,
                    levels.look_ahead ? " ahead" : "      ", run(lu).c_str());
        std::fflush(stdout);
    }
    std::printf("\n");
}

// Back to back, us a launch.
template <class W>
double repeated(W&& work, int times = 20) {
    work();
    CHECK(cudaDeviceSynchronize());
    lab::EventTimer timer;
    timer.start();
    for (int i = 0; i < times; i++) work();
    timer.stop();
    return 1e3 * timer.milliseconds() / times;
}

// A panel of 32 columns and one of a single column, by one block and by clusters.
void panels(int n) {
    Matrix m(n);
    CHECK(cudaMemcpy(m.a.get(), m.b.get(), m.a.bytes(), cudaMemcpyDeviceToDevice));
    LuFactors<double> lu(n, PanelBy::team, UpdateBy::tensor_cores, m.singular.get());
    std::printf("panel of %5d rows, us of 1 / 32 columns:", n);
    for (PanelShape shape : {PanelShape{32, 1, 64}, {32, 1, 128}, {32, 1, 256}, {32, 1, 512}}) {
        while (rows_of_block(32, shape.blocks * shape.threads) < n) shape.blocks *= 2;
        if (shape.blocks > 16) continue;
        shape.threads = 32 * int(lab::divide_up(n, rows_of_block(32, 32 * shape.blocks)));
        std::printf("  %2d x %3d:", shape.blocks, shape.threads);
        std::fflush(stdout);
        for (int count : {1, 32}) {
            std::printf(" %6.2f",
                        repeated([&] { lu.launch_panel(m.s, 0, count, shape, nullptr); }));
            std::fflush(stdout);
        }
    }
    std::printf("\n");
}

// All launches of a kind, as factor() makes them without look-ahead, but without the others.
void parts(int n) {
    Matrix m(n);
    LuFactors<double> lu(n, PanelBy::team, UpdateBy::tensor_cores, m.singular.get());
    lu.levels() = {32, 32, false};
    CHECK(cudaMemcpy(m.a.get(), m.b.get(), m.a.bytes(), cudaMemcpyDeviceToDevice));
    lu.factor(m.s);
    std::printf("n %5d, all launches of a kind, ms:", n);
    for (int kind = 0; kind < 3; kind++) {
        const double us = repeated(
            [&] {
                for (int at = 0; at < n; at += 32) {
                    const int end = std::min(at + 32, n);
                    const Columns right = {end < n ? end : m.side, m.side + 1};
                    if (kind == 0)
                        lu.launch_panel(m.s, at, end - at, lu.panel_shape(n - at), nullptr);
                    if (kind == 1)
                        lu.swap_and_solve_rows(m.s, at, end - at, {at, at}, right, true, nullptr);
                    if (kind == 2)
                        lu.launch_update(lu.product(m.s, end, n - end, at, end - at, right),
                                         nullptr);
                }
            },
            3);
        const char* const names[] = {"panels", "exchanges and solving", "updates"};
        std::printf("  %s %.3f;", names[kind], us / 1e3);
    }
    std::printf("\n");
}

template <class Tile>
void update(const char* name, const Matrix& m, int k) {
    const int n = m.n - k;
    const Update<double> u = {
        m.a.get() + k * m.stride, m.a.get() + k, m.a.get() + k * m.stride + k, n, n, k, m.stride};
    void (*const kernel)(Update<double>) = update_by_tensor_cores<Tile>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               Tile::shared_bytes));
    const dim3 grid(lab::divide_up(n, Tile::width), lab::divide_up(n, Tile::height));
    const double ms = time_of(
        m.s, m.b.get(), [&] { kernel<<<grid, Tile::threads, Tile::shared_bytes>>>(u); }, 5);
    std::printf("  %s %5.1f", name, 2e-9 * n * n * k / ms);
}

void updates(int n) {
    const Matrix m(n);
    for (int k : {32, 128, 256, 512}) {
        std::printf("update n %5d k %3d, TFLOP/s:", n, k);
        update<TensorTile<double, 64, 64, 32, 32, 3>>("64x64x3", m, k);
        update<TensorTile<double, 128, 64, 64, 32, 3>>("128x64x3", m, k);
        update<TensorTile<double, 64, 64, 32, 32, 4>>("64x64x4", m, k);
        std::printf("\n");
    }
}

// Exchanges alone, and with the triangle that is solved for.
void exchanges(int n) {
    Matrix m(n);
    CHECK(cudaMemcpy(m.a.get(), m.b.get(), m.a.bytes(), cudaMemcpyDeviceToDevice));
    LuFactors<double> lu(n, PanelBy::team, UpdateBy::tensor_cores, m.singular.get());
    std::vector<int> down(n);
    for (int i = 0; i < n; i++) down[i] = i + (n - 1 - i) / 3;
    CHECK(cudaMemcpy(lu.pivots_.get(), down.data(), n * 4, cudaMemcpyHostToDevice));
    std::printf("exchanges n %5d, us:", n);
    for (int count : {32, 64, 128}) {
        for (bool solve : {false, true}) {
            std::printf(
                "  %d%s %.2f", count, solve ? "" : " only swap", repeated([&] {
                    lu.swap_and_solve_rows(m.s, 0, count, {0, 0}, {count, n}, solve, nullptr);
                }));
        }
    }
    std::printf("\n");
}

int main() {
    std::printf("%s\n", lab::device_name().c_str());
    for (int n : {1024, 4096, 16384}) updates(n);
    for (int n : {1024, 4096}) exchanges(n);
    for (int n : {256, 512, 1024, 2048, 4096, 8192}) panels(n);
    for (int n : {1024, 4096}) parts(n);
    for (int n : {256, 512, 1000, 1024, 2048, 4096, 8192, 16384}) whole(n);
}
