// Feature: cuFFT | 1D to 3D, many at once with strides, complex and real, in float and double, in place, in a stream; needs FFTW (libfftw3-single3, libfftw3-double3)
// Flags: -lcufft
#include <cufft.h>

#include <cmath>
#include <vector>

#include "../device_copies.h"

#define FFT(call) EXPECT((call) == CUFFT_SUCCESS)

double number(int i) { return (i * 37 % 101 - 50) / 16.0; }
// The sum that defines the transform of z values of (x, y, z) at one frequency, of `real` numbers or pairs.
struct Sum {
    double re = 0, im = 0;
};
Sum transform(int nx, int ny, int nz, int kx, int ky, int kz, int sign, bool real, int first = 0,
              int step = 1) {
    Sum sum;
    for (int x = 0; x < nx; ++x)
        for (int y = 0; y < ny; ++y)
            for (int z = 0; z < nz; ++z) {
                const int i = first + step * (z + nz * (y + ny * x));
                const double re = number(real ? i : 2 * i), im = real ? 0 : number(2 * i + 1);
                const double angle =
                    sign * 2 * M_PI * (1.0 * x * kx / nx + 1.0 * y * ky / ny + 1.0 * z * kz / nz);
                sum.re += re * cos(angle) - im * sin(angle);
                sum.im += re * sin(angle) + im * cos(angle);
            }
    return sum;
}
template <class Complex>
bool is(const Complex& got, const Sum& right, double limit = 1e-3) {
    return std::abs(got.x - right.re) < limit && std::abs(got.y - right.im) < limit;
}

void complex_transforms() {
    const int count = 3 * 4 * 5;
    std::vector<cufftComplex> pairs;
    std::vector<cufftDoubleComplex> exact;
    for (int i = 0; i < count; ++i) {
        pairs.push_back({static_cast<float>(number(2 * i)), static_cast<float>(number(2 * i + 1))});
        exact.push_back({number(2 * i), number(2 * i + 1)});
    }
    cufftComplex *in = on_device(pairs), *out = on_device(pairs);
    cufftHandle plan;
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    FFT(cufftPlan3d(&plan, 3, 4, 5, CUFFT_C2C));
    FFT(cufftSetStream(plan, stream));
    FFT(cufftExecC2C(plan, in, out, CUFFT_FORWARD));
    SUCCEEDS(cudaStreamSynchronize(stream));
    auto result = back(out, count);
    EXPECT(is(result[0], transform(3, 4, 5, 0, 0, 0, -1, false)));
    EXPECT(is(result[2 + 5 * (3 + 4 * 1)], transform(3, 4, 5, 1, 3, 2, -1, false)));
    FFT(cufftExecC2C(plan, out, out, CUFFT_INVERSE));  // in place, and 60 times what it was
    SUCCEEDS(cudaStreamSynchronize(stream));
    result = back(out, count);
    for (int i = 0; i < count; ++i) EXPECT(std::abs(result[i].x - count * pairs[i].x) < 1e-2f);
#ifdef CUDA_ON_CPU  // a card computes something all the same
    EXPECT(cufftExecR2C(plan, reinterpret_cast<float*>(in), out) == CUFFT_INVALID_TYPE);
#endif
    FFT(cufftDestroy(plan));
    EXPECT(cufftExecC2C(plan, in, out, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);

    // Six transforms of length 10, one after the other; then five of 12 that lie beside each other.
    cufftDoubleComplex *z = on_device(exact), *w = on_device(exact);
    FFT(cufftPlan1d(&plan, 10, CUFFT_Z2Z, 6));
    FFT(cufftExecZ2Z(plan, z, w, CUFFT_INVERSE));
    EXPECT(is(back(w, count)[4 * 10 + 3], transform(1, 1, 10, 0, 0, 3, 1, false, 40), 1e-9));
    FFT(cufftDestroy(plan));
    int length = 12;
    FFT(cufftPlanMany(&plan, 1, &length, &length, 5, 1, &length, 5, 1, CUFFT_Z2Z, 5));
    FFT(cufftExecZ2Z(plan, z, w, CUFFT_FORWARD));
    EXPECT(is(back(w, count)[7 * 5 + 2], transform(1, 1, 12, 0, 0, 7, -1, false, 2, 5), 1e-9));
    FFT(cufftDestroy(plan));
    SUCCEEDS(cudaStreamDestroy(stream));
    SUCCEEDS(cudaFree(in));
    SUCCEEDS(cudaFree(out));
    SUCCEEDS(cudaFree(z));
    SUCCEEDS(cudaFree(w));
}

// 4 x 6 real numbers have 4 x 4 frequencies.
void real_transforms() {
    std::vector<double> values;
    for (int i = 0; i < 24; ++i) values.push_back(number(i));
    double* in = on_device(values);
    cufftDoubleComplex* out = on_device(std::vector<cufftDoubleComplex>(16));
    cufftHandle there, back_again;
    FFT(cufftPlan2d(&there, 4, 6, CUFFT_D2Z));
    FFT(cufftPlan2d(&back_again, 4, 6, CUFFT_Z2D));
    FFT(cufftExecD2Z(there, in, out));
    EXPECT(is(back(out, 16)[3 * 4 + 2], transform(1, 4, 6, 0, 3, 2, -1, true), 1e-9));
    FFT(cufftExecZ2D(back_again, out, in));
    const auto again = back(in, 24);
    for (int i = 0; i < 24; ++i) EXPECT(std::abs(again[i] - 24 * values[i]) < 1e-9);
    FFT(cufftDestroy(there));
    FFT(cufftDestroy(back_again));

    // In place two rows of 5 have room for 3 pairs each.
    std::vector<float> rows(12);
    for (int i = 0; i < 10; ++i) rows[i / 5 * 6 + i % 5] = static_cast<float>(number(i));
    float* row = on_device(rows);
    FFT(cufftPlan1d(&there, 5, CUFFT_R2C, 2));
    FFT(cufftExecR2C(there, row, reinterpret_cast<cufftComplex*>(row)));
    EXPECT(is(back(reinterpret_cast<cufftComplex*>(row), 6)[3 + 2],
              transform(1, 1, 5, 0, 0, 2, -1, true, 5)));
    FFT(cufftDestroy(there));
    SUCCEEDS(cudaFree(row));
    SUCCEEDS(cudaFree(in));
    SUCCEEDS(cudaFree(out));
}

int main() {
    complex_transforms();
    real_transforms();
    std::puts("ok");
}
