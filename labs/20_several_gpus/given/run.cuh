// Runs the variants: parts two and three, and all of it.
#pragma once

#include <string>
#include <vector>

#include "run_heat.cuh"

// ---------- Sums -------------------------------------------------------------------------------

// Why sum_nccl is left out, or "".
inline std::string no_nccl(const Cards& cards) {
#ifndef WITH_NCCL
    return "NCCL is not there (libnccl-dev), or this program was not built by make";
#endif
    if (cards.devices() < int(cards.get().size())) return "NCCL wants a device for each rank";
    return "";
}

inline lab::Launch launch_sum(const std::string& name, const Arrays& arrays) {
    if (name == "sum_through_first") return launch_through_first(arrays);
#ifdef WITH_NCCL
    if (name == "sum_nccl") {
        static const Communicators comms(arrays.cards);  // takes a while, so it is made once
        return launch_nccl(arrays, comms);
    }
#endif
    return launch_ring(arrays);
}

inline void run_sums(const Request& request, lab::Study& study, const Cards& cards) {
    if (!wants(study, "sum")) return;
    const int n = int(cards.get().size());
    const int64_t count = request.numbers;
    OnCards<uint32_t> memory;
    Arrays arrays = {count, cards.get(), {}, {}};
    std::vector<uint32_t> sum(count), reference, found(count * n);
    for (int k = 0; k < n; ++k) {
        arrays.values.push_back(memory.add(cards.get()[k], count));
        arrays.inbox.push_back(memory.add(cards.get()[k], count));
        for (int64_t i = 0; i < count; ++i) sum[i] += request.arrays[k][i];
    }
    for (int k = 0; k < n; ++k) reference.insert(reference.end(), sum.begin(), sum.end());
    study.moves(2.0 * (n - 1) * double(count) * sizeof(uint32_t));  // what any way sends at least
    for (const std::string& name : study.names()) {
        if (part_of(name) != "sum") continue;
        if (name == "sum_nccl" && study.skips(name, no_nccl(cards))) continue;
        study.run(
            name,
            [&] {
                memory.poison();
                for (int k = 0; k < n; ++k)
                    upload(cards.get()[k], arrays.values[k], request.arrays[k].data(), count);
                wait_for_all(cards.get());
            },
            [&] { return launch_sum(name, arrays); },
            [&] {
                wait_for_all(cards.get());
                for (int k = 0; k < n; ++k)
                    download(cards.get()[k], found.data() + k * count, arrays.values[k], count);
                CHECK(cudaSetDevice(0));
                return lab::compare(found.data(), reference.data(), n * count);
            });
        const std::vector<int32_t> words(found.begin(), found.end());
        if (!request.output.empty()) lab::write_array(request.output, words.data(), {n, count});
    }
    study.moves(0);
}

// ---------- The product ------------------------------------------------------------------------

// A product is right if it is right for a vector (Freivalds 1977): whole numbers, which doubles hold exactly.
inline lab::Comparison judge_product(const Request& request, const std::vector<float>& c) {
    const std::vector<int> x = lab::random_values<int>(request.n, 1, 1 << 10, 11);
    const auto times = [](const std::vector<float>& matrix, const auto& vector) {
        const int64_t width = int64_t(vector.size());
        std::vector<double> result(matrix.size() / width);
        for (size_t row = 0; row < result.size(); ++row)
            for (int64_t i = 0; i < width; ++i)
                result[row] += double(matrix[row * width + i]) * vector[i];
        return result;
    };
    const std::vector<double> expected = times(request.a, times(request.b, x)), got = times(c, x);
    return lab::compare(got.data(), expected.data(), request.m);
}

inline void run_product(const Request& request, lab::Study& study, const Cards& cards) {
    if (!wants(study, "product")) return;
    const int64_t m = request.m, n = request.n, k = request.k;
    const Card& first = cards.get()[0];
    OnCards<float> inputs, memory;
    Product product = {request.m,
                       request.n,
                       request.k,
                       cards.get(),
                       inputs.add(first, m * k),
                       inputs.add(first, k * n),
                       memory.add(first, m * n),
                       {},
                       {},
                       {}};
    upload(first, product.a, request.a.data(), m * k);
    upload(first, product.b, request.b.data(), k * n);
    for (int i = 0; i < int(cards.get().size()); ++i) {
        const Card& card = cards.get()[i];
        const int64_t rows = std::max<int64_t>(0, share_of(m, int(cards.get().size()), i).count);
        product.a_part.push_back(memory.add(card, rows * k));
        product.b_copy.push_back(memory.add(card, k * n));
        product.c_part.push_back(memory.add(card, rows * n));
    }
    std::vector<float> found(m * n);
    study.computes(2.0 * double(m) * double(n) * double(k));
    for (const std::string& name : study.names()) {
        if (part_of(name) != "product") continue;
        study.run(
            name,
            [&] {
                memory.poison();
                wait_for_all(cards.get());
            },
            [&] {
                return name == "product" ? launch_product(product) : launch_product_one(product);
            },
            [&] {
                wait_for_all(cards.get());
                download(first, found.data(), product.c, m * n);
                return judge_product(request, found);
            });
        if (!request.output.empty()) lab::write_array(request.output, found.data(), {m, n});
    }
    study.computes(0);
}

// ---------- All of it --------------------------------------------------------------------------

inline std::string size_words(const Request& request, const lab::Study& study) {
    std::vector<std::string> words;
    if (wants(study, "heat"))
        words.push_back(lab::format("plate of %d x %d, %d steps", request.height, request.width,
                                    request.steps));
    if (wants(study, "sum"))
        words.push_back(lab::format("%lld numbers a card", (long long)request.numbers));
    if (wants(study, "product"))
        words.push_back(lab::format("product of %d x %d and %d x %d", request.m, request.k,
                                    request.k, request.n));
    words.push_back(lab::format("%d cards", request.cards));
    return lab::joined(words, "; ");
}

inline int run_all(const Request& request, lab::Study& study) {
    lab::require_device();
    const Cards cards(request.cards);
    study.size(size_words(request, study));
    if (cards.devices() < request.cards)
        study.note(
            lab::format("%d cards share %d device%s: the order of the work is the same, "
                        "and nothing becomes faster",
                        request.cards, cards.devices(), cards.devices() == 1 ? "" : "s"));
    for (const auto& [device, other] : pairs_of(cards.get())) {
        int can = 0;
        CHECK(cudaDeviceCanAccessPeer(&can, device, other));
        if (can) {
            let_reach(device, other);
        } else if (study.chosen("heat_reading")) {
            lab::skip("heat_reading: device %d cannot use the memory of device %d", device, other);
        }
    }
    CHECK(cudaSetDevice(0));
    run_heat(request, study, cards);
    run_sums(request, study, cards);
    run_product(request, study, cards);
    return study.finish();
}
