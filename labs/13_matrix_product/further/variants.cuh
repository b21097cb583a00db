// The further variants, to be read in this order:
//
//   choose.h                which tile of c is whose, and how large tiles are: the two below share it
//   divided.cuh             several blocks for one tile, where tiles are few and k is long
//   warp_tile.cuh           warp_tile: ordinary instructions, as fast as they get
//   tensor_fragments.cuh    what a thread of the tensor kernel holds, and where it lies
//   tensor_tile.cuh         tensor_16x8x8, and tensor_tuned_8x8x4 for cards of compute capability 8.0
//   half.cuh                halves in place of doubles: what it costs, and how they lie in shared memory
//   half_tile.cuh           tensor_16x8x16, for cards of compute capability 8.0 and later
//   half_warp_group.cuh     warp_group_64x256x16, for those of 9.0
//   half_run.h              --type half, and what the rounding did to the product
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "half_run.h"
#include "tensor_tile.cuh"
#include "warp_tile.cuh"

// --block-tile: the tile of warp_tile and tensor_16x8x8.
inline std::string block_tile_option(lab::Arguments& arguments) {
    const std::string name = arguments.text(
        "block-tile", "auto",
        "of warp_tile, tensor_16x8x8 and warp_group_64x256x16: 64x128x2, for example");
    std::vector<std::string> known = {"auto"};
    known.insert(known.end(), half_tile_names.begin(), half_tile_names.end());
    for (const auto& candidate : tensor_candidates()) known.push_back(candidate.name());
    for (const auto& candidate : warp_candidates<double>()) known.push_back(candidate.name());
    for (const auto& candidate : warp_candidates<float>()) known.push_back(candidate.name());
    if (std::count(known.begin(), known.end(), name)) return name;
    std::sort(known.begin() + 1, known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::string list;
    for (const std::string& other : known) list += (list.empty() ? "" : ", ") + other;
    lab::refuse("--block-tile: %s is none of %s", lab::quoted(name).c_str(), list.c_str());
}

// attempt(name, launcher, why it cannot run here or ""), for each of them.
template <class T, class Attempt>
void attempt_further(const Product<T>& product, Attempt attempt) {
    attempt("warp_tile", launch_warp_tile<T>, no_warp_tile(product));
    for (const char* name : {"tensor_16x8x16", "warp_group_64x256x16"}) {
        attempt(name, launch_warp_tile<T>, "multiplies halves only");
    }
    if constexpr (is_float<T>) {
        for (const char* name : {"tensor_tuned_8x8x4", "tensor_16x8x8"}) {
            attempt(name, launch_warp_tile<T>, "multiplies doubles only");
        }
    } else {
        attempt("tensor_tuned_8x8x4", launch_tensor_tuned_8x8x4, no_tensor_tuned_8x8x4());
        attempt("tensor_16x8x8", launch_tensor_16x8x8, no_tensor_16x8x8(product));
    }
}
