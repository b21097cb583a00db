// Compiled as 13_matrix_product.cu is, with -lcusolver besides.
// Tuning: the whole LU by levels (block / span / look-ahead) and by kernels, cuSOLVER beside it; the parts of a
// panel's neighbourhood; and where `refined` goes wrong.
#define main lab_main
#include "../../solutions/14_gauss_jordan/gauss_jordan.cu"
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
          r(n) {
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

void whole(int n) {
    Matrix m(n);
    const int runs = n >= 8192 ? 3 : 7;
    LuFactors<double> lu(n, PanelBy::team, UpdateBy::tensor_cores),
        registers(n, PanelBy::team, UpdateBy::registers);
    std::printf("n %5d  cuSOLVER %8.3f ms;  solve %6.3f ms;  by registers %8.3f ms\n", n,
                cusolver(m),
                time_of(
                    m.s, m.b.get(), [&] { lu.solve(m.s, m.x.get()); }, runs),
                time_of(
                    m.s, m.b.get(),
                    [&] {
                        registers.factor(m.s);
                        registers.solve(m.s, m.x.get());
                    },
                    runs));
    for (const Levels levels : {Levels{32, 32, false},
                                {32, 32, true},
                                {64, 64, false},
                                {64, 64, true},
                                {32, 128, false},
                                {128, 128, false},
                                {128, 128, true},
                                {128, 256, false},
                                {128, 256, true},
                                {64, 512, true},
                                {128, 512, true}}) {
        if (levels.span > n / 4 || (n >= 8192 && levels.span < 128) ||
            (n >= 16384 && levels.span < 256) || (n < 4096 && levels.span > 128))
            continue;
        lu.levels() = levels;
        const double ms = time_of(
            m.s, m.b.get(),
            [&] {
                lu.factor(m.s);
                lu.solve(m.s, m.x.get());
            },
            runs);
        const double wrong = m.error();
        std::printf("  %3d / %3d%s %8.3f ms%s", levels.block, levels.span,
                    levels.look_ahead ? " ahead" : "      ", ms, wrong < 1 ? ";" : " WRONG;");
        std::fflush(stdout);
    }
    std::printf("\n");
}

// The largest magnitude, and how many are not finite.
template <class T>
std::string about(const T* device, int64_t count) {
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    double largest = 0;
    int64_t bad = 0, zeros = 0;
    for (T value : host) {
        zeros += value == 0;
        if (!std::isfinite(value))
            bad++;
        else
            largest = std::max(largest, std::fabs(double(value)));
    }
    return lab::format("%.3g (%lld zeros, %lld not finite)", largest, (long long)zeros,
                       (long long)bad);
}

// Refinement's steps, one after the other, with what comes of each. Two panels' shapes: a block, a cluster.
void refined(int n) {
    Matrix m(n);
    const int64_t stride = stride_of(n, 0);
    LuFactors<float> lu(n, PanelBy::team, UpdateBy::registers);
    DeviceArray<float> floats(n * stride), ordered(n), correction(n);
    DeviceArray<int> order(n);
    DeviceArray<Sizes> sizes(1);
    const System<float> f = {floats.get(), n, first_side_of(n), first_side_of(n), stride};
    round_to_float<<<dim3(lab::divide_up(f.width, 256), n), 256>>>(m.pristine, f, 0.0625);
    CHECK_LAUNCH();
    std::printf("refined n %d: A %s\n", n, about(floats.get(), n * stride).c_str());
    for (bool ahead : {false, true}) {
        lu.levels().look_ahead = ahead;
        round_to_float<<<dim3(lab::divide_up(f.width, 256), n), 256>>>(m.pristine, f, 0.0625);
        lu.factor(f, true);
        std::vector<float> factors(n * stride);
        std::vector<int> pivots(n), at(n);
        CHECK(cudaMemcpy(factors.data(), floats.get(), floats.bytes(), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(pivots.data(), lu.pivots(), n * 4, cudaMemcpyDeviceToHost));
        double below = 0, error = 0;
        int bad = 0;
        for (int i = 0; i < n; i++) at[i] = i;
        for (int i = 0; i < n; i++) {
            bad += pivots[i] < i || pivots[i] >= n;
            if (pivots[i] >= i && pivots[i] < n) std::swap(at[i], at[pivots[i]]);
            for (int j = 0; j < i; j++)
                below = std::max(below, std::fabs(double(factors[i * stride + j])));
        }
        for (int i = 0; i < n; i += 7) {
            for (int j = 0; j < n; j += 11) {
                double sum = 0;
                for (int k = 0; k <= std::min(i, j); k++)
                    sum += (k == i ? 1.0 : factors[i * stride + k]) * factors[k * stride + j];
                const double e = std::fabs(sum - m.host[at[i] * m.stride + j] * 0.0625);
                if (!(e <= error)) error = e;
            }
        }
        std::printf("  LU%s %s; largest of L %.3g; %d pivots out of range; |P A - L U| %.3g\n",
                    ahead ? " ahead" : "", about(floats.get(), n * stride).c_str(), below, bad,
                    error);
        CHECK(cudaMemcpy(order.get(), at.data(), n * 4, cudaMemcpyHostToDevice));
    }
    CHECK(cudaMemset(m.x.get(), 0, n * 8));
    for (int round = 1; round <= 3; round++) {
        find_residual<<<n, 256>>>(m.pristine, m.x.get(), m.r.get());
        find_sizes<<<1, 256>>>(m.r.get(), m.x.get(), n, 1, sizes.get());
        Sizes size;
        CHECK(cudaMemcpy(&size, sizes.get(), sizeof size, cudaMemcpyDeviceToHost));
        std::printf("  round %d: sizes %.3g %.3g, residual %s", round, size.residual, size.solution,
                    about(m.r.get(), n).c_str());
        permute_residual<<<lab::divide_up(n, 256), 256>>>(m.r.get(), order.get(), sizes.get(), n, 1,
                                                          ordered.get());
        std::printf(", permuted %s", about(ordered.get(), n).c_str());
        lu.launch_substitute<true>(f, {ordered.get(), 1, 1}, correction.get());
        std::printf(", y %s", about(correction.get(), n).c_str());
        lu.launch_substitute<false>(f, {correction.get(), 1, 1}, ordered.get());
        std::printf(", correction %s", about(ordered.get(), n).c_str());
        add_correction<<<lab::divide_up(n, 256), 256>>>(ordered.get(), sizes.get(), 0.0625, n, 1,
                                                        m.x.get());
        CHECK_LAUNCH();
        std::printf(", x %s\n", about(m.x.get(), n).c_str());
    }
    Refinement refinement(m.pristine);
    int rounds = 0;
    const double ms = time_of(
        m.s, m.b.get(), [&] { rounds = refinement.solve(m.pristine, 10, m.norm, m.x.get()); }, 3);
    std::printf("  as a whole: %d rounds, %.3f ms, error %.3g\n", rounds, ms, m.error());
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
        update<TensorTile<64, 64, 32, 32, 3>>("64x64x3", m, k);
        update<TensorTile<64, 64, 32, 32, 4>>("64x64x4", m, k);
        update<TensorTile<128, 64, 64, 32, 3>>("128x64x3", m, k);
        update<TensorTile<128, 64, 32, 32, 3>>("128x64x3w8", m, k);
        update<TensorTile<128, 128, 64, 32, 3>>("128x128x3", m, k);
        update<TensorTile<128, 128, 64, 32, 4>>("128x128x4", m, k);
        std::printf("\n");
    }
}

// The launches beside a panel of 32 and a block of 128 columns, and the panel itself.
void neighbours(int n) {
    const Matrix m(n);
    DeviceArray<int> pivots(n), singular(1);
    std::vector<int> down(n);
    for (int i = 0; i < n; i++) down[i] = i + (n - 1 - i) / 3;
    CHECK(cudaMemcpy(pivots.get(), down.data(), n * 4, cudaMemcpyHostToDevice));
    void (*const kernel)(System<double>, const int*, int, int, Columns, Columns, bool) =
        swap_and_solve<double>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               8 * int(sizeof(Piece<double>))));
    std::printf("swap_and_solve n %d, us:", n);
    for (int count : {32, 64, 128}) {
        const int bytes = count / 16 * int(sizeof(Piece<double>));
        for (bool solve : {false, true}) {
            std::printf("  %d%s %.2f", count, solve ? "" : " only swap",
                        1e3 * time_of(
                                  m.s, m.b.get(),
                                  [&] {
                                      kernel<<<int(lab::divide_up(n - count, 32)), count, bytes>>>(
                                          m.s, pivots.get(), 0, count, Columns{0, 0},
                                          Columns{count, n}, solve);
                                  },
                                  9));
        }
    }
    LuFactors<double> lu(n, PanelBy::team, UpdateBy::tensor_cores);
    const PanelShape shape = lu.panel_shape(n);
    std::printf(";  panels of %d blocks x %d threads x %d columns\n", shape.blocks, shape.threads,
                shape.columns());
}

int main() {
    std::printf("%s\n", lab::device_name().c_str());
    for (int n : {200, 1000}) refined(n);
    for (int n : {1024, 4096}) neighbours(n);
    for (int n : {1024, 4096, 16384}) updates(n);
    for (int n : {256, 512, 1000, 1024, 2048, 4096, 8192, 16384}) whole(n);
}
