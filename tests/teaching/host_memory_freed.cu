// expect: double-free 10
// cudaFree gets memory of the host.

#include <vector>

#include "../../common/lab.h"

int main() {
    std::vector<int> h_values(64);
    const cudaError_t status = cudaFree(h_values.data());
    return status == cudaSuccess ? 0 : 1;
}
