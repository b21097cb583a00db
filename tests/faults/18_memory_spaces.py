"""Planted faults of lab 18: what is read from the wrong place, and memory that is not what it should be."""

from faults import Fault

CPU = ("cpu",)
PAGES = "several pages, three rounds"
ARRAYS = """        const uint32_t left = chain.angle[max(i - d, 0)];
        const uint32_t right = chain.angle[min(i + d, chain.count - 1)];
        force += pull(own, left, right, chain.weights[d - 1]);
    }
    chain.speed[i] += force;"""
SYMBOL = "CHECK(cudaMemcpyToSymbol(constant_weights, h_weights, reach * sizeof(int32_t)));"
TILE = "tile[t] = chain.angle[min(max(first + t, 0), chain.count - 1)];"
FILL = "for (int t = threadIdx.x; t < block_size + 2 * chain.reach; t += block_size) {"
FROM_TILE = "force += pull(own, tile[here - d], tile[here + d], chain.weights[d - 1]);"
PINNED = "if (kind == Kind::pinned) CHECK(cudaMallocHost(&memory, bytes));"
MAPPED = "if (kind == Kind::mapped) CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped));"
MANAGED = "if (kind == Kind::managed) CHECK(cudaMallocManaged(&memory, bytes));"
WAIT = "    CHECK(cudaDeviceSynchronize());\n    //: // TODO 6"
SEND = "    CHECK(cudaMemPrefetchAsync(round.h_{}, {}_bytes, {}_place(), 0));\n"

FAULTS = [
    # Task 1
    Fault(name="neighbours beyond the end", old=ARRAYS, new=ARRAYS.replace("min(i + d, chain.count - 1)", "i + d"),
          caught="past the end|before the access|FAIL  arrays: one rotor", cases=("arrays: one rotor",)),
    Fault(name="weights one too far", old=ARRAYS, new=ARRAYS.replace("weights[d - 1]", "weights[d % chain.reach]"), caught="FAIL  arrays: 1009|FAIL  arrays: a prime",
          cases=("arrays: a prime",)),
    Fault(name="speed not kept", old="    chain.speed[i] += force;\n    chain.next[i] = own + chain.speed[i];",
          new="    chain.next[i] = own + chain.speed[i] + force;", caught="FAIL  arrays: one rotor", cases=("arrays: one rotor",)),
    Fault(name="new angles among the old ones", old="    chain.next[i] = own + chain.speed[i];", new="    chain.angle[i] = chain.next[i] = own + chain.speed[i];",
          caught="race|FAIL  arrays", cases=("arrays: a prime", "arrays: one rotor")),
    Fault(name="lanes far apart", old="""    const uint32_t own = chain.angle[i];
    uint32_t force = chain.field[cell_of(own, chain.cells)];
    for (int d = 1; d <= chain.reach; ++d) {
""" + ARRAYS, new="""    const int whole = chain.count / blockDim.x, lane = i % blockDim.x;
    const int j = chain.count % blockDim.x == 0 ? lane * whole + i / blockDim.x : i;
    const uint32_t own = chain.angle[j];
    uint32_t force = chain.field[cell_of(own, chain.cells)];
    for (int d = 1; d <= chain.reach; ++d) {
        const uint32_t left = chain.angle[max(j - d, 0)];
        const uint32_t right = chain.angle[min(j + d, chain.count - 1)];
        force += pull(own, left, right, chain.weights[d - 1]);
    }
    chain.speed[j] += force;
    chain.next[j] = own + chain.speed[j];
    if (chain.count > 0) return;
    chain.speed[i] += force;""", caught=r"sectors.*(\n.*)*far apart.*TODO 1", watched=True, cases=("arrays: neighbours load neighbours",), backends=CPU),
    # Task 2
    Fault(name="constants never filled", old=SYMBOL, new="(void)h_weights, (void)reach;", caught="constant_weights was never filled .TODO 2a",
          cases=("constant: a prime",)),
    Fault(name="a quarter of the constants", old=SYMBOL, new=SYMBOL.replace(" * sizeof(int32_t)", ""), caught="counts bytes .TODO 2a", cases=("constant: a prime",)),
    Fault(name="weights from global memory", old="force += pull(own, left, right, constant_weights[d - 1]);",
          new="force += pull(own, left, right, chain.weights[d - 1]);", caught="where this variant has ones.*TODO 2b", cases=("constant: a prime",)),
    # Task 3
    Fault(name="texture of floats", old="cudaCreateChannelDesc<int32_t>();", new="cudaCreateChannelDesc<uint8_t>();", caught="FAIL  texture",
          cases=("texture: a prime",)),
    Fault(name="a quarter of the texture", old="sizeInBytes = cells * sizeof(int32_t);", new="sizeInBytes = cells;", caught="FAIL  texture",
          cases=("texture: a prime",)),
    Fault(name="field from global memory", old="tex1Dfetch<int32_t>(chain.texture, cell_of(own, chain.cells));", new="chain.field[cell_of(own, chain.cells)];",
          caught="where this variant has ones.*TODO 3b", cases=("texture: a prime",)),
    # Task 4
    Fault(name="tile without what follows", old=FILL, new=FILL.replace("2 * chain.reach", "chain.reach"), caught="shared memory|TODO 4a|FAIL  shared",
          cases=("shared: a prime",)),
    Fault(name="tile begins too late", old=TILE, new=TILE.replace("first + t", "first + t + 1"), caught="FAIL  shared: one rotor|FAIL  shared: a prime", cases=("shared: a prime",)),
    Fault(name="barrier missing", old="    __syncthreads();\n", new="", caught="race|order in which the threads run|shared memory", backends=CPU, cases=("shared: a prime",)),
    Fault(name="return before the barrier", old="    " + FILL, new="    if (i >= chain.count) return;\n    " + FILL, caught="reach this barrier|FAIL  shared", backends=CPU,
          cases=("shared: 257", "shared: a prime")),
    Fault(name="neighbours loaded again", old=FROM_TILE,
          new="force += pull(own, chain.angle[max(i - d, 0)], chain.angle[min(i + d, chain.count - 1)], chain.weights[d - 1]);",
          caught=r"still loads its neighbours from global memory.*TODO 4b", watched=True, cases=("shared: angles are loaded once",), backends=CPU),
    # Task 5
    Fault(name="pinned memory that is pageable", old=PINNED, new="if (kind == Kind::pinned) memory = std::malloc(bytes);", caught="memory that is pageable .TODO 5a"),
    Fault(name="mapped memory that is managed", old=MAPPED, new="if (kind == Kind::mapped) CHECK(cudaMallocManaged(&memory, bytes));",
          caught="memory that is managed .TODO 5a"),
    Fault(name="managed memory that is pinned", old=MANAGED, new="if (kind == Kind::managed) CHECK(cudaMallocHost(&memory, bytes));",
          caught="memory that is pinned .TODO 5a"),
    Fault(name="no device pointer", old="CHECK(cudaHostGetDevicePointer(&d_mapped, h_mapped, 0));", new="(void)h_mapped;", caught="gives none .TODO 5c"),
    Fault(name="managed memory never freed", old="    if (kind == Kind::managed) CHECK(cudaFree(memory));\n", new="",
          caught="never given to cudaFree|never freed", backends=CPU, cases=(f"managed: {PAGES}",)),
    # Task 6
    Fault(name="nobody waits", old=WAIT, new="    //: // TODO 6", caught="before the kernels have written to them.*TODO 6", backends=CPU,
          cases=("managed: 33 rotors", "mapped: 33 rotors")),
    # Task 7
    Fault(name="field not sent", old=SEND.format("field", "field", "device"), new="", caught=r"of the field that.*TODO 7a|send them there.*TODO 7a", backends=CPU,
          cases=(f"prefetched: {PAGES}",)),
    Fault(name="angles not sent back", old=SEND.format("angle", "angle", "host"), new="", caught="send them back.*TODO 7b", backends=CPU,
          cases=(f"prefetched: {PAGES}",)),
    Fault(name="half of the angles sent", old=SEND.format("angle", "angle", "device"), new=SEND.format("angle", "angle", "device").replace("angle_bytes", "angle_bytes / 2"),
          caught="of the angles that.*(\n.*)*TODO 7a", backends=CPU, cases=(f"prefetched: {PAGES}",)),
    # Task 8
    Fault(name="advice withdrawn", old="cudaMemAdviseSetReadMostly", new="cudaMemAdviseUnsetReadMostly",
          caught="stays on both sides.*TODO 8", backends=CPU, cases=(f"advised: {PAGES}",)),
    Fault(name="another advice", old="cudaMemAdviseSetReadMostly", new="cudaMemAdviseSetPreferredLocation", caught="stays on both sides.*TODO 8", backends=CPU,
          cases=(f"advised: {PAGES}",)),
]
