// Feature: cuFFT, layouts | many transforms in columns of a matrix (strides and distances), real rows with padding in place, inverse in 3D, double precision, one plan in several streams; plans by types of data (`cufftXtMakePlanMany`, `cufftXtExec`); wrong arguments have cuFFT's own answers
// Flags: -lcufft
#include <cufftXt.h>

#include <cmath>

#include "../device_copies.h"

#define FFT(call) EXPECT((call) == CUFFT_SUCCESS)
static_assert(CUFFT_NVSHMEM_FAILURE == 20, "helper_cuda.h asks for the names of all results");

constexpr double pi = 3.14159265358979323846;
bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

// The columns of a matrix of rows: elements `columns` apart, transforms 1 apart. Column c has one wave of c turns.
void columns() {
    constexpr int rows = 16, columns = 5;
    std::vector<cufftDoubleComplex> in;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            in.push_back(
                {std::cos(2 * pi * row * column / rows), std::sin(2 * pi * row * column / rows)});
    cufftDoubleComplex* data = on_device(in);
    int size[1] = {rows}, embedding[1] = {rows};
    cufftHandle plan;
    FFT(cufftPlanMany(&plan, 1, size, embedding, columns, 1, embedding, columns, 1, CUFFT_Z2Z,
                      columns));
    FFT(cufftExecZ2Z(plan, data, data, CUFFT_FORWARD));
    std::vector<cufftDoubleComplex> out = back(data, in.size());
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const cufftDoubleComplex z = out[row * columns + column];
            EXPECT(near(z.x, row == column ? rows : 0) && near(z.y, 0));
        }
    FFT(cufftExecZ2Z(plan, data, data, CUFFT_INVERSE));  // not divided by the length
    out = back(data, in.size());
    for (size_t i = 0; i < in.size(); ++i)
        EXPECT(near(out[i].x / rows, in[i].x) && near(out[i].y / rows, in[i].y));
    FFT(cufftDestroy(plan));

    // The same plan by the types of its data.
    long long length = rows, long_embedding[1] = {rows};
    FFT(cufftCreate(&plan));
    size_t bytes = 0;
    FFT(cufftXtMakePlanMany(plan, 1, &length, long_embedding, columns, 1, CUDA_C_64F,
                            long_embedding, columns, 1, CUDA_C_64F, columns, &bytes, CUDA_C_64F));
    FFT(cufftXtExec(plan, data, data, CUFFT_FORWARD));
    out = back(data, in.size());
    EXPECT(near(out[0].x, rows * rows) && near(out[columns + 1].x, rows * rows));
    FFT(cufftDestroy(plan));
    SUCCEEDS(cudaFree(data));
}

// Real rows of 8, each with room for 5 complex numbers.
void rows_in_place() {
    constexpr int length = 8, padded = 10, count = 3;
    std::vector<double> in(padded * count);
    for (int row = 0; row < count; ++row)
        for (int i = 0; i < length; ++i) in[row * padded + i] = row + std::cos(2 * pi * i / length);
    double* data = on_device(in);
    int size[1] = {length}, real[1] = {padded}, complex[1] = {padded / 2};
    cufftHandle forward, inverse;
    FFT(cufftPlanMany(&forward, 1, size, real, 1, padded, complex, 1, padded / 2, CUFFT_D2Z,
                      count));
    FFT(cufftPlanMany(&inverse, 1, size, complex, 1, padded / 2, real, 1, padded, CUFFT_Z2D,
                      count));
    FFT(cufftExecD2Z(forward, data, reinterpret_cast<cufftDoubleComplex*>(data)));
    std::vector<double> out = back(data, in.size());
    for (int row = 0; row < count; ++row) {
        EXPECT(near(out[row * padded], row * length) && near(out[row * padded + 2], length / 2));
        EXPECT(near(out[row * padded + 4], 0) && near(out[row * padded + 3], 0));
    }
    FFT(cufftExecZ2D(inverse, reinterpret_cast<cufftDoubleComplex*>(data), data));
    out = back(data, in.size());
    for (int row = 0; row < count; ++row)
        for (int i = 0; i < length; ++i)
            EXPECT(near(out[row * padded + i] / length, in[row * padded + i]));
    FFT(cufftDestroy(forward));
    FFT(cufftDestroy(inverse));
    SUCCEEDS(cudaFree(data));
}

// 4 x 2 x 8: forth and back, in a stream.
void in_3d() {
    constexpr int count = 4 * 2 * 8;
    std::vector<cufftDoubleComplex> in;
    for (int i = 0; i < count; ++i) in.push_back({i * 7 % 13 - 6.0, i % 5 - 2.0});
    cufftDoubleComplex *data = on_device(in), *spectrum = on_device(in);
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    cufftHandle plan;
    FFT(cufftPlan3d(&plan, 4, 2, 8, CUFFT_Z2Z));
    FFT(cufftSetStream(plan, stream));
    FFT(cufftExecZ2Z(plan, data, spectrum, CUFFT_FORWARD));
    FFT(cufftExecZ2Z(plan, spectrum, data, CUFFT_INVERSE));
    SUCCEEDS(cudaStreamSynchronize(stream));
    double sum = 0;
    for (const cufftDoubleComplex& z : in) sum += z.x;
    EXPECT(near(back(spectrum, 1)[0].x, sum));
    const std::vector<cufftDoubleComplex> out = back(data, count);
    for (int i = 0; i < count; ++i)
        EXPECT(near(out[i].x / count, in[i].x) && near(out[i].y / count, in[i].y));
    FFT(cufftDestroy(plan));
    SUCCEEDS(cudaStreamDestroy(stream));
    SUCCEEDS(cudaFree(data));
    SUCCEEDS(cudaFree(spectrum));
}

int main() {
    columns();
    rows_in_place();
    in_3d();
    cufftHandle plan;
    EXPECT(cufftPlan1d(&plan, -8, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
    EXPECT(cufftEstimate1d(8, CUFFT_C2C, 1, nullptr) == CUFFT_INVALID_VALUE);
    FFT(cufftCreate(&plan));
    EXPECT(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, nullptr) == CUFFT_INVALID_VALUE);
    FFT(cufftDestroy(plan));
    FFT(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
    FFT(cufftDestroy(plan));
    EXPECT(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
    std::puts("ok");
}
