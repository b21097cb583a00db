// The program: the variants, the command line, and what it asks for.
#pragma once

#include <string>
#include <vector>

#include "input.h"
#include "peers.h"
#include "reference.h"

struct Options {
    std::vector<std::string> names;
    std::vector<int> tiles;  // of `tiled`
    std::string block_tile = "auto", output_path;
};

template <class T>
int run(const InputOptions& asked, const Options& options, lab::Study& study) {
    const Input<T> input = read_input<T>(asked);
    const int64_t m = input.a.shape[0], k = input.a.shape[1], n = input.b.shape[1];
    std::vector<T> h_c(m * n);
    if (h_c.empty()) return empty_product(options.output_path, h_c, m, n);
    lab::require_device();
    study.size(lab::format("%d x %d by %d x %d, %s", int(m), int(k), int(k), int(n),
                           is_float<T> ? "float" : "double"));
    study.computes(2.0 * m * n * k);
    const Reference reference =
        make_reference(input.a.values.data(), input.b.values.data(), m, n, k);
    study.note(reference_text(reference));

    lab::DeviceArray<T> d_a(std::max<int64_t>(m * k, 1)), d_b(std::max<int64_t>(k * n, 1));
    lab::DeviceArray<T> d_c(m * n);
    d_a.upload(input.a.values.data(), m * k);
    d_b.upload(input.b.values.data(), k * n);
    Product<T> product = {d_a.get(), d_b.get(), d_c.get(), int(m),
                          int(n),    int(k),    0,         options.block_tile};

    // `lacking`: why it cannot run here, or "". CPU mode plays tensor cores too slowly to be timed.
    const auto attempt = [&](const std::string& name, auto launcher, const std::string& lacking) {
        if (!std::count(options.names.begin(), options.names.end(), name)) return;
        if (study.skips(name, lacking)) return;
        for (const int tile : options.tiles) {
            product.tile = tile;
            study.run(
                name, [&] { d_c.poison(); }, [&] { return launcher(product); },
                [&] {
                    d_c.download(h_c);
                    return judge(h_c.data(), reference);
                },
                !lab::on_cpu || name.rfind("tensor", 0) != 0);
        }
    };
    attempt("naive", launch_naive<T>, "");
    attempt("coalesced", launch_coalesced<T>, "");
    attempt("tiled", launch_tiled<T>, "");
    attempt("register_tile", launch_square<T, register_tile<T>>, "");
    attempt("vectorised", launch_square<T, vectorised<T>>, "");
    attempt("pipelined", launch_square<T, pipelined<T>>, missing<T>(pipelined<T>, 8));
    if constexpr (is_float<T>) {
        attempt("tensor_8x8x4", launch_naive<T>, "multiplies doubles only");
    } else {
        attempt("tensor_8x8x4", launch_square<T, tensor_8x8x4>, missing<T>(tensor_8x8x4, 8));
    }
#ifdef LAB_FURTHER
    attempt_further(product, attempt);
#endif
#ifdef WITH_CUBLAS
    attempt("cublas", launch_cublas<T>, "");
#endif
#ifdef WITH_OPENBLAS
    if (std::count(options.names.begin(), options.names.end(), "openblas")) {
        run_openblas(input, h_c, reference, study);
    }
#endif
    return finish(study, options.output_path, h_c, m, n);
}

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv,
                             "Multiplies two matrices, from naive to the tensor cores.");
    const std::string type = arguments.choice("type", types, "double", "of elements");
    const InputOptions input(arguments);
    const std::string tile =
        arguments.choice("tile", {"2", "4", "8", "16", "32"}, "16", "side of the tiles of tiled");
    const bool sweep = arguments.flag("sweep", "tiled alone, with all five sides");
    Options options;
#ifdef LAB_FURTHER
    options.block_tile = block_tile_option(arguments);
#endif
    options.output_path = arguments.output("output", "the product, for one variant");
    const std::string without = arguments.text("without", "", "variants to leave out: naive,tiled");
    lab::Study study(arguments,
                     with_peers({"naive", "coalesced", "tiled", "register_tile", "vectorised",
                                 "pipelined", "tensor_8x8x4"}),
                     {"warp_tile", "tensor_tuned_8x8x4", "tensor_16x8x8", "tensor_16x8x16",
                      "warp_group_64x256x16"});
    arguments.finish();
    input.require_sense(arguments);
    if (sweep && (arguments.given("tile") || arguments.given("variant"))) {
        lab::refuse("--sweep runs tiled with all sides: drop --tile and --variant");
    }
    options.names = sweep ? std::vector<std::string>{"tiled"} : study.names();
    lab::leave_out(options.names, names_with_peers(study.names()), without);
    options.tiles = sweep ? std::vector<int>{2, 4, 8, 16, 32} : std::vector<int>{std::stoi(tile)};
    if (!options.output_path.empty() && options.names.size() * options.tiles.size() != 1) {
        lab::refuse("--output takes the product of one variant: choose with --variant");
    }
#ifdef LAB_FURTHER
    if (type == "half") return run_half(input, options, study);
#endif
    return type == "float" ? run<float>(input, options, study) : run<double>(input, options, study);
}
