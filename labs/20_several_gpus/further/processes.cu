// For reading: the plate of this lab by n processes, on one machine or on several. Each process has one card and knows nothing of
// the memory of the others. MPI starts the processes and tells them who they are; NCCL moves rows between the cards. There is no
// memory of a neighbour to copy into: what one sends, the other must receive.
//
//   how to compile and to start it   the handout's section By processes
//   arguments                        height width steps
//
// Each rank makes its own rows of the plate, so no rank ever has all of it. In the end the heat of all cells is added up,
// over all ranks, and rank 0 compares it with that of a single rank's plate.

#include <mpi.h>
#include <nccl.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../../common/lab.h"
#include "../given/work.cuh"

#define CHECK_NCCL(...)                                                    \
    do {                                                                   \
        const ncclResult_t status = (__VA_ARGS__);                         \
        if (status != ncclSuccess)                                         \
            lab::fail("%s:%d: `%s`: %s", __FILE__, __LINE__, #__VA_ARGS__, \
                      ncclGetErrorString(status));                         \
    } while (false)

// The heat of a cell in the beginning.
float first_heat(int y, int x) { return float((y * 31 + x * 17) % 101); }

// Which rank of this machine this is: it takes the card of that number.
int local_rank(MPI_Comm world) {
    MPI_Comm machine;
    int rank = 0;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank);
    MPI_Comm_free(&machine);
    return rank;
}

struct Ranks {
    int own, count;
    ncclComm_t comm;
};

// Rank 0 makes an id, MPI carries it to all, and with it they find each other.
Ranks meet() {
    Ranks ranks = {};
    ncclUniqueId id;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaSetDevice(local_rank(MPI_COMM_WORLD) % devices));
    if (ranks.own == 0) CHECK_NCCL(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK_NCCL(ncclCommInitRank(&ranks.comm, ranks.count, id, ranks.own));
    return ranks;
}

// The edges of this band go to the ranks above and below, and theirs come into its halos. In a group, so that nobody waits
// for a neighbour who is waiting to send.
void exchange_halos(const Ranks& ranks, const Band& band, int to, int width, cudaStream_t stream) {
    CHECK_NCCL(ncclGroupStart());
    if (ranks.own > 0) {
        CHECK_NCCL(ncclSend(band.cells[to], width, ncclFloat, ranks.own - 1, ranks.comm, stream));
        CHECK_NCCL(ncclRecv(band.above[to], width, ncclFloat, ranks.own - 1, ranks.comm, stream));
    }
    if (ranks.own + 1 < ranks.count) {
        CHECK_NCCL(ncclSend(band.last_row(to, width), width, ncclFloat, ranks.own + 1, ranks.comm,
                            stream));
        CHECK_NCCL(ncclRecv(band.below[to], width, ncclFloat, ranks.own + 1, ranks.comm, stream));
    }
    CHECK_NCCL(ncclGroupEnd());
}

// The rows of the plate that this rank has, after so many steps.
std::vector<float> spread(const Ranks& ranks, int height, int width, int steps) {
    const int each = height / ranks.count, left_over = height % ranks.count;
    Band band = {};
    band.first = ranks.own * each + std::min(ranks.own, left_over);
    band.rows = each + (ranks.own < left_over);
    std::vector<float> rows;
    for (int y = -1; y <= band.rows; ++y)
        for (int x = 0; x < width; ++x) rows.push_back(first_heat(band.first + y, x));
    const lab::DeviceArray<float> above(rows), below(rows), cells(rows), next(rows);
    // The array holds the row above, the band and the row below; the halos of the next step lie in arrays of their own.
    band.cells[0] = cells.get() + width, band.cells[1] = next.get() + width;
    band.above[0] = cells.get(), band.above[1] = next.get();
    band.below[0] = band.cells[0] + int64_t{band.rows} * width;
    band.below[1] = band.cells[1] + int64_t{band.rows} * width;
    const Heat heat = {height, width, steps, {}, {}};
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int step = 0; step < steps; ++step) {
        const int from = step % 2;
        launch_heat(heat, band, band.above[from], band.below[from], from, band.all(), stream);
        exchange_halos(ranks, band, 1 - from, width, stream);
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    std::vector<float> result(size_t(band.rows) * width);
    CHECK(cudaMemcpy(result.data(), band.cells[steps % 2], result.size() * sizeof(float),
                     cudaMemcpyDeviceToHost));
    return result;
}

// The whole plate on one rank.
double heat_of_one(int height, int width, int steps) {
    double sum = 0;
    for (const float heat : spread({0, 1, nullptr}, height, width, steps)) sum += heat;
    return sum;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const auto number = [&](int place, int fallback) {
        return argc > place ? std::max(1, std::atoi(argv[place])) : fallback;
    };
    const int height = number(1, 60), width = number(2, 40), steps = number(3, 10);
    const Ranks ranks = meet();
    if (height < ranks.count) lab::refuse("%d rows are too few for %d ranks", height, ranks.count);
    double sum = 0, all = 0;
    for (const float heat : spread(ranks, height, width, steps)) sum += heat;

    // Eight bytes from each rank: MPI adds those up as well as NCCL.
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    int status = 0;
    if (ranks.own == 0) {
        const double expected = heat_of_one(height, width, steps);
        const bool right = std::fabs(all - expected) <= 1e-9 * expected;
        std::printf("%d ranks, %d x %d cells, %d steps: heat %.6f, of one rank %.6f: %s\n",
                    ranks.count, height, width, steps, all, expected, right ? "correct" : "WRONG");
        status = right ? 0 : 1;
    }
    CHECK_NCCL(ncclCommDestroy(ranks.comm));
    MPI_Finalize();
    return status;
}
