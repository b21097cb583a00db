// How the fast variants hold a tile: in rows of vectors, without shared memory.
//
// A warp has `rows` rows of 128 neighbouring elements. Of each row a lane has four neighbours, 16
// bytes, so that a row is one access of 512 bytes:
//
//     row 0   | lane 0: 0 1 2 3 | lane 1: 4 5 6 7 | ... | lane 31: 124 125 126 127 |
//     row 1   | lane 0: 128 ... |                   ...                       255 |
//
// The scan of a row is that of a lane's four, and warp_scan (task 3) over the lanes' sums. Rows do
// not wait for each other's shuffles; only their sums are added in turn. An exchange through shared
// memory, so that each thread has neighbours only, would take as many accesses as these are
// shuffles.
#pragma once

template <class T>
struct alignas(16) Vector {
    T x[4];
};

// The sum over a warp, in all its lanes.
template <class T>
__device__ __forceinline__ T warp_total(T value) {
#pragma unroll
    for (int bit = warp_size / 2; bit > 0; bit /= 2)
        value += __shfl_xor_sync(all_lanes, value, bit);
    return value;
}

template <class T, int rows>
struct Rows {
    Vector<T> row[rows];

    // From the array, and back: row j is vector number + 32 j. A tile that is not whole is taken
    // element by element, with 0 behind the end. One condition for the whole tile: no load waits
    // for another's branch.
    __device__ __forceinline__ void load(const T* values, int64_t number, int64_t count,
                                         bool whole) {
        if (whole) {
            const Vector<T>* const vectors = reinterpret_cast<const Vector<T>*>(values) + number;
#pragma unroll
            for (int j = 0; j < rows; j++) row[j] = vectors[j * warp_size];
            return;
        }
#pragma unroll
        for (int j = 0; j < rows; j++) {
            const int64_t i = 4 * (number + j * warp_size);
#pragma unroll
            for (int k = 0; k < 4; k++) row[j].x[k] = i + k < count ? values[i + k] : T{0};
        }
    }
    __device__ __forceinline__ void store(T* values, int64_t number, int64_t count,
                                          bool whole) const {
        if (whole) {
            Vector<T>* const vectors = reinterpret_cast<Vector<T>*>(values) + number;
#pragma unroll
            for (int j = 0; j < rows; j++) vectors[j * warp_size] = row[j];
            return;
        }
#pragma unroll
        for (int j = 0; j < rows; j++) {
            const int64_t i = 4 * (number + j * warp_size);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                if (i + k < count) values[i + k] = row[j].x[k];
            }
        }
    }

    // What comes before this lane's part of each row within the warp. Returns the warp's sum.
    __device__ __forceinline__ T scan(T (&before)[rows]) const {
        T sum = 0;
#pragma unroll
        for (int j = 0; j < rows; j++) {
            const T up_to_here =
                warp_scan((row[j].x[0] + row[j].x[1]) + (row[j].x[2] + row[j].x[3]));
            const T lane_before = __shfl_up_sync(all_lanes, up_to_here, 1);
            before[j] = threadIdx.x % warp_size == 0 ? T{0} : lane_before;
            before[j] += sum;
            sum += __shfl_sync(all_lanes, up_to_here, warp_size - 1);
        }
        return sum;
    }

    // Each element becomes the sum up to it, or before it.
    __device__ __forceinline__ void finish(const T (&before)[rows], T offset, int shift) {
#pragma unroll
        for (int j = 0; j < rows; j++) {
            T sum = offset + before[j];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const T up_to_here = sum + row[j].x[k];
                row[j].x[k] = shift == 1 ? sum : up_to_here;
                sum = up_to_here;
            }
        }
    }
};

// The number of the first vector of this thread's row 0 in a tile of `threads` threads; each later
// row is 32 vectors further.
template <int rows>
__device__ __forceinline__ int64_t first_vector(int64_t tile, int threads) {
    const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    return tile * threads * rows + warp * warp_size * rows + lane;
}

// With fewer elements than this, tiles of so many leave multiprocessors without work: then tiles
// are smaller. In CPU mode long arrays take too long.
inline int64_t enough_for(int64_t tile_elements) {
    const int64_t all = lab::device_attribute(cudaDevAttrMultiProcessorCount);
    return 2 * (lab::on_cpu ? 1 : all) * tile_elements;
}
