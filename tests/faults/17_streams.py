from faults import Fault

WAIT_ABOVE = "if (strip > 0) CHECK(cudaStreamWaitEvent(stream, picture.copied[strip - 1], 0));"
WAIT_BELOW = """    if (strip + 1 < picture.strips)
        CHECK(cudaStreamWaitEvent(stream, picture.copied[strip + 1], 0));
"""
RECORD = "    CHECK(cudaEventRecord(picture.copied[strip], stream));\n"
COPY_IN = """CHECK(cudaMemcpyAsync(picture.d_input + offset, picture.h_input + offset, bytes,
                          cudaMemcpyHostToDevice, stream));
"""
COPY_OUT = """CHECK(cudaMemcpyAsync(picture.h_output + offset, picture.d_output + offset, bytes,
                          cudaMemcpyDeviceToHost, stream));
"""
HOST = "    CHECK(cudaLaunchHostFunc(stream, note_arrival, &picture.arrivals[strip]));\n"
OTHER = "picture.stream(strip + 1)"
LAUNCH = "sharpen_kernel<<<shape.grid, shape.block, 0, stream>>>"
CHAINED = "cudaGraphAddKernelNode(&node, graph, &last, 1, &parameters)"
COPY_NODE = "cudaGraphAddMemcpyNode1D(&node, graph, &last, 1,"
UPDATE = "        CHECK(cudaGraphExecKernelNodeSetParams(round.executable, round.stir, &stir));\n"
LAUNCHED = "        CHECK(cudaGraphLaunch(round.executable, chain.stream));\n"
ORDERS = ("strips: streams in other orders",)
NO_WAIT = ("strips: the host does not wait",)
TOLD = ("strips: the host is told",)
TOO_EARLY = r"FAIL  strips: the host is told\n.*told too early of.*\n.*behind the copy to the host \(TODO 4\)"
NODES = ("built: nodes in other orders, one graph whose key is changed",)

FAULTS = [
    # pinned memory
    Fault(name="memory that is not pinned", old="CHECK(cudaMallocHost(&values_, count * sizeof(T)));",
          new="values_ = static_cast<T*>(std::malloc(count * sizeof(T)));", caught=r"host's memory is not pinned \(TODO 1a\)",
          on_card="the host waits for the device", cases=NO_WAIT),
    Fault(name="pinned memory is never freed", old="        cudaFreeHost(values_);\n", new="", caught=r"2 pieces of pinned memory are never freed.*(\n.*)*TODO 1b",
          cases=NO_WAIT, backends=("cpu",)),
    # events
    Fault(name="no event recorded", old=RECORD, new="", caught=r"only rows beside another strip are wrong.*TODO 3a", cases=ORDERS, backends=("cpu",)),
    Fault(name="event before the copy", old=COPY_IN + RECORD, new=RECORD.lstrip() + "    " + COPY_IN, caught=r"only rows beside another strip.*TODO 3a",
          cases=ORDERS, backends=("cpu",)),
    Fault(name="no wait for the strip above", old=WAIT_ABOVE, new="", caught=r"only first rows of strips.*copied\[strip - 1\]",
          cases=ORDERS, backends=("cpu",)),
    Fault(name="no wait for the strip below", old=WAIT_BELOW, new="", caught=r"only last rows of strips.*copied\[strip \+ 1\]", cases=ORDERS,
          backends=("cpu",)),
    Fault(name="wait below the last strip", old="strip + 1 < picture.strips", new="strip + 1 <= picture.strips", caught=r"the last one none below \(TODO 3b\)",
          backends=("cpu",)),
    Fault(name="no waits race between streams", old=WAIT_ABOVE + "\n" + WAIT_BELOW, new="    (void)stream;\n", watched=True,
          caught=r"race .*(\n.*)*two streams", cases=("no race between streams",), backends=("cpu",)),
    Fault(name="the host waits for the event", old=WAIT_ABOVE, new="if (strip > 0) CHECK(cudaEventSynchronize(picture.copied[strip - 1]));",
          caught=r"cudaEventSynchronize makes the host wait", on_card="the host waits for the device", cases=NO_WAIT),
    Fault(name="the host asks until it is done", old=WAIT_ABOVE,
          new="if (strip > 0)\n        while (cudaEventQuery(picture.copied[strip - 1]) == cudaErrorNotReady) continue;",
          caught=r"cudaEventQuery makes it wait", on_card="the host waits for the device", cases=NO_WAIT),
    # streams
    Fault(name="launch in the default stream", old=LAUNCH, new="(void)stream;\n    sharpen_kernel<<<shape.grid, shape.block>>>",
          caught=r"launch names no stream, or 0.*TODO 2b", cases=NO_WAIT, backends=("cpu",)),
    Fault(name="event in the default stream", old=RECORD, new=RECORD.replace("stream)", "0)"), caught=r"cudaEventRecord names no stream, or 0.*TODO 3a",
          cases=NO_WAIT, backends=("cpu",)),
    Fault(name="memset in the default stream", old=COPY_IN, new=COPY_IN + "    CHECK(cudaMemsetAsync(picture.d_output + offset, 0, bytes));\n",
          caught=r"cudaMemsetAsync names no stream, or 0", cases=NO_WAIT, backends=("cpu",)),
    Fault(name="wait in the default stream", old=WAIT_ABOVE, new=WAIT_ABOVE + WAIT_ABOVE.replace("stream,", "0,"),
          caught=r"cudaStreamWaitEvent names no stream, or 0.*TODO 3b", cases=NO_WAIT, backends=("cpu",)),
    Fault(name="wait behind the last strip", old=COPY_OUT, new=COPY_OUT + "    if (strip + 1 == picture.strips) CHECK(cudaDeviceSynchronize());\n",
          caught=r"cudaDeviceSynchronize makes it wait", cases=NO_WAIT, backends=("cpu",)),
    Fault(name="copies that wait", old=COPY_IN, new=COPY_IN.replace("MemcpyAsync", "Memcpy").replace("HostToDevice, stream", "HostToDevice"),
          caught=r"cudaMemcpy waits until it is done", on_card="the host waits for the device|Isolation|capturing", cases=NO_WAIT),
    Fault(name="a synchronisation a strip", old=COPY_OUT, new=COPY_OUT + "    CHECK(cudaStreamSynchronize(stream));\n",
          caught=r"cudaStreamSynchronize makes it wait", on_card="the host waits for the device|capturing", cases=NO_WAIT),
    Fault(name="copy out in another stream", old=COPY_OUT, new=COPY_OUT.replace("ToHost, stream", "ToHost, " + OTHER), caught=r"wrong throughout.*TODO 2",
          cases=ORDERS, backends=("cpu",)),
    Fault(name="copy in without offset", old="CHECK(cudaMemcpyAsync(picture.d_input + offset,", new="CHECK(cudaMemcpyAsync(picture.d_input,",
          caught=r"wrong in the order of the calls, too.*TODO 2a", on_card="elements differ"),
    Fault(name="nothing copied back", old=COPY_OUT, new="(void)offset, (void)bytes;\n", caught=r"nothing is copied back to the host \(TODO 2c\)",
          on_card="elements differ"),
    # the host is told
    Fault(name="told before the copy", old=COPY_OUT + HOST, new=HOST.lstrip() + "    " + COPY_OUT,
          caught=TOO_EARLY, cases=TOLD),
    Fault(name="told in another stream", old="cudaLaunchHostFunc(stream,", new=f"cudaLaunchHostFunc({OTHER},",
          caught=TOO_EARLY, cases=TOLD, backends=("cpu",)),
    Fault(name="told at once", old=HOST, new="    note_arrival(&picture.arrivals[strip]);\n", cases=TOLD,
          caught=r"FAIL  strips: the host is told\n.*told too early of.*\n.*by cudaLaunchHostFunc \(TODO 4\)",
          on_card=r"FAIL  strips: the host is told\n.*told too early of"),
    Fault(name="all strips in one arrival", old="note_arrival, &picture.arrivals[strip]", new="note_arrival, picture.arrivals", caught=r"an Arrival of its own.*TODO 4"),
    Fault(name="arrival that is gone", old=HOST, new=HOST.replace("    CHECK", "    Arrival gone = picture.arrivals[strip];\n    CHECK").replace("&picture.arrivals[strip]", "&gone"),
          caught=r"has to be there until it is called.*TODO 4", backends=("cpu",)),
    Fault(name="host is not told", old=HOST, new="", caught=r"nothing calls note_arrival \(TODO 4\)"),
    # graphs
    Fault(name="nothing captured", old="    work();\n    CHECK(cudaStreamEndCapture", new="    (void)work;\n    CHECK(cudaStreamEndCapture",
          caught=r"in which nothing was captured.*TODO 5"),
    Fault(name="capture is never ended", old="    CHECK(cudaStreamEndCapture(stream, &graph));\n", new="", caught=r"the capture is never ended \(TODO 5\)"),
    Fault(name="told of in the default stream, in a graph", old="cudaLaunchHostFunc(stream,", new="cudaLaunchHostFunc(0,",
          caught="cudaErrorStreamCaptureImplicit"),
    Fault(name="nodes that wait for nothing", old=CHAINED, new="cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters)", caught=r"in another order than they were added.*TODO 6a",
          cases=NODES, backends=("cpu",)),
    Fault(name="copy node that waits for nothing", old=COPY_NODE, new=COPY_NODE.replace("&last, 1", "nullptr, 0"), caught=r"too early.*TODO 6b", cases=NODES,
          backends=("cpu",)),
    Fault(name="steps in the same buffer", old="{&from, &to, &count}", new="{&from, &from, &count}", caught=r"a step reads `from`.*TODO 6a"),
    Fault(name="steps from the other buffer", old="{&from, &to, &count}", new="{&to, &from, &count}", caught=r"a step reads `from`.*TODO 6a"),
    Fault(name="no steps", old=f"    CHECK({CHAINED});\n", new="    (void)parameters;\n", caught=r"no node does a step \(TODO 6a\)"),
    Fault(name="copy from the other buffer", old="chain.h_cells, chain.d_cells[0],\n                                   chain.bytes()",
          new="chain.h_cells, chain.d_cells[1],\n                                   chain.bytes()", caught=r"other buffer.*d_cells\[0\] \(TODO 6b\)",
          on_card="elements differ"),
    Fault(name="key of the first round", old=UPDATE, new="        (void)stir;\n", caught=r"key of the first.*TODO 7"),
    Fault(name="key changed after the launch", old=UPDATE, new=LAUNCHED + UPDATE + "        continue;\n", caught=r"key of the round before.*TODO 7"),
    Fault(name="nodes without order: races", old=CHAINED, new=CHAINED.replace("&last, 1", "&last, 0"), watched=True,
          caught=r"race .*(\n.*)*two nodes of a graph", cases=("no race between streams",), backends=("cpu",)),
    Fault(name="function in another stream races", old="cudaLaunchHostFunc(stream,", new=f"cudaLaunchHostFunc({OTHER},", watched=True,
          caught=r"race .*(\n.*)*put it behind that work", cases=("no race between streams",), backends=("cpu",)),
    Fault(name="graph is never destroyed", old="    CHECK(cudaGraphDestroy(graph));\n", new="", caught=r"never destroyed.*cudaGraphDestroy.*TODO 5",
          cases=("captured: all launches by one graph",), backends=("cpu",)),
    Fault(name="the host waits between graphs", old=UPDATE, new=UPDATE + "        CHECK(cudaStreamSynchronize(chain.stream));\n",
          caught=r"waits between the launches of a graph, by cudaStreamSynchronize", cases=NODES, backends=("cpu",)),
    # priorities
    Fault(name="streams that the default stream waits for", old="cudaStreamNonBlocking, highest", new="cudaStreamDefault, highest",
          caught=r"the default stream waits for these streams.*TODO 8"),
    Fault(name="priorities the wrong way round", old="cudaStreamNonBlocking, lowest", new="cudaStreamNonBlocking, highest", caught=r"urgent: .*(\n.*)*TODO 8"),
]
