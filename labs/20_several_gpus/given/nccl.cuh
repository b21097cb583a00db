// NVIDIA's library for messages between cards. CPU mode has its calls; on a card the Makefile looks whether it is there.
#pragma once

#include <vector>

#include "cards.cuh"

#if (defined(CUDA_ON_CPU) || defined(LAB_NCCL)) && __has_include(<nccl.h>)
#include <nccl.h>
#define WITH_NCCL

inline void check_nccl(ncclResult_t status, const char* call, const char* file, int line) {
    if (status == ncclSuccess) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: `%s` failed: %s\n", file, line, call, ncclGetErrorString(status));
    std::exit(1);
}
// As CHECK, for calls of NCCL.
#define CHECK_NCCL(...) check_nccl((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// A communicator a card: its rank is the card's number.
class Communicators {
 public:
    explicit Communicators(const std::vector<Card>& cards) : comms_(cards.size()) {
        std::vector<int> devices;
        for (const Card& card : cards) devices.push_back(card.device);
        CHECK_NCCL(ncclCommInitAll(comms_.data(), int(devices.size()), devices.data()));
    }
    ~Communicators() {
        for (const ncclComm_t comm : comms_) ncclCommDestroy(comm);
    }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;
    ncclComm_t operator[](int rank) const { return comms_[rank]; }

 private:
    std::vector<ncclComm_t> comms_;
};
#endif
