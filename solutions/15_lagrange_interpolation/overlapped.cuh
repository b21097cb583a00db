// copied and overlapped: blocked with the copies to the device and back, TODO 13.
#pragma once

#include "points.cuh"

// As the report did it: all points there, all values computed, all values back.
lab::Launch launch_copied(const Work& work) {
    const size_t bytes = work.points * sizeof(double);
    CHECK(cudaMemcpy(work.d_abscissae, work.h_abscissae, bytes, cudaMemcpyHostToDevice));
    const lab::Launch launch = launch_blocked(work);
    CHECK(cudaMemcpy(work.h_values, work.d_values, bytes, cudaMemcpyDeviceToHost));
    return launch;
}

// Pieces over three streams: while one is computed, the next comes and the last goes. The device
// holds three pieces, however many points there are.
lab::Launch launch_overlapped(const Work& work) {
    int turn = 0;
    for (int64_t first = 0; first < work.points; first += work.piece) {
        const int64_t size = std::min(work.piece, work.points - first);
        const lab::Launch shape = blocked_shape(size);
        const cudaStream_t stream = work.streams[turn];
        double* const d_abscissae = work.d_abscissae + turn * work.piece;
        double* const d_values = work.d_values + turn * work.piece;
        // BEGIN SOLUTION
        CHECK(cudaMemcpyAsync(d_abscissae, work.h_abscissae + first, size * sizeof(double),
                              cudaMemcpyHostToDevice, stream));
        blocked<<<shape.grid, shape.block, 0, stream>>>(d_abscissae, d_values, size, work.nodes);
        CHECK_LAUNCH();
        CHECK(cudaMemcpyAsync(work.h_values + first, d_values, size * sizeof(double),
                              cudaMemcpyDeviceToHost, stream));
        //: // TODO 13 (about 5 lines): copy the piece's abscissae to the device, launch blocked, copy
        //: // its values back; all three in this piece's stream, so that they keep their order.
        //: (void)shape, (void)stream, (void)d_abscissae, (void)d_values;  // delete this line
        // END SOLUTION
        turn = (turn + 1) % stream_count;
    }
    return blocked_shape(std::min(work.piece, work.points));
}
