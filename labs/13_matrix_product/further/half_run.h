// --type half: the matrices are rounded, multiplied by both kernels, and judged; and the run says what the
// rounding did to the product (half.cuh, What it costs).
#pragma once

#include "half_warp_group.cuh"

// Rounds a matrix, which keeps its rounded values, to halves.
inline std::vector<__half> rounded(lab::Array<float>& matrix, const char* name) {
    std::vector<__half> halves(matrix.values.size());
    for (size_t i = 0; i < halves.size(); i++) {
        float& value = matrix.values[i];
        halves[i] = __float2half(value);
        const float half = __half2float(halves[i]);
        if (std::isinf(half)) {
            lab::refuse("%s has %g as element %zu: halves end at 65504", name, value, i);
        }
        value = half;
    }
    return halves;
}

// How far the product of the rounded matrices is from that of the given ones, as a share of |row| |column|.
inline std::string rounding_text(const Reference& given, const Reference& of_rounded) {
    double largest = 0;
    for (size_t i = 0; i < given.c.size(); i++) {
        const double scale = given.a_rows[given.rows[i / given.n]] * given.b_columns[i % given.n];
        if (scale > 0) {
            largest = std::max(largest, std::abs(of_rounded.c[i] - given.c[i]) / scale);
        }
    }
    return lab::format(
        "rounding a and b to halves moved the product by up to %.1e of |row| |column|; "
        "2^-10 = %.1e is the bound",
        largest, 0x1p-10);
}

#ifdef WITH_CUBLAS
inline lab::Launch launch_cublas(const HalfProduct& product) {
    const float one = 1, zero = 0;
    const int m = product.m, n = product.n, k = product.k;
    check_cublas(cublasGemmEx(cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, product.b,
                              CUDA_R_16F, n, product.a, CUDA_R_16F, std::max(k, 1), &zero,
                              product.c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    return {};
}
#endif

// As run() in given/program.h. Returns the exit status.
template <class Options>
int run_half(const InputOptions& asked, const Options& options, lab::Study& study) {
    Input<float> input = read_input<float>(asked);
    const int64_t m = input.a.shape[0], k = input.a.shape[1], n = input.b.shape[1];
    std::vector<float> h_c(m * n);
    if (h_c.empty()) return empty_product(options.output_path, h_c, m, n);
    lab::require_device();
    study.size(lab::format("%d x %d by %d x %d, half", int(m), int(k), int(k), int(n)));
    study.computes(2.0 * m * n * k);
    const auto reference_of = [&](const Input<float>& matrices) {
        return make_reference(matrices.a.values.data(), matrices.b.values.data(), m, n, k);
    };
    const Reference given = reference_of(input);
    const std::vector<__half> a = rounded(input.a, "a"), b = rounded(input.b, "b");
    const Reference reference = reference_of(input);
    study.note(reference_text(reference));
    study.note(rounding_text(given, reference));

    lab::DeviceArray<__half> d_a(std::max<int64_t>(m * k, 1)), d_b(std::max<int64_t>(k * n, 1));
    lab::DeviceArray<float> d_c(m * n);
    d_a.upload(a.data(), m * k);
    d_b.upload(b.data(), k * n);
    const HalfProduct product = {d_a.get(), d_b.get(), d_c.get(), int(m),
                                 int(n),    int(k),    0,         options.block_tile};
    for (const std::string& name : options.names) {
        const auto attempt = [&](auto launcher, const std::string& lacking) {
            if (study.skips(name, lacking)) return;
            study.run(
                name, [&] { d_c.poison(); }, [&] { return launcher(product); },
                [&] {
                    d_c.download(h_c);
                    return judge(h_c.data(), reference);
                },
                !lab::on_cpu);
        };
        if (name == "tensor_16x8x16") {
            attempt(launch_tensor_16x8x16, no_tensor_16x8x16());
        } else if (name == "warp_group_64x256x16") {
            attempt(launch_warp_group, no_warp_group(product.block_tile));
#ifdef WITH_CUBLAS
        } else if (name == "cublas") {
            attempt([](const HalfProduct& any) { return launch_cublas(any); }, "");
#endif
        } else {
            study.skips(name, "multiplies no halves");
        }
    }
    return finish(study, options.output_path, h_c, m, n);
}
