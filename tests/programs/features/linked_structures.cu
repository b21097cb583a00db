// Feature: linked structures | lists and trees in managed memory by a class with its own `new`, lists that kernels build with `new` and `atomicCAS`, a hash table with open addresses
#include <new>

#include "../runtime_expect.h"

class Managed {
 public:
    void* operator new(size_t bytes) {
        void* memory = nullptr;
        SUCCEEDS(cudaMallocManaged(&memory, bytes));
        SUCCEEDS(cudaDeviceSynchronize());
        return memory;
    }
    void operator delete(void* memory) {
        SUCCEEDS(cudaDeviceSynchronize());
        SUCCEEDS(cudaFree(memory));
    }
};
struct Element : public Managed {
    int value;
    Element* next;
    Element(int value, Element* next) : value(value), next(next) {}
};
struct Tree : public Managed {
    int value;
    Tree *left = nullptr, *right = nullptr;
    explicit Tree(int value) : value(value) {}
};

__host__ __device__ int sum_of(const Element* list) {
    int sum = 0;
    for (; list != nullptr; list = list->next) sum += list->value;
    return sum;
}
__global__ void sum_and_double(Element* list, int* sum) {
    *sum = sum_of(list);
    for (; list != nullptr; list = list->next) list->value *= 2;
}
__device__ int depth_of(const Tree* tree) {
    return tree == nullptr ? 0 : 1 + max(depth_of(tree->left), depth_of(tree->right));
}
__global__ void look_at(const Tree* tree, int* depth) { *depth = depth_of(tree); }

struct Own {
    int value;
    Own* next;
};
__device__ Own* head = nullptr;
__global__ void push() {
    Own* const made = new Own{int(blockIdx.x * blockDim.x + threadIdx.x), nullptr};
    Own* old = head;
    do {
        made->next = old;
        __threadfence();
        using Word = unsigned long long;
        Own* const seen = reinterpret_cast<Own*>(atomicCAS(reinterpret_cast<Word*>(&head),
                                                           reinterpret_cast<Word>(old),
                                                           reinterpret_cast<Word>(made)));
        if (seen == old) break;
        old = seen;
    } while (true);
}
__global__ void take_apart(int* sum, int* count) {
    for (Own* one = head; one != nullptr;) {
        *sum += one->value, ++*count;
        Own* const next = one->next;
        delete one;
        one = next;
    }
    head = nullptr;
}

struct Slot {
    unsigned int key, value;
};
constexpr unsigned int empty = ~0u, slots = 256;
__device__ unsigned int place_of(unsigned int key) { return key * 2654435761u >> 24; }
__global__ void insert(Slot* table, const unsigned int* keys, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (unsigned int place = place_of(keys[i]);; place = (place + 1) % slots) {
        const unsigned int before = atomicCAS(&table[place].key, empty, keys[i]);
        if (before != empty && before != keys[i]) continue;
        table[place].value = i;
        return;
    }
}
__global__ void find(const Slot* table, const unsigned int* keys, int count, unsigned int* found) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned int place = place_of(keys[i]);
    while (table[place].key != keys[i] && table[place].key != empty) place = (place + 1) % slots;
    found[i] = table[place].key == empty ? empty : table[place].value;
}

int main() {
    Element* list = nullptr;
    for (int i = 0; i < 10; ++i) list = new Element(i, list);
    int* out = zeros<int>(2);
    sum_and_double<<<1, 1>>>(list, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 45 && sum_of(list) == 90);
    while (list != nullptr) {
        Element* const next = list->next;
        delete list;
        list = next;
    }
    Tree* root = new Tree(1);
    root->right = new Tree(2);
    root->right->left = new Tree(3);
    look_at<<<1, 1>>>(root, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 3);

    SUCCEEDS(cudaMemset(out, 0, 2 * sizeof(int)));
    push<<<4, 64>>>();
    take_apart<<<1, 1>>>(out, out + 1);
    EXPECT_RUN();
    EXPECT(read_back(out) == 255 * 128 && read_back(out + 1) == 256);

    Slot* table = nullptr;
    SUCCEEDS(cudaMalloc(&table, slots * sizeof(Slot)));
    SUCCEEDS(cudaMemset(table, 0xff, slots * sizeof(Slot)));
    unsigned int *keys = nullptr, *found = zeros<unsigned int>(150);
    SUCCEEDS(cudaMallocManaged(&keys, 150 * sizeof(int)));
    for (unsigned int i = 0; i < 150; ++i) keys[i] = i * i;
    insert<<<2, 64>>>(table, keys, 120);
    find<<<3, 64>>>(table, keys, 150, found);
    EXPECT_RUN();
    EXPECT(read_back(found + 119) == 119 && read_back(found + 120) == empty);
    printf("ok\n");
}
