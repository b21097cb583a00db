// The picture on the host: which pixels there are, how rectangles are cut, and the CPU's reference.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../../common/lab.h"

struct View {
    int height, width, limit;
    double left, top, step;  // the centre of pixel (0, 0), and the distance of two
    int smallest;            // a rectangle with a shorter side is computed, not cut
};

struct Rectangle {
    int row, column, height, width;
};

struct Pixel {
    int row, column;
};

__host__ __device__ inline int64_t pixels_of(Rectangle r) { return int64_t{r.height} * r.width; }

__host__ __device__ inline Rectangle inside_of(Rectangle r) {
    const int height = r.height > 2 ? r.height - 2 : 0, width = r.width > 2 ? r.width - 2 : 0;
    return {r.row + 1, r.column + 1, height, width};
}

__host__ __device__ inline Pixel pixel_of(Rectangle r, int64_t i) {
    return {r.row + int(i / r.width), r.column + int(i % r.width)};
}

// Pixel i of the border: the first row, the last row, then what is left of the two columns.
__host__ __device__ inline Pixel pixel_of_border(Rectangle r, int64_t i) {
    if (r.height <= 2 || r.width <= 2 || i < r.width) return pixel_of(r, i);
    if (i < 2 * int64_t{r.width}) return {r.row + r.height - 1, r.column + int(i - r.width)};
    const int64_t side = i - 2 * int64_t{r.width};
    return {r.row + 1 + int(side / 2), side % 2 == 0 ? r.column : r.column + r.width - 1};
}

// Part `number` of a rectangle that is cut into rows * columns parts of nearly one size.
__host__ __device__ inline Rectangle part_of(Rectangle r, int rows, int columns, int number) {
    const int64_t i = number / columns, j = number % columns;
    const int top = int(r.height * i / rows), bottom = int(r.height * (i + 1) / rows);
    const int left = int(r.width * j / columns), right = int(r.width * (j + 1) / columns);
    return {r.row + top, r.column + left, bottom - top, right - left};
}

// CPU reference, of the same operations. Nobody may join them here either.
#if defined(__GNUC__) && !defined(__clang__)
#define EACH_ROUNDED __attribute__((optimize("fp-contract=off")))
#else
#define EACH_ROUNDED
#endif

// The two largest parts of the set have formulas: their points never leave, and need no steps.
EACH_ROUNDED inline bool surely_inside(double x, double y) {
    const double q = (x - 0.25) * (x - 0.25) + y * y;
    const bool heart = q * (q + (x - 0.25)) < 0.2499999 * y * y;
    return heart || (x + 1) * (x + 1) + y * y < 0.0624999;
}

EACH_ROUNDED inline void row_on_cpu(const View& view, int64_t row, int32_t* dwells) {
    for (int64_t i = row * view.width; i < (row + 1) * view.width; i++) {
        const double x = view.left + double(i % view.width) * view.step;
        const double y = view.top + double(i / view.width) * view.step;
        double real = 0, imaginary = 0;
        int dwell = surely_inside(x, y) ? view.limit : 0;
        for (; dwell < view.limit; dwell++) {
            const double real_squared = real * real, imaginary_squared = imaginary * imaginary;
            if (real_squared + imaginary_squared > 4) break;
            imaginary = (real + real) * imaginary + y;
            real = (real_squared - imaginary_squared) + x;
        }
        dwells[i] = dwell;
    }
}

// Rows are dealt out in turn, for those in the middle take longest.
inline void dwells_on_cpu(const View& view, int32_t* dwells) {
    const int64_t steps = 100 * int64_t{view.width}, parts = lab::parts_of(view.height, steps);
    const auto work = [&](int64_t part, int64_t, int64_t) {
        for (int64_t row = part; row < view.height; row += parts) row_on_cpu(view, row, dwells);
    };
    lab::in_parts(view.height, work, steps);
}

EACH_ROUNDED inline View make_view(int height, int width, int limit, double x, double y,
                                   double span) {
    const double step = span / std::max({height, width, 1});
    const double left = x - step * ((width - 1) / 2.0), top = y - step * ((height - 1) / 2.0);
    return {height, width, limit, left, top, step, 0};
}

// CPU reference of the filling: writes to `filled` what differs from `dwells`, those of all pixels.
inline void fill_on_cpu(const View& view, Rectangle whole, int rows, int columns,
                        const std::vector<int32_t>& dwells, std::vector<int32_t>& filled) {
    const auto place = [&](Pixel p) { return int64_t{p.row} * view.width + p.column; };
    for (int part = 0; part < rows * columns; part++) {
        const Rectangle mine = part_of(whole, rows, columns, part), inside = inside_of(mine);
        const int32_t corner = dwells[place({mine.row, mine.column})];
        bool alike = true;
        for (int64_t i = 0; i < pixels_of(mine) - pixels_of(inside); i++) {
            alike = alike && dwells[place(pixel_of_border(mine, i))] == corner;
        }
        if (alike) {
            for (int64_t i = 0; i < pixels_of(inside); i++) {
                filled[place(pixel_of(inside, i))] = corner;
            }
        } else if (std::min(mine.height, mine.width) > view.smallest) {
            fill_on_cpu(view, inside, 2, 2, dwells, filled);
        }
    }
}

// Each operation is rounded by itself, here as on the CPU; a compiler that joins a product and a sum
// into one instruction (fma) would get other dwells along the edges of the set.
__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double sum(double a, double b) { return __dadd_rn(a, b); }

__device__ inline int dwell_of(const View& view, int row, int column) {
    const double x = sum(view.left, product(column, view.step));
    const double y = sum(view.top, product(row, view.step));
    double real = 0, imaginary = 0;
    int dwell = 0;
    while (dwell < view.limit) {
        const double real_squared = product(real, real);
        const double imaginary_squared = product(imaginary, imaginary);
        if (sum(real_squared, imaginary_squared) > 4) break;
        imaginary = sum(product(sum(real, real), imaginary), y);
        real = sum(sum(real_squared, -imaginary_squared), x);
        dwell++;
    }
    return dwell;
}
