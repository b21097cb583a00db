"""What learners get wrong in lab 12."""

from faults import Fault

HELLO = "nested_hello<<<1, threads / 2>>>(threads / 2, depth + 1, tally);"
TAIL = "tail_kernel<<<1, 1, 0, TAIL_STREAM>>>(notes);"
SUBDIVIDE = "subdivide<<<4, blockDim.x, 0, FREE_STREAM>>>(view, inside_of(mine), 2, 2, dwells, tally);"

FAULTS = [
    Fault(name="every thread launches", old="if (threads == 1 || threadIdx.x > 0) return;",
          new="if (threads == 1) return;",
          caught="grids are launched below, where each block is to launch one, by its thread 0 .TODO 1", cases=("hello: 1 x 8 threads",)),
    Fault(name="the same number of threads", old=HELLO, new=HELLO.replace("1, threads / 2>>>", "1, threads>>>"),
          caught="it is to have half as many as the one above.*TODO 1", cases=("hello: 1 x 8 threads",)),
    Fault(name="depth not counted", old=HELLO, new=HELLO.replace("depth + 1", "depth"),
          caught="the depth does not grow: it is to be depth . 1 in the grid below .TODO 1", cases=("hello: 1 x 8 threads",)),
    Fault(name="tail as an ordinary child", old=TAIL, new=TAIL.replace(", 0, TAIL_STREAM", ""),
          caught="launched into TAIL_STREAM", cases=("streams: who runs when, and sees what",)),
    Fault(name="only one thread's part of the border compared", old="threadIdx.x >= border || (",
          new="threadIdx.x > 0 || (",
          caught="a rectangle whose border has several dwells is filled with that of its corner: .*it is no task"),
    Fault(name="filled with the limit", old="pixel.column] = dwell;\n    }\n    //:",
          new="pixel.column] = view.limit;\n    }\n    //:",
          caught="fill_inside stores .* .view.limit. in place of the dwell that it is given .TODO 3"),
    Fault(name="filled by a width of its own", old="dwells[int64_t{pixel.row} * view.width + pixel.column] = dwell;\n    }\n    //:",
          new="dwells[int64_t{pixel.row} * inside.width + pixel.column] = dwell;\n    }\n    //:",
          caught="stored at pixel.row . inside.width . pixel.column: it is to be pixel.row . view.width"),
    Fault(name="a launch the first time only", old="    begin_levels(job);\n    unsigned count = job.tiles();",
          new="    static bool done = false;\n    if (done) return {};\n    done = true;\n    begin_levels(job);\n"
              "    unsigned count = job.tiles();", caught="right only once: in a later launch", cases=("fewer pixels computed than there are",)),
    Fault(name="inside never filled", old="fill_inside(view, inside, dwells, corner);", new=";",
          caught="rectangles whose border has one dwell are not filled .TODO 3"),
    Fault(name="three of four parts launched", old=SUBDIVIDE, new=SUBDIVIDE.replace("<<<4", "<<<3"),
          caught="the four parts are not all launched .TODO 4"),
    Fault(name="blocks of one thread", old=SUBDIVIDE, new=SUBDIVIDE.replace("<<<4, blockDim.x", "<<<4, 1"),
          caught="subdivide is launched with blocks of 1(.|\\n)*are to be blockDim.x, 128 here .TODO 4", backends=("cpu",)),
    Fault(name="parts of the whole, not of the inside", old=SUBDIVIDE,
          new="subdivide<<<4, blockDim.x, 0, FREE_STREAM>>>(view, Rectangle{mine.row, mine.column, "
              "mine.height - 2, mine.width - 2}, 2, 2, dwells, tally);", caught="are to be those of inside_of.mine.*TODO 4"),
    Fault(name="filled by computing", old="pixel.column] = dwell;\n    }\n    //:",
          new="pixel.column] =\n            dwell_of(view, pixel.row, pixel.column);\n    }\n    //:",
          caught="fill_inside stores the dwell", cases=("device_launches: what is thinner than a pixel",)),
    Fault(name="borders listed again", old="part_of(inside_of(mine), 2, 2, part);", new="part_of(mine, 2, 2, part);",
          caught="borders are computed again"),
    Fault(name="every thread launches its parts", old="if (cut && threadIdx.x == 0) {\n        subdivide",
          new="if (cut) {\n        subdivide", caught="more than one thread", cases=("device_launches: 31 x 33",)),
    Fault(name="list written without its own places", old="atomicAdd(&levels.counts[level + 1], 4u)",
          new="(levels.counts[level + 1] += 4u) - 4u", caught="race in kernel settle_level.*use an atomic operation", watched=True, cases=("host_levels: no race",),
          backends=("cpu",)),
    Fault(name="the next level does not wait for this one", old="launch_levels<<<1, 1, 0, TAIL_STREAM>>>",
          new="launch_levels<<<1, 1, 0, FREE_STREAM>>>", backends=("cpu",),
          caught="the next level begins before this one has ended: .*TAIL_STREAM.*TODO 6"),
    Fault(name="next level never launched",
          old="launch_levels<<<1, 1, 0, TAIL_STREAM>>>(view, levels, level + 1, dwells, tally);", new="",
          caught="or that level is not launched .TODO 6"),
    Fault(name="small rectangles left empty", old="        compute_inside(view, inside, dwells);\n", new="",
          caught="rectangles too small to be cut stay empty inside: .*it is no task"),
    Fault(name="x and y exchanged", file="mandelbrot.h", old="const int top = int(r.height * i / rows)",
          new="const int top = int(r.height * j / rows)", caught="FAIL"),
]
