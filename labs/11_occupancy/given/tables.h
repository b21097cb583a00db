// What is printed: occupancies, waves, and what Little's law asks for.
#pragma once

#include <string>
#include <vector>

#include "multiprocessors.h"

inline Block block_of(const Variant& variant, int threads, int shared_bytes) {
    const cudaFuncAttributes attributes = variant.attributes();
    return {threads, attributes.numRegs, shared_bytes + int(attributes.sharedSizeBytes)};
}

inline std::string limit_text(int blocks) {
    return blocks == no_limit ? "no limit" : lab::format("%d", blocks);
}

inline void print_occupancy(Multiprocessor whole, Block block) {
    const int warps = warps_of(block);
    const auto number = [](int value) { return lab::format("%d", value); };
    std::printf("a block of %d threads, %d registers a thread, %d bytes of shared memory\n\n",
                block.threads, block.registers, block.shared_bytes);
    lab::print_table({{"resource", "a block takes", "there are", "blocks"},
                      {"warp slots", number(warps), number(whole.warp_slots),
                       limit_text(blocks_by_warps(whole, block))},
                      {"block slots", "1", number(whole.block_slots), number(whole.block_slots)},
                      {"registers", number(warps * registers_of_warp(block)),
                       number(whole.registers), limit_text(blocks_by_registers(whole, block))},
                      {"shared memory", number(shared_bytes_of(whole, block)),
                       number(whole.shared_bytes), limit_text(blocks_by_shared(whole, block))}},
                     {false, true, true, true});
    const Occupancy occupancy = occupancy_of(whole, block);
    std::printf("\nblocks a multiprocessor: %d, limited by %s\n", occupancy.blocks,
                occupancy.limited.c_str());
    std::printf("warps a multiprocessor: %d of %d\n", occupancy.warps, whole.warp_slots);
    std::printf("occupancy: %.1f %%\n", 100 * occupancy.share);
    if (occupancy.blocks == 0) std::printf("such a block fits on no multiprocessor\n");
}

inline void print_waves(int64_t grid, int blocks_at_a_time, int multiprocessors) {
    const Waves waves = waves_of(grid, blocks_at_a_time, multiprocessors);
    const auto number = [](int64_t value) { return static_cast<long long>(value); };
    std::printf("\nfull wave: %lld blocks, %d on each of %d multiprocessors\n",
                number(waves.capacity), blocks_at_a_time, multiprocessors);
    std::printf("waves for %lld blocks: %lld\n", number(grid), number(waves.waves));
    std::printf("last wave: %lld blocks\n", number(waves.last));
    std::printf("utilisation: %.1f %%\n", 100 * waves.utilisation);
}

inline void print_demand(double latency, double bandwidth, int bytes_of_thread,
                         int multiprocessors) {
    const Demand demand = demand_of(latency, bandwidth, bytes_of_thread, multiprocessors);
    std::printf("latency: %.1f ns\n", latency);
    std::printf("bandwidth: %.1f GB/s\n", bandwidth);
    std::printf("bytes under way: %.0f\n", demand.bytes);
    std::printf("threads with %d %s each: %.0f\n", bytes_of_thread,
                bytes_of_thread == 1 ? "byte" : "bytes", demand.threads);
    std::printf("warps: %.0f\n", demand.warps);
    std::printf("warps on each of %d multiprocessors: %.0f\n", multiprocessors,
                demand.warps_of_multiprocessor);
}

// By hand and by the API, for the kernels that are about to run. False when they disagree.
inline bool print_kernels(Multiprocessor whole, const std::vector<std::string>& names, int threads,
                          int shared_bytes) {
    bool agree = true;
    std::vector<std::vector<std::string>> lines = {
        {"kernel", "registers", "by hand", "by the API", "warps", "occupancy", "limited by"}};
    for (const std::string& name : names) {
        const Variant& variant = find(name);
        const Block block = block_of(variant, threads, shared_bytes);
        const Occupancy occupancy = occupancy_of(whole, block);
        std::string api = "-";  // of a block that the kernel was not compiled for
        if (threads <= variant.most_threads()) {
            const int blocks = variant.blocks_by_api(threads, shared_bytes);
            agree = agree && blocks == occupancy.blocks;
            api = lab::format("%d", blocks);
        }
        lines.push_back({name, lab::format("%d", block.registers),
                         lab::format("%d", occupancy.blocks), api,
                         lab::format("%d", occupancy.warps),
                         lab::format("%.1f %%", 100 * occupancy.share), occupancy.limited});
    }
    std::printf("blocks of %d threads and %d bytes of shared memory, on one multiprocessor:\n",
                threads, shared_bytes);
    lab::print_table(lines, {false, true, true, true, true, true, false});
    return agree;
}

// Asks both about every kernel in many shapes. False when they disagree.
inline bool print_agreement(Multiprocessor whole) {
    int asked = 0, alike = 0;
    for (const Variant& variant : all_variants) {
        const int most = variant.most_threads();
        for (int threads = 1; threads <= most; threads += threads % 32 == 1 ? 31 : 1) {
            for (const int shared : {0, 1, 127, 1000, 2048, 4097, 8192, 16384, 33000, 49152, 65536,
                                     whole.most_shared_bytes}) {
                if (shared > whole.most_shared_bytes) continue;
                const int by_hand = occupancy_of(whole, block_of(variant, threads, shared)).blocks;
                const int by_api = variant.blocks_by_api(threads, shared);
                asked++;
                if (by_hand == by_api) alike++;
                if (by_hand == by_api || asked - alike > 3) continue;
                std::printf("%s, %d threads, %d bytes: %d by hand, %d by the API\n", variant.name,
                            threads, shared, by_hand, by_api);
            }
        }
    }
    std::printf("by hand as by the API: %d of %d shapes\n", alike, asked);
    return alike == asked;
}

inline void print_best(Multiprocessor whole, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const Shape shape = find(name).best_by_api(find(name).most_threads());
        if (shape.threads == 0) continue;
        const Occupancy occupancy = occupancy_of(whole, block_of(find(name), shape.threads, 0));
        std::printf("the API suggests for %s: %d blocks of %d threads, %.1f %% occupancy\n",
                    name.c_str(), shape.grid, shape.threads, 100 * occupancy.share);
    }
}
