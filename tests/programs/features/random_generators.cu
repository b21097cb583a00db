// Feature: cuRAND, more generators | MRG32k3a, Sobol's sequences of 32 and 64 bits, plain and scrambled, with their dimensions and direction vectors, in kernels and by the host API; the Mersenne Twisters (not a card's numbers); `curandGenerateLogNormalDouble`, Poisson; `erfinv`, `normcdfinv`
// Flags: -lcurand
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>

#include "../device_copies.h"

#define RANDOM(call) EXPECT((call) == CURAND_STATUS_SUCCESS)

__global__ void mrg_in_kernel(double* out) {
    curandStateMRG32k3a state;
    curand_init(0, 0, 0, &state);  // L'Ecuyer's own start: all 12345
    for (int i = 0; i < 4; ++i) out[i] = curand_uniform_double(&state);
    curand_init(77, 0, 5, &state);
    out[4] = curand_uniform_double(&state);
    curand_init(77, 0, 0, &state);
    skipahead(5, &state);
    out[5] = curand_uniform_double(&state);
    curand_init(77, 3, 0, &state);
    out[6] = curand_uniform_double(&state);
    curand_init(77, 0, 0, &state);
    skipahead_subsequence(3, &state);
    out[7] = curand_uniform_double(&state);
}
__global__ void sobol_in_kernel(curandDirectionVectors32_t* vectors, unsigned int* out,
                                float* uniform) {
    curandStateSobol32 state;
    curand_init(vectors[threadIdx.x], 2, &state);
    for (int i = 0; i < 6; ++i) out[threadIdx.x * 6 + i] = curand(&state);
    curand_init(vectors[threadIdx.x], 0, &state);
    uniform[threadIdx.x] = curand_uniform(&state);
}
__global__ void inverses(double* out) {
    out[0] = erfinv(0.5), out[1] = erfcinv(0.01), out[2] = normcdfinv(0.975);
    out[3] = erfinv(1e-9), out[4] = normcdfinv(1e-10);
}
bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

void mrg() {
    double* out = on_device(std::vector<double>(8));
    mrg_in_kernel<<<1, 1>>>(out);
    EXPECT_RUN();
    const std::vector<double> numbers = back(out, 8);
    const double right[4] = {0.127011122046577, 0.318527565396794, 0.309186015583270,
                             0.825846862927114};
    for (int i = 0; i < 4; ++i) EXPECT(near(numbers[i], right[i], 1e-9));
    EXPECT(numbers[4] == numbers[5] && numbers[6] == numbers[7] && numbers[4] != numbers[6]);
    SUCCEEDS(cudaFree(out));
}

// The first points in three dimensions; the host API gives them dimension by dimension.
void sobol() {
    constexpr int points = 8;
    const double right[3][points] = {{0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125},
                                     {0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625},
                                     {0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375}};
    unsigned int* out = on_device(std::vector<unsigned int>(3 * points));
    curandGenerator_t generator;
    RANDOM(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32));
    RANDOM(curandSetQuasiRandomGeneratorDimensions(generator, 3));
    RANDOM(curandGenerate(generator, out, 3 * points));
    std::vector<unsigned int> numbers = back(out, 3 * points);
    for (int dimension = 0; dimension < 3; ++dimension)
        for (int i = 0; i < points; ++i)
            EXPECT(numbers[dimension * points + i] == right[dimension][i] * 4294967296.0);
    EXPECT(curandGenerate(generator, out, 3 * points - 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 1) == CURAND_STATUS_TYPE_ERROR);
    RANDOM(curandDestroyGenerator(generator));

    curandDirectionVectors32_t *vectors, *d_vectors;
    float* uniform = on_device(std::vector<float>(3));
    RANDOM(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
    SUCCEEDS(cudaMalloc(&d_vectors, 3 * sizeof *vectors));
    SUCCEEDS(cudaMemcpy(d_vectors, vectors, 3 * sizeof *vectors, cudaMemcpyHostToDevice));
    sobol_in_kernel<<<1, 3>>>(d_vectors, out, uniform);
    EXPECT_RUN();
    numbers = back(out, 18);
    for (int dimension = 0; dimension < 3; ++dimension)
        for (int i = 0; i < 6; ++i)
            EXPECT(numbers[dimension * 6 + i] == right[dimension][i + 2] * 4294967296.0);
    EXPECT(near(back(uniform, 1)[0], 0.5 / 4294967296.0, 1e-15));

    // 64 bits have the same beginning; what is scrambled is as even: of 256 numbers 16 in each sixteenth.
    unsigned long long* wide = on_device(std::vector<unsigned long long>(points));
    RANDOM(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL64));
    RANDOM(curandGenerateLongLong(generator, wide, points));
    const std::vector<unsigned long long> longer = back(wide, points);
    for (int i = 0; i < points; ++i)
        EXPECT(static_cast<double>(longer[i] >> 32) == right[0][i] * 4294967296.0);
    EXPECT(curandGenerate(generator, out, points) == CURAND_STATUS_TYPE_ERROR);
    RANDOM(curandDestroyGenerator(generator));
    double* even = on_device(std::vector<double>(256));
    for (curandRngType_t type :
         {CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64}) {
        RANDOM(curandCreateGenerator(&generator, type));
        RANDOM(curandGenerateUniformDouble(generator, even, 256));
        int counts[16] = {};
        for (double x : back(even, 256)) ++counts[static_cast<int>(x * 16) % 16];
        for (int count : counts) EXPECT(count == 16);
        RANDOM(curandGenerateNormalDouble(generator, even, 256, 10, 2));
        double sum = 0;
        for (double x : back(even, 256)) sum += x;
        EXPECT(near(sum / 256, 10, 0.05));
        RANDOM(curandDestroyGenerator(generator));
    }
    for (void* pointer : std::vector<void*>{out, d_vectors, uniform, wide, even})
        SUCCEEDS(cudaFree(pointer));
}

// Means and deviations of what each generator gives.
void moments() {
    constexpr int n = 20000;
    double* out = on_device(std::vector<double>(n));
    unsigned int* whole = on_device(std::vector<unsigned int>(n));
    for (curandRngType_t type :
         {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
          CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
        curandGenerator_t generator;
        RANDOM(curandCreateGenerator(&generator, type));
        RANDOM(curandSetPseudoRandomGeneratorSeed(generator, 2026));
        RANDOM(curandGenerateNormalDouble(generator, out, n, 5, 3));
        double sum = 0, squares = 0;
        for (double x : back(out, n)) sum += x, squares += (x - 5) * (x - 5);
        EXPECT(near(sum / n, 5, 0.1) && near(squares / n, 9, 0.5));
        RANDOM(curandGenerateLogNormalDouble(generator, out, n, 0, 0.25));
        sum = 0;
        for (double x : back(out, n)) sum += std::log(x);
        EXPECT(near(sum / n, 0, 0.01));
        RANDOM(curandGeneratePoisson(generator, whole, n, 7.5));
        sum = 0;
        for (unsigned int x : back(whole, n)) sum += x;
        EXPECT(near(sum / n, 7.5, 0.1));
        RANDOM(curandDestroyGenerator(generator));
    }
    SUCCEEDS(cudaFree(out));
    SUCCEEDS(cudaFree(whole));
}

int main() {
#ifdef CUDA_ON_CPU  // what was never made is no generator; a card's cuRAND may also end there
    int none = 0;
    EXPECT(curandGenerateSeeds(reinterpret_cast<curandGenerator_t>(&none)) ==
           CURAND_STATUS_NOT_INITIALIZED);
#endif
    mrg();
    sobol();
    moments();
    double* out = on_device(std::vector<double>(5));
    inverses<<<1, 1>>>(out);
    EXPECT_RUN();
    const std::vector<double> numbers = back(out, 5);
    EXPECT(near(numbers[0], 0.47693627620446987, 1e-14) &&
           near(numbers[1], 1.8213863677184497, 1e-13) &&
           near(numbers[2], 1.9599639845400545, 1e-13) &&
           near(numbers[3], 8.862269254527581e-10, 1e-23) &&
           near(numbers[4], -6.361340902404056, 1e-12));
    SUCCEEDS(cudaFree(out));
    std::puts("ok");
}
