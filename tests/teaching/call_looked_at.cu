// expect: silent
// A call that fails is no fault where the program looks: at its result, or at the last error.

#include "../../common/lab.h"

int main() {
    int device = 0;
    if (cudaSetDevice(1000) == cudaSuccess) return 1;
    cudaSetDevice(1000);
    if (cudaGetLastError() == cudaSuccess) return 2;
    return cudaGetDevice(&device) == cudaSuccess ? device : 3;
}
