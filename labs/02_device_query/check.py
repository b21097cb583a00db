"""Judges device_query by the file that --csv writes.

The oracle is another source than the program's: on a GPU the CUDA driver, asked directly through
its own library; in CPU mode the figures of the cards that CPU mode can pretend to be, as NVIDIA
publishes them. What follows from the figures is worked out here once more.
"""

import csv
import ctypes
import math
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker

lab = checker.Lab(__file__)

# Columns: name, compute capability, multiprocessors, global memory, core clock and memory clock in
# kHz, bus width in bits, L2, then threads, blocks and bytes of shared memory in a multiprocessor.
CARDS = {
    "t4": ("Tesla T4", (7, 5), 40, 15843721216, 1590000, 5001000, 256,
           4 << 20, 1024, 16, 64 << 10),
    "rtx3090": ("NVIDIA GeForce RTX 3090", (8, 6), 82, 25438126080, 1695000, 9751000, 384,
                6 << 20, 1536, 16, 100 << 10),
    "a100": ("NVIDIA A100-SXM4-40GB", (8, 0), 108, 42298834944, 1410000, 1215000, 5120,
             40 << 20, 2048, 32, 164 << 10),
    "h100": ("NVIDIA H100 80GB HBM3", (9, 0), 132, 85028896768, 1980000, 2619000, 5120,
             50 << 20, 2048, 32, 228 << 10),
    "rtx4060laptop": ("NVIDIA GeForce RTX 4060 Laptop GPU", (8, 9), 24, 8585216000, 1890000, 8001000,
                      128, 32 << 20, 1536, 24, 100 << 10),
}

# FP32 results in a clock for each multiprocessor: CUDA programming guide, arithmetic throughput.
CORES = {(5, 0): 128, (5, 2): 128, (5, 3): 128, (6, 0): 64, (6, 1): 128, (6, 2): 128, (7, 0): 64,
         (7, 2): 64, (7, 5): 64, (8, 0): 64, (8, 6): 128, (8, 7): 128, (8, 9): 128, (9, 0): 128,
         (10, 0): 128, (10, 1): 128, (10, 3): 128, (11, 0): 128, (12, 0): 128, (12, 1): 128}

# What a wrong conclusion often is, as a multiple of the right one.
SLIPS = {
    0.5: "the factor two is missing: two transfers in a clock, or two operations in a multiply-add",
    2: "a factor two too much",
    8: "bits are taken for bytes",
    1 / 8: "a division by 8 too much",
    1e-3: "MHz and kHz, or kHz and Hz, are mixed up",
    1e3: "MHz and kHz, or kHz and Hz, are mixed up",
    1e9 / 2**30: "1 GB/s is 1e9 bytes in a second, not 2^30",
}

# Which task of the handout a fact belongs to.
TASKS = {
    "1 (attribute)": {"core_clock", "memory_clock", "memory_bus_width", "L2_cache"},
    "2 (peak bandwidth and arithmetic)": {"peak_arithmetic", "peak_bandwidth"},
    "3 (what the device holds at once)": {"warps_per_multiprocessor", "resident_warps",
                                          "resident_threads", "registers_per_thread"},
}


# ---- What the devices are, from another source


def card_attributes(key):
    """The figures of a pretend device under the names that facts() uses."""
    (name, capability, multiprocessors, memory, core_clock, memory_clock, bus_width, l2, threads, blocks,
     shared) = CARDS[key]
    return {
        "name": f"CPU mode, as {name}", "capability": capability, "memory": memory,
        "multiprocessors": multiprocessors, "core_clock": core_clock, "memory_clock": memory_clock,
        "bus_width": bus_width, "l2": l2, "threads": threads, "blocks": blocks, "shared": shared,
        "constant": 64 << 10, "alignment": 512, "warp": 32, "block_threads": 1024,
        "block": (1024, 1024, 64), "grid": (2**31 - 1, 65535, 65535), "block_registers": 64 << 10,
        "registers": 64 << 10, "block_shared": 48 << 10,
    }


class Driver:
    """The CUDA driver's own library, which the program does not use directly."""

    lock = threading.Lock()

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise checker.Skipped(f"the CUDA driver's library cannot be loaded: {error}")
        status = self.library.cuInit(0)
        if status:
            raise checker.Skipped(f"the CUDA driver does not start (cuInit gives {status})")

    def ask(self, function, kind, *arguments):
        """One number from the driver; None when it does not tell."""
        value = kind()
        status = getattr(self.library, function)(ctypes.byref(value), *arguments)
        return None if status else value.value

    def attributes(self, device):
        def of(number):
            return self.ask("cuDeviceGetAttribute", ctypes.c_int, number, handle)

        handle = self.ask("cuDeviceGet", ctypes.c_int, device)
        name = ctypes.create_string_buffer(256)
        self.library.cuDeviceGetName(name, len(name), handle)
        return {
            "name": name.value.decode(), "capability": (of(75), of(76)),
            "memory": self.ask("cuDeviceTotalMem_v2", ctypes.c_size_t, handle),
            "multiprocessors": of(16), "core_clock": of(13) or None, "memory_clock": of(36) or None,
            "bus_width": of(37) or None, "l2": of(38) or None, "threads": of(39), "blocks": of(106),
            "shared": of(81), "constant": of(9), "alignment": of(14), "warp": of(10),
            "block_threads": of(1), "block": (of(2), of(3), of(4)), "grid": (of(5), of(6), of(7)),
            "block_registers": of(12), "registers": of(82), "block_shared": of(8),
        }


def driver_devices():
    """(driver version, attributes of every device) as the driver tells them."""
    with Driver.lock:
        driver = Driver()
        version = driver.ask("cuDriverGetVersion", ctypes.c_int)
        count = driver.ask("cuDeviceGetCount", ctypes.c_int)
        return version, [driver.attributes(device) for device in range(count)]


# ---- What the file must hold


def times(*factors):
    return None if None in factors else math.prod(factors)


def ratio(a, b):
    return None if a is None or b is None else a / b


def facts(device):
    """name -> (value, unit) for one device; None is n/a."""
    capability = device["capability"]
    cores = times(device["multiprocessors"], CORES.get(capability))
    bandwidth = times(2, device["memory_clock"], 1e3, ratio(device["bus_width"], 8), 1e-9)
    arithmetic = times(2, cores, device["core_clock"], 1e3, 1e-9)
    warps = ratio(device["threads"], device["warp"])
    return {
        "name": (device["name"], ""),
        "compute_capability": ("{}.{}".format(*capability), ""),
        "global_memory": (device["memory"], "bytes"),
        "multiprocessors": (device["multiprocessors"], ""),
        "core_clock": (ratio(device["core_clock"], 1000), "MHz"),
        "memory_clock": (ratio(device["memory_clock"], 1000), "MHz"),
        "memory_bus_width": (device["bus_width"], "bits"),
        "L2_cache": (device["l2"], "bytes"),
        "constant_memory": (device["constant"], "bytes"),
        "texture_alignment": (device["alignment"], "bytes"),
        "warp_size": (device["warp"], "threads"),
        "max_threads_per_block": (device["block_threads"], "threads"),
        "max_block_dimensions": ("{} x {} x {}".format(*device["block"]), "threads"),
        "max_grid_dimensions": ("{} x {} x {}".format(*device["grid"]), "blocks"),
        "max_threads_per_multiprocessor": (device["threads"], "threads"),
        "max_blocks_per_multiprocessor": (device["blocks"], "blocks"),
        "registers_per_block": (device["block_registers"], ""),
        "registers_per_multiprocessor": (device["registers"], ""),
        "shared_memory_per_block": (device["block_shared"], "bytes"),
        "shared_memory_per_multiprocessor": (device["shared"], "bytes"),
        "CUDA_cores": (cores, ""),
        "peak_arithmetic": (arithmetic, "GFLOP/s"),
        "peak_bandwidth": (bandwidth, "GB/s"),
        "operations_per_byte": (ratio(arithmetic, bandwidth), "FLOP/byte"),
        "warps_per_multiprocessor": (warps, "warps"),
        "resident_warps": (times(device["multiprocessors"], warps), "warps"),
        "resident_threads": (times(device["multiprocessors"], device["threads"]), "threads"),
        "registers_per_thread": (ratio(device["registers"], device["threads"]), ""),
    }


# ---- Judging


def read_facts(case, path):
    """{subject: {name: (value, unit)}} from the file."""
    if not path.is_file():
        case.no_file(path.name)
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    case.expect(rows and rows[0] == ["subject", "name", "value", "unit"],
                f"{path.name} does not start with the line subject,name,value,unit")
    found = {}
    for number, row in enumerate(rows[1:], 2):
        case.expect(len(row) == 4, f"{path.name}:{number}: {len(row)} columns, expected 4: {','.join(row)}")
        subject, name, value, unit = row
        place = found.setdefault(subject, {})
        case.expect(name not in place, f"{path.name}:{number}: a second {name} of {subject}")
        place[name] = (value, unit)
    return found


def shown(value):
    if value is None:
        return "n/a"
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def with_unit(value, unit):
    return value if value == "n/a" else f"{value} {unit}".rstrip()


def right(expected, got):
    """Numbers have three decimals in the file, so half of the last one is allowed."""
    if expected is None or isinstance(expected, str):
        return got == shown(expected)
    try:
        return abs(float(got) - expected) <= 5.1e-4
    except ValueError:
        return False


def likely_cause(expected, got):
    """A sentence for a wrong number, or nothing."""
    try:
        quotient = float(got) / expected
    except (TypeError, ValueError, ZeroDivisionError):
        return ""
    return next((sentence for factor, sentence in SLIPS.items()
                 if math.isclose(quotient, factor, rel_tol=1e-4)), "")


def open_tasks(names):
    """What is n/a for no reason belongs to a task of the handout that is still to do."""
    tasks = sorted({task for task, members in TASKS.items() for name in names if name in members})
    return f"likely cause: still to do, or returning nothing: task {', '.join(tasks)}" if tasks else ""


def judge_device(case, subject, expected, found):
    """Every fact of one device."""
    wrong, missing = [], []
    for name, (value, unit) in expected.items():
        got, got_unit = found.get(name, ("no such line", ""))
        if right(value, got) and unit == got_unit:
            continue
        if got == "n/a":
            missing.append(name)
        cause = likely_cause(value, got)
        wrong.append(f"  {name}: expected {with_unit(shown(value), unit)}, got {with_unit(got, got_unit)}"
                     + (f"\n    likely cause: {cause}" if cause else ""))
    if wrong:
        more = [f"  ... and {len(wrong) - 5} more"] if len(wrong) > 5 else []
        tasks = open_tasks(missing)
        case.fail("\n".join([f"{len(wrong)} of {len(expected)} facts of device {subject} differ:",
                             *wrong[:5], *more, *([tasks] if tasks else [])]))


def judge(case, devices, driver_version, env=None):
    """Runs the program and judges all that it writes about these devices."""
    try:
        case.run("--csv", "facts.csv", env=env)
    except checker.Failure as failure:
        if "cudaErrorNotSupported" not in str(failure):
            raise
        raise checker.Failure(f"{failure}\nlikely cause: the error of an attribute that cannot be had is "
                              "still there for the next check: does attribute (task 1) forget it by "
                              "calling cudaGetLastError()?")
    found = read_facts(case, case.folder / "facts.csv")
    system = found.pop("system", {})
    case.expect(system.get("devices", ("",))[0] == str(len(devices)),
                f"the system has {len(devices)} devices, got {system.get('devices', ('nothing',))[0]}")
    subjects = [str(number) for number in range(len(devices))]
    case.expect(sorted(found) == subjects,
                f"the file tells of the devices {', '.join(sorted(found)) or 'none'}, "
                f"expected {', '.join(subjects)}: is every device asked?")
    version = f"{driver_version // 1000}.{driver_version % 1000 // 10}" if driver_version else "n/a"
    got = system.get("driver_version", ("nothing",))[0]
    case.expect(got == version, f"driver version: expected {version}, got {got}")
    runtime = system.get("runtime_version", ("nothing",))[0].split(".")
    case.expect(len(runtime) == 2 and all(part.isdigit() for part in runtime),
                f"runtime version: {'.'.join(runtime)} is no version such as 12.4")
    for subject, device in zip(subjects, devices):
        judge_device(case, subject, facts(device), found[subject])


def pretend(case, cards, hidden=()):
    """CPU mode pretends to have these cards, which do not tell the hidden attributes."""
    if case.backend == "gpu":
        raise checker.Skipped("pretend devices are for CPU mode")
    names = {"core_clock": "clockRate", "memory_clock": "memoryClockRate"}
    devices = [{**card_attributes(card), **dict.fromkeys(hidden)} for card in cards]
    env = {"CUDA_CPU_DEVICE": ",".join(cards)}
    if hidden:
        env["CUDA_CPU_MISSING"] = ",".join(names[name] for name in hidden)
    judge(case, devices, 0, env=env)


@lab.case("every device of this machine")
def this_machine(case):
    if case.backend == "cpu":
        return pretend(case, ["t4"])
    version, devices = driver_devices()
    judge(case, devices, version)


for card in CARDS:
    lab.case(f"as {CARDS[card][0]}", pretend, cards=[card])
lab.case("two unlike devices", pretend, cards=["h100", "rtx4060laptop"])
lab.case("three devices", pretend, cards=["rtx3090", "t4", "a100"])
lab.case("a device that hides its memory clock", pretend, cards=["rtx3090"], hidden=["memory_clock"])
lab.case("a device that hides both clocks", pretend, cards=["h100"],
         hidden=["core_clock", "memory_clock"])


@lab.case("the table without --csv")
def table(case):
    """What a person sees names the devices too, and nothing is written."""
    env = {} if case.backend == "gpu" else {"CUDA_CPU_DEVICE": "a100"}
    names = ([device["name"] for device in driver_devices()[1]] if case.backend == "gpu"
             else [card_attributes("a100")["name"]])
    output = case.run(env=env).stdout
    for name in names:
        case.expect(name in output, f"the table does not name the device '{name}'")


@lab.case("no device")
def no_device(case):
    """Nothing to list is no failure: a sentence, and the status for skipped."""
    run = case.run("--csv", "facts.csv", status=77, env={"CUDA_VISIBLE_DEVICES": "-1"})
    case.expect("device" in run.stderr, "the program does not say on stderr that there is no device")
    case.expect(not (case.folder / "facts.csv").exists(), "there is no device, yet a file was written")


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses("--csv", saying="--csv")
    case.refuses("--csv", "no/such/folder/facts.csv", saying="--csv")
    case.refuses("--no-such-option", saying="--no-such-option")
    case.refuses("surplus", saying="surplus")


lab.main()
