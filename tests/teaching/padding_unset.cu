// expect: silent
// What lies between the members of a structure nobody has to write.

#include "../../common/lab.h"

struct Item {
    char letter;
    int number;
};

__global__ void fill(Item* items) {
    items[threadIdx.x].letter = 'a';
    items[threadIdx.x].number = threadIdx.x;
}

__global__ void copy(const Item* items, Item* others, int* values) {
    others[threadIdx.x] = items[threadIdx.x];
    values[threadIdx.x] = others[threadIdx.x].number;
}

int main() {
    lab::DeviceArray<int> values(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    lab::DeviceArray<Item> items(64), others(64);
    fill<<<1, 64>>>(items.get());
    copy<<<1, 64>>>(items.get(), others.get(), values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 0 ? 0 : 1;
}
