"""Inline PTX as C++: the instructions that people write by hand. translate.py asks for it where a kernel has `asm`.

Each register is a variable with the type that it is declared with; an instruction reads and writes it as its own type, as
PTX does (cuda_cpu/ptx.h).
"""

from __future__ import annotations

import re
from typing import NamedTuple

import ptx_warp

TYPES = {"u8": "uint8_t", "s8": "int8_t", "b8": "uint8_t", "u16": "uint16_t", "s16": "int16_t", "b16": "uint16_t",
         "u32": "uint32_t", "s32": "int32_t", "b32": "uint32_t", "u64": "uint64_t", "s64": "int64_t", "b64": "uint64_t",
         "f32": "float", "f64": "double", "pred": "bool"}
CONSTRAINTS = {"h": "uint16_t", "r": "uint32_t", "l": "uint64_t", "f": "float", "d": "double", "n": "int64_t"}
SPECIAL = {"laneid": "::cuda_cpu::this_lane()", "warpid": "::cuda_cpu::ptx_thread() / 32", "nwarpid": "32u",
           "smid": "::cuda_cpu::ptx_block() % 40", "nsmid": "40u", "gridid": "0u", "clock": "clock64()", "clock64": "clock64()",
           "globaltimer": "clock64()", "globaltimer_lo": "clock64()", "lanemask_eq": "1u << ::cuda_cpu::this_lane()",
           "lanemask_lt": "(1u << ::cuda_cpu::this_lane()) - 1", "lanemask_le": "(2u << ::cuda_cpu::this_lane()) - 1",
           "lanemask_gt": "~((2u << ::cuda_cpu::this_lane()) - 1)", "lanemask_ge": "~((1u << ::cuda_cpu::this_lane()) - 1)",
           **{f"{name}.{side}": f"{variable}.{side}" for side in "xyz" for name, variable in (
               ("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))}}
# What an instruction computes of its operands a, b, c, d, all read as its type T.
BINARY = {"add": "a + b", "sub": "a - b", "and": "a & b", "or": "a | b", "xor": "a ^ b", "min": "min(a, b)", "max": "max(a, b)",
          "div": "a / b", "rem": "a % b", "mul.lo": "a * b", "mul": "a * b", "mul.hi": "::cuda_cpu::ptx_high(a, b)"}
UNARY = {"mov": "a", "not": "~a", "neg": "-a", "abs": "a < 0 ? -a : a", "ex2": "exp2f(a)", "lg2": "log2f(a)", "rcp": "T(1) / a",
         "sqrt": "std::sqrt(a)", "rsqrt": "T(1) / std::sqrt(a)", "sin": "sinf(a)", "cos": "cosf(a)", "tanh": "tanhf(a)",
         "popc": "::cuda_cpu::ptx_count(a)", "clz": "::cuda_cpu::ptx_zeros(a)", "brev": "::cuda_cpu::ptx_reverse(a)"}
TERNARY = {"mad.lo": "a * b + c", "fma": "std::fma(a, b, c)", "mad": "std::fma(a, b, c)", "sad": "c + (a < b ? b - a : a - b)"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
# What changes nothing that CPU mode has: roundings to nearest, approximations, hints for caches, spaces of memory.
IDLE = {"rn", "approx", "ftz", "rni", "global", "shared", "local", "const", "generic", "to", "volatile", "weak", "relaxed", "gpu",
        "cta", "sys", "acquire", "release", "cg", "ca", "cs", "lu", "cv", "wb", "wt", "nc", "L1", "L2", "sync", "aligned", "uni",
        "no_allocate", "evict_last", "evict_first", "evict_normal", "L2::128B", "L2::256B", "L1::no_allocate", "gl", "full"}


# Conversions of and to numbers that have no type of their own in a register.
NARROWED = {"f16.f32": "ptx_half", "f32.f16": "ptx_from_half", "bf16.f32": "ptx_bfloat", "f32.bf16": "ptx_from_bfloat", "tf32.f32": "ptx_tf32"}


def mnemonic_of_cvt(words: list[str]) -> str:
    return ".".join(word for word in words if word in ("f16", "bf16", "tf32", "f32"))


class NotThere(Exception):
    """An instruction that CPU mode does not have."""


class Operand(NamedTuple):
    constraint: str  # such as =r, +f or l
    expression: str


def is_ptx(template: str) -> bool:
    """Whether an asm's text is PTX: its mnemonics have dots, which those of a processor's assembler do not."""
    return bool(re.search(r"(?:^|[;{}\n\t ])\s*(?:@!?[%\w]+\s+)?[a-z][a-z0-9]*(?:\.[a-zA-Z][\w:]*)+(?:\s|;|$)|^\s*(?:membar|bar|trap|ret|exit)\b|\.reg\b", template))


def translated(template: str, operands: list[Operand]) -> str:
    """A statement of C++ without its semicolon; NotThere for what is none of the instructions above."""
    before, after = ["uint32_t cuda_cpu_carry = 0;"] if re.search(r"\.cc\b|\b(?:add|sub)c\b", template) else [], []
    for number, (constraint, expression) in enumerate(operands):
        kind = CONSTRAINTS.get(constraint.strip("=+&"))
        if kind is None:
            raise NotThere(f'a constraint "{constraint}"')
        if "=" in constraint:
            before.append(f"[[maybe_unused]] {kind} cuda_cpu_r{number}{{}};")
        else:
            before.append(f"[[maybe_unused]] {kind} cuda_cpu_r{number} = ::cuda_cpu::ptx_take<{kind}>({expression});")
        if constraint[0] in "=+":
            after.append(f"::cuda_cpu::ptx_give({expression}, cuda_cpu_r{number});")
    body = [line for part in instructions(template) for line in statement(part)]
    return "do { " + " ".join(before + body + after) + " } while (0)"


def instructions(template: str) -> list[str]:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", template, flags=re.S)
    declared = set(re.findall(r"\w+", " ".join(re.findall(r"\.reg\s+\.\w+([^;]*);", text))))
    text = re.sub(r"%%(\w+)", lambda name: name[1] if name[1] in declared else name[0], text)
    text = re.sub(r"\{(?=[^{};]*;)|\}(?=\s*(?:;|$|[a-z@]))", lambda brace: f"{brace[0]};", text)  # those of a scope
    return [" ".join(part.split()) for part in text.split(";") if part.strip()]


def statement(part: str) -> list[str]:
    """One instruction as statements."""
    if part in ("{", "}"):
        return [part]
    if found := re.fullmatch(r"\.reg \.(\w+) (.*)", part):
        if found[1] not in TYPES:
            raise NotThere(part)
        return [f"{TYPES[found[1]]} {', '.join('cuda_cpu_' + name.strip().lstrip('%') + '{}' for name in found[2].split(','))};"]
    if part.startswith("@"):
        predicate, _, rest = part[1:].partition(" ")
        negated = predicate.startswith("!")
        return [f"if ({'!' * negated}{register(predicate.lstrip('!'))})", "{", *statement(rest), "}"]
    mnemonic, _, arguments = part.partition(" ")
    names = [name.strip() for name in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\[\]{}]+", arguments) if name.strip()]
    parts = mnemonic.split(".")
    together = ptx_warp.translated(parts[0], parts[1:], names)
    if together is not None:
        return together
    return instruction(part, parts[0], [word for word in parts[1:] if word not in IDLE], names)


def instruction(whole: str, base: str, words: list[str], names: list[str]) -> list[str]:
    if base in ("membar", "fence"):
        return ["__threadfence();"]
    if base == "trap":
        return ["__trap();"]
    if base in ("prefetch", "prefetchu", "pragma", "nanosleep"):
        return ["__nanosleep(0);"] if base == "nanosleep" else []
    kinds = [word for word in words if word in TYPES]
    kind = TYPES[kinds[0]] if kinds else ""
    modes = ".".join(word for word in words if word not in TYPES)
    name = f"{base}.{modes}" if modes else base
    if base == "cvta":
        return [give(names[0], read(names[1], kind))]
    if base == "cvt" and mnemonic_of_cvt(words) in NARROWED:
        return [give(names[0], f"::cuda_cpu::{NARROWED[mnemonic_of_cvt(words)]}({read(names[1], 'uint16_t' if words[-1] in ('f16', 'bf16') else 'float')})")]
    if base in ("add", "addc", "sub", "subc") and (base[-1] == "c" or "cc" in words) and kind in ("uint32_t", "int32_t", "uint64_t"):
        carried = "cuda_cpu_carry" if base[-1] == "c" else "0u"
        wide = "uint64_t" if kind == "uint64_t" else "uint32_t"
        return [give(names[0], f"::cuda_cpu::ptx_{base[:3]}_carry<{wide}>({read(names[1], wide)}, {read(names[2], wide)}, {carried}, cuda_cpu_carry)")]
    if base == "cvt" and modes == "pack.sat" and kinds == ["u8", "s32", "b32"]:
        bytes_of = [f"uint32_t(max(0, min(255, {read(name, 'int32_t')})))" for name in names[1:3]]
        return [give(names[0], f"{read(names[3], 'uint32_t')} << 16 | {bytes_of[0]} << 8 | {bytes_of[1]}")]
    if base == "cvt" and len(kinds) == 2 and modes in ("", "rzi", "rn", "sat"):
        return [give(names[0], f"static_cast<{kind}>({read(names[1], TYPES[kinds[1]])})")]
    if base == "setp" and modes in COMPARISONS:
        return [f"{register(names[0])} = {read(names[1], kind)} {COMPARISONS[modes]} {read(names[2], kind)};"]
    if base == "selp":
        return [give(names[0], f"{register(names[3])} ? {read(names[1], kind)} : {read(names[2], kind)}")]
    if base in ("shl", "shr") and len(names) == 3:
        count = read(names[2], "uint32_t")
        return [give(names[0], f"::cuda_cpu::ptx_shift_{'left' if base == 'shl' else 'right'}({read(names[1], kind)}, {count})")]
    if base in ("bfe", "bfi", "prmt", "lop3", "dp4a", "shf", "mul", "mad", "bfind", "vabsdiff4") and (special := own_form(base, modes, kind, kinds, names)):
        return [special]
    for table, count in ((UNARY, 1), (BINARY, 2), (TERNARY, 3)):
        if name in table and len(names) == count + 1 and kind:
            values = ", ".join(f"{letter} = {read(value, kind)}" for letter, value in zip("abc", names[1:]))
            # The sum of two small numbers is an int, so the result becomes the type again.
            return [f"{{ using T = {kind}; const T {values}; {give(names[0], f'static_cast<T>({table[name]})')} }}"]
    raise NotThere(whole)


def own_form(base: str, modes: str, kind: str, kinds: list[str], names: list[str]) -> str:
    """What has operands of several kinds; empty if it is none of these."""
    if base in ("mul", "mad") and modes == "wide":
        wide = {"uint16_t": "uint32_t", "int16_t": "int32_t", "uint32_t": "uint64_t", "int32_t": "int64_t"}[kind]
        product = f"{wide}({read(names[1], kind)}) * {wide}({read(names[2], kind)})"
        return give(names[0], product + (f" + {read(names[3], wide)}" if base == "mad" else ""))
    word = [read(name, "uint32_t") for name in names[1:]]
    if base == "bfe" and kind in ("uint32_t", "int32_t"):
        return give(names[0], f"::cuda_cpu::ptx_extract<{kind}>({', '.join(word)})")
    if base == "bfi" and kind == "uint32_t":
        return give(names[0], f"::cuda_cpu::ptx_insert({', '.join(word)})")
    if base == "prmt" and not modes:
        return give(names[0], f"__byte_perm({', '.join(word)})")
    if base == "lop3":
        return give(names[0], f"::cuda_cpu::ptx_logic({', '.join(word)})")
    if base == "bfind" and kind in ("uint32_t", "int32_t"):
        return give(names[0], f"::cuda_cpu::ptx_find<{kind}>({word[0]}, {'true' if modes == 'shiftamt' else 'false'})")
    if base == "vabsdiff4" and modes in ("", "add") and kinds[1:] == ["u32", "u32"]:
        return give(names[0], f"__vsadu4({word[0]}, {word[1]}) + {word[2]}" if modes else f"__vabsdiffu4({word[0]}, {word[1]})")
    if base == "dp4a" and kinds[0] == kinds[1]:
        return give(names[0], f"__dp4a({', '.join(read(name, kind) for name in names[1:])})")
    if base == "shf" and modes in ("l.wrap", "r.wrap", "l.clamp", "r.clamp"):
        return give(names[0], f"__funnelshift_{modes[0]}{'c' if modes.endswith('clamp') else ''}({', '.join(word)})")
    return ""


def register(name: str) -> str:
    """The variable of a register: %0 of the operands, or one that is declared."""
    if found := re.fullmatch(r"%(\d+)", name):
        return f"cuda_cpu_r{found[1]}"
    if re.fullmatch(r"%?[A-Za-z_$][\w$]*", name):
        return "cuda_cpu_" + name.lstrip("%")
    raise NotThere(name)


def read(name: str, kind: str) -> str:
    """The value of an operand, as a type."""
    if name.lstrip("%") in SPECIAL and name[0] == "%":  # nvcc takes one % as well
        return f"static_cast<{kind}>({SPECIAL[name.lstrip('%')]})"
    if name.startswith("%%"):
        raise NotThere(name[1:])
    if found := re.fullmatch(r"0[fF]([0-9A-Fa-f]{8})", name):
        return f"::cuda_cpu::ptx_as<{kind}>(uint32_t{{0x{found[1]}u}})"
    if re.fullmatch(r"-?(?:0[xX][0-9A-Fa-f]+|\d+)U?", name):
        return f"static_cast<{kind}>({name.rstrip('U')}ll)"
    if re.fullmatch(r"-?\d+\.\d*", name):
        return f"static_cast<{kind}>({name})"
    return f"::cuda_cpu::ptx_as<{kind}>({register(name)})"


def address(name: str) -> str:
    found = re.fullmatch(r"\[\s*(%?\w+)\s*(?:\+\s*(-?\d+))?\s*\]", name)
    if not found:
        raise NotThere(name)
    return f"{register(found[1])} + {found[2] or 0}"


def give(name: str, value: str) -> str:
    if name.startswith("%%"):
        raise NotThere(name[1:])
    return f"::cuda_cpu::ptx_give({register(name)}, {value});"
