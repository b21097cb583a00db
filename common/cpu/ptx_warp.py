"""Inline PTX that more than one thread has a part in, or that names a space of memory: what ptx.py asks first.

Loads and stores with vectors, atomics, copies that are asynchronous on a card, barriers, and what the lanes of a warp do
together: votes, shuffles, ldmatrix, mma.
"""

from __future__ import annotations

import re

ATOMICS = {"add": "Add", "min": "Min", "max": "Max", "inc": "Inc", "dec": "Dec", "and": "And", "or": "Or", "xor": "Xor",
           "exch": "Exch", "cas": "CAS"}
ATOMIC_TYPES = {"u32": "unsigned int", "b32": "unsigned int", "s32": "int", "u64": "unsigned long long",
                "b64": "unsigned long long", "s64": "long long", "f32": "float", "f64": "double", "b16": "unsigned short"}
VOTES = {"ballot": "__ballot_sync", "all": "__all_sync", "any": "__any_sync"}
SHUFFLES = {"idx": "__shfl_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync", "bfly": "__shfl_xor_sync"}
# The numbers of a matrix: how mma names them, and how the header does.
MATRIX_NUMBERS = {"f16": "Half", "bf16": "Bfloat", "tf32": "Tf32", "s8": "Byte<signed char>", "u8": "Byte<unsigned char>",
                  "f64": "double"}
MATRIX_SHAPES = {("f16", "m16n8k16"), ("f16", "m16n8k8"), ("bf16", "m16n8k16"), ("bf16", "m16n8k8"), ("tf32", "m16n8k8"),
                 ("tf32", "m16n8k4"), ("f64", "m8n8k4"), ("f64", "m16n8k4"), ("f64", "m16n8k8"), ("f64", "m16n8k16"),
                 *((number, shape) for number in ("s8", "u8") for shape in ("m16n8k32", "m16n8k16", "m8n8k16"))}
SPACE = re.compile(r"shared(?:::(?:cta|cluster))?")


def translated(base: str, words: list[str], names: list[str]) -> list[str] | None:
    """Statements for an instruction of these; None if it is none of them. words: all that stands behind its first dot."""
    import ptx
    shared = any(SPACE.fullmatch(word) for word in words)
    kinds = [word for word in words if word in ptx.TYPES]
    kind = ptx.TYPES[kinds[0]] if kinds else ""
    if base in ("ld", "ldu", "st") and len(names) == 2 and kind:
        return access(base, words, kind, names, shared)
    if base in ("atom", "red"):
        return atomic(base, words, kinds, names, shared)
    if base == "cvta" and shared:
        value = ptx.read(names[1], "uint64_t")
        return [ptx.give(names[0], f"::cuda_cpu::shared_offset({value})" if "to" in words else f"::cuda_cpu::shared_address({value})")]
    if base == "cp" and words[:1] == ["async"]:
        return copy(words, names)
    if base in ("bar", "barrier"):
        return barrier(words, names)
    if base == "activemask":
        return [ptx.give(names[0], "__activemask()")]
    if base in ("vote", "shfl", "match", "redux") and words[:1] in (["sync"], ["any"], ["all"]):
        return lanes_together(base, words, kinds, names)
    if base == "ldmatrix" and "m8n8" in words and "b16" in words:
        registers = parts(names[0])
        turned = "true" if "trans" in words else "false"
        return ["{", f"uint32_t cuda_cpu_m[{len(registers)}];",
                f"::cuda_cpu::load_matrices<{turned}>(cuda_cpu_m, {address(names[1], True)});",
                *(ptx.give(name, f"cuda_cpu_m[{place}]") for place, name in enumerate(registers)), "}"]
    if base == "mma" and words[:1] == ["sync"]:
        return product(words, names)
    if base == "mov" and "{" in "".join(names):
        return packed(kind, names)
    if base == "griddepcontrol":
        return []  # the grids of a stream come one after another
    return None


def parts(name: str) -> list[str]:
    """The registers of {%0, %1}, or the one that stands alone."""
    return [part.strip() for part in name.strip("{} ").split(",")]


def address(name: str, shared: bool) -> str:
    import ptx
    place = ptx.address(name)
    return f"::cuda_cpu::shared_address({place})" if shared else place


def access(base: str, words: list[str], kind: str, names: list[str], shared: bool) -> list[str] | None:
    """A load or a store of one register, or of two or four that lie side by side."""
    import ptx
    known = {*ptx.IDLE, *ptx.TYPES, "v2", "v4", "mmio"}
    if not all(word in known or SPACE.fullmatch(word) for word in words):
        return None
    memory, registers = (names[1], names[0]) if base != "st" else (names[0], names[1])
    place = f"reinterpret_cast<{'' if base == 'st' else 'const '}{kind}*>({address(memory, shared)})"
    ordered = bool({"volatile", "acquire", "release", "relaxed"} & set(words))
    lines = ["{", f"const auto cuda_cpu_p = {place};"]
    for number, register in enumerate(parts(registers)):
        at = f"cuda_cpu_p + {number}"
        if base == "st":
            value = ptx.read(register, kind)
            lines.append(f"::cuda_cpu::store_in_order({at}, {value});" if ordered else f"*({at}) = {value};")
        elif register != "_":
            lines.append(ptx.give(register, f"::cuda_cpu::load_in_order({at})" if ordered else f"*({at})"))
    return [*lines, "}"]


def atomic(base: str, words: list[str], kinds: list[str], names: list[str], shared: bool) -> list[str] | None:
    import ptx
    what = [word for word in words if word in ATOMICS]
    if len(what) != 1 or len(kinds) != 1 or kinds[0] not in ATOMIC_TYPES or "noftz" in words:
        return None
    kind, arguments = ATOMIC_TYPES[kinds[0]], names if base == "red" else names[1:]
    place = f"reinterpret_cast<{kind}*>({address(arguments[0], shared)})"
    values = ", ".join(ptx.read(name, kind) for name in arguments[1:])
    call = f"atomic{ATOMICS[what[0]]}({place}, {values})"
    line = f"{call};" if base == "red" or names[0] == "_" else ptx.give(names[0], call)
    before = ["__threadfence();"] if {"release", "acq_rel"} & set(words) else []
    after = ["__threadfence();"] if {"acquire", "acq_rel"} & set(words) else []
    return [*before, line, *after]


def copy(words: list[str], names: list[str]) -> list[str] | None:
    """cp.async: made at once, and nothing is left to wait for."""
    import ptx
    if words[1] in ("commit_group", "wait_group", "wait_all"):
        return []
    if words[1] not in ("ca", "cg") or len(names) < 3 or not names[2].strip("%").isalnum():
        return None
    bytes_ = ptx.read(names[2], "uint32_t")
    taken = ptx.read(names[3], "uint32_t") if len(names) > 3 and "cache_hint" not in ".".join(words) else bytes_
    return [f"::cuda_cpu::copy_to_shared({address(names[0], True)}, {ptx.address(names[1])}, {bytes_}, {taken});"]


def barrier(words: list[str], names: list[str]) -> list[str] | None:
    import ptx
    words = [word for word in words if word not in ("aligned", "cta")]
    if words == ["warp", "sync"]:
        return [f"__syncwarp({ptx.read(names[0], 'uint32_t')});"]
    if words == ["sync"] and names in ([], ["0"]):
        return ["__syncthreads();"]
    if words in (["sync"], ["arrive"]) and names:
        count = ptx.read(names[1], "uint32_t") if len(names) > 1 else "0u"
        return [f"::cuda_cpu::numbered_barrier({ptx.read(names[0], 'uint32_t')}, {count}, {'true' if words == ['sync'] else 'false'});"]
    if words[:1] == ["red"] and len(names) == 3 and names[1].isdigit():  # all threads of the block
        call = {"popc": "count", "and": "and", "or": "or"}[words[1]]
        return [ptx.give(names[0], f"__syncthreads_{call}({ptx.register(names[2])})")]
    return None


def lanes_together(base: str, words: list[str], kinds: list[str], names: list[str]) -> list[str] | None:
    import ptx
    mask = ptx.read(names[-1], "uint32_t")
    modes = [word for word in words if word != "sync" and word not in kinds]
    if base == "vote" and modes and modes[0] in VOTES:
        negated = names[1].startswith("!")
        return [ptx.give(names[0], f"{VOTES[modes[0]]}({mask}, {'!' * negated}({ptx.register(names[1].lstrip('!'))} != 0))")]
    if base == "match" and modes == ["any"]:
        return [ptx.give(names[0], f"__match_any_sync({mask}, {ptx.read(names[1], ptx.TYPES[kinds[0]])})")]
    if base == "redux" and modes:
        return [ptx.give(names[0], f"__reduce_{modes[0]}_sync({mask}, {ptx.read(names[1], 'int' if kinds == ['s32'] else 'uint32_t')})")]
    if base == "shfl" and len(names) == 5 and "|" not in names[0]:
        width = f"32 - static_cast<int>({ptx.read(names[3], 'uint32_t')} >> 8 & 31)"
        return [ptx.give(names[0], f"{SHUFFLES[modes[0]]}({mask}, {ptx.read(names[1], 'uint32_t')}, {ptx.read(names[2], 'uint32_t')}, {width})")]
    return None


def product(words: list[str], names: list[str]) -> list[str] | None:
    """mma.sync.aligned.SHAPE.row.col.D.A.B.C {d}, {a}, {b}, {c}: each lane makes its sums of the registers of all."""
    import ptx
    shape = next((word for word in words if re.fullmatch(r"m\d+n\d+k\d+", word)), "")
    numbers = [word for word in words if word in MATRIX_NUMBERS or word in ("f32", "s32")]
    if len(numbers) != 4 or (numbers[1], shape) not in MATRIX_SHAPES or len(names) != 4 or not {"row", "col"} <= set(words):
        return None
    register = "double" if numbers[1] == "f64" else "uint32_t"
    total = {"f64": "double", "f32": "float", "s32": "int32_t", "f16": "uint32_t"}.get(numbers[0])
    if total is None or numbers[0] != numbers[3]:
        return None
    arrays = [", ".join(ptx.read(name, kind) for name in parts(group)) for group, kind in zip(names[1:], (register, register, total))]
    m, n, k = re.findall(r"\d+", shape)
    types = ", ".join(f"::cuda_cpu::matrix::{MATRIX_NUMBERS[number]}" if number != "f64" else "double" for number in numbers[1:3])
    return ["{", f"const {register} cuda_cpu_a[] = {{{arrays[0]}}}, cuda_cpu_b[] = {{{arrays[1]}}};",
            f"{total} cuda_cpu_c[] = {{{arrays[2]}}};",
            f"::cuda_cpu::matrix::multiply_add<{m}, {k}, {types}>(cuda_cpu_c, cuda_cpu_a, cuda_cpu_b);",
            *(ptx.give(name, f"cuda_cpu_c[{place}]") for place, name in enumerate(parts(names[0]))), "}"]


def packed(kind: str, names: list[str]) -> list[str] | None:
    """mov between a register and the two or four that make it up."""
    import ptx
    wide, narrow = (names[1], names[0]) if names[0].startswith("{") else (names[0], names[1])
    registers = parts(narrow)
    bits = {"uint64_t": 64, "uint32_t": 32, "double": 64, "float": 32}.get(kind, 0) // len(registers)
    if not bits:
        return None
    piece = f"uint{bits}_t"
    if wide == names[1]:
        value = ptx.read(wide, f"uint{bits * len(registers)}_t")
        return ["{", f"const auto cuda_cpu_w = {value};",
                *(ptx.give(name, f"static_cast<{piece}>(cuda_cpu_w >> {bits * place})") for place, name in enumerate(registers) if name != "_"), "}"]
    whole = f"uint{bits * len(registers)}_t"
    value = " | ".join(f"static_cast<{whole}>({ptx.read(name, piece)}) << {bits * place}" for place, name in enumerate(registers))
    return [ptx.give(names[0], f"static_cast<{whole}>({value})")]
