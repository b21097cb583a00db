"""What is wrong with a line, in words, and what usually repairs it."""

from .divergence import Parting
from .summary import Line


def problem(line: Line | Parting) -> str:
    """One or two sentences for a line that is `wasteful`."""
    if isinstance(line, Parting):
        return parted(line)
    if line.access.what == "atomic":
        return atomic(line)
    return shared(line) if line.access.space == "shared" else scattered(line)


def parted(line: Parting) -> str:
    start = f"of the 32 lanes {line.lanes:.1f} are active in what follows, on the average"
    if line.kind == "exit":
        return (f"Lanes leave the kernel here: {start}. Where the array ends that has to be, and is nothing in a larger "
                "case; elsewhere the usual repair is to let whole warps leave.")
    if line.kind == "loop":
        return (f"The lanes of a warp leave this loop at different times: {start}; the others wait. Usual repair: give "
                "the lanes of a warp as many rounds each (sort or group the elements by their work), or let a whole warp "
                "share the rounds of one element.")
    return (f"The lanes of a warp part here, and the ways run one after the other: {start}. Usual repair: let the "
            "condition be the same for a whole warp (of threadIdx.x / 32 instead of threadIdx.x % 2; elements grouped by "
            "their way), and keep what only some lanes do short.")


def atomic(line: Line) -> str:
    access = line.access
    lanes = access.same / access.requests
    return (f"Up to {access.most} lanes of a warp ({lanes:.1f} on the average) update the same address, one after the "
            "other. Usual repair: first combine within the warp (__reduce_add_sync, __match_any_sync, shuffles) or in a "
            "copy of the counters in shared memory, then one atomic for all.")


def shared(line: Line) -> str:
    access = line.access
    extra = access.conflicts / access.requests
    return (f"A {access.most}-way bank conflict: lanes want different words of the same bank, which gives one at a time; "
            f"{extra:.1f} more steps a request than necessary. Usual repair: an unused column at the end of each row "
            "(tile[32][33]), or let neighbouring lanes walk along a row.")


def plain(number: float) -> str:
    """12.5 and 50, without the zero behind it."""
    return f"{number:.1f}".removesuffix(".0")


def scattered(line: Line) -> str:
    access = line.access
    used = 100 * access.bytes / (32 * access.units)
    each = access.asked / access.lanes
    verb = "fetches" if access.what == "load" else "touches"
    start = (f"A request {verb} {line.per_request:.1f} sectors of 32 bytes where {line.least_per_request:.1f} would do; "
             f"{plain(used)} % of the bytes are used.")
    if access.units - access.least <= 1.05 * access.requests:
        # Of few bytes it cannot be told whether they lie apart or across the border of a sector.
        lie = "lie side by side, but" if line.least_per_request > 1.5 else "leave gaps, or"
        return (f"{start} The lanes {lie} do not start at a multiple of 32 bytes. Usual repair: rows whose "
                "length is a multiple of 32 bytes (cudaMallocPitch), or an offset that is; caches catch part of it.")
    if line.per_request >= 0.9 * line.lanes:
        return (f"{start} Each lane has a sector of its own: neighbouring lanes are 32 bytes or more apart. Usual repair: "
                "let threadIdx.x run along the array's last dimension, or rearrange through a tile in shared memory; "
                "arrays of structures become structures of arrays.")
    return (f"{start} Neighbouring lanes leave gaps of more than their own {each:.0f} byte{'s' if each > 1 else ''}. Usual "
            "repair: let neighbouring lanes take neighbouring elements; read what lies together with one wide access "
            "(float4, uchar4).")
