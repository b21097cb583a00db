"""What learners get wrong in lab 05."""

from faults import Fault

FORMULA = "return (299 * red + 587 * green + 114 * blue + 500) / 1000;"
PIXEL = "gray[i] = gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);\n        //: // TODO 2"
PLANES = "gray[i] = gray_of(planes[i], planes[plane + i], planes[2 * plane + i]);\n        //: // TODO 3"
CPU = ("cpu",)  # on a GPU this may go wrong without a sign, unless compute-sanitizer looks


def pixel(name, new, caught, **options):
    """A fault in the last line of interleaved."""
    return Fault(name=name, old=PIXEL, new=PIXEL.replace("rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]", new),
                 caught=caught, **options)


FAULTS = [
    Fault(name="cut off, not rounded", old=FORMULA, new=FORMULA.replace(" + 500", ""), caught="cut off, not rounded"),
    Fault(name="floats", old=FORMULA, new="return uint8_t(0.299f * red + 0.587f * green + 0.114f * blue + 0.5f);",
          caught="only sums in the middle .*floats round some of them down.*TODO 1"),
    Fault(name="weights of red and blue swapped", old=FORMULA, new=FORMULA.replace("red", "x").replace(
          "blue", "red").replace("x", "blue"), caught="red and blue are swapped"),
    pixel("no factor of three", "rgb[i], rgb[i + 1], rgb[i + 2]", "begins at byte 3 \\* i"),
    pixel("read as planes", "rgb[i], rgb[height * width + i], rgb[2 * height * width + i]",
          "taken as planes, but"),
    Fault(name="columns not tested", old="    if (column >= width) return;\n", new="", count=2, backends=CPU,
          caught="interleaved wrote past the end of the allocation of 1 byte: compare the index with the number of elements"),
    Fault(name="no loop over rows", old="row += stride", new="row += height", count=2,
          caught="the rows from 21 on are never written: the grid", cases=("interleaved: 97 x 89 in blocks of 35x3, 7 of them along y",)),
    Fault(name="planes without their padding", old=PLANES, new=PLANES.replace("plane + i", "height * width + i"), caught="plane_size is a multiple of 16"),
    Fault(name="bytes of the second pixel", old="byte_of(x, 3), byte_of(y, 0), byte_of(y, 1)",
          new="byte_of(y, 0), byte_of(y, 1), byte_of(y, 2)", caught="of each four pixels number 1 is wrong", cases=("vectorised: 31 x 33",)),
    Fault(name="weights rounded to nearest 16 bits", old="red_weight = 5016388, green_weight = 9848226, blue_weight = 1912603",
          new="red_weight = 19595 << 8, green_weight = 38470 << 8, blue_weight = 7471 << 8",
          caught="those of Pillow"),
    Fault(name="red and blue swapped in scaled_gray", old="red_weight * red + green_weight * green + blue_weight * blue",
          new="red_weight * blue + green_weight * green + blue_weight * red",
          caught="FAIL  vectorised: 31 x 33\n(.*\n)+?.*red and blue are swapped"),
    Fault(name="no half added before the shift", old=" + (1u << 23);", new=";",
          caught="FAIL  vectorised: 31 x 33\n(.*\n)+?.*cut off, not rounded"),
    Fault(name="what a thread has loaded itself", old="sixteen_interleaved(mine[0], mine[1], mine[2])",
          new="sixteen_interleaved(x, y, z)", caught="what it has put there"),
    Fault(name="last group left out", old="    } else {\n        for (int64_t i = first; i < count; i++) {\n            gray[i] = gray_of(rgb",
          new="    } else if (count < 0) {\n        for (int64_t i = first; i < count; i++) {\n            gray[i] = gray_of(rgb",
          caught="only whole groups of 16"),
    Fault(name="no barrier", old="        __syncthreads();\n", new="", backends=CPU,
          caught="FAIL  staged: 101 x 103(.*\n)+?.*threads read the tile before .*TODO 6"),
    Fault(name="vectors of the pixel's number", old="reinterpret_cast<const uint4*>(rgb + 3 * first);",
          new="reinterpret_cast<const uint4*>(rgb + first);", caught="FAIL  vectorised(.*\n)+?.*begin at byte `first`.*TODO 5b"),
    Fault(name="green for blue", old=PLANES, new=PLANES.replace("2 * plane", "plane"), caught="for blue stands the green"),
    # What a plain run does not see
    Fault(name="tile one vector short", old="tile[3 * threads_of_line];", new="tile[3 * threads_of_line - 1];", watched=True, backends=CPU,
          caught="FAIL  no race between threads\n.*kernel staged.* writes to .* past the end of the shared variable tile"),
    Fault(name="one thread converts all", old="        *reinterpret_cast<uint4*>(gray + first) = sixteen_interleaved(a, b, c);",
          new="        (void)a, (void)b, (void)c;\n        for (int64_t i = 0; first == 0 && i < count / 16 * 16; i++) {\n"
              "            gray[i] = gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);\n        }", watched=True, backends=CPU,
          caught="of the 768 threads of vectorised only 2 stored anything .* not shared out"),
    Fault(name="barrier of a warp", old="        __syncthreads();\n", new="        __syncwarp();\n", watched=True, backends=CPU,
          caught="FAIL  no race between threads\n.*race in kernel staged on the shared variable tile.*Put __syncthreads"),
]
