// 20 several_gpus: one host thread, several cards, each with memory of its own. You share out the work, and
// move what one card has and another needs. The kernels are given (given/work.cuh).
//
//   heat_one      a plate whose heat spreads, on one card; nothing to write
//   heat_waiting  its rows shared out; the host waits before and after each exchange
//   heat_reading  no exchange: a kernel reads the rows of its neighbours in their memory
//   heat          the exchange hidden behind the inner rows, the host waits for nothing
//
//   sum_through_first   every card gets the sum of all cards' arrays: through card 0; nothing to write
//   sum_ring      in a ring, each card sends and receives at the same time
//   sum_nccl      the same by one call of NCCL a card
//
//   product_one   a product of matrices on one card; nothing to write
//   product       its rows shared out

#include <cstdint>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/lab.h"
#include "given/nccl.cuh"
#include "given/work.cuh"

// ---------- Shares and peers -------------------------------------------------------------------

// What number `which` of `shares` gets of `count` things: neighbours, and nobody more than one more than another; the
// first ones get those that are left over.
Share share_of(int64_t count, int shares, int which) {
    Share share = {0, 0};
    // BEGIN SOLUTION
    const int64_t each = count / shares, left_over = count % shares;
    share.first = which * each + std::min<int64_t>(which, left_over);
    share.count = each + (which < left_over ? 1 : 0);
    //: // TODO 1 (3 lines): how many everybody gets and how many are left over; then where this share begins, and
    //: // how many it has. Replace this line, which gives all to the first one.
    //: if (which == 0) share.count = count;
    // END SOLUTION
    return share;
}

// Lets kernels of one device use the memory of another one. (Copies between them take the shorter way then, too.)
void let_reach(int device, int other) {
    // BEGIN SOLUTION
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceEnablePeerAccess(other, 0));
    //: // TODO 2 (2 lines): make `device` the current one, and enable its access to the peer `other`.
    //: (void)device, (void)other;  // delete this line
    // END SOLUTION
}

// ---------- Part one: heat ---------------------------------------------------------------------

// The new rows at the edges of band k become halos of its neighbours. `to`: which of their two buffers holds the new
// rows. All in the stream band.card.edges.
void send_halos(const Heat& heat, int k, int to) {
    const Band& band = heat.bands[k];
    const size_t bytes = size_t(heat.width) * sizeof(float);
    // BEGIN SOLUTION
    if (k > 0) {
        const Band& above = heat.bands[k - 1];
        CHECK(cudaMemcpyPeerAsync(above.below[to], above.card.device, band.cells[to],
                                  band.card.device, bytes, band.card.edges));
    }
    if (k + 1 < int(heat.bands.size())) {
        const Band& below = heat.bands[k + 1];
        CHECK(cudaMemcpyPeerAsync(below.above[to], below.card.device, band.last_row(to, heat.width),
                                  band.card.device, bytes, band.card.edges));
    }
    CHECK(cudaEventRecord(band.card.sent, band.card.edges));
    //: // TODO 3a (2 statements): where there is a band above (heat.bands[k - 1]), copy this band's first row,
    //: // band.cells[to], to its below[to]; where there is one below, the last row, band.last_row(to, heat.width),
    //: // to its above[to].
    //: // TODO 4a (1 line): behind the copies, record the event band.card.sent.
    //: (void)band, (void)bytes, (void)to;  // delete this line
    // END SOLUTION
}

// The model: everybody waits, everybody computes, everybody waits, everybody sends. With `reading` nothing is sent.
lab::Launch launch_heat_waiting(const Heat& heat, bool reading) {
    lab::Launch shape;
    fork(heat.cards);
    for (int step = 0; step < heat.steps; ++step) {
        const int from = step % 2, to = 1 - from;
        for (int k = 0; k < int(heat.bands.size()); ++k) {
            const Band& band = heat.bands[k];
            const float *above = band.above[from], *below = band.below[from];
            if (reading && k > 0) above = heat.bands[k - 1].last_row(from, heat.width);
            if (reading && k + 1 < int(heat.bands.size())) below = heat.bands[k + 1].cells[from];
            CHECK(cudaSetDevice(band.card.device));
            shape = launch_heat(heat, band, above, below, from, band.all(), band.card.inner);
        }
        wait_for_all(heat.cards);
        if (reading) continue;
        for (int k = 0; k < int(heat.bands.size()); ++k) send_halos(heat, k, to);
        wait_for_all(heat.cards);
    }
    join(heat.cards);
    return shape;
}

// The rows at the edges of band k, in the stream band.card.edges. They read the halos, which the neighbours have sent
// in the step before, and rows that the stream inner has computed then.
void compute_edges(const Heat& heat, int k, int from) {
    const Band& band = heat.bands[k];
    CHECK(cudaSetDevice(band.card.device));
    // BEGIN SOLUTION
    CHECK(cudaStreamWaitEvent(band.card.edges, band.card.inner_done, 0));
    if (k > 0) CHECK(cudaStreamWaitEvent(band.card.edges, heat.bands[k - 1].card.sent, 0));
    if (k + 1 < int(heat.bands.size()))
        CHECK(cudaStreamWaitEvent(band.card.edges, heat.bands[k + 1].card.sent, 0));
    //: // TODO 4b (3 lines): what comes into the stream band.card.edges from here on waits for the event inner_done of
    //: // this card, and for `sent` of the cards of the bands above and below, where there are such.
    // END SOLUTION
    launch_heat(heat, band, band.above[from], band.below[from], from, band.edges(),
                band.card.edges);
    CHECK(cudaEventRecord(band.card.edges_done, band.card.edges));
}

// All other rows, in the stream band.card.inner, beside the copies. They read rows at the edges.
lab::Launch compute_inner(const Heat& heat, int k, int from) {
    const Band& band = heat.bands[k];
    lab::Launch shape;
    CHECK(cudaSetDevice(band.card.device));
    // BEGIN SOLUTION
    CHECK(cudaStreamWaitEvent(band.card.inner, band.card.edges_done, 0));
    shape = launch_heat(heat, band, band.above[from], band.below[from], from, band.inner(),
                        band.card.inner);
    CHECK(cudaEventRecord(band.card.inner_done, band.card.inner));
    //: // TODO 4c (3 statements): let the stream band.card.inner wait for the event edges_done; shape = launch_heat(...) as
    //: // in compute_edges, but for band.inner() and in that stream; record the event inner_done behind it.
    //: (void)from;  // delete this line
    // END SOLUTION
    return shape;
}

lab::Launch launch_heat_hidden(const Heat& heat) {
    lab::Launch shape;
    const int bands = int(heat.bands.size());
    fork(heat.cards);
    for (int step = 0; step < heat.steps; ++step) {
        for (int k = 0; k < bands; ++k) compute_edges(heat, k, step % 2);
        for (int k = 0; k < bands; ++k) send_halos(heat, k, 1 - step % 2);
        for (int k = 0; k < bands; ++k) shape = compute_inner(heat, k, step % 2);
    }
    join(heat.cards);
    return shape;
}

// ---------- Part two: a sum over all cards -----------------------------------------------------

// The model: card 0 gets one array after the other, adds it, and sends the sum to everybody. All in one stream.
lab::Launch launch_through_first(const Arrays& arrays) {
    const size_t bytes = size_t(arrays.count) * sizeof(uint32_t);
    const Card& first = arrays.cards[0];
    lab::Launch shape;
    fork(arrays.cards);
    for (int k = 1; k < arrays.size(); ++k) {
        CHECK(cudaMemcpyPeerAsync(arrays.inbox[0], first.device, arrays.values[k],
                                  arrays.cards[k].device, bytes, first.inner));
        shape = launch_add(arrays, 0, {0, arrays.count});
    }
    for (int k = 1; k < arrays.size(); ++k) {
        CHECK(cudaMemcpyPeerAsync(arrays.values[k], arrays.cards[k].device, arrays.values[0],
                                  first.device, bytes, first.inner));
    }
    join(arrays.cards);
    return shape;
}

// Sends a piece of card k's values to the next card of the ring, to the same place of its array in `into`
// (arrays.inbox or arrays.values). Behind the copy stands the event `sent` of card k.
void pass_on(const Arrays& arrays, int k, int piece, const std::vector<uint32_t*>& into) {
    const Share share = share_of(arrays.count, arrays.size(), piece);
    const Card &card = arrays.cards[k], &next = arrays.cards[(k + 1) % arrays.size()];
    // BEGIN SOLUTION
    CHECK(cudaMemcpyPeerAsync(into[(k + 1) % arrays.size()] + share.first, next.device,
                              arrays.values[k] + share.first, card.device,
                              size_t(share.count) * sizeof(uint32_t), card.inner));
    //: // TODO 5a (1 statement): copy share.count numbers, from `share.first` behind the start of arrays.values[k], in
    //: // the stream card.inner.
    //: (void)share, (void)next, (void)into;  // delete this line
    // END SOLUTION
    CHECK(cudaSetDevice(card.device));
    CHECK(cudaEventRecord(card.sent, card.inner));
}

// Card k goes on when the card before it has sent.
void wait_for_previous(const Arrays& arrays, int k) {
    const Card& previous = arrays.cards[(k + arrays.size() - 1) % arrays.size()];
    CHECK(cudaStreamWaitEvent(arrays.cards[k].inner, previous.sent, 0));
}

// n cards, n pieces. First each piece goes round and is added to on its way (reduce-scatter): then card k has the
// whole sum of piece k + 1. Then the sums go round (all-gather).
lab::Launch launch_ring(const Arrays& arrays) {
    const int n = arrays.size();
    lab::Launch shape;
    fork(arrays.cards);
    for (int step = 0; step < n - 1; ++step) {
        // BEGIN SOLUTION
        for (int k = 0; k < n; ++k) pass_on(arrays, k, (k - step + n) % n, arrays.inbox);
        for (int k = 0; k < n; ++k) {
            wait_for_previous(arrays, k);
            const int piece = (k - 1 - step + n) % n;
            shape = launch_add(arrays, k, share_of(arrays.count, n, piece));
        }
        //: // TODO 5b (6 lines): in step 0 card k passes on its piece k, into the inboxes; in each later step the piece
        //: // to which it has just added. When all cards have sent, each waits for the card before it, and adds the
        //: // piece that came from there (launch_add).
        // END SOLUTION
    }
    for (int step = 0; step < n - 1; ++step) {
        // BEGIN SOLUTION
        for (int k = 0; k < n; ++k) pass_on(arrays, k, (k + 1 - step + n) % n, arrays.values);
        for (int k = 0; k < n; ++k) wait_for_previous(arrays, k);
        //: // TODO 5c (2 lines): in step 0 card k passes on piece k + 1, straight into the values of the next card; in
        //: // each later step the piece that it has just got. When all have sent, each waits for the card before it.
        // END SOLUTION
    }
    join(arrays.cards);
    return shape;
}

#ifdef WITH_NCCL
// One thread speaks for all ranks, so none of the calls may wait for the others: they stand in a group.
lab::Launch launch_nccl(const Arrays& arrays, const Communicators& comms) {
    fork(arrays.cards);
    // BEGIN SOLUTION
    CHECK_NCCL(ncclGroupStart());
    for (int k = 0; k < arrays.size(); ++k) {
        CHECK_NCCL(ncclAllReduce(arrays.values[k], arrays.values[k], size_t(arrays.count),
                                 ncclUint32, ncclSum, comms[k], arrays.cards[k].inner));
    }
    CHECK_NCCL(ncclGroupEnd());
    //: // TODO 6 (4 statements): between ncclGroupStart() and ncclGroupEnd(), for each card ncclAllReduce of its values, in
    //: // place (ncclUint32, ncclSum), by its communicator, in its stream `inner`. CHECK_NCCL is the CHECK of NCCL.
    //: (void)comms;  // delete this line
    // END SOLUTION
    join(arrays.cards);
    return {};
}
#endif

// ---------- Part three: a product --------------------------------------------------------------

lab::Launch launch_product_one(const Product& product) {
    const lab::Launch shape = product_shape(product.m, product.n);
    product_kernel<<<shape.grid, shape.block>>>(product.a, product.b, product.c, product.m,
                                                product.n, product.k);
    CHECK_LAUNCH();
    return shape;
}

// Each card gets its rows of a and all of b, computes its rows of c, and sends them to card 0. Each in its stream.
lab::Launch launch_product(const Product& product) {
    const size_t b_bytes = size_t(product.k) * product.n * sizeof(float);
    lab::Launch shape;
    fork(product.cards);
    for (int i = 0; i < int(product.cards.size()); ++i) {
        const Card &card = product.cards[i], &first = product.cards[0];
        const Share share = share_of(product.m, int(product.cards.size()), i);
        const size_t a_bytes = size_t(share.count) * product.k * sizeof(float);
        const size_t c_bytes = size_t(share.count) * product.n * sizeof(float);
        if (share.count == 0) continue;
        shape = product_shape(int(share.count), product.n);
        CHECK(cudaSetDevice(card.device));
        // BEGIN SOLUTION
        CHECK(cudaMemcpyPeerAsync(product.a_part[i], card.device,
                                  product.a + share.first * product.k, first.device, a_bytes,
                                  card.inner));
        CHECK(cudaMemcpyPeerAsync(product.b_copy[i], card.device, product.b, first.device, b_bytes,
                                  card.inner));
        product_kernel<<<shape.grid, shape.block, 0, card.inner>>>(
            product.a_part[i], product.b_copy[i], product.c_part[i], int(share.count), product.n,
            product.k);
        CHECK_LAUNCH();
        CHECK(cudaMemcpyPeerAsync(product.c + share.first * product.n, first.device,
                                  product.c_part[i], card.device, c_bytes, card.inner));
        //: // TODO 7 (5 statements), all in the stream card.inner: copy the card's rows of product.a to product.a_part[i];
        //: // product.b to product.b_copy[i]; launch product_kernel on them, CHECK_LAUNCH(); copy product.c_part[i]
        //: // to its rows of product.c. Row r of a matrix with n columns begins at r * n.
        //: (void)first, (void)a_bytes, (void)b_bytes, (void)c_bytes;  // delete this line
        // END SOLUTION
    }
    join(product.cards);
    return shape;
}

// ---------- Nothing to edit below --------------------------------------------------------------

#include "given/run.cuh"

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Shares out work over several cards.");
    Request request(arguments);
    lab::Study study(arguments, variant_names());
    arguments.finish();
    request.finish(arguments, study);
    return run_all(request, study);
}
