// The cards of this lab: each does a share of the work, in two streams of its device.
#pragma once

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

struct Card {
    int device;                 // for cudaSetDevice; where there are too few, cards share one
    cudaStream_t inner, edges;  // work in one may run beside that in the other
    cudaEvent_t inner_done, edges_done, sent, joint;
};

class Cards {
 public:
    explicit Cards(int count) {
        CHECK(cudaGetDeviceCount(&devices_));
        for (int k = 0; k < count; ++k) {
            Card card = {k % devices_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
            CHECK(cudaSetDevice(card.device));
            for (cudaStream_t* stream : {&card.inner, &card.edges}) CHECK(cudaStreamCreate(stream));
            for (cudaEvent_t* event : {&card.inner_done, &card.edges_done, &card.sent, &card.joint})
                CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
            cards_.push_back(card);
        }
        CHECK(cudaSetDevice(0));
    }
    ~Cards() {
        for (const Card& card : cards_) {
            for (const cudaStream_t stream : {card.inner, card.edges}) cudaStreamDestroy(stream);
            for (const cudaEvent_t event :
                 {card.inner_done, card.edges_done, card.sent, card.joint})
                cudaEventDestroy(event);
        }
    }
    Cards(const Cards&) = delete;
    Cards& operator=(const Cards&) = delete;

    const std::vector<Card>& get() const { return cards_; }
    int devices() const { return std::min(devices_, int(cards_.size())); }

 private:
    int devices_ = 0;
    std::vector<Card> cards_;
};

// All streams of the cards wait for what the default stream of device 0 has, and it for all of them: so one
// event before and one behind time the work of all cards.
inline void fork(const std::vector<Card>& cards) {
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(cards[0].joint, 0));
    for (const Card& card : cards)
        for (const cudaStream_t stream : {card.inner, card.edges})
            CHECK(cudaStreamWaitEvent(stream, cards[0].joint, 0));
}
inline void join(const std::vector<Card>& cards) {
    for (const Card& card : cards) {
        for (const cudaStream_t stream : {card.inner, card.edges}) {
            CHECK(cudaSetDevice(card.device));
            CHECK(cudaEventRecord(card.joint, stream));
            CHECK(cudaSetDevice(0));
            CHECK(cudaStreamWaitEvent(0, card.joint, 0));
        }
    }
}

// The host waits until no card has anything left to do.
inline void wait_for_all(const std::vector<Card>& cards) {
    for (const Card& card : cards) {
        CHECK(cudaSetDevice(card.device));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
}

// The pairs (device, other) of different devices among the cards.
inline std::set<std::pair<int, int>> pairs_of(const std::vector<Card>& cards) {
    std::set<std::pair<int, int>> pairs;
    for (const Card& card : cards)
        for (const Card& other : cards)
            if (card.device != other.device) pairs.insert({card.device, other.device});
    return pairs;
}
