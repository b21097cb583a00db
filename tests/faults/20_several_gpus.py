from faults import Fault

SHARE = "share.first = which * each + std::min<int64_t>(which, left_over);"
COUNT = "share.count = each + (which < left_over ? 1 : 0);"
ENABLE = "    CHECK(cudaDeviceEnablePeerAccess(other, 0));\n"
RECORD = "    CHECK(cudaEventRecord(band.card.sent, band.card.edges));\n"
TO_ABOVE = """CHECK(cudaMemcpyPeerAsync(above.below[to], above.card.device, band.cells[to],
                                  band.card.device, bytes, band.card.edges));"""
TO_BELOW = "cudaMemcpyPeerAsync(below.above[to], below.card.device, band.last_row(to, heat.width),"
WAIT_INNER = "    CHECK(cudaStreamWaitEvent(band.card.edges, band.card.inner_done, 0));\n"
WAIT_ABOVE = "    if (k > 0) CHECK(cudaStreamWaitEvent(band.card.edges, heat.bands[k - 1].card.sent, 0));\n"
WAIT_BELOW = """    if (k + 1 < int(heat.bands.size()))
        CHECK(cudaStreamWaitEvent(band.card.edges, heat.bands[k + 1].card.sent, 0));
"""
WAIT_EDGES = "    CHECK(cudaStreamWaitEvent(band.card.inner, band.card.edges_done, 0));\n"
INNER_STREAM = """band.inner(),
                        band.card.inner);"""
PASSED_ON = "pass_on(arrays, k, (k - step + n) % n, arrays.inbox);"
ADDED = "const int piece = (k - 1 - step + n) % n;"
LAST_ROUND = "        for (int k = 0; k < n; ++k) pass_on(arrays, k, (k + 1 - step + n) % n, arrays.values);\n"
WAIT_RING = "            wait_for_previous(arrays, k);\n"
WAIT_LAST = "        for (int k = 0; k < n; ++k) wait_for_previous(arrays, k);\n"
B_COPY = """        CHECK(cudaMemcpyPeerAsync(product.b_copy[i], card.device, product.b, first.device, b_bytes,
                                  card.inner));
"""
ORDERS = ("heat: in other orders",)
HIDDEN = ("heat: all cards work, and the host does not wait",)
RING = ("sum_ring: in other orders, piece by piece",)
FOUR = ("heat_waiting: 40 x 33, 4 cards",)

FAULTS = [
    # shares and peers
    Fault(name="left over rows are lost", old=COUNT, new="share.count = each;", caught=r"elements differ",
          cases=("heat_waiting: rows left over: 38 x 20, 5 cards",)),
    Fault(name="all to the first", old=SHARE + "\n    " + COUNT, new="(void)each, (void)left_over;\n    if (which == 0) share.count = count;",
          caught=r"3 cards of 4 launched nothing", backends=("cpu",), cases=FOUR),
    Fault(name="the last card is idle", old=COUNT, new=COUNT + "\n    if (which == shares - 1 && shares > 1) share.count = 0;",
          caught=r"no row of card|elements differ", cases=FOUR),
    Fault(name="no access to peers", old=ENABLE, new="    (void)other;\n", caught=r"memory of device \d, but the kernel runs on device", backends=("cpu",)),
    Fault(name="access the wrong way round", old="CHECK(cudaSetDevice(device));\n" + ENABLE,
          new="CHECK(cudaSetDevice(other));\n    CHECK(cudaDeviceEnablePeerAccess(other, 0));\n", caught=r"cudaErrorPeerAccessUnsupported|peer", backends=("cpu",)),
    # halos
    Fault(name="no halo to the band above", old=TO_ABOVE, new="(void)above;", caught=r"last rows of bands are wrong: the first row of a band.*TODO 3a", cases=FOUR),
    Fault(name="first row sent below", old=TO_BELOW, new=TO_BELOW.replace("band.last_row(to, heat.width)", "band.cells[to]"),
          caught=r"first rows of bands are wrong: the last row of a band.*TODO 3a", cases=FOUR),
    Fault(name="halo into the other buffer", old="above.below[to]", new="above.below[1 - to]", caught=r"last rows of bands are wrong: the first row of a band.*TODO 3a", cases=FOUR),
    Fault(name="wrong neighbour", old="const Band& below = heat.bands[k + 1];", new="const Band& below = heat.bands[(k + 2) % heat.bands.size()];",
          caught=r"first rows of bands are wrong: the last row of a band.*TODO 3a", cases=FOUR),
    Fault(name="wrong device named", old="CHECK(cudaMemcpyPeerAsync(above.below[to], above.card.device,", new="CHECK(cudaMemcpyPeerAsync(above.below[to], band.card.device,",
          caught=r"the target is memory of device \d, not of device", backends=("cpu",), cases=FOUR),
    # events
    Fault(name="no event behind the copies", old=RECORD, new="", caught=r"before the halos had come.*TODO 4a", cases=ORDERS, backends=("cpu",)),
    Fault(name="event in the wrong stream", old=RECORD, new=RECORD.replace("edges", "inner"), caught=r"before the halos had come.*TODO 4a", cases=ORDERS,
          backends=("cpu",)),
    Fault(name="no wait for the band above", old=WAIT_ABOVE, new="", caught=r"rows of bands are wrong.*bands? above.*TODO 4b", cases=ORDERS, backends=("cpu",)),
    Fault(name="no wait for the band below", old=WAIT_BELOW, new="", caught=r"rows of bands are wrong.*below \(TODO 4b", cases=ORDERS, backends=("cpu",)),
    Fault(name="edges do not wait for the inner rows", old=WAIT_INNER, new="", caught=r"elements differ", cases=ORDERS, backends=("cpu",)),
    Fault(name="inner rows do not wait for the edges", old=WAIT_EDGES, new="", caught=r"elements differ", cases=ORDERS, backends=("cpu",)),
    Fault(name="missing wait is a race", old=WAIT_ABOVE, new="", watched=True, caught=r"race .*(\n.*)*two streams", cases=("no race between streams",),
          backends=("cpu",)),
    Fault(name="the host waits for the edges", old=WAIT_EDGES, new="    CHECK(cudaEventSynchronize(band.card.edges_done));\n",
          caught=r"the host waits in cudaEventSynchronize", cases=HIDDEN, backends=("cpu",)),
    Fault(name="all in one stream", old=INNER_STREAM, new=INNER_STREAM.replace("card.inner", "card.edges"), caught=r"two streams \(TODO 4c\)|elements differ", cases=HIDDEN,
          backends=("cpu",)),
    # the ring
    Fault(name="the same piece each step", old=PASSED_ON, new="pass_on(arrays, k, k, arrays.inbox);", caught="elements differ"),
    Fault(name="the ring the other way round", old=ADDED, new="const int piece = (k + 1 + step) % n;", caught="elements differ"),
    Fault(name="no second round", old=LAST_ROUND, new="", caught=r"the whole sum of piece k \+ 1.*TODO 5c", cases=("sum_ring: 1000 numbers, 4 cards",)),
    Fault(name="no wait before adding", old=WAIT_RING, new="", caught="elements differ", cases=RING, backends=("cpu",)),
    Fault(name="no wait in the second round", old=WAIT_LAST, new="", caught="elements differ", cases=RING, backends=("cpu",)),
    Fault(name="offset of the piece forgotten", old="arrays.values[k] + share.first, card.device,", new="arrays.values[k], card.device,", caught="elements differ"),
    # NCCL
    Fault(name="no group", old="    CHECK_NCCL(ncclGroupStart());\n", new="", caught=r"ncclGroupStart\(\)|ncclGroupEnd\(\)", backends=("cpu",),
          cases=("sum_nccl: 7 numbers, 2 cards",)),
    Fault(name="another card's stream", old="comms[k], arrays.cards[k].inner", new="comms[k], arrays.cards[0].inner",
          caught=r"the stream is of device 0, but rank 1 is on device 1", backends=("cpu",), cases=("sum_nccl: 7 numbers, 2 cards",)),
    Fault(name="rank 0 gives fewer numbers", old="size_t(arrays.count),\n", new="size_t(arrays.count - (k == 0)),\n",
          caught=r"rank 0 gives a count of 6, rank 1 one of 7", backends=("cpu",), cases=("sum_nccl: 7 numbers, 2 cards",)),
    # the product
    Fault(name="b is not copied", old=B_COPY, new="        (void)b_bytes;\n", caught=r"rows of card 0 \(and others\) are wrong"),
    Fault(name="rows of a without offset", old="product.a + share.first * product.k", new="product.a", caught=r"rows of card 1.*are wrong.*TODO 7"),
    Fault(name="no current device", old="        CHECK(cudaSetDevice(card.device));\n        // BEGIN", new="        // BEGIN",
          caught=r"names a stream of device \d, but device \d is current", backends=("cpu",)),
    Fault(name="copied back in another stream", old="c_bytes, card.inner));", new="c_bytes, card.edges));", caught=r"rows of card.*are wrong.*TODO 7",
          cases=("product: in other orders, by all cards",), backends=("cpu",)),
]
