// What the compiler refuses in CPU mode: -DCASE=n chooses the mistake.
#include <cuda_runtime.h>

__global__ void kernel(int* value) {
#if CASE == 1
    __shared__ double tile[97][64];  // HERE 1
    tile[0][threadIdx.x] = *value;
#endif
    *value = 1;
}

int main() {
    int* value = nullptr;
#if CASE == 2
    kernel<<<1, 1>>>(value, 2);  // HERE 2
#endif
#if CASE == 3
    long* number = nullptr;
    kernel<<<1, 1>>>(number);  // HERE 3
#endif
    return value != nullptr;
}
