// expect: leak 9
// Each round allocates anew; only the last round's memory is freed.

#include "../../common/lab.h"

int main() {
    int* values = nullptr;
    for (int round = 0; round < 4; ++round) {
        CHECK(cudaMalloc(&values, 64 * sizeof(int)));
        CHECK(cudaMemset(values, round, 64 * sizeof(int)));
    }
    CHECK(cudaFree(values));
    return 0;
}
