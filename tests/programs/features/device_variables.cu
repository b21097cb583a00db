// Feature: variables of the device | `__device__`, `__constant__`, `__managed__` of class types and arrays of several dimensions; copies from and to symbols with offsets, their addresses and sizes
#include "../runtime_expect.h"

struct Settings {
    int width = 3;
    float weights[2][3] = {{1, 2, 3}, {4, 5, 6}};
    __host__ __device__ float sum(int row) const {
        float total = 0;
        for (const float weight : weights[row]) total += weight;
        return total;
    }
};
__device__ Settings settings;
__constant__ float filter[3][5];
__constant__ Settings fixed;
__device__ int table[4][8];
__device__ float* rows;
__managed__ int counter = 40;
__managed__ Settings shared_settings;
namespace inner {
__device__ unsigned long long total = 7;
}
static __constant__ int limit = 12;

__global__ void use(float* out) {
    out[0] = settings.sum(1) + fixed.weights[0][2] + filter[1][2];
    out[1] = float(limit + settings.width);
    table[threadIdx.x / 8][threadIdx.x % 8] = threadIdx.x;
    rows[threadIdx.x] = float(threadIdx.x);
    atomicAdd(&counter, 1);
    atomicAdd(&inner::total, 2ull);
    if (threadIdx.x == 0) shared_settings.width = 99;
}

int main() {
    Settings changed;
    changed.weights[0][2] = 30;
    SUCCEEDS(cudaMemcpyToSymbol(fixed, &changed, sizeof changed));
    float weights[3][5] = {};
    SUCCEEDS(cudaMemcpyToSymbol(filter, weights, sizeof weights));
    const float one = 100;
    SUCCEEDS(cudaMemcpyToSymbol(filter, &one, sizeof one, (5 + 2) * sizeof(float),
                                cudaMemcpyHostToDevice));
    float *memory = zeros<float>(32), *out = zeros<float>(2);
    SUCCEEDS(cudaMemcpyToSymbol(rows, &memory, sizeof memory));
    use<<<1, 32>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 145 && read_back(out + 1) == 15 && read_back(memory + 5) == 5);
    EXPECT(counter == 72 && shared_settings.width == 99 && shared_settings.sum(0) == 6);

    int copied[4][8], row[8];
    SUCCEEDS(cudaMemcpyFromSymbol(copied, table, sizeof table));
    SUCCEEDS(cudaMemcpyFromSymbol(row, table, sizeof row, 2 * sizeof row));
    EXPECT(copied[3][7] == 31 && row[1] == 17);
    unsigned long long total = 0;
    SUCCEEDS(cudaMemcpyFromSymbol(&total, inner::total, sizeof total));
    EXPECT(total == 71);
    void* address = nullptr;
    size_t bytes = 0;
    SUCCEEDS(cudaGetSymbolAddress(&address, table));
    SUCCEEDS(cudaGetSymbolSize(&bytes, table));
    EXPECT(bytes == sizeof copied && read_back(static_cast<int*>(address) + 9) == 9);
    SUCCEEDS(cudaMemset(address, 0, bytes));
    SUCCEEDS(cudaMemcpyFromSymbol(row, table, sizeof row));
    EXPECT(row[7] == 0);
    printf("ok\n");
}
