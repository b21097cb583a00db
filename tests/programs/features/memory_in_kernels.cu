// Feature: memory that kernels allocate | `malloc`, `free`, `new`, `delete`, kept from one kernel to the next
#include "../runtime_expect.h"

struct Node {
    int value;
    Node* next;
    __device__ Node(int value, Node* next) : value(value), next(next) {}
};

__global__ void make_list(Node** list, int length) {
    Node* first = nullptr;
    for (int i = 0; i < length; ++i) first = new Node(i, first);
    *list = first;
}
__global__ void sum_list(Node** list, int* sum) {
    while (Node* const node = *list) {
        *sum += node->value;
        *list = node->next;
        delete node;
    }
}
__global__ void use_malloc(int* out) {
    int* const own = static_cast<int*>(malloc(4 * sizeof(int)));
    own[3] = static_cast<int>(threadIdx.x);
    out[threadIdx.x] = own[3];
    free(own);
}

int main() {
    int* out = zeros<int>(32);
    Node** list = zeros<Node*>(1);
    make_list<<<1, 1>>>(list, 5);
    sum_list<<<1, 1>>>(list, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 10);
    use_malloc<<<1, 32>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out + 31) == 31);
    SUCCEEDS(cudaFree(out));
    SUCCEEDS(cudaFree(list));
    printf("ok\n");
}
