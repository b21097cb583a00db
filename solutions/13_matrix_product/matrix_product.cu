// 13 matrix_product: c = a b, where a is (m, k), b is (k, n) and c is (m, n). From one thread an
// element to the speed of NVIDIA's own library, one idea a kernel:
//
//   naive            a thread an element; neighbouring threads are neighbouring rows
//   coalesced        the same, with neighbouring threads in neighbouring columns
//   tiled            a block shares tiles of a and b in shared memory (--tile 2 to 32)
//   register_tile    a thread computes 8 x 8 elements, so each value that it reads serves 8 times
//   vectorised       16 bytes a load, from a transposed tile of a
//   pipelined        the next tiles arrive by asynchronous copies while the present ones are used
//   warp_tile        more stages, registers filled ahead, warps and blocks in an order that suits
//   tensor_8x8x4     double only: the FP64 tensor cores, as of compute capability 8.0
//   tensor_16x8x8    the same kernel with an instruction of compute capability 9.0
//
// make bench compares with cublas, and with openblas on the host, where these are found.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/async_copy.h"
#include "../../common/lab.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(LAB_BENCH) && defined(LAB_PEERS) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define WITH_CUBLAS
#endif
#if defined(LAB_BENCH) && defined(LAB_HOST_PEERS) && __has_include(<cblas.h>)
#include <cblas.h>
#define WITH_OPENBLAS
#endif

// ---------------------------------------------------------------------------------------------
// CPU reference. Small products are computed in full. Of a large one this takes minutes, so then a
// few rows are, and a test that costs no more than reading the matrices looks at every element.

// c = a b for the rows of a that are listed, summed in double.
// a: (m, k), b: (k, n), c: (rows.size(), n), row-major
template <class T>
void multiply_on_cpu(const T* a, const T* b, double* c, const std::vector<int64_t>& rows, int64_t n,
                     int64_t k) {
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
    for (int64_t i = 0; i < int64_t(rows.size()); i++) {
        double* sums = c + i * n;
        std::fill(sums, sums + n, 0.0);
        for (int64_t p = 0; p < k; p++) {
            const double factor = a[rows[i] * k + p];
            for (int64_t j = 0; j < n; j++) sums[j] += factor * b[p * n + j];
        }
    }
}

// y = matrix x.  matrix: (height, width), row-major
template <class T>
std::vector<double> times_vector(const T* matrix, const std::vector<double>& x, int64_t height) {
    const int64_t width = x.size();
    std::vector<double> y(height);
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int64_t i = 0; i < height; i++) {
        for (int64_t j = 0; j < width; j++) y[i] += matrix[i * width + j] * x[j];
    }
    return y;
}

// The lengths of all rows (or columns) as vectors. long double: the square of any double is finite.
template <class T>
std::vector<double> lengths(const T* matrix, int64_t height, int64_t width, bool of_rows) {
    std::vector<long double> squares(of_rows ? height : width);
    for (int64_t i = 0; i < height; i++) {
        for (int64_t j = 0; j < width; j++) {
            const long double value = matrix[i * width + j];
            squares[of_rows ? i : j] += value * value;
        }
    }
    std::vector<double> roots(squares.size());
    std::transform(squares.begin(), squares.end(), roots.begin(),
                   [](long double square) { return double(std::sqrt(square)); });
    return roots;
}

// What the device's product is judged by.
struct Reference {
    int64_t m, n, k;
    std::vector<int64_t> rows;              // those computed: all, or a sample
    std::vector<double> c;                  // (rows.size(), n)
    std::vector<double> a_rows, b_columns;  // lengths of a's rows and of b's columns
    std::vector<double> signs, c_signs;     // a sample's second test: x of +1 and -1, and a (b x)
    double milliseconds;                    // for the listed rows

    bool is_sample() const { return int64_t(rows.size()) < m; }
};

constexpr double most_multiplications = 1 << 30;  // on the CPU; a second or so

// How many rows of c that is.
int64_t rows_affordable(int64_t m, int64_t n, int64_t k) {
    const double affordable = most_multiplications / std::max(1.0, double(n) * double(k));
    return std::min(m, std::max<int64_t>(8, int64_t(affordable)));
}

// All rows, or the first, the last and others between them.
std::vector<int64_t> rows_to_compute(int64_t m, int64_t count) {
    std::vector<int64_t> rows(count);
    for (int64_t i = 0; i < count; i++) rows[i] = count == m ? i : (m - 1) * i / (count - 1);
    return rows;
}

template <class T>
Reference make_reference(const T* a, const T* b, int64_t m, int64_t n, int64_t k) {
    const lab::NvtxRange range("reference");
    Reference reference = {m,  n,  k, rows_to_compute(m, rows_affordable(m, n, k)), {}, {}, {},
                           {}, {}, 0};
    reference.c.resize(reference.rows.size() * n);
    const lab::HostTimer clock;
    multiply_on_cpu(a, b, reference.c.data(), reference.rows, n, k);
    reference.milliseconds = clock.milliseconds();
    reference.a_rows = lengths(a, m, k, true);
    reference.b_columns = lengths(b, k, n, false);
    if (reference.is_sample()) {
        for (int64_t j = 0; j < n; j++) {
            reference.signs.push_back(lab::mixed_bits(j) % 2 ? 1 : -1);
        }
        reference.c_signs = times_vector(a, times_vector(b, reference.signs, k), m);
    }
    return reference;
}

void note_wrong(lab::Comparison& comparison, int64_t place, double expected, double got) {
    if (comparison.wrong++ > 0) return;
    comparison.first = place;
    comparison.expected = expected;
    comparison.got = got;
}

// Adding k products in any order, each rounded, is wrong by at most (k + 1) u |a's row| |b's column|,
// u half the distance from 1 to the next number; and the reference rounds as well. Twice that is
// allowed. The test c x = a (b x) sums the errors of a row; they rarely add up, so their size grows
// like a root, and seven times what is typical is allowed.
template <class T>
lab::Comparison judge(const T* c, const Reference& reference) {
    const double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
    const int64_t n = reference.n;
    lab::Comparison comparison;
    comparison.count = reference.m * n;
    for (size_t i = 0; i < reference.rows.size(); i++) {
        const double scale = 2 * (reference.k + 1.0) * u * reference.a_rows[reference.rows[i]];
        for (int64_t j = 0; j < n; j++) {
            const int64_t place = reference.rows[i] * n + j;
            const double expected = reference.c[i * n + j];
            if (!lab::matches(double(c[place]), expected, {scale * reference.b_columns[j], 0})) {
                note_wrong(comparison, place, expected, double(c[place]));
            }
        }
    }
    if (!reference.is_sample() || !comparison.right()) return comparison;
    double all_columns = 0;
    for (double length : reference.b_columns) all_columns = std::hypot(all_columns, length);
    const std::vector<double> got = times_vector(c, reference.signs, reference.m);
    for (int64_t i = 0; i < reference.m; i++) {
        const double allowed =
            4 * std::sqrt(reference.k + n + 1.0) * u * reference.a_rows[i] * all_columns;
        if (!lab::matches(got[i], reference.c_signs[i], {allowed, 0})) {
            note_wrong(comparison, i * n, reference.c_signs[i], got[i]);
        }
    }
    return comparison;
}

// ---------------------------------------------------------------------------------------------
// Kernels. a: (m, k), b: (k, n), c: (m, n), row-major. Sides fit into 31 bits; their products do
// not, so the place of an element has 64.

// The rows and columns that a block computes begin here.
struct Corner {
    int row, column;
};

// A grid has at most 65535 blocks along y (lab 04), so the tiles of c are counted along x, one row of
// tiles after the other.
__device__ inline Corner corner_of_block(int height, int width, int n) {
    const unsigned across = (n + width - 1) / width;
    return {int(blockIdx.x / across) * height, int(blockIdx.x % across) * width};
}

// Blocks of (32, 8) threads. Neighbours along x take neighbouring rows, as mathematics reads: with
// each step 32 threads read from 32 rows of a, far apart, and use 8 bytes of the 32 that come.
template <class T>
__global__ void naive(const T* a, const T* b, T* c, int m, int n, int k) {
    // BEGIN SOLUTION
    const Corner corner = corner_of_block(32, 8, n);
    const int row = corner.row + threadIdx.x;
    const int column = corner.column + threadIdx.y;
    if (row >= m || column >= n) return;
    T sum = 0;
    for (int p = 0; p < k; p++) sum += a[int64_t{row} * k + p] * b[int64_t{p} * n + column];
    c[int64_t{row} * n + column] = sum;
    //: // TODO 1 (about 7 lines): corner_of_block(32, 8, n) says where this block begins. From there,
    //: // this thread's row (by threadIdx.x) and column (by threadIdx.y); if c has such an element, the
    //: // sum over p, stored in its place.
    // END SOLUTION
}

// x is the column: 32 threads read 32 neighbours of b, and all the same element of a.
template <class T>
__global__ void coalesced(const T* a, const T* b, T* c, int m, int n, int k) {
    // BEGIN SOLUTION
    const Corner corner = corner_of_block(8, 32, n);
    const int row = corner.row + threadIdx.y;
    const int column = corner.column + threadIdx.x;
    if (row >= m || column >= n) return;
    T sum = 0;
    for (int p = 0; p < k; p++) sum += a[int64_t{row} * k + p] * b[int64_t{p} * n + column];
    c[int64_t{row} * n + column] = sum;
    //: // TODO 2 (about 7 lines): as naive, but with x along a row of c, in the block as well.
    // END SOLUTION
}

// The report's kernel: tile * tile threads load a tile of a and one of b, an element each, and all of
// them use all of both, so each element is fetched once a block and not `tile` times. Past the edges
// of the matrices the tiles are filled with zeros, which add nothing.
template <class T, int tile>
__global__ void tiled(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ T a_tile[tile][tile], b_tile[tile][tile];
    const Corner corner = corner_of_block(tile, tile, n);
    const int y = threadIdx.y, x = threadIdx.x;
    const int row = corner.row + y, column = corner.column + x;
    T sum = 0;
    for (int p = 0; p < k; p += tile) {
        // BEGIN SOLUTION
        a_tile[y][x] = row < m && p + x < k ? a[int64_t{row} * k + p + x] : 0;
        b_tile[y][x] = p + y < k && column < n ? b[int64_t{p + y} * n + column] : 0;
        __syncthreads();
        for (int q = 0; q < tile; q++) sum += a_tile[y][q] * b_tile[q][x];
        __syncthreads();  // nobody may load the next tiles before all have used these
        //: // TODO 3 (about 5 lines): this thread's element of either tile, or 0 past an edge; when
        //: // all have arrived, a row of a_tile times a column of b_tile; and when all have done so,
        //: // on to the next tiles. They replace the line below.
        //: a_tile[y][x] = b_tile[y][x] = 0;
        // END SOLUTION
    }
    if (row < m && column < n) c[int64_t{row} * n + column] = sum;
}

// In the next three kernels 16 x 16 threads compute 128 x 128 elements, 8 x 8 each, from tiles that
// are 8 deep.
constexpr int threads_side = 16, per_thread = 8, depth = 8;
constexpr int block_side = threads_side * per_thread;
constexpr int block_threads = threads_side * threads_side;

// Shared memory has its own speed limit, and `tiled` reads two values there for each multiplication.
// Here a thread reads 8 + 8 values, and they serve 64. Its rows and columns are 16 apart, so that
// neighbours are neighbours.
template <class T>
__global__ void __launch_bounds__(block_threads)
    register_tile(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ T a_tile[block_side][depth], b_tile[depth][block_side];
    const Corner corner = corner_of_block(block_side, block_side, n);
    const int thread = threadIdx.y * threads_side + threadIdx.x;
    T sums[per_thread][per_thread] = {};
    for (int p = 0; p < k; p += depth) {
        for (int i = thread; i < block_side * depth; i += block_threads) {
            const int row = corner.row + i / depth, column = p + i % depth;
            a_tile[i / depth][i % depth] = row < m && column < k ? a[int64_t{row} * k + column] : 0;
        }
        for (int i = thread; i < depth * block_side; i += block_threads) {
            const int row = p + i / block_side, column = corner.column + i % block_side;
            b_tile[i / block_side][i % block_side] =
                row < k && column < n ? b[int64_t{row} * n + column] : 0;
        }
        __syncthreads();
        // BEGIN SOLUTION
#pragma unroll
        for (int q = 0; q < depth; q++) {
            T a_values[per_thread], b_values[per_thread];
#pragma unroll
            for (int i = 0; i < per_thread; i++) {
                a_values[i] = a_tile[threadIdx.y + threads_side * i][q];
                b_values[i] = b_tile[q][threadIdx.x + threads_side * i];
            }
#pragma unroll
            for (int i = 0; i < per_thread; i++) {
#pragma unroll
                for (int j = 0; j < per_thread; j++) sums[i][j] += a_values[i] * b_values[j];
            }
        }
        //: // TODO 4 (about 12 lines): for each q of the depth, 8 values of a_tile (in the rows
        //: // threadIdx.y + 16 i) and 8 of b_tile (in the columns threadIdx.x + 16 i) into registers,
        //: // then all 64 products of them; #pragma unroll in front of each loop.
        // END SOLUTION
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < per_thread; i++) {
        const int row = corner.row + threadIdx.y + threads_side * i;
#pragma unroll
        for (int j = 0; j < per_thread; j++) {
            const int column = corner.column + threadIdx.x + threads_side * j;
            if (row < m && column < n) c[int64_t{row} * n + column] = sums[i][j];
        }
    }
}

// 16 bytes, which one instruction moves.
template <class T>
struct alignas(16) Vector {
    static constexpr int width = 16 / sizeof(T);
    T values[width];
};

template <class T>
__device__ inline Vector<T>& vector_at(T* place) {
    return *reinterpret_cast<Vector<T>*>(place);
}

template <class T>
__device__ inline const Vector<T>& vector_at(const T* place) {
    return *reinterpret_cast<const Vector<T>*>(place);
}

// Neighbours in a row of the matrix, zeros past its edges. A vector must begin at a multiple of 16
// bytes, and in all rows it does so only where their length is one too.
template <class T>
__device__ inline Vector<T> load_vector(const T* matrix, int height, int width, int row,
                                        int column) {
    constexpr int count = Vector<T>::width;
    const T* place = matrix + int64_t{row} * width + column;
    if (row < height && column < width && width % count == 0) return vector_at(place);
    Vector<T> vector = {};
#pragma unroll
    for (int i = 0; i < count; i++) {
        if (row < height && column + i < width) vector.values[i] = place[i];
    }
    return vector;
}

template <class T>
__device__ inline void store_vector(T* matrix, int height, int width, int row, int column,
                                    const Vector<T>& vector) {
    constexpr int count = Vector<T>::width;
    T* place = matrix + int64_t{row} * width + column;
    if (row >= height) return;
    if (column < width && width % count == 0) {
        vector_at(place) = vector;
        return;
    }
#pragma unroll
    for (int i = 0; i < count; i++) {
        if (column + i < width) place[i] = vector.values[i];
    }
}

// The tile of a lies transposed: what a thread needs of it for one q are neighbours then, as in b.
// Rows are longer than they need be, by one vector: with 128 the threads of a warp that store columns
// would all meet in the same few banks.
template <class T>
struct alignas(16) Tiles {
    T a[depth][block_side + Vector<T>::width];
    T b[depth][block_side];
};

// Of the 8 rows (and columns) of a thread as many are neighbours as a vector has elements.
template <class T>
__device__ inline int nth(int thread, int i) {
    constexpr int width = Vector<T>::width;
    return (i / width * threads_side + thread) * width + i % width;
}

template <class T>
__device__ inline void add_products(T (&sums)[per_thread][per_thread], const Tiles<T>& tiles) {
    constexpr int width = Vector<T>::width;
#pragma unroll
    for (int q = 0; q < depth; q++) {
        Vector<T> a[per_thread / width], b[per_thread / width];
#pragma unroll
        for (int i = 0; i < per_thread / width; i++) {
            a[i] = vector_at(&tiles.a[q][nth<T>(threadIdx.y, i * width)]);
            b[i] = vector_at(&tiles.b[q][nth<T>(threadIdx.x, i * width)]);
        }
#pragma unroll
        for (int i = 0; i < per_thread; i++) {
#pragma unroll
            for (int j = 0; j < per_thread; j++) {
                sums[i][j] += a[i / width].values[i % width] * b[j / width].values[j % width];
            }
        }
    }
}

template <class T>
__device__ inline void store_sums(T* c, int m, int n, Corner corner,
                                  const T (&sums)[per_thread][per_thread]) {
    constexpr int width = Vector<T>::width;
#pragma unroll
    for (int i = 0; i < per_thread; i++) {
#pragma unroll
        for (int j = 0; j < per_thread; j += width) {
            Vector<T> vector;
#pragma unroll
            for (int e = 0; e < width; e++) vector.values[e] = sums[i][j + e];
            store_vector(c, m, n, corner.row + nth<T>(threadIdx.y, i),
                         corner.column + nth<T>(threadIdx.x, j), vector);
        }
    }
}

// An instruction that moves 16 bytes costs no more than one that moves 4, and there are a quarter as
// many of them: between global and shared memory, and between shared memory and registers.
template <class T>
__global__ void __launch_bounds__(block_threads)
    vectorised(const T* a, const T* b, T* c, int m, int n, int k) {
    constexpr int width = Vector<T>::width, vectors = block_side * depth / width;
    __shared__ Tiles<T> tiles;
    const Corner corner = corner_of_block(block_side, block_side, n);
    const int thread = threadIdx.y * threads_side + threadIdx.x;
    T sums[per_thread][per_thread] = {};
    for (int p = 0; p < k; p += depth) {
#pragma unroll
        for (int i = thread; i < vectors; i += block_threads) {
            const int a_row = i / (depth / width), a_column = i % (depth / width) * width;
            const Vector<T> a_vector = load_vector(a, m, k, corner.row + a_row, p + a_column);
#pragma unroll
            for (int e = 0; e < width; e++) tiles.a[a_column + e][a_row] = a_vector.values[e];
            const int b_row = i / (block_side / width), b_column = i % (block_side / width) * width;
            vector_at(&tiles.b[b_row][b_column]) =
                load_vector(b, k, n, p + b_row, corner.column + b_column);
        }
        __syncthreads();
        add_products(sums, tiles);
        __syncthreads();
    }
    store_sums(c, m, n, corner, sums);
}

// Two pairs of tiles in turn: while one is multiplied, the other arrives by asynchronous copies, which
// pass the registers by (common/async_copy.h). A copy cannot transpose, so a goes element by element;
// 8 neighbouring threads still read 8 neighbours.
template <class T>
__global__ void __launch_bounds__(block_threads)
    pipelined(const T* a, const T* b, T* c, int m, int n, int k) {
    constexpr int bytes = sizeof(T);
    __shared__ Tiles<T> tiles[2];
    const Corner corner = corner_of_block(block_side, block_side, n);
    const int thread = threadIdx.y * threads_side + threadIdx.x;
    const auto copy = [&](Tiles<T>& to, int p) {
#pragma unroll
        for (int i = thread; i < block_side * depth; i += block_threads) {
            const int a_row = corner.row + i / depth, a_column = p + i % depth;
            lab::copy_async<bytes>(&to.a[i % depth][i / depth], a + int64_t{a_row} * k + a_column,
                                   a_row < m && a_column < k);
        }
        constexpr int width = Vector<T>::width;
        const bool aligned = n % width == 0;
        for (int i = thread; aligned && i < block_side * depth / width; i += block_threads) {
            const int row = i / (block_side / width), column = i % (block_side / width) * width;
            const int b_row = p + row, b_column = corner.column + column;
            lab::copy_async<16>(&to.b[row][column], b + int64_t{b_row} * n + b_column,
                                b_row < k && b_column < n);
        }
        for (int i = thread; !aligned && i < block_side * depth; i += block_threads) {
            const int b_row = p + i / block_side, b_column = corner.column + i % block_side;
            lab::copy_async<bytes>(&to.b[i / block_side][i % block_side],
                                   b + int64_t{b_row} * n + b_column, b_row < k && b_column < n);
        }
        lab::commit_copies();
    };
    T sums[per_thread][per_thread] = {};
    copy(tiles[0], 0);
    for (int p = 0, now = 0; p < k; p += depth, now ^= 1) {
        copy(tiles[now ^ 1], p + depth);  // past the last tiles these are zeros
        lab::wait_for_copies<1>();
        __syncthreads();
        add_products(sums, tiles[now]);
        __syncthreads();
    }
    store_sums(c, m, n, corner, sums);
}

// Blocks that run at the same time should want the same rows and columns, so that the L2 cache serves
// them: of group_rows rows of tiles the first column is taken, then the second. In the order of a grid
// all of them would be in one row of tiles, and want all of b.
template <class Shape>
__device__ inline Corner grouped_corner(int m, int n) {
    constexpr unsigned group_rows = Shape::group_rows;
    const unsigned down = (m + Shape::height - 1) / Shape::height;
    const unsigned across = (n + Shape::width - 1) / Shape::width;
    const unsigned first = blockIdx.x / (group_rows * across) * group_rows;
    const unsigned place = blockIdx.x % (group_rows * across);
    const unsigned rows = down - first < group_rows ? down - first : group_rows;
    return {int(first + place % rows) * Shape::height, int(place / rows) * Shape::width};
}

// How warp_tile shares out its work. A thread computes vectors_down x vectors_across squares, a vector
// high and a vector wide; a warp is 4 x 8 threads and a block warps_down x warps_across warps. A stage is
// `depth` deep. `resident`: so many blocks a multiprocessor should have room for.
template <class T, int warps_down, int warps_across_, int vectors_down, int vectors_across,
          int depth_, int stages_, int resident_>
struct WarpTile {
    static constexpr int vector = Vector<T>::width, depth = depth_, stages = stages_;
    static constexpr int resident = resident_, group_rows = 8;
    static constexpr int warps_across = warps_across_, threads = warps_down * warps_across * 32;
    static constexpr int down = vectors_down, across = vectors_across;
    static constexpr int warp_height = 4 * down * vector, warp_width = 8 * across * vector;
    static constexpr int height = warps_down * warp_height, width = warps_across * warp_width;
    struct alignas(16) Stage {
        T a[depth][height + vector];  // transposed, and padded as in Tiles
        T b[depth][width];
    };
};

// A pointer further on. The compiler would rather compute all distances of a loop before it begins, and
// keep them: there are no registers for that.
template <class T>
__device__ __forceinline__ const T* further(const T* pointer, int64_t distance) {
    pointer += distance;
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+l"(pointer));
#endif
    return pointer;
}

// What a thread copies for a stage; `aligned`, 16 bytes of b at a time. There are zeros past the edges.
// Of a the threads take 8 columns at a time, element by element.
template <class T, class Shape, bool aligned>
class WarpTileCopies {
 public:
    __device__ WarpTileCopies(const T* a, const T* b, int m, int n, int k, Corner corner)
        : a_(a + int64_t{corner.row + a_row()} * k + a_column()),
          b_(b + int64_t{b_row()} * n + corner.column + b_column()),
          n_(n),
          k_(k),
          rows_(m - corner.row - a_row()),
          b_exists_(corner.column + b_column() < n) {}

    // The stage that begins at p. The next call is for the next one.
    __device__ __forceinline__ void operator()(typename Shape::Stage& stage, int p) {
        const T* a = a_;
#pragma unroll
        for (int i = 0; i < Shape::height; i += a_step) {
#pragma unroll
            for (int j = 0; j < Shape::depth; j += 8) {
                lab::copy_async<sizeof(T)>(&stage.a[a_column() + j][a_row() + i], a + j,
                                           i < rows_ && p + a_column() + j < k_);
            }
            a = further(a, int64_t{a_step} * k_);
        }
        a_ += Shape::depth;
#pragma unroll
        for (int i = 0; i < Shape::depth; i += b_step) {
            lab::copy_async<b_width * sizeof(T)>(&stage.b[b_row() + i][b_column()], b_,
                                                 b_exists_ && p + b_row() + i < k_);
            b_ = further(b_, int64_t{b_step} * n_);
        }
        lab::commit_copies();
    }

 private:
    static constexpr int a_step = Shape::threads / 8;
    static constexpr int b_width = aligned ? Shape::vector : 1;
    static constexpr int b_step = Shape::threads * b_width / Shape::width;
    static_assert(b_step >= 1 && Shape::depth % b_step == 0 && Shape::height % a_step == 0);

    static __device__ int a_row() { return threadIdx.x / 8; }
    static __device__ int a_column() { return threadIdx.x % 8; }
    static __device__ int b_row() { return threadIdx.x / (Shape::width / b_width); }
    static __device__ int b_column() { return threadIdx.x % (Shape::width / b_width) * b_width; }

    const T *a_, *b_;
    int n_, k_;
    int rows_;  // that are left of a, from this thread's first one on
    bool b_exists_;
};

// Four things are new. There are several stages, so copies have longer to arrive, and one barrier a
// stage is enough: the stage to be filled is the one that everybody had finished before it. The values
// of the next q are read while those of this one are multiplied. Of the threads of a warp those whose
// numbers differ by one or two want the same 16 bytes of a or of b, which shared memory then hands out
// in fewer steps. And the products are taken there and back: registers, too, can be read only so often
// a clock, and a value that the last instruction has read need not be read again.
template <class T, class Shape, bool aligned>
__global__ void __launch_bounds__(Shape::threads, Shape::resident)
    warp_tile(const T* a, const T* b, T* c, int m, int n, int k) {
    constexpr int stages = Shape::stages, depth = Shape::depth, vector = Shape::vector;
    constexpr int down = Shape::down, across = Shape::across;
    constexpr int rows = down * vector, columns = across * vector;  // of this thread's sums
    extern __shared__ double shared[];
    typename Shape::Stage* const stage = reinterpret_cast<typename Shape::Stage*>(shared);
    const Corner corner = grouped_corner<Shape>(m, n);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int y =
        warp / Shape::warps_across * Shape::warp_height + (lane % 2 + lane / 16 * 2) * vector;
    const int x = warp % Shape::warps_across * Shape::warp_width + lane / 2 % 8 * vector;

    WarpTileCopies<T, Shape, aligned> copy(a, b, m, n, k, corner);
#pragma unroll
    for (int s = 0; s < stages - 1; s++) copy(stage[s], s * depth);
    lab::wait_for_copies<stages - 2>();
    __syncthreads();

    Vector<T> a_values[2][down], b_values[2][across];
    T sums[rows][columns] = {};
    const auto read = [&](int now, int s, int q) {
#pragma unroll
        for (int i = 0; i < down; i++) {
            a_values[now][i] = vector_at(&stage[s].a[q][y + 4 * vector * i]);
        }
#pragma unroll
        for (int j = 0; j < across; j++) {
            b_values[now][j] = vector_at(&stage[s].b[q][x + 8 * vector * j]);
        }
    };
    read(0, 0, 0);
    int used = 0, filled = stages - 1;
    for (int p = 0; p < k; p += depth) {
#pragma unroll
        for (int q = 0; q < depth; q++) {
            if (q == depth - 1) {
                lab::wait_for_copies<stages - 2>();
                __syncthreads();
                used = used + 1 == stages ? 0 : used + 1;
            }
            read((q + 1) % 2, used, (q + 1) % depth);
            if (q == 0) {
                copy(stage[filled], p + (stages - 1) * depth);
                filled = filled + 1 == stages ? 0 : filled + 1;
            }
#pragma unroll
            for (int j = 0; j < columns; j++) {
#pragma unroll
                for (int place = 0; place < rows; place++) {
                    const int i = j % 2 ? rows - 1 - place : place;
                    sums[i][j] += a_values[q % 2][i / vector].values[i % vector] *
                                  b_values[q % 2][j / vector].values[j % vector];
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < rows; i++) {
        const int row = corner.row + y + i / vector * 4 * vector + i % vector;
#pragma unroll
        for (int j = 0; j < across; j++) {
            Vector<T> values;
#pragma unroll
            for (int e = 0; e < vector; e++) values.values[e] = sums[i][j * vector + e];
            store_vector(c, m, n, row, corner.column + x + 8 * vector * j, values);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// FP64 tensor cores. A warp gives one instruction a 16 x 8 piece of a first matrix and an 8 x 8 piece of
// a second one, spread over its registers, and gets 16 x 8 sums. With g = lane / 4 and t = lane % 4 a
// thread holds
//
//   first[0], first[1]     rows g, g + 8, column t        sums[0], sums[1]   row g, columns 2 t, 2 t + 1
//   first[2], first[3]     the same rows, column t + 4    sums[2], sums[3]   row g + 8, the same columns
//   second[0], second[1]   rows t, t + 4, column g
//
// and the instruction wants first[] in eight neighbouring registers, and second[] in four. What is
// loaded 16 bytes at a time must therefore be two neighbours of these lists, or each instruction costs
// moves from register to register. So the product is computed transposed: b's columns are the first
// matrix's rows, and a's rows the second one's columns. Rows may be called by any names, and so may the
// terms of a sum, if both matrices use the same. Here g and g + 8 are columns 2 g and 2 g + 1 of b, and
// t and t + 4 are terms 2 t and 2 t + 1: first[0..1], first[2..3] and second[0..1] are neighbours in
// memory, and all arrive in place. Sums 0 and 2, and 1 and 3, are neighbours in a row of c.

enum class Instruction { m8n8k4, m16n8k8 };  // compute capability 8.0, and 9.0

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <Instruction instruction>
__device__ __forceinline__ void multiply_add(double (&sums)[4], const double (&first)[4],
                                             const double (&second)[2]) {
#if defined(__CUDA_ARCH__)
    if constexpr (instruction == Instruction::m16n8k8) {
#if __CUDA_ARCH__ >= 900
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
            : "d"(first[0]), "d"(first[1]), "d"(first[2]), "d"(first[3]), "d"(second[0]),
              "d"(second[1]));
#endif
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {  // one half of the rows, and half of the terms, at a time
            asm volatile(
                "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(sums[i % 2 * 2]), "+d"(sums[i % 2 * 2 + 1])
                : "d"(first[i]), "d"(second[i / 2]));
        }
    }
#else
    // CPU mode: the same sums, by shuffles between the threads of the warp.
    const int lane = threadIdx.x % 32;
    for (int term = 0; term < 8; term++) {
        const int half = term / 4, t = term % 4;
        const double upper = __shfl_sync(~0u, first[2 * half], lane / 4 * 4 + t);
        const double lower = __shfl_sync(~0u, first[2 * half + 1], lane / 4 * 4 + t);
        const double left = __shfl_sync(~0u, second[half], lane % 4 * 8 + t);
        const double right = __shfl_sync(~0u, second[half], lane % 4 * 8 + 4 + t);
        sums[0] += upper * left;
        sums[1] += upper * right;
        sums[2] += lower * left;
        sums[3] += lower * right;
    }
#endif
}
#endif

// How the kernel shares out its work: a warp computes warp_height x warp_width elements. `resident`: so
// many blocks a multiprocessor should have room for, in registers as in shared memory.
template <int height_, int width_, int warp_height_, int warp_width_, int stages_, int resident_,
          Instruction instruction_ = Instruction::m16n8k8, int depth_ = 16>
struct TensorTile {
    static constexpr int height = height_, width = width_, stages = stages_, resident = resident_;
    static constexpr int warp_height = warp_height_, warp_width = warp_width_, depth = depth_;
    static constexpr Instruction instruction = instruction_;
    static constexpr int group_rows = 8;
    static constexpr int warps_across = width / warp_width;
    static constexpr int threads = height / warp_height * warps_across * 32;
    struct alignas(16) Stage {
        double a[height * depth];
        double b[depth * width];
    };
};

// Where an element lies in a stage. Rows of 16 doubles fill all banks, so a column of pairs would lie
// in the same four; each pair changes its place within the row, by a rule that depends on the row, and
// the eight threads that are served together find eight different places.
template <class Shape>
__device__ inline int place_in_a(int row, int column) {
    return row * Shape::depth + ((column / 2) ^ (row % 2 * 4)) * 2 + column % 2;
}

template <class Shape>
__device__ inline int place_in_b(int row, int column) {
    return row * Shape::width + ((column / 2) ^ (row / 2 % 4 * 2)) * 2 + column % 2;
}

// What a thread copies for a stage; `aligned`, two doubles at a time. There are zeros past the edges:
// then no address has to be kept for each row, and registers are what this kernel is short of. Of b the
// threads take 32 columns at a time, so that a thread's rows are 8 apart and its places differ by
// constants.
template <class Shape, bool aligned>
class TensorTileCopies {
 public:
    __device__ TensorTileCopies(const double* a, const double* b, int m, int n, int k,
                                Corner corner)
        : a_(a + int64_t{corner.row + a_row()} * k + a_column()),
          b_(b + int64_t{b_row()} * n + corner.column + b_column()),
          n_(n),
          k_(k),
          rows_(m - corner.row - a_row()),
          columns_(n - corner.column - b_column()) {}

    // The stage that begins at p. The next call is for the next one.
    __device__ void operator()(typename Shape::Stage& stage, int p) {
        const bool a_exists = p + a_column() < k_;
        double* const to_a = &stage.a[place_in_a<Shape>(a_row(), a_column())];
        const double* a = a_;
#pragma unroll
        for (int i = 0; i < Shape::height; i += a_step) {
            lab::copy_async<8 * copied>(to_a + i * Shape::depth, a, a_exists && i < rows_);
            a = further(a, int64_t{a_step} * k_);
        }
        a_ += Shape::depth;
#pragma unroll
        for (int i = 0; i < Shape::depth; i += b_step) {
            const bool b_exists = p + b_row() + i < k_;
            double* const to_b = &stage.b[place_in_b<Shape>(b_row() + i, b_column())];
#pragma unroll
            for (int j = 0; j < Shape::width; j += 32) {
                lab::copy_async<8 * copied>(to_b + j, b_ + j, b_exists && j < columns_);
            }
            b_ = further(b_, int64_t{b_step} * n_);
        }
        lab::commit_copies();
    }

 private:
    static constexpr int copied = aligned ? 2 : 1;  // doubles at a time
    static constexpr int a_step = Shape::threads * copied / Shape::depth;
    static constexpr int b_step = Shape::threads * copied / 32;
    static_assert(a_step % 2 == 0 && Shape::height % a_step == 0 && Shape::depth % b_step == 0);

    static __device__ int a_row() { return threadIdx.x / (Shape::depth / copied); }
    static __device__ int a_column() { return threadIdx.x % (Shape::depth / copied) * copied; }
    static __device__ int b_row() { return threadIdx.x / (32 / copied); }
    static __device__ int b_column() { return threadIdx.x % (32 / copied) * copied; }

    const double *a_, *b_;
    int n_, k_;
    int rows_, columns_;  // that are left of a and b, from this thread's first ones on
};

// Where a thread reads. It needs pairs of a in 8 rows 8 by 8, at terms 8 by 8, and of b in 16 columns 16 by
// 16: with the places of the first ones, all others are at distances that the compiler knows.
template <class Shape>
class TensorTileReads {
 public:
    __device__ TensorTileReads(int y, int x) {
        const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        for (int i = 0; i < 2; i++) a_[i] = place_in_a<Shape>(y + g, 8 * i + 2 * t);
        b_ = place_in_b<Shape>(2 * t, x + 2 * g);
    }

    // Of 8 rows of a: the second matrix's columns.
    __device__ __forceinline__ void a(double (&to)[2], const typename Shape::Stage& stage, int row,
                                      int term) const {
        const int further_on = row * Shape::depth + term / 16 * 16;
        const auto pair = vector_at(&stage.a[a_[term / 8 % 2]] + further_on);
        to[0] = pair.values[0];
        to[1] = pair.values[1];
    }

    // Of 16 columns of b: the first matrix's rows.
    __device__ __forceinline__ void b(double (&to)[4], const typename Shape::Stage& stage, int term,
                                      int column) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const auto pair = vector_at(&stage.b[b_] + (term + i) * Shape::width + column);
            to[2 * i] = pair.values[0];
            to[2 * i + 1] = pair.values[1];
        }
    }

 private:
    int a_[2], b_;
};

// The next registers are read before the present ones are used: a's 16 rows by 16, and b's all at once
// while the last rows of a are multiplied.
template <class Shape, bool aligned>
__global__ void __launch_bounds__(Shape::threads, Shape::resident)
    tensor_tile(const double* a, const double* b, double* c, int m, int n, int k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    constexpr int stages = Shape::stages, depth = Shape::depth;
    constexpr int down = Shape::warp_height / 8, across = Shape::warp_width / 16;
    constexpr int groups = down / 2, steps = depth / 8 * groups;
    extern __shared__ double shared[];
    typename Shape::Stage* const stage = reinterpret_cast<typename Shape::Stage*>(shared);
    const Corner corner = grouped_corner<Shape>(m, n);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int y = warp / Shape::warps_across * Shape::warp_height;
    const int x = warp % Shape::warps_across * Shape::warp_width;

    TensorTileCopies<Shape, aligned> copy(a, b, m, n, k, corner);
#pragma unroll
    for (int s = 0; s < stages - 1; s++) copy(stage[s], s * depth);
    lab::wait_for_copies<stages - 2>();
    __syncthreads();

    double sums[down][across][4] = {}, a_values[2][2][2], b_values[2][across][4];
    const TensorTileReads<Shape> read(y, x);
    const auto read_rows = [&](int now, int s, int group, int term) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            read.a(a_values[now][i], stage[s], (2 * group + i) * 8, term);
        }
    };
    const auto read_columns = [&](int now, int s, int term) {
#pragma unroll
        for (int j = 0; j < across; j++) {
            read.b(b_values[now][j], stage[s], term, j * 16);
        }
    };
    read_rows(0, 0, 0, 0);
    read_columns(0, 0, 0);
    int used = 0, filled = stages - 1;
    for (int p = 0; p < k; p += depth) {
#pragma unroll
        for (int i = 0; i < steps; i++) {
            const int group = i % groups, now = i / groups % 2;
            const int next = (i + 1) / groups % (depth / 8);
            if (i == 1) {
                copy(stage[filled], p + (stages - 1) * depth);
                filled = filled + 1 == stages ? 0 : filled + 1;
            }
            if (i == steps - 1) {
                lab::wait_for_copies<stages - 2>();
                __syncthreads();
                used = used + 1 == stages ? 0 : used + 1;
            }
            read_rows((i + 1) % 2, used, (i + 1) % groups, 8 * next);
            if (group == groups - 1) read_columns(next % 2, used, 8 * next);
#pragma unroll
            for (int r = 0; r < 2; r++) {
#pragma unroll
                for (int j = 0; j < across; j++) {
                    multiply_add<Shape::instruction>(sums[2 * group + r][j], b_values[now][j],
                                                     a_values[i % 2][r]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < down; i++) {
        const int row = corner.row + y + i * 8 + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < across; j++) {
            const int column = corner.column + x + j * 16 + lane / 4 * 2;
            const auto& values = sums[i][j];
            store_vector<double>(c, m, n, row, column, {values[0], values[2]});
            store_vector<double>(c, m, n, row + 1, column, {values[1], values[3]});
        }
    }
#endif
}

// ---------------------------------------------------------------------------------------------
// Grids, blocks and launches.

template <class T>
struct Product {
    const T *a, *b;  // on the device
    T* c;
    int m, n, k;
    int tile;                // of `tiled`
    std::string block_tile;  // of the variants that have several, or auto
};

struct Shape {
    dim3 grid, block;
};

template <class T>
using Kernel = void (*)(const T* a, const T* b, T* c, int m, int n, int k);

// A block for every tile of c.
template <class T>
Shape launch(Kernel<T> multiply, const Product<T>& product, int tile_height, int tile_width,
             dim3 block, size_t shared_bytes = 0) {
    const int64_t tiles =
        lab::divide_up(product.m, tile_height) * lab::divide_up(product.n, tile_width);
    const Shape shape = {dim3(tiles), block};
    if (shared_bytes > 0) {
        CHECK(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(shared_bytes)));
    }
    multiply<<<shape.grid, shape.block, shared_bytes>>>(product.a, product.b, product.c, product.m,
                                                        product.n, product.k);
    CHECK_LAUNCH();
    return shape;
}

template <class T>
Shape launch_naive(const Product<T>& product) {
    return launch(naive<T>, product, 32, 8, dim3(32, 8));
}

template <class T>
Shape launch_coalesced(const Product<T>& product) {
    return launch(coalesced<T>, product, 8, 32, dim3(32, 8));
}

template <class T, int tile>
Shape launch_tile(const Product<T>& product) {
    return launch(tiled<T, tile>, product, tile, tile, dim3(tile, tile));
}

template <class T>
Shape launch_tiled(const Product<T>& product) {
    switch (product.tile) {
        case 2:
            return launch_tile<T, 2>(product);
        case 4:
            return launch_tile<T, 4>(product);
        case 8:
            return launch_tile<T, 8>(product);
        case 16:
            return launch_tile<T, 16>(product);
        default:
            return launch_tile<T, 32>(product);
    }
}

template <class T, Kernel<T> kernel>
Shape launch_square(const Product<T>& product) {
    return launch(kernel, product, block_side, block_side, dim3(threads_side, threads_side));
}

// A tile that a kernel can work with, and how fast it is then.
template <class T>
struct Candidate {
    int height, width, blocks;  // blocks: for which a multiprocessor has room
    size_t shared_bytes;
    std::vector<double> rates;
    Shape (*launch)(const Product<T>&);

    std::string name() const { return lab::format("%dx%dx%d", height, width, blocks); }
};

// How long the busiest multiprocessor works, in a unit of no interest. The last one to finish decides:
// 64 tiles leave half of 132 multiprocessors idle, where tiles of half the size are faster. And a
// multiprocessor with fewer blocks than it has room for is slower.
template <class T>
double estimated_time(const Candidate<T>& candidate, const Product<T>& product,
                      int multiprocessors) {
    const int64_t tiles =
        lab::divide_up(product.m, candidate.height) * lab::divide_up(product.n, candidate.width);
    const int64_t busiest = lab::divide_up(tiles, multiprocessors);
    const int64_t rest = busiest % candidate.blocks;
    const double time = double(busiest - rest) / candidate.rates.back() +
                        (rest > 0 ? double(rest) / candidate.rates[rest - 1] : 0);
    return time * candidate.height * candidate.width;
}

// The tile that --block-tile names, or the one that should be fastest here.
template <class T>
const Candidate<T>& choose(const std::vector<Candidate<T>>& candidates, const Product<T>& product) {
    const int multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const int shared_bytes = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const Candidate<T>* best = nullptr;
    double best_time = 0;
    for (const Candidate<T>& candidate : candidates) {
        if (candidate.name() == product.block_tile) return candidate;
        const double time = estimated_time(candidate, product, multiprocessors);
        const bool fits = candidate.shared_bytes <= size_t(shared_bytes);
        if (best == nullptr || (fits && time < best_time)) {
            best = &candidate;
            best_time = time;
        }
    }
    return *best;
}

template <class T>
Shape launch_best(const std::vector<Candidate<T>>& candidates, const Product<T>& product) {
    return choose(candidates, product).launch(product);
}

template <class Tile>
constexpr size_t shared_bytes = Tile::stages * sizeof(typename Tile::Stage);

template <class T, class Tile, bool aligned>
Shape launch_warp(const Product<T>& product) {
    return launch(warp_tile<T, Tile, aligned>, product, Tile::height, Tile::width, Tile::threads,
                  shared_bytes<Tile>);
}

template <class Tile, bool aligned>
Shape launch_tensor(const Product<double>& product) {
    return launch(tensor_tile<Tile, aligned>, product, Tile::height, Tile::width, Tile::threads,
                  shared_bytes<Tile>);
}

template <class T, class Tile>
Candidate<T> warp_candidate(const std::vector<double>& rates) {
    return {Tile::height,       Tile::width, Tile::resident,
            shared_bytes<Tile>, rates,       launch_warp<T, Tile, true>};
}

template <class Tile>
Candidate<double> tensor_candidate(const std::vector<double>& rates) {
    return {Tile::height,       Tile::width, Tile::resident,
            shared_bytes<Tile>, rates,       launch_tensor<Tile, true>};
}

template <class T>
constexpr bool is_float = std::is_same_v<T, float>;

// Rows that do not begin at multiples of 16 bytes are left to these.
template <class T>
using SmallWarpTile = std::conditional_t<is_float<T>, WarpTile<T, 2, 2, 2, 2, 16, 3, 3>,
                                         WarpTile<T, 2, 2, 2, 4, 8, 3, 2>>;
using SmallTensorTile = TensorTile<64, 64, 32, 32, 4, 3>;
using OldTensorTile = TensorTile<64, 64, 32, 32, 3, 3, Instruction::m8n8k4>;  // 48 KiB

// The tiles that the launchers choose from. The numbers are TFLOP/s of a whole H200 of which each
// multiprocessor has one block, two, ... up to as many as it has room for; only their ratios matter.
// docs/notes-matrix-product.md says how they were measured. The first tile fits every card.
template <class T>
std::vector<Candidate<T>> warp_candidates() {
    if constexpr (is_float<T>) {
        return {warp_candidate<T, SmallWarpTile<T>>({42.3, 47, 50.8}),
                warp_candidate<T, WarpTile<T, 2, 2, 2, 2, 8, 4, 2>>({43, 48.4}),
                warp_candidate<T, WarpTile<T, 4, 2, 2, 4, 8, 3, 1>>({51.5})};
    } else {
        return {warp_candidate<T, SmallWarpTile<T>>({20, 26}),
                warp_candidate<T, WarpTile<T, 2, 2, 4, 4, 8, 3, 2>>({23, 28})};
    }
}

std::vector<Candidate<double>> tensor_candidates() {
    return {tensor_candidate<SmallTensorTile>({47.8, 56.5, 60}),
            tensor_candidate<TensorTile<64, 128, 64, 32, 4, 2>>({53.8, 61.4}),
            tensor_candidate<TensorTile<64, 128, 32, 32, 6, 1>>({61.5})};
}

template <class T>
bool has_whole_vectors(int row) {
    return row % Vector<T>::width == 0;
}

template <class T>
Shape launch_warp_tile(const Product<T>& product) {
    if (!has_whole_vectors<T>(product.n)) return launch_warp<T, SmallWarpTile<T>, false>(product);
    return launch_best(warp_candidates<T>(), product);
}

Shape launch_tensor_8x8x4(const Product<double>& product) {
    if (!has_whole_vectors<double>(product.n) || !has_whole_vectors<double>(product.k)) {
        return launch_tensor<OldTensorTile, false>(product);
    }
    return launch_tensor<OldTensorTile, true>(product);
}

Shape launch_tensor_16x8x8(const Product<double>& product) {
    if (!has_whole_vectors<double>(product.n) || !has_whole_vectors<double>(product.k)) {
        return launch_tensor<SmallTensorTile, false>(product);
    }
    return launch_best(tensor_candidates(), product);
}

// Why a kernel cannot run here, or "": what the card is too old or too small for, or what the program
// was not compiled for. CPU mode has the instructions of all cards, and the memory of one.
template <class T>
std::string missing([[maybe_unused]] Kernel<T> kernel, [[maybe_unused]] int major,
                    size_t shared_bytes = 0) {
#ifndef CUDA_ON_CPU
    const int capability = lab::device_attribute(cudaDevAttrComputeCapabilityMajor);
    cudaFuncAttributes attributes;
    if (capability < major) {
        return lab::format("needs compute capability %d.0, this card has %d", major, capability);
    }
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    if (attributes.ptxVersion < 10 * major) {
        return lab::format(
            "compiled for sm_%d, needs sm_%d: nvcc -arch=native, or make ARCH=native",
            attributes.ptxVersion, 10 * major);
    }
#endif
    const int available = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (shared_bytes <= size_t(available)) return "";
    return lab::format("needs %zu KiB of shared memory a block, this device has %d",
                       shared_bytes / 1024, available / 1024);
}

template <class T>
struct Variant {
    std::string name;
    Shape (*launch)(const Product<T>&);
    std::string reason;  // why it cannot run here, or ""
};

// cuBLAS counts columns first: what it takes for a is the transposed matrix that lies there, and so
// b's transpose times a's is asked for, which is c's.
#ifdef WITH_CUBLAS
void check_cublas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) lab::fail("cuBLAS failed with status %d", int(status));
}

struct CublasHandle {
    cublasHandle_t handle;
    CublasHandle() { check_cublas(cublasCreate(&handle)); }
};

template <class T>
Shape launch_cublas(const Product<T>& product) {
    static const CublasHandle cublas;  // takes a while to make, so it is made once
    const T one = 1, zero = 0;
    const int m = product.m, n = product.n, k = product.k;
    const auto multiply = [&](auto gemm) {
        check_cublas(gemm(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, product.b, n,
                          product.a, std::max(k, 1), &zero, product.c, n));
    };
    if constexpr (is_float<T>) {
        multiply(cublasSgemm);
    } else {
        multiply(cublasDgemm);
    }
    return {dim3(0), dim3(0)};
}
#endif

// Why a variant cannot take the tile that --block-tile names, or "".
template <class T>
std::string unsuited(const std::vector<Candidate<T>>& candidates, const Product<T>& product,
                     bool any_tile) {
    const std::string& wanted = product.block_tile;
    if (wanted == "auto") return "";
    const auto has_name = [&](const Candidate<T>& candidate) { return candidate.name() == wanted; };
    const auto found = std::find_if(candidates.begin(), candidates.end(), has_name);
    if (found == candidates.end()) return lab::format("has no tile %s", wanted.c_str());
    const int available = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (found->shared_bytes > size_t(available)) {
        return lab::format("the tile needs %zu KiB of shared memory a block, this device has %d",
                           found->shared_bytes / 1024, available / 1024);
    }
    return any_tile ? "" : "has one tile only for rows that are no multiple of 16 bytes";
}

template <class T>
std::vector<Variant<T>> all_variants(const Product<T>& product) {
    const bool b_whole = has_whole_vectors<T>(product.n);
    const std::string no_warp =
        missing<T>(warp_tile<T, SmallWarpTile<T>, true>, 8, shared_bytes<SmallWarpTile<T>>);
    std::vector<Variant<T>> variants = {
        {"naive", launch_naive<T>, ""},
        {"coalesced", launch_coalesced<T>, ""},
        {"tiled", launch_tiled<T>, ""},
        {"register_tile", launch_square<T, register_tile<T>>, ""},
        {"vectorised", launch_square<T, vectorised<T>>, ""},
        {"pipelined", launch_square<T, pipelined<T>>, missing<T>(pipelined<T>, 8)},
        {"warp_tile", launch_warp_tile<T>,
         no_warp.empty() ? unsuited(warp_candidates<T>(), product, b_whole) : no_warp},
    };
    if constexpr (is_float<T>) {
        for (const char* name : {"tensor_8x8x4", "tensor_16x8x8"}) {
            variants.push_back({name, nullptr, "multiplies doubles only"});
        }
    } else {
        const bool all_whole = b_whole && has_whole_vectors<T>(product.k);
        const std::string no_tensor =
            missing<double>(tensor_tile<SmallTensorTile, true>, 9, shared_bytes<SmallTensorTile>);
        variants.push_back(
            {"tensor_8x8x4", launch_tensor_8x8x4,
             missing<double>(tensor_tile<OldTensorTile, true>, 8, shared_bytes<OldTensorTile>)});
        variants.push_back(
            {"tensor_16x8x8", launch_tensor_16x8x8,
             no_tensor.empty() ? unsuited(tensor_candidates(), product, all_whole) : no_tensor});
    }
#ifdef WITH_CUBLAS
    variants.push_back({"cublas", launch_cublas<T>, ""});
#endif
    return variants;
}

std::vector<std::string> variant_names() {
    std::vector<std::string> names = {"naive",         "coalesced",    "tiled",
                                      "register_tile", "vectorised",   "pipelined",
                                      "warp_tile",     "tensor_8x8x4", "tensor_16x8x8"};
#ifdef WITH_CUBLAS
    names.push_back("cublas");
#endif
#ifdef WITH_OPENBLAS
    names.push_back("openblas");
#endif
    return names;
}

void require_block_tile(const std::string& name) {
    std::vector<std::string> known = {"auto"};
    for (const auto& candidate : tensor_candidates()) known.push_back(candidate.name());
    for (const auto& candidate : warp_candidates<double>()) known.push_back(candidate.name());
    for (const auto& candidate : warp_candidates<float>()) known.push_back(candidate.name());
    if (std::count(known.begin(), known.end(), name)) return;
    std::sort(known.begin() + 1, known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::string list;
    for (const std::string& other : known) list += (list.empty() ? "" : ", ") + other;
    lab::refuse("--block-tile: %s is none of %s", lab::quoted(name).c_str(), list.c_str());
}

// What --without may name: a peer also where this build does not have it.
std::vector<std::string> names_with_peers() {
    std::vector<std::string> names = variant_names();
    names.insert(names.end(), {"cublas", "openblas"});
    return names;
}

struct Options {
    int64_t m, n, k;
    std::string a_path, b_path, output_path;
    std::vector<std::string> names;
    std::vector<int> tiles;  // of `tiled`
    std::string block_tile;
};

template <class T>
struct Input {
    lab::Array<T> a, b;
};

constexpr int64_t longest_side = int64_t{1} << 30;  // sides and tiles add up to less than 31 bits
constexpr int64_t most_elements = int64_t{1}
                                  << 33;  // of c; 2 x 2 tiles of more are too many blocks

// How many elements a, b and c have together; products beyond any machine are cut.
int64_t elements_of_all(int64_t m, int64_t n, int64_t k) {
    const int64_t beyond = int64_t{1} << 57;
    return std::min(m * k, beyond) + std::min(k * n, beyond) + std::min(m * n, beyond);
}

void require_memory(int64_t m, int64_t n, int64_t k, int64_t element_bytes) {
    const int64_t matrices = elements_of_all(m, n, k) * element_bytes;
    lab::require_host_memory(matrices, "matrices of this size");
    if (m * n > most_elements)
        lab::refuse("c would have %lld x %lld elements; 2^33 is the most here", (long long)m,
                    (long long)n);
    const int64_t reference = (rows_affordable(m, n, k) * (n + 1) + 4 * (m + n)) * 8;
    lab::require_memory(matrices + reference, m * n > 0 ? matrices : 0, "matrices of this size");
}

// The two matrices: from files where they are given, otherwise random.
template <class T>
Input<T> read_input(const Options& options) {
    const int64_t m = options.m, n = options.n, k = options.k;
    if (options.a_path.empty()) {
        require_memory(m, n, k, sizeof(T));
        return {{{m, k}, lab::random_values<T>(m * k, -1, 1, 1)},
                {{k, n}, lab::random_values<T>(k * n, -1, 1, 2)}};
    }
    Input<T> input = {lab::read_array<T>(options.a_path, 2), lab::read_array<T>(options.b_path, 2)};
    lab::require_finite(input.a, options.a_path);
    lab::require_finite(input.b, options.b_path);
    const auto &a = input.a.shape, &b = input.b.shape;
    if (a[1] != b[0]) {
        lab::refuse(
            "--a has the shape %s and --b has %s: a must have as many columns as b has rows",
            lab::array_shape_text(a).c_str(), lab::array_shape_text(b).c_str());
    }
    if (std::max({a[0], a[1], b[1]}) > longest_side) {
        lab::refuse("--a and --b have more than 1073741824 rows or columns");
    }
    require_memory(a[0], b[1], a[1], sizeof(T));
    return input;
}

// What the CPU did, for the speed-up and to say how the results were judged.
std::string reference_text(const Reference& reference) {
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    const std::string on = lab::format("on the CPU, %d thread%s", threads, threads == 1 ? "" : "s");
    if (!reference.is_sample()) {
        return lab::format("the same product %s: %.3f ms", on.c_str(), reference.milliseconds);
    }
    const int64_t rows = reference.rows.size();
    return lab::format(
        "%lld of %lld rows %s: %.0f ms, so about %.3g s for all of them\n"
        "judged by these rows, and all rows by c x = a (b x) for an x of random signs",
        (long long)rows, (long long)reference.m, on.c_str(), reference.milliseconds,
        1e-3 * reference.milliseconds * reference.m / rows);
}

#ifdef WITH_OPENBLAS
template <class T>
void run_openblas(const Input<T>& input, std::vector<T>& c, const Reference& reference,
                  double operations, lab::Results& results) {
    const lab::NvtxRange range("openblas");
    const int m = int(reference.m), n = int(reference.n), k = int(reference.k);
    const auto multiply = [&](auto gemm) {
        gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, T(1), input.a.values.data(),
             std::max(k, 1), input.b.values.data(), n, T(0), c.data(), n);
    };
    std::vector<double> times;
    std::fill(c.begin(), c.end(), T(NAN));  // another variant's result may lie there
    for (int run = 0; run < 4; run++) {     // the first one is not counted
        const lab::HostTimer clock;
        if constexpr (is_float<T>) {
            multiply(cblas_sgemm);
        } else {
            multiply(cblas_dgemm);
        }
        times.push_back(clock.milliseconds());
    }
    std::sort(times.begin() + 1, times.end());
    results.add("openblas", dim3(0), dim3(0), times[2], 0, operations, judge(c.data(), reference));
}
#endif

template <class T>
int run(const Options& options, lab::Results& results) {
    const Input<T> input = read_input<T>(options);
    const int64_t m = input.a.shape[0], k = input.a.shape[1], n = input.b.shape[1];
    const int64_t count = m * n;
    if (count == 0) {  // a grid without blocks cannot be launched, and need not be
        if (!options.output_path.empty()) {
            lab::write_array<T>(options.output_path, nullptr, {m, n});
        }
        std::printf("0 elements: the product is empty, and nothing is launched\n");
        return 0;
    }
    lab::require_device();
    results.size(lab::format("%lld x %lld by %lld x %lld, %s", (long long)m, (long long)k,
                             (long long)k, (long long)n, is_float<T> ? "float" : "double"));
    const Reference reference =
        make_reference(input.a.values.data(), input.b.values.data(), m, n, k);
    results.note(reference_text(reference));

    const size_t a_bytes = m * k * sizeof(T), b_bytes = k * n * sizeof(T),
                 c_bytes = count * sizeof(T);
    T *d_a = nullptr, *d_b = nullptr, *d_c = nullptr;
    std::vector<T> h_c(count);
    CHECK(cudaMalloc(&d_a, std::max(a_bytes, sizeof(T))));  // k may be 0
    CHECK(cudaMalloc(&d_b, std::max(b_bytes, sizeof(T))));
    CHECK(cudaMalloc(&d_c, c_bytes));
    CHECK(cudaMemcpy(d_a, input.a.values.data(), a_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, input.b.values.data(), b_bytes, cudaMemcpyHostToDevice));

    const double operations = 2.0 * m * n * k;
    const Product<T> all = {d_a, d_b, d_c, int(m), int(n), int(k), 0, options.block_tile};
    for (const Variant<T>& variant : all_variants<T>(all)) {
        if (!std::count(options.names.begin(), options.names.end(), variant.name)) continue;
        if (!variant.reason.empty()) {
            results.skip(variant.name, variant.reason);
            continue;
        }
        for (const int tile : options.tiles) {
            const lab::NvtxRange range(variant.name);
            Product<T> product = all;
            product.tile = tile;
            Shape shape;
            const auto work = [&] { shape = variant.launch(product); };
            const auto attempt = [&] {
                CHECK(cudaMemset(d_c, 0xFF, c_bytes));  // NaN: what no thread writes will show
                work();
                CHECK(cudaMemcpy(h_c.data(), d_c, c_bytes, cudaMemcpyDeviceToHost));
                return judge(h_c.data(), reference);
            };
            // CPU mode plays tensor cores so slowly that the time says nothing at all.
            const bool timed = !lab::on_cpu || variant.name.rfind("tensor", 0) != 0;
            const lab::Trial trial = lab::compare_and_time(
                attempt, [&] { return timed ? lab::median_milliseconds(work) : 0; });
            results.add(variant.name, shape.grid, shape.block, trial.milliseconds, 0, operations,
                        trial.comparison);
        }
    }
#ifdef WITH_OPENBLAS
    if (std::count(options.names.begin(), options.names.end(), "openblas")) {
        run_openblas(input, h_c, reference, operations, results);
    }
#endif
    const int status = results.finish();
    if (!options.output_path.empty() && status != 77) {
        lab::write_array(options.output_path, h_c.data(), {m, n});
    }
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return status;
}

int main(int argc, char** argv) {
    constexpr int64_t side = lab::on_cpu ? 128 : 2048;
    lab::Arguments arguments(argc, argv,
                             "Multiplies two matrices, from naive to the tensor cores.");
    const std::string type = arguments.choice("type", {"float", "double"}, "double", "of elements");
    Options options;
    const int64_t size =
        arguments.integer("size", side, 0, longest_side, "--m, --n and --k in one");
    options.m = arguments.integer("m", size, 0, longest_side, "rows of random a, and of c");
    options.n = arguments.integer("n", size, 0, longest_side, "columns of random b, and of c");
    options.k = arguments.integer("k", size, 0, longest_side, "columns of a, rows of b");
    const std::string tile = arguments.choice("tile", {"2", "4", "8", "16", "32"}, "16",
                                              "side of the tiles of the variant tiled");
    options.block_tile = arguments.text("block-tile", "auto",
                                        "of warp_tile and tensor_16x8x8: 128x128x1, for example");
    const bool sweep = arguments.flag("sweep", "tiled alone, with all five sides");
    options.a_path = arguments.input("a", "a matrix, .npy of the type");
    options.b_path = arguments.input("b", "another, with as many rows as the first has columns");
    options.output_path = arguments.output("output", "the product, for one variant");
    options.names = arguments.variants(variant_names());
    const std::string without = arguments.text("without", "", "variants to leave out: naive,tiled");
    lab::Results results(arguments);
    arguments.finish();
    if (options.a_path.empty() != options.b_path.empty()) {
        lab::refuse("--a and --b go together: give both or none");
    }
    for (const char* name : {"size", "m", "n", "k"}) {
        if (!options.a_path.empty() && arguments.given(name)) {
            lab::refuse("--%s is for random input: drop it, or --a and --b", name);
        }
    }
    if (sweep && (arguments.given("tile") || arguments.given("variant"))) {
        lab::refuse("--sweep runs tiled with all sides: drop --tile and --variant");
    }
    if (sweep) options.names = {"tiled"};
    lab::leave_out(options.names, names_with_peers(), without);
    require_block_tile(options.block_tile);
    options.tiles = sweep ? std::vector<int>{2, 4, 8, 16, 32} : std::vector<int>{std::stoi(tile)};
    if (!options.output_path.empty() && options.names.size() * options.tiles.size() != 1) {
        lab::refuse("--output takes the product of one variant: choose with --variant");
    }
    return type == "float" ? run<float>(options, results) : run<double>(options, results);
}
