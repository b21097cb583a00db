// Feature: cuRAND | XORWOW and Philox4x32-10 in kernels and by the host API, with a card's numbers; uniform, normal, log-normal and Poisson
// Flags: -lcurand
#include <curand.h>
#include <curand_kernel.h>
#include <curand_uniform.h>

#include "../runtime_expect.h"

template <class State>
__global__ void draw(unsigned int* out, float* real, int sequence, int offset) {
    State state;
    curand_init(1234ULL, sequence, offset, &state);
    out[0] = curand(&state);
    out[1] = curand(&state);
    real[0] = curand_uniform(&state);
    real[1] = curand_normal(&state);
    real[2] = curand_normal(&state);
}
__global__ void mean_of_poisson(float* mean) {
    curandState state;
    curand_init(7, threadIdx.x, 0, &state);
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += static_cast<int>(curand_poisson(&state, 4.0));
    atomicAdd(mean, static_cast<float>(sum) / (100.0f * blockDim.x));
}

template <class State>
void expect_numbers(int sequence, int offset, unsigned int first, unsigned int second,
                    float uniform, float normal, float next) {
    unsigned int* out = zeros<unsigned int>(2);
    float* real = zeros<float>(3);
    draw<State><<<1, 1>>>(out, real, sequence, offset);
    EXPECT_RUN();
    EXPECT(read_back(out) == first && read_back(out + 1) == second);
    const float right[3] = {uniform, normal, next};
    for (int i = 0; i < 3; ++i) EXPECT(fabsf(read_back(real + i) - right[i]) < 1e-6f);
    SUCCEEDS(cudaFree(out));
    SUCCEEDS(cudaFree(real));
}

void expect_generated(curandRngType_t type, const unsigned int (&right)[3], const size_t (&at)[3],
                      float normal0, float normal1) {
    const size_t count = 300000;
    unsigned int* numbers = zeros<unsigned int>(count);
    curandGenerator_t generator;
    EXPECT(curandCreateGenerator(&generator, type) == CURAND_STATUS_SUCCESS);
    EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 1234ULL) == CURAND_STATUS_SUCCESS);
    EXPECT(curandGenerate(generator, numbers, count) == CURAND_STATUS_SUCCESS);
    for (int i = 0; i < 3; ++i) EXPECT(read_back(numbers + at[i]) == right[i]);
    EXPECT(curandSetGeneratorOffset(generator, 0) == CURAND_STATUS_SUCCESS);
    float* normal = reinterpret_cast<float*>(numbers);
    EXPECT(curandGenerateNormal(generator, normal, 1000, 10.0f, 2.0f) == CURAND_STATUS_SUCCESS);
    EXPECT(fabsf(read_back(normal) - (10 + 2 * normal0)) < 1e-5f &&
           fabsf(read_back(normal + 1) - (10 + 2 * normal1)) < 1e-5f);
    EXPECT(curandGenerateNormal(generator, normal, 3, 0, 1) ==
           (type == CURAND_RNG_PSEUDO_PHILOX4_32_10 ? CURAND_STATUS_SUCCESS
                                                    : CURAND_STATUS_LENGTH_NOT_MULTIPLE));
    EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
    SUCCEEDS(cudaFree(numbers));
}

int main() {
    expect_numbers<curandState>(0, 0, 624778773u, 1867875844u, 0.870710075f, -0.981185436f,
                                0.781962335f);
    expect_numbers<curandState>(77, 1000, 77765795u, 2007910389u, 0.349008143f, 1.09218645f,
                                0.0754722729f);
    expect_numbers<curandStatePhilox4_32_10_t>(1, 5, 1698527859u, 495137217u, 0.527328908f,
                                               1.80789053f, -0.502855241f);
    expect_generated(CURAND_RNG_PSEUDO_DEFAULT, {624778773u, 3522650202u, 1867875844u},
                     {0, 1, 4096}, 0.780973554f, -1.80157816f);
    expect_generated(CURAND_RNG_PSEUDO_PHILOX4_32_10, {546353992u, 3507855656u, 2053518784u},
                     {0, 4, 4096}, -1.61649048f, 1.22915542f);
    float* mean = zeros<float>(1);
    mean_of_poisson<<<1, 64>>>(mean);
    EXPECT_RUN();
    EXPECT(fabsf(read_back(mean) - 4) < 0.2f);
    SUCCEEDS(cudaFree(mean));
    printf("ok\n");
}
