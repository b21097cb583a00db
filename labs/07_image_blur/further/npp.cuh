// npp: NVIDIA's box filter, beside which `make bench` measures. It computes where the whole window is
// inside only, and rounds in its own way: to the nearest number, most of the time.
#pragma once

#if defined(LAB_PEERS) && __has_include(<nppi_filtering_functions.h>)
#define LAB_NPP
#include <nppi_filtering_functions.h>

#include "../../../common/npp.h"

lab::Launch launch_npp(const Job& job) {
    static const NppStreamContext context = lab::npp_context();
    const int radius = job.radius, side = 2 * radius + 1, pitch = int(job.shape.pitch());
    const NppiSize inside = {job.shape.width - 2 * radius, job.shape.height - 2 * radius};
    const int64_t start = radius * job.shape.pitch() + radius * job.shape.channels;
    const auto filter =
        job.shape.channels == 1 ? nppiFilterBox_8u_C1R_Ctx : nppiFilterBox_8u_C3R_Ctx;
    const NppStatus status = filter(job.d_input + start, pitch, job.d_output + start, pitch, inside,
                                    {side, side}, {radius, radius}, context);
    if (status != NPP_SUCCESS) lab::fail("NPP's box filter failed with status %d", int(status));
    return {};
}

std::string problem_of_npp(const Shape& shape, int radius) {
    const int smaller = std::min(shape.height, shape.width);
    if (shape.channels % 2 == 1 && 2 * int64_t{radius} < smaller) return "";
    return "computes 1 or 3 channels, and only whole windows";
}

// The border gets what is right: compared is the inside, with a difference of 1 allowed.
lab::Comparison compare_inside(std::vector<uint8_t>& got, const std::vector<uint8_t>& reference,
                               const Job& job) {
    const Shape& shape = job.shape;
    for (int64_t row = 0; row < shape.height; row++) {
        const bool inside = row >= job.radius && row + job.radius < shape.height;
        const int64_t begin = row * shape.values(), end = begin + shape.values();
        const int64_t edge =
            inside ? std::min(job.radius * shape.channels, shape.values()) : shape.values();
        std::copy_n(&reference[begin], edge, &got[begin]);
        std::copy_n(reference.data() + end - edge, edge, got.data() + end - edge);
    }
    return lab::compare(got.data(), reference.data(), shape.count(), {1, 0});
}
#endif
