// expect: silent
// A kernel has memory of its own from malloc, new and cudaMalloc; one kernel makes a list, another one reads it.

#include "../../common/lab.h"

struct Node {
    int value;
    Node* next;
};

__global__ void make_list(Node** lists, int* sums) {
    Node* first = nullptr;
    for (int i = 0; i < 4; ++i) {
        Node* const node = i % 2 == 0 ? new Node : static_cast<Node*>(malloc(sizeof(Node)));
        *node = {static_cast<int>(threadIdx.x) + i, first};
        first = node;
    }
    lists[threadIdx.x] = first;
    sums[threadIdx.x] = 0;
}

__global__ void sum_list(Node** lists, int* sums) {
    for (Node* node = lists[threadIdx.x]; node != nullptr;) {
        sums[threadIdx.x] += node->value;
        Node* const next = node->next;
        if (node->value % 2 == static_cast<int>(threadIdx.x) % 2)
            delete node;
        else
            free(node);
        node = next;
    }
}

int main() {
    Node** lists = nullptr;
    int *sums = nullptr, h_sum = 0;
    CHECK(cudaMalloc(&lists, 32 * sizeof(Node*)));
    CHECK(cudaMalloc(&sums, 32 * sizeof(int)));
    make_list<<<1, 32>>>(lists, sums);
    CHECK_LAUNCH();
    sum_list<<<1, 32>>>(lists, sums);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(&h_sum, sums + 31, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(lists));
    CHECK(cudaFree(sums));
    return h_sum == 130 ? 0 : 1;
}
