// Memory on each card, and part one: heat.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "request.cuh"

// Arrays on the devices of cards.
template <class T>
class OnCards {
 public:
    T* add(const Card& card, int64_t count) {
        CHECK(cudaSetDevice(card.device));
        arrays_.push_back(std::make_unique<lab::DeviceArray<T>>(count));
        arrays_.back()->poison();
        devices_.push_back(card.device);
        return arrays_.back()->get();
    }
    void poison() {
        for (size_t i = 0; i < arrays_.size(); ++i) {
            CHECK(cudaSetDevice(devices_[i]));
            arrays_[i]->poison();
        }
    }

 private:
    std::vector<std::unique_ptr<lab::DeviceArray<T>>> arrays_;
    std::vector<int> devices_;
};

// Between host memory and the memory of a card, which is the current device for it.
template <class T>
void upload(const Card& card, T* to, const T* from, int64_t count) {
    CHECK(cudaSetDevice(card.device));
    if (count > 0) CHECK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
}
template <class T>
void download(const Card& card, T* to, const T* from, int64_t count) {
    CHECK(cudaSetDevice(card.device));
    if (count > 0) CHECK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost));
}

inline bool wants(const lab::Study& study, const std::string& part) {
    const auto& names = study.names();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return part_of(name) == part; });
}

inline std::vector<float> heat_on_cpu(std::vector<float> cells, int height, int width, int steps) {
    const lab::NvtxRange range("reference");
    std::vector<float> next = cells;
    for (int step = 0; step < steps; ++step, std::swap(cells, next)) {
        const auto work = [&](int64_t, int64_t begin, int64_t end) {
            for (int64_t y = std::max<int64_t>(begin, 1); y < end && y < height - 1; ++y) {
                const float* const row = cells.data() + y * width;
                float* const to = next.data() + y * width;
                for (int x = 1; x < width - 1; ++x)
                    to[x] = 0.25f * ((row[x - width] + row[x + width]) + (row[x - 1] + row[x + 1]));
            }
        };
        lab::in_parts(height, work, width);
    }
    return cells;
}

inline Heat make_heat(const Request& request, const std::vector<Card>& cards,
                      OnCards<float>& memory) {
    Heat heat = {request.height, request.width, request.steps, cards, {}};
    for (int k = 0; k < int(cards.size()); ++k) {
        const Share share = share_of(request.height, int(cards.size()), k);
        if (share.count <= 0) continue;
        const Card& card = cards[k];
        Band band = {card, int(share.first), int(share.count), {}, {}, {}};
        for (int i = 0; i < 2; ++i) {
            band.cells[i] = memory.add(card, share.count * request.width);
            band.above[i] = memory.add(card, request.width);
            band.below[i] = memory.add(card, request.width);
        }
        heat.bands.push_back(band);
    }
    return heat;
}

// The plate as it begins, each band with its halos; the buffers of the first step's result are poisoned.
inline void fill_heat(const Request& request, const Heat& heat, OnCards<float>& memory) {
    const int width = request.width;
    memory.poison();
    for (const Band& band : heat.bands) {
        const float* const from = request.plate.data() + int64_t{band.first} * width;
        upload(band.card, band.cells[0], from, int64_t{band.rows} * width);
        if (band.first > 0) upload(band.card, band.above[0], from - width, width);
        if (band.first + band.rows < request.height)
            upload(band.card, band.below[0], from + int64_t{band.rows} * width, width);
    }
    wait_for_all(heat.cards);
}

inline void run_heat(const Request& request, lab::Study& study, const Cards& cards) {
    if (!wants(study, "heat")) return;
    const std::vector<float> reference =
        heat_on_cpu(request.plate, request.height, request.width, request.steps);
    std::vector<float> found(reference.size());
    study.moves(8.0 * double(reference.size()) * request.steps);
    for (const std::string& name : study.names()) {
        if (part_of(name) != "heat") continue;
        OnCards<float> memory;
        const std::vector<Card> used(
            cards.get().begin(), name == "heat_one" ? cards.get().begin() + 1 : cards.get().end());
        const Heat heat = make_heat(request, used, memory);
        study.run(
            name, [&] { fill_heat(request, heat, memory); },
            [&] {
                return name == "heat" ? launch_heat_hidden(heat)
                                      : launch_heat_waiting(heat, name == "heat_reading");
            },
            [&] {
                wait_for_all(heat.cards);
                std::fill(found.begin(), found.end(), NAN);
                for (const Band& band : heat.bands)
                    download(band.card, found.data() + int64_t{band.first} * request.width,
                             band.cells[request.steps % 2], int64_t{band.rows} * request.width);
                CHECK(cudaSetDevice(0));
                return lab::compare(found.data(), reference.data(), int64_t(found.size()));
            });
        if (!request.output.empty())
            lab::write_array(request.output, found.data(), {request.height, request.width});
    }
    study.moves(0);
}
