// Feature: kernels beside the host | a kernel that serves requests of the host until it is told to end, by flags in pinned, mapped memory; a host that looks at managed memory for a kernel's result, without a call
#include "../runtime_expect.h"

struct Mailbox {
    volatile int request, answer;
};

// Answers each request by its square, and ends after a negative one.
__global__ void serve(Mailbox* mailbox) {
    __shared__ int request;
    for (;;) {
        if (threadIdx.x == 0) {
            while ((request = mailbox->request) == 0) continue;
        }
        __syncthreads();
        if (request < 0) return;
        if (threadIdx.x == blockDim.x - 1) {
            mailbox->request = 0;
            __threadfence_system();
            mailbox->answer = request * request;
        }
        __syncthreads();
    }
}

__global__ void announce(volatile int* value) { *value = 42; }

int main() {
    Mailbox *mailbox, *d_mailbox;
    SUCCEEDS(cudaHostAlloc(&mailbox, sizeof *mailbox, cudaHostAllocMapped));
    SUCCEEDS(cudaHostGetDevicePointer(&d_mailbox, mailbox, 0));
    mailbox->request = mailbox->answer = 0;
    serve<<<1, 64>>>(d_mailbox);
    SUCCEEDS(cudaGetLastError());
    for (int i = 1; i <= 100; ++i) {
        mailbox->request = i;
        while (mailbox->answer == 0) continue;
        EXPECT(mailbox->answer == i * i);
        mailbox->answer = 0;
    }
    mailbox->request = -1;
    SUCCEEDS(cudaDeviceSynchronize());
    SUCCEEDS(cudaFreeHost(mailbox));

    int meets = 0;  // does a device reach managed memory while the host does?
    SUCCEEDS(cudaDeviceGetAttribute(&meets, cudaDevAttrConcurrentManagedAccess, 0));
    if (meets) {
        int* raw;
        SUCCEEDS(cudaMallocManaged(&raw, sizeof *raw));
        volatile int* const value = raw;
        *value = 0;
        announce<<<1, 1>>>(value);
        SUCCEEDS(cudaGetLastError());
        while (*value == 0) continue;
        EXPECT(*value == 42);
        SUCCEEDS(cudaDeviceSynchronize());
        SUCCEEDS(cudaFree(raw));
    }
    std::puts("ok");
}
