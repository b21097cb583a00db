// The order in which blocked.cuh's kernels are launched. A page of blocked.cuh, which includes it.
#pragma once

#include <algorithm>

// A = L U, by blocks of 32 columns, and what is solved with the factors.
template <class T>
class Blocked {
 public:
    // *singular: -1, or where factor() has found the first column without a pivot
    Blocked(int n, int* singular) : pivots_(n), singular_(singular) {}

    // Factors A into L and U in its place, and does to the right-hand sides what is done to its rows, so
    // that U x = b is left.
    void factor(const System<T>& system) {
        for (int first = 0; first < system.n; first += block_columns) {
            const int count = std::min(block_columns, system.n - first);
            factor_block(system, first, count);
            finish(system, first, count, 0, system.width);
        }
    }

    // L x = b or U x = b, in the place of the right-hand sides.
    template <bool lower>
    void substitute(const System<T>& system) {
        const int n = system.n, last = (n - 1) / block_columns * block_columns;
        for (int done = 0; done <= last; done += block_columns) {
            const int first = lower ? done : last - done, end = std::min(first + block_columns, n);
            solve<lower>(system, first, end - first, system.first_side, system.width);
            const int rows = lower ? end : 0, rows_end = lower ? n : first;
            multiply(system, rows, rows_end, first, end - first, system.first_side, system.width);
        }
    }

    // x, b: (n, right-hand sides), row-major: A x = b in the order of the pivots, with the factors
    void solve_factored(const System<T>& system, const T* b, T* x) {
        copy_sides(system.values + system.first_side, system.stride, b, system.sides(), system);
        substitute<true>(system);
        substitute<false>(system);
        copy_sides(x, system.sides(), system.values + system.first_side, system.stride, system);
    }

    // A x = b, factored anew.
    lab::Launch solve(const System<T>& system, T* x) {
        factor(system);
        substitute<false>(system);
        copy_sides(x, system.sides(), system.values + system.first_side, system.stride, system);
        return {dim3(1), dim3(threads_of_panel(system.n))};
    }

    const int* pivots() const { return pivots_.get(); }

 private:
    // As many columns as the registers of a block have room for.
    static int columns_of_panel(int rows) {
        int columns = values_of_thread;
        while (columns > 1 && rows > panel_threads * (values_of_thread / columns)) columns /= 2;
        return columns;
    }

    static int threads_of_panel(int rows) {
        const int of_thread = values_of_thread / columns_of_panel(rows);
        return 32 * int(lab::divide_up(rows, 32 * of_thread));
    }

    void factor_block(const System<T>& system, int first, int count) {
        const int end = first + count;
        for (int at = first; at < end;) {
            const int columns = columns_of_panel(system.n - at);
            const int width = std::min(columns, end - at);
            launch_panel(columns, system, at, width);
            finish(system, at, width, first, end);
            at += width;
        }
    }

    void launch_panel(int columns, const System<T>& system, int first, int count) {
        const auto kernel = columns == 16  ? eliminate_panel<T, 16>
                            : columns == 8 ? eliminate_panel<T, 8>
                            : columns == 4 ? eliminate_panel<T, 4>
                            : columns == 2 ? eliminate_panel<T, 2>
                                           : eliminate_panel<T, 1>;
        kernel<<<1, threads_of_panel(system.n - first)>>>(system, first, count, pivots_.get(),
                                                          singular_);
        CHECK_LAUNCH();
    }

    // What the columns first to first + count - 1 have been through, for those from begin to end beside them.
    void finish(const System<T>& system, int first, int count, int begin, int end) {
        const int right = first + count, others = end - begin - count;
        if (others > 0) {
            exchange_rows<<<blocks_for(others, 256), 256>>>(system, first, count, pivots(), begin,
                                                            end);
            CHECK_LAUNCH();
        }
        solve<true>(system, first, count, right, end);
        multiply(system, right, system.n, first, count, right, end);
    }

    template <bool lower>
    void solve(const System<T>& system, int first, int count, int begin, int end) {
        if (begin >= end) return;
        solve_rows<T, lower>
            <<<blocks_for(end - begin, 256), 256>>>(system, first, count, begin, end);
        CHECK_LAUNCH();
    }

    void multiply(const System<T>& system, int row_begin, int row_end, int first, int count,
                  int begin, int end) {
        if (begin >= end || row_begin >= row_end) return;
        const dim3 grid(blocks_for(end - begin, 64), blocks_for(row_end - row_begin, 64));
        subtract_product<<<grid, 256>>>(system, row_begin, row_end, first, count, begin, end);
        CHECK_LAUNCH();
    }

    // All right-hand sides from one array to another, whose rows are `stride` apart.
    static void copy_sides(T* to, int64_t to_stride, const T* from, int64_t from_stride,
                           const System<T>& system) {
        CHECK(cudaMemcpy2DAsync(to, to_stride * sizeof(T), from, from_stride * sizeof(T),
                                system.sides() * sizeof(T), system.n, cudaMemcpyDeviceToDevice));
    }

    DeviceArray<int> pivots_;
    int* const singular_;
};
