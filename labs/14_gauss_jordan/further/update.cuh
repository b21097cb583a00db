// The product of a step, c -= a b, for any card and type. Nearly all of the arithmetic lies in it.
//
// Know before: `blocked` (task 12) and lab 13's `register_tile`, `pipelined` and further/warp_tile.cuh (stages, lanes).
//
//        16 x 16 threads       stage 0    stage 1       16 columns of a and 16 rows of b each (doubles: 8)
//        step 0                multiply   to come
//        step 1                to come    multiply      one barrier a step
//
// What it brought, with asynchronous copies and one barrier a step in place of two: `team` for floats takes 104 ms for 16384 unknowns, where it
// took 121.5 and cuSOLVER takes 133 (NVIDIA H200, CUDA 13.0, 30 November 2026).
#pragma once

#include "../../../common/async_copy.h"
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

// A block of 16 x 16 threads has side x side elements of c, a thread per_thread x per_thread of them. The sums begin
// with -c, which is asked for together with the first stage.
template <class T, int per_thread>
class RegisterTile {
 public:
    static constexpr int side = 16 * per_thread, depth = 64 / sizeof(T), threads = 256;

    __device__ explicit RegisterTile(const Update<T>& update)
        : u_(update),
          row_(blockIdx.y * side),
          column_(blockIdx.x * side),
          a_(u_.a + (row_ + a_row()) * u_.stride + a_column()),
          b_(u_.b + b_row() * u_.stride + column_ + b_column()) {}

    __device__ void run() {
        __shared__ Stage stage[2];
        copy(stage[0], 0);
        T sums[per_thread][per_thread];
#pragma unroll
        for (int i = 0; i < per_thread; i++) {
#pragma unroll
            for (int j = 0; j < per_thread; j++) {
                sums[i][j] = -*place(min(row(i), u_.m - 1), min(column(j), u_.n - 1));
            }
        }
        for (int p = 0, now = 0; p < u_.k; p += depth, now = 1 - now) {
            lab::wait_for_copies<0>();
            __syncthreads();  // this stage is there, and nobody needs the other one any more
            copy(stage[1 - now], p + depth);
            multiply(stage[now], sums);
        }
#pragma unroll
        for (int i = 0; i < per_thread; i++) {
#pragma unroll
            for (int j = 0; j < per_thread; j++) {
                if (row(i) < u_.m && column(j) < u_.n) *place(row(i), column(j)) = -sums[i][j];
            }
        }
    }

 private:
    static constexpr int copies = side * depth / threads, vector = Vector<T>::width;
    struct alignas(16) Stage {
        T a[depth]
           [side + vector];  // transposed; longer rows, so that its columns spread over the banks
        T b[depth][side];
    };

    // What a thread copies of a and of b.
    __device__ static int a_row() { return threadIdx.x / depth; }
    __device__ static int a_column() { return threadIdx.x % depth; }
    __device__ static int b_row() { return threadIdx.x / side; }
    __device__ static int b_column() { return threadIdx.x % side; }
    static constexpr int a_step = threads / depth, b_step = threads / side;

    // The stage that begins at p; the next call is for the next one. There are zeros past the edges.
    __device__ void copy(Stage& stage, int p) {
#pragma unroll
        for (int i = 0; i < copies; i++) {
            lab::copy_async<sizeof(T)>(&stage.a[a_column()][a_row() + i * a_step],
                                       a_ + i * a_step * u_.stride,
                                       row_ + a_row() + i * a_step < u_.m && p + a_column() < u_.k);
            lab::copy_async<sizeof(T)>(
                &stage.b[b_row() + i * b_step][b_column()], b_ + i * b_step * u_.stride,
                column_ + b_column() < u_.n && p + b_row() + i * b_step < u_.k);
        }
        lab::commit_copies();
        a_ += depth;
        b_ += depth * u_.stride;
    }

    // The thread's place among 16 x 16, and of its rows and columns number i; as many are neighbours as a vector has
    // elements.
    __device__ static int y() {
        return threadIdx.x / 64 * 4 + threadIdx.x % 2 + threadIdx.x % 32 / 16 * 2;
    }
    __device__ static int x() { return threadIdx.x / 32 % 2 * 8 + threadIdx.x / 2 % 8; }
    __device__ static int nth(int thread, int i) {
        return (i / vector * 16 + thread) * vector + i % vector;
    }

    __device__ static void multiply(const Stage& stage, T (&sums)[per_thread][per_thread]) {
#pragma unroll
        for (int q = 0; q < depth; q++) {
            Vector<T> a[per_thread / vector], b[per_thread / vector];
#pragma unroll
            for (int i = 0; i < per_thread / vector; i++) {
                a[i] = *reinterpret_cast<const Vector<T>*>(&stage.a[q][nth(y(), i * vector)]);
                b[i] = *reinterpret_cast<const Vector<T>*>(&stage.b[q][nth(x(), i * vector)]);
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

    __device__ int row(int i) const { return row_ + nth(y(), i); }
    __device__ int column(int j) const { return column_ + nth(x(), j); }
    __device__ T* place(int row, int column) const { return &u_.c[row * u_.stride + column]; }

    const Update<T> u_;
    const int row_, column_;
    const T *a_, *b_;  // of the next copies
};

template <class T, int per_thread>
__global__ void __launch_bounds__(256, sizeof(T) == 4 ? 2 : 1)
    update_by_registers(Update<T> update) {
    wait_for_last_kernel();
    RegisterTile<T, per_thread>(update).run();
}
