// The product of a step, c -= a b, for any card and type. Nearly all of the arithmetic lies in it.
//
// Know before: `blocked` (task 12) and lab 13's `register_tile`.
//
//        16 x 16 threads       tile 0  tile 1  tile 2 ...     of 8 columns of a and 8 rows of b
//        memory                load 1  load 2  load 3         into registers
//        shared memory         use 0   use 1   use 2          while the next one is on its way
#pragma once

#include "../given/system.h"

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
