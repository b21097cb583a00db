// npp: NVIDIA's general filter, beside which `make bench` measures.
#pragma once

#if defined(LAB_PEERS) && __has_include(<nppi_filtering_functions.h>)
#define LAB_NPP
#include <nppi_filtering_functions.h>

#include "../../../common/npp.h"

// NPP turns the filter, so d_filter holds it turned before. It reads beyond the edges of what it is
// asked for: that is the inside of the picture, and the edge of the output stays as it was.
template <class T>
lab::Launch launch_npp(const Plane<T>& plane) {
    static const NppStreamContext context = lab::npp_context();
    const Sizes& s = plane.sizes;
    const int row = s.filter_height / 2, column = s.filter_width / 2;
    const NppiSize inside = {int(s.width) - 2 * column, int(s.height) - 2 * row};
    const NppiSize filter = {s.filter_width, s.filter_height};
    const NppiPoint middle = {column, row};
    const T* d_input = plane.d_input + row * s.width + column;
    T* d_output = plane.d_output + s.top * s.out_width + s.left;
    const int pitch = int(s.width * sizeof(T)), out_pitch = int(s.out_width * sizeof(T));
    NppStatus status;
    if constexpr (std::is_same_v<T, float>) {
        status = nppiFilter_32f_C1R_Ctx(d_input, pitch, d_output, out_pitch, inside, plane.d_filter,
                                        filter, middle, context);
    } else {
        status = nppiFilter32f_8u_C1R_Ctx(d_input, pitch, d_output, out_pitch, inside,
                                          plane.d_filter, filter, middle, context);
    }
    if (status != NPP_SUCCESS) lab::fail("NPP's filter failed with status %d", int(status));
    return {};
}

std::string problem_of_npp(const Sizes& s, dim3) {
    if (s.stride != 1) return "NPP has no stride";
    if (s.filter_height > s.height || s.filter_width > s.width) return "the filter is too large";
    const bool small = std::max(s.height, s.width) < INT32_MAX / 4;
    return small ? "" : "NPP counts the bytes of a row in 32 bits";
}
#endif
