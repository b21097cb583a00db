// What follows a panel: its exchanges are carried over to the other columns, the rows of U are solved
// for, and the rest of the matrix gets c -= a b, a product of matrices. Nearly all of the arithmetic
// lies in that product, and it is written as in lab 13: a register tile for any card and type, and
// the tensor cores for doubles.
#pragma once

#include "../../../common/async_copy.h"
#include "../given/system.h"

// ---------------------------------------------------------------------------------------------
// Exchanges and triangular solves. A block has 32 columns, a lane one of them, and a warp every eighth
// row. What a block needs lies in its shared memory, brought by asynchronous copies, and all loops are
// short: code that is executed only once takes longer to fetch than to execute.

constexpr int solve_threads = 256, solve_warps = solve_threads / 32;
constexpr int most_solved = 128;  // rows

// The triangle and the columns of a block of rows, which is filled up to `rows`, a multiple of 32. Upper
// triangles are turned around: to solve with them from the last row to the first is the same then.
template <class T, bool lower>
class SolveTile {
 public:
    __device__ SolveTile(const System<T>& system, int first, int count, int rows, T* shared)
        : system_(system),
          first_(first),
          count_(count),
          rows_(rows),
          triangle_(shared),
          columns_(shared + rows * rows) {}

    // Elements of shared memory: the triangle, `rows` rows of 32 columns behind it, and room for as many.
    __host__ __device__ static constexpr int elements(int rows) { return rows * (rows + 64); }

    __device__ T* row(int i) const { return columns_ + turned(i) * 32; }
    __device__ T& at(int i) const { return row(i)[threadIdx.x % 32]; }
    __device__ T& aside(int i) const { return columns_[(rows_ + i) * 32 + threadIdx.x % 32]; }

    // Missing rows are those of the unit matrix.
    __device__ void fetch_triangle() {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
        for (int row = warp; row < rows_; row += solve_warps) {
#pragma unroll 1
            for (int column = lane; column < rows_; column += 32) {
                if (lower ? column > row : column < row) continue;
                T* const to = &triangle_[turned(row) * rows_ + turned(column)];
                if (row < count_ && column < count_) {
                    lab::copy_async<sizeof(T)>(to, &system_.row(first_ + row)[first_ + column],
                                               true);
                } else {
                    *to = row == column;
                }
            }
        }
    }

    // Eight unknowns at a time: each warp solves for them, and takes them off its own rows. Substitution:
    // exact inverses of the triangle's pieces would be faster and less accurate.
    __device__ void solve() {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
        for (int done = 0; done < rows_; done += 8) {
            T x[8];
#pragma unroll
            for (int i = 0; i < 8; i++) x[i] = columns_[(done + i) * 32 + lane];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const T* const l = &triangle_[(done + i) * rows_ + done];
#pragma unroll
                for (int k = 0; k < i; k++) x[i] -= l[k] * x[k];
                if (!lower) x[i] /= l[i];
            }
            for (int row = done + 8 + warp; row < rows_; row += 4 * solve_warps) {
                T value[4];
                int at[4];  // four rows, or the first one once more
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    at[i] = row + i * solve_warps < rows_ ? row + i * solve_warps : row;
                    value[i] = columns_[at[i] * 32 + lane];
                }
#pragma unroll
                for (int k = 0; k < 8; k++) {
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        value[i] -= triangle_[at[i] * rows_ + done + k] * x[k];
                }
#pragma unroll
                for (int i = 0; i < 4; i++) columns_[at[i] * 32 + lane] = value[i];
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 8; i++) {
                if (warp == i) columns_[(done + i) * 32 + lane] = x[i];
            }
        }
        __syncthreads();
    }

 private:
    __device__ int turned(int i) const { return lower ? i : rows_ - 1 - i; }

    const System<T>& system_;
    const int first_, count_, rows_;
    T *const triangle_, *const columns_;
};

// The columns that a kernel works on: from `begin` to `end`, the last one not included.
struct Columns {
    int begin, end;
};

// Which row, before all exchanges of a block of pivots, stood at the place that is asked for. `left_by`: -1,
// or a pivot that has left the place; if a later one has left it as well, nobody comes to stand there, and
// the answer is -1.
__device__ inline int origin_of(int place, int left_by, const int* pivots, int first, int count) {
    const int asked_for = place;
    bool free = left_by >= 0;
#pragma unroll 8
    for (int k = count - 1; k >= 0; k--) {
        const int pivot = pivots[k];
        free = free && !(k > left_by && pivot == asked_for);
        if (place == first + k) {
            place = pivot;
        } else if (place == pivot) {
            place = first + k;
        }
    }
    return left_by < 0 || free ? place : -1;
}

// Carries the exchanges of `count` pivots over to 32 columns or fewer, and (`solve`) solves L x = b for them.
// All that is needed is read before anything is written, all at the same time. The rows of the block are
// then in `tile` as well. For all threads of the block.
template <class T>
__device__ void swap_and_solve_tile(SolveTile<T, true>& tile, const System<T>& system,
                                    const int* d_pivots, int first, int count, int rows,
                                    Columns columns, bool solve) {
    __shared__ int pivots[most_solved], top[most_solved], displaced[most_solved];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, thread = threadIdx.x;
    const int column = columns.begin + lane;
    const bool exists = column < columns.end;
    if (thread < count) pivots[thread] = d_pivots[first + thread];
    if (solve) tile.fetch_triangle();
    __syncthreads();
    // Where the rows come from: those of the block, and those that a pivot has left.
    const int i = thread % most_solved;
    if (i < count) {
        const bool of_block = thread < most_solved;
        const int place = of_block ? first + i : pivots[i];
        const int origin = origin_of(place, of_block ? -1 : i, pivots, first, count);
        if (of_block) {
            top[i] = origin;
        } else {
            displaced[i] = place < first + count ? -1 : origin;
        }
    }
    __syncthreads();
#pragma unroll 4
    for (int i = warp; i < rows; i += solve_warps) {
        const bool wanted = exists && i < count, filled = wanted && displaced[i] >= 0;
        const T* const row = system.row(wanted ? top[i] : first);
        const T* const other = system.row(filled ? displaced[i] : first);
        lab::copy_async<sizeof(T)>(&tile.at(i), row + (wanted ? column : 0), wanted);
        lab::copy_async<sizeof(T)>(&tile.aside(i), other + (filled ? column : 0), filled);
    }
    lab::commit_copies();
    lab::wait_for_copies<0>();
    __syncthreads();
#pragma unroll 2
    for (int i = warp; i < count; i += solve_warps) {
        if (exists && displaced[i] >= 0) system.row(pivots[i])[column] = tile.aside(i);
    }
    if (solve) tile.solve();
#pragma unroll 2
    for (int i = warp; i < count; i += solve_warps) {
        if (exists) system.row(first + i)[column] = tile.at(i);
    }
    __syncthreads();
}

// That for columns on the left of the pivots and for those on the right, which alone are solved for. A block
// has 32 of them.
template <class T>
__global__ void __launch_bounds__(solve_threads)
    swap_and_solve(System<T> system, const int* pivots, int first, int count, int rows,
                   Columns left, Columns right, bool solve) {
    extern __shared__ double shared_memory[];
    T* const shared = reinterpret_cast<T*>(shared_memory);
    SolveTile<T, true> tile(system, first, count, rows, shared);
    const int left_tiles = (left.end - left.begin + 31) / 32, number = blockIdx.x;
    const bool is_left = number < left_tiles;
    const Columns all = is_left ? left : right;
    const Columns columns = {all.begin + 32 * (is_left ? number : number - left_tiles), all.end};
    wait_for_last_kernel();
    swap_and_solve_tile(tile, system, pivots, first, count, rows, columns, solve && !is_left);
}

// L x = b (`lower`) or U x = b for a block of rows and some columns, in their place.
template <class T, bool lower>
__global__ void __launch_bounds__(solve_threads)
    solve_columns(System<T> system, int first, int count, int rows, Columns columns) {
    extern __shared__ double shared_memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    SolveTile<T, lower> tile(system, first, count, rows, reinterpret_cast<T*>(shared_memory));
    const int column = columns.begin + 32 * blockIdx.x + lane;
    const bool exists = column < columns.end;
    wait_for_last_kernel();
    tile.fetch_triangle();
#pragma unroll 4
    for (int i = warp; i < rows; i += solve_warps) {
        const bool wanted = exists && i < count;
        lab::copy_async<sizeof(T)>(
            &tile.at(i), system.row(first + (wanted ? i : 0)) + (wanted ? column : 0), wanted);
    }
    lab::commit_copies();
    lab::wait_for_copies<0>();
    __syncthreads();
    tile.solve();
#pragma unroll 2
    for (int i = warp; i < count; i += solve_warps) {
        if (exists) system.row(first + i)[column] = tile.at(i);
    }
}

// ---------------------------------------------------------------------------------------------
// c -= a b

// Three parts of one matrix. a: (m, k), b: (k, n), c: (m, n), row-major, rows `stride` apart
template <class T>
struct Update {
    const T *a, *b;
    T* c;
    int m, n, k;
    int64_t stride;
};

// 16 bytes, which one instruction moves.
template <class T>
struct alignas(16) Vector {
    static constexpr int width = 16 / sizeof(T);
    T values[width];
};

// A block of 16 x 16 threads has side x side elements of c, a thread per_thread x per_thread of them.
// While one pair of tiles is multiplied, the next one is on its way to the registers.
template <class T, int per_thread>
class RegisterTile {
 public:
    static constexpr int side = 16 * per_thread, depth = 8, threads = 256;

    __device__ explicit RegisterTile(const Update<T>& update)
        : u_(update), row_(blockIdx.y * side), column_(blockIdx.x * side) {}

    __device__ void run() {
        T sums[per_thread][per_thread] = {};
        fetch(0);
        for (int p = 0; p < u_.k; p += depth) {
            __shared__ Tiles tiles;
            put(tiles);
            __syncthreads();
            fetch(p + depth);
            multiply(tiles, sums);
            __syncthreads();
        }
        if (row_ + side <= u_.m && column_ + side <= u_.n) {
            subtract<true>(sums);
        } else {
            subtract<false>(sums);
        }
    }

 private:
    static constexpr int loads = side * depth / threads, vector = Vector<T>::width;
    struct alignas(16) Tiles {
        T a[depth]
           [side + vector];  // transposed; longer rows, so that its columns spread over the banks
        T b[depth][side];
    };

    __device__ void fetch(int p) {
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const int at = threadIdx.x + i * threads;
            const int a_row = row_ + at / depth, a_column = p + at % depth;
            const int b_row = p + at / side, b_column = column_ + at % side;
            a_next_[i] = a_row < u_.m && a_column < u_.k ? u_.a[a_row * u_.stride + a_column] : 0;
            b_next_[i] = b_row < u_.k && b_column < u_.n ? u_.b[b_row * u_.stride + b_column] : 0;
        }
    }

    __device__ void put(Tiles& tiles) const {
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const int at = threadIdx.x + i * threads;
            tiles.a[at % depth][at / depth] = a_next_[i];
            tiles.b[at / side][at % side] = b_next_[i];
        }
    }

    // Of a thread's rows and columns as many are neighbours as a vector has elements.
    __device__ static int nth(int thread, int i) {
        return (i / vector * 16 + thread) * vector + i % vector;
    }

    __device__ static void multiply(const Tiles& tiles, T (&sums)[per_thread][per_thread]) {
        const int y = threadIdx.x / 16, x = threadIdx.x % 16;
#pragma unroll
        for (int q = 0; q < depth; q++) {
            Vector<T> a[per_thread / vector], b[per_thread / vector];
#pragma unroll
            for (int i = 0; i < per_thread / vector; i++) {
                a[i] = *reinterpret_cast<const Vector<T>*>(&tiles.a[q][nth(y, i * vector)]);
                b[i] = *reinterpret_cast<const Vector<T>*>(&tiles.b[q][nth(x, i * vector)]);
            }
#pragma unroll
            for (int i = 0; i < per_thread; i++) {
#pragma unroll
                for (int j = 0; j < per_thread; j++) {
                    sums[i][j] +=
                        a[i / vector].values[i % vector] * b[j / vector].values[j % vector];
                }
            }
        }
    }

    // Some rows at a time: all of their elements are read before the first one is stored. Of a tile that is
    // whole nothing need be asked; others leave alone what lies outside of c.
    template <bool whole>
    __device__ void subtract(T (&sums)[per_thread][per_thread]) const {
        constexpr int some = 16 / per_thread;
#pragma unroll
        for (int first = 0; first < per_thread; first += some) {
#pragma unroll
            for (int i = first; i < first + some; i++) {
#pragma unroll
                for (int j = 0; j < per_thread; j++) {
                    if (whole || exists(i, j)) sums[i][j] = *place(i, j) - sums[i][j];
                }
            }
#pragma unroll
            for (int i = first; i < first + some; i++) {
#pragma unroll
                for (int j = 0; j < per_thread; j++) {
                    if (whole || exists(i, j)) *place(i, j) = sums[i][j];
                }
            }
        }
    }

    // Of the thread's elements of c the one in its row i and its column j.
    __device__ int row(int i) const { return row_ + nth(threadIdx.x / 16, i); }
    __device__ int column(int j) const { return column_ + nth(threadIdx.x % 16, j); }
    __device__ bool exists(int i, int j) const { return row(i) < u_.m && column(j) < u_.n; }
    __device__ T* place(int i, int j) const { return &u_.c[row(i) * u_.stride + column(j)]; }

    const Update<T> u_;
    const int row_, column_;
    T a_next_[loads], b_next_[loads];
};

template <class T, int per_thread>
__global__ void __launch_bounds__(256) update_by_registers(Update<T> update) {
    wait_for_last_kernel();
    RegisterTile<T, per_thread>(update).run();
}

// ---------------------------------------------------------------------------------------------
// The same by FP64 tensor cores, transposed as in lab 13. What is new: the sums begin with -c and what
// is stored is -(a b - c), rounded like any other elimination, and no sign changes in the main loop; the
// copies for the first stages and the reading of c overlap.

// sums += first second for 16 x 8 elements and 8 terms. With g = lane / 4 and t = lane % 4 a thread holds
//
//   first[0], first[1]     rows g, g + 8, column t        sums[0], sums[1]   row g, columns 2 t, 2 t + 1
//   first[2], first[3]     the same rows, column t + 4    sums[2], sums[3]   row g + 8, the same columns
//   second[0], second[1]   rows t, t + 4, column g
//
// `first` is of b, its rows are b's columns; `second` is of a. Names of rows and terms are free: here g
// and g + 8 are neighbours in a row of b, and so are t and t + 4 in a row of a. All that one instruction
// loads, 16 bytes, then comes to lie in the registers where the next one wants it.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ __forceinline__ void multiply_add(double (&sums)[4], const double (&first)[4],
                                             const double (&second)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
        : "d"(first[0]), "d"(first[1]), "d"(first[2]), "d"(first[3]), "d"(second[0]),
          "d"(second[1]));
#elif defined(__CUDA_ARCH__)
#pragma unroll
    for (int i = 0; i < 4; i++) {  // one half of the rows, and half of the terms, at a time
        asm volatile(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(sums[i % 2 * 2]), "+d"(sums[i % 2 * 2 + 1])
            : "d"(first[i]), "d"(second[i / 2]));
    }
#else
    const int lane = threadIdx.x % 32;  // CPU mode: the same sums, by shuffles
    for (int half = 0; half < 2; half++) {
        for (int t = 0; t < 4; t++) {
            const double upper = __shfl_sync(~0u, first[2 * half], lane / 4 * 4 + t);
            const double lower = __shfl_sync(~0u, first[2 * half + 1], lane / 4 * 4 + t);
            const double left = __shfl_sync(~0u, second[half], lane % 4 * 8 + t);
            const double right = __shfl_sync(~0u, second[half], lane % 4 * 8 + 4 + t);
            sums[0] += upper * left;
            sums[1] += upper * right;
            sums[2] += lower * left;
            sums[3] += lower * right;
        }
    }
#endif
}
#endif

// A block computes height x width elements, a warp warp_height x warp_width of them.
template <int height_, int width_, int warp_height_, int warp_width_, int stages_>
struct TensorTile {
    static constexpr int height = height_, width = width_, stages = stages_, depth = 16;
    static constexpr int warp_height = warp_height_, warp_width = warp_width_;
    static constexpr int down = warp_height / 8, across = warp_width / 16;
    static constexpr int warps_across = width / warp_width;
    static constexpr int threads = height / warp_height * warps_across * 32;
    struct alignas(16) Stage {
        double a[height * depth], b[depth * width];
    };
    static constexpr int shared_bytes = stages * int(sizeof(Stage));

    // Where elements lie in a stage: pairs change their place within a row by a rule that depends on the
    // row, so that eight threads that are served together find different banks (as in lab 13).
    __device__ static int place_in_a(int row, int column) {
        return row * depth + ((column / 2) ^ (row % 2 * 4)) * 2 + column % 2;
    }
    __device__ static int place_in_b(int row, int column) {
        return row * width + ((column / 2) ^ (row / 2 % 4 * 2)) * 2 + column % 2;
    }
};

// Brings columns p to p + 16 of a and rows p to p + 16 of b to a stage, zeros past k. Past the last row
// of a or the last column of b it brings the last one: what comes of it is not stored.
template <class Tile>
__device__ __forceinline__ void copy_stage(typename Tile::Stage& stage, const Update<double>& u,
                                           int row, int column, int p) {
    constexpr int a_step = Tile::threads * 2 / Tile::depth,
                  b_step = Tile::threads * 2 / Tile::width;
    const int a_row = threadIdx.x / (Tile::depth / 2),
              a_column = threadIdx.x % (Tile::depth / 2) * 2;
    const int b_row = threadIdx.x / (Tile::width / 2),
              b_column = threadIdx.x % (Tile::width / 2) * 2;
    const int wanted = min(16, max(0, (u.k - p - a_column) * 8));
    const double* const a = u.a + (wanted > 0 ? p + a_column : 0);
#pragma unroll
    for (int i = 0; i < Tile::height; i += a_step) {
        lab::copy_async_part<16>(&stage.a[Tile::place_in_a(a_row + i, a_column)],
                                 a + min(row + a_row + i, u.m - 1) * u.stride, wanted);
    }
    const double* const b = u.b + min(column + b_column, (u.n - 1) / 2 * 2);
#pragma unroll
    for (int i = 0; i < Tile::depth; i += b_step) {
        const int at = p + b_row + i;
        lab::copy_async_part<16>(&stage.b[Tile::place_in_b(b_row + i, b_column)],
                                 b + (at < u.k ? at : 0) * u.stride, at < u.k ? 16 : 0);
    }
    lab::commit_copies();
}

// A thread's pairs of c, in 8 rows 8 by 8 and in 16 columns 16 by 16: their rows and columns, and their
// places among the sums, for whoever reads or stores them.
template <class Tile, class Sums, class Use>
__device__ __forceinline__ void for_each_pair(Sums& sums, int row, int column, Use use) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < Tile::down * 2; i++) {
#pragma unroll
        for (int j = 0; j < Tile::across; j++) {
            use(row + i / 2 * 8 + 2 * t + i % 2, column + j * 16 + 2 * g, sums[i / 2][j][i % 2],
                sums[i / 2][j][i % 2 + 2]);
        }
    }
}

// The sums begin with -c. All of c is asked for before the first of it is used, and so there is no
// condition in between: past the last row or column the last one is read.
template <class Tile>
__device__ __forceinline__ void begin_with_c(double (&sums)[Tile::down][Tile::across][4],
                                             const Update<double>& u, int row, int column) {
    for_each_pair<Tile>(sums, row, column, [&](int y, int x, double& left, double& right) {
        const double* const c = u.c + min(y, u.m - 1) * u.stride + min(x, (u.n - 1) / 2 * 2);
        const Vector<double> pair = *reinterpret_cast<const Vector<double>*>(c);
        left = pair.values[0], right = pair.values[1];
    });
    for_each_pair<Tile>(sums, row, column, [](int, int, double& left, double& right) {
        left = -left, right = -right;
    });
}

template <class Tile>
__device__ __forceinline__ void store_c(const double (&sums)[Tile::down][Tile::across][4],
                                        const Update<double>& u, int row, int column) {
    const bool inside = row + Tile::warp_height <= u.m && column + Tile::warp_width <= u.n;
    for_each_pair<Tile>(sums, row, column, [&](int y, int x, double left, double right) {
        double* const c = u.c + y * u.stride + x;
        if (inside || (y < u.m && x + 1 < u.n)) {
            *reinterpret_cast<Vector<double>*>(c) = {-left, -right};
        } else if (y < u.m && x < u.n) {
            *c = -left;
        }
    });
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads) update_by_tensor_cores(Update<double> update) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ double shared_memory[];
    constexpr int stages = Tile::stages, down = Tile::down, across = Tile::across;
    typename Tile::Stage* const stage = reinterpret_cast<typename Tile::Stage*>(shared_memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int y = warp / Tile::warps_across * Tile::warp_height;
    const int x = warp % Tile::warps_across * Tile::warp_width;
    const int row = blockIdx.y * Tile::height, column = blockIdx.x * Tile::width;
    wait_for_last_kernel();
#pragma unroll
    for (int s = 0; s < stages - 1; s++) {
        copy_stage<Tile>(stage[s], update, row, column, s * Tile::depth);
    }
    double sums[down][across][4];
    begin_with_c<Tile>(sums, update, row + y, column + x);
    int used = 0, filled = stages - 1;
    for (int p = 0; p < update.k; p += Tile::depth) {
        lab::wait_for_copies<stages - 2>();
        __syncthreads();
        copy_stage<Tile>(stage[filled], update, row, column, p + (stages - 1) * Tile::depth);
        const typename Tile::Stage& now = stage[used];
#pragma unroll
        for (int q = 0; q < Tile::depth; q += 8) {
            double first[across][4];
#pragma unroll
            for (int j = 0; j < across * 2; j++) {
                const Vector<double> pair = *reinterpret_cast<const Vector<double>*>(
                    &now.b[Tile::place_in_b(q + 2 * t + j % 2, x + j / 2 * 16 + 2 * g)]);
                first[j / 2][j % 2 * 2] = pair.values[0];
                first[j / 2][j % 2 * 2 + 1] = pair.values[1];
            }
#pragma unroll
            for (int i = 0; i < down; i++) {
                const Vector<double> pair = *reinterpret_cast<const Vector<double>*>(
                    &now.a[Tile::place_in_a(y + i * 8 + g, q + 2 * t)]);
                const double second[2] = {pair.values[0], pair.values[1]};
#pragma unroll
                for (int j = 0; j < across; j++) multiply_add(sums[i][j], first[j], second);
            }
        }
        used = used + 1 == stages ? 0 : used + 1;
        filled = filled + 1 == stages ? 0 : filled + 1;
    }
    store_c<Tile>(sums, update, row + y, column + x);
#endif
}
