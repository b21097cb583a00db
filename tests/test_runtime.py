"""CUDA on the CPU (common/cpu): every part of the runtime, by programs that check themselves.

The programs tests/programs/runtime_*.cu expect what a GPU does, so with BACKEND=gpu the same ones
run on a card.
"""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy
import pytest

import farm
from checker import comparison

CPU = farm.BACKEND == "cpu"
only_cpu = pytest.mark.skipif(not CPU, reason="a GPU answers otherwise, or not at all")


def program(name):
    return f"tests/programs/runtime_{name}.cu"


def flags(name):
    return "-rdc=true" if name == "nested" and not CPU else ""


def built(name):
    """Marks a test that runs a program: it is compiled ahead."""
    return pytest.mark.ahead(farm.build, program(name), "", "", False, flags(name))


def start(name, *arguments, env=None, timeout=60):
    return farm.run(farm.build(program(name), flags=flags(name)), *arguments,
                    env={"CUDA_CPU_DEVICE": "", **(env or {})}, timeout=timeout)


def expect_ok(name, *arguments, env=None):
    """Runs a program that checks itself, and returns what it printed."""
    result = start(name, *arguments, env=env)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("ok\n")
    return result.stdout


# --------------------------------------------------------------------------- parts that must work

PARTS = ["barriers", "warps", "atomics", "shared", "memory", "streams", "graphs", "errors", "nested", "math"]


@pytest.mark.parametrize("name", [pytest.param(name, marks=built(name)) for name in PARTS])
def test_part(name):
    assert expect_ok(name) == "ok\n"


@built("language")
def test_language():
    """Printing kernels print all that each thread prints."""
    lines = sorted(expect_ok("language").splitlines())
    assert lines == sorted(["all 1 x 4", "even  0.00 1099511627776 c %", "even  1.00 1099511627776 c %",
                            "odd 1 of block 0", "odd 3 of block 0", "ok"])


@only_cpu
@built("stress")
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_stress(threads):
    lines = expect_ok("stress", env={"CUDA_CPU_THREADS": str(threads)}).splitlines()
    assert sorted(lines[:-1]) == [f"thread {i:4} has {i + 33 / 64:.4f}" for i in range(5, 1024, 128)]


@only_cpu
@pytest.mark.parametrize("name", ["barriers", "warps", "atomics", "streams", "nested"])
def test_part_on_one_core(name):
    expect_ok(name, env={"CUDA_CPU_THREADS": "1"})


@only_cpu
@pytest.mark.parametrize("order", ["reversed", "random:7"])
@pytest.mark.parametrize("name", ["barriers", "warps", "shared", "streams", "graphs", "nested"])  # in atomics blocks wait for earlier ones
def test_part_in_another_order(name, order):
    expect_ok(name, env={"CUDA_CPU_ORDER": order})


@only_cpu
@built("memory")
def test_random_order_prints_its_seed():
    result = start("memory", env={"CUDA_CPU_ORDER": "random"})
    assert result.returncode == 0
    assert re.fullmatch(r"threads and blocks run in random order: CUDA_CPU_ORDER=random:\d+\n", result.stderr)


@only_cpu
@built("memory")
def test_unknown_order():
    result = start("memory", env={"CUDA_CPU_ORDER": "random:seven"})
    assert result.returncode == 1
    assert "is no order; write forward, reversed, random or random:SEED." in result.stderr


@only_cpu
@pytest.mark.ahead(farm.build, "tests/programs/sanitize_faults.cu")
def test_leak():
    """Device memory that is never freed is named when that is asked for."""
    program = farm.build("tests/programs/sanitize_faults.cu")
    lines = (farm.ROOT / "tests/programs/sanitize_faults.cu").read_text(encoding="utf-8").splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if "cudaMalloc(" in text)
    result = farm.run(program, "5", env={"CUDA_CPU_LEAKS": "1"})
    assert (result.returncode, farm.run(program, "5").returncode) == (1, 0)
    assert re.fullmatch(rf"sanitize_faults\.cu:{line}: 192 bytes of device memory, .* never given to cudaFree\.\n",
                        result.stderr)
    assert farm.run(program, "0", env={"CUDA_CPU_LEAKS": "1"}).returncode == 0


def line_of(name, mark):
    """The place in a program at the comment `HERE mark`."""
    lines = (farm.ROOT / program(name)).read_text(encoding="utf-8").splitlines()
    return f"runtime_{name}.cu:{1 + next(i for i, text in enumerate(lines) if text.endswith(f'// HERE {mark}'))}"


@only_cpu
@built("patterns")
def test_patterns(tmp_path):
    """What nobody has written can be told from a result, after arithmetic and conversions as well."""
    start("patterns", str(tmp_path / "results"))
    data = (tmp_path / "results").read_bytes()
    for dtype, count, offset in (("f4", 4, 0), ("f8", 4, 16), ("i4", 4, 48)):
        found = comparison.origins(numpy.frombuffer(data, dtype, count, offset))
        places = {kind: numpy.flatnonzero(here).tolist() for kind, here in found.items()}
        assert places == {"shared": [0], "past": [1], "device": [2], "lane": [3]}, dtype


@only_cpu
@built("record")
@pytest.mark.parametrize("status", [0, 1, 2])
def test_record(status, tmp_path):
    """What the checkers hear of a run, whatever its status; who gives up need not free anything."""
    result = start("record", str(status), env={"CUDA_CPU_RECORD": str(tmp_path / "record")})
    assert (result.returncode, result.stdout + result.stderr) == (status, "")
    record = json.loads((tmp_path / "record").read_text())
    launches = {launch.pop("kernel") + " by " + launch.pop("from") + f" in {launch['block'][0]}": launch
                for launch in record["launches"]}
    assert launches == {
        "work::one_thread by host in 32": {"grid": [3, 1, 1], "block": [32, 1, 1], "shared": 0, "times": 2, "streams": 0},
        "count_up<float, 2> by host in 25": {"grid": [2, 2, 1], "block": [25, 1, 1], "shared": 0, "times": 1, "streams": 0},
        "parent by host in 1": {"grid": [1, 1, 1], "block": [1, 1, 1], "shared": 0, "times": 1, "streams": 0},
        "work::one_thread by kernel in 2": {"grid": [1, 1, 1], "block": [2, 1, 1], "shared": 0, "times": 1, "streams": 0}}
    assert record["copies"] == {"to_device": {"calls": 1, "bytes": 400, "streams": 0}, "to_host": {"calls": 1, "bytes": 40, "streams": 0},
                                "on_device": {"calls": 1, "bytes": 8, "streams": 0}}
    leak = {"bytes": 1600, "times": 1, "place": line_of("record", "leak")}
    assert record["leaks"] == ([leak] if status == 0 else [])
    assert record["unchecked"] == [{"kernel": "count_up<float, 2>", "place": line_of("record", "unchecked"), "times": 1}]
    assert "calls" not in record


@only_cpu
@built("record")
def test_record_of_calls(tmp_path):
    """In their order: what each put into which stream, and whether the host waited in it."""
    start("record", "0", env={"CUDA_CPU_RECORD": str(tmp_path / "record"), "CUDA_CPU_RECORD_CALLS": "1"})
    calls = json.loads((tmp_path / "record").read_text())["calls"]
    assert [call["kernel"] for call in calls if call["call"] == "launch"].count("work::one_thread") == 2
    [copy] = [call for call in calls if call["call"] == "cudaMemcpy"][:1]
    assert copy == {"call": "cudaMemcpy", "kernel": "", "work": 1, "stream": 0, "priority": 0, "device": 0, "waits": True}
    assert not any(call["waits"] for call in calls if call["call"] in ("launch", "cudaMalloc"))


@only_cpu
@built("record")
def test_record_of_a_program_that_is_stopped(tmp_path):
    """CPU mode's own stop writes the record as well, and names the kernel behind a pointer."""
    result = start("record", "0", "stop", env={"CUDA_CPU_RECORD": str(tmp_path / "record")})
    assert result.returncode == 1
    assert f"{line_of('record', 'stops')}: argument 1 of kernel work::one_thread (h_values, 1) is a host" in result.stderr
    record = json.loads((tmp_path / "record").read_text())
    assert len(record["launches"]) == 5 and record["leaks"] == []
    assert [said.split(" in this shuffle,")[0] for said in record["absent_lanes"]] == [
        f"{line_of('record', 'absent')}: lane 0 of a warp reads lane 16"]
    result = start("record", env={"CUDA_CPU_RECORD": str(tmp_path / "no" / "folder")})
    assert (result.returncode, result.stderr) == (1, f"CUDA_CPU_RECORD: cannot write {tmp_path}/no/folder.\n")


@only_cpu
@pytest.mark.parametrize("name", ["warps", "atomics"])
def test_part_on_more_cores_than_there_are(name):
    expect_ok(name, env={"CUDA_CPU_THREADS": "8"})


# --------------------------------------------------------------------------- launches and errors


def test_nobody_waited():
    """A kernel that the program never waited for is not run when it ends, and prints nothing."""
    result = start("streams", "unwaited")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("argument, env", [("reset", {}), ("unwaited", {"CUDA_LAUNCH_BLOCKING": "1"})])
def test_waited_in_another_way(argument, env):
    if not CPU and env:
        pytest.skip("a GPU's output is printed only when the host synchronises")
    assert start("streams", argument, env=env).stdout == "the kernel ran\n"


@pytest.mark.parametrize("how", ["trap", "assert"])
def test_lost_device(how):
    result = start("errors", how)
    assert result.returncode == 0 and result.stdout.endswith("ok\n"), result.stdout + result.stderr
    if CPU and how == "assert":
        line = next(i for i, text in enumerate((farm.ROOT / program("errors")).read_text().splitlines(), 1)
                    if "assert(threadIdx.x" in text)
        assert re.search(rf"runtime_errors\.cu:{line}: fail_kernel: block \(\d,0,0\), thread \(5,0,0\): "
                         r"Assertion `threadIdx\.x < 5 && \"five\"' failed\.", result.stderr)


def test_fork():
    expect_ok("errors", "fork")


@pytest.mark.parametrize("visible", ["", "-1", "7"])
def test_no_device(visible):
    expect_ok("errors", "none", env={"CUDA_VISIBLE_DEVICES": visible})


# --------------------------------------------------------------------------- devices


@only_cpu
@built("devices")
@pytest.mark.parametrize("device", ["t4", "h100", "rtx3090", "a100", "rtx4060laptop"])
def test_device(device):
    """Properties, attributes and occupancy; for the first two with all numbers."""
    expect_ok("devices", device, env={"CUDA_CPU_DEVICE": device})


@only_cpu
@pytest.mark.parametrize("wish, visible, names", [
    ("t4", None, ["Tesla T4"]),
    ("h100,t4", None, ["NVIDIA H100 80GB HBM3", "Tesla T4"]),
    ("h100,t4,a100", "2,0", ["NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"]),
    ("h100,t4", "1,5,0", ["Tesla T4"]),
    ("h100,t4", "", []),
])
def test_several_devices(wish, visible, names):
    env = {"CUDA_CPU_DEVICE": wish, **({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})}
    result = start("devices", "list", env=env)
    expected = [*(f"CPU mode, as {name}" for name in names), "cudaSuccess" if names else "cudaErrorNoDevice"]
    assert result.stdout.splitlines() == expected


@only_cpu
@pytest.mark.parametrize("wish, count, names", [
    ("t4", "3", ["Tesla T4"] * 3),
    ("h100,t4", "3", ["NVIDIA H100 80GB HBM3", "Tesla T4", "NVIDIA H100 80GB HBM3"]),
    ("h100,t4", "1", ["NVIDIA H100 80GB HBM3"]),
])
def test_number_of_devices(wish, count, names):
    result = start("devices", "list", env={"CUDA_CPU_DEVICE": wish, "CUDA_CPU_DEVICES": count})
    assert result.stdout.splitlines() == [*(f"CPU mode, as {name}" for name in names), "cudaSuccess"]


@only_cpu
@pytest.mark.parametrize("count", ["0", "33", "many"])
def test_impossible_number_of_devices(count):
    result = start("devices", "list", env={"CUDA_CPU_DEVICES": count})
    assert (result.returncode, result.stderr) == (1, f'CUDA_CPU_DEVICES: "{count}" is not a number of devices from 1 to 32.\n')


@only_cpu
def test_unknown_device():
    result = start("devices", "list", env={"CUDA_CPU_DEVICE": "t5"})
    assert result.returncode == 1 and result.stdout == ""
    assert re.fullmatch(r'CUDA_CPU_DEVICE: there is no pretend device "t5"; known are: t4 .*\.\n',
                        result.stderr)


# --------------------------------------------------------------------------- mistakes

DEVICE_POINTER = r"host code %s the device pointer 0x[0-9a-f]+ \(byte %d of the %s of 4096 bytes\)\. " \
                 r"Device memory is not accessible while host code runs: .*"
ARGUMENT = r"argument %d of kernel %s \(.*\) is a %s"
KERNEL = r"kernel %s, thread \(%s,0,0\) of block \(%s,0,0\), "
BARRIER = r"only %d of the %d threads of block \(\d,0,0\) reach this barrier; %s\. Every thread .*"
OWN = r"pointer to %s memory\. The grids that a kernel launches can only use global memory\."

NO_ACCESS = r"has no access to it: copy it with cudaMemcpyPeerAsync, or call cudaDeviceEnablePeerAccess\(1, 0\) while that device is current\."
CALLED = r"kernel %s was called like a function: launch it with %s<<<grid, block>>>\(\.\.\.\)\."

MISTAKES = {
    "never_set": r"kernel never_set_kernel, thread \(3,0,0\) of block \([0-3],0,0\), waits here for ever: it asks again and again .*, 39 of its block "
                 r"at the barrier in line \d+, and no other block can begin\. .*",
    "waits_for_stream": KERNEL % ("first_kernel", "0", "0") + r"waits here, and all .* kernel second_kernel \([^()]*:\d+\), which is in another stream, could "
                        r"run at the same time\. .* needs a card\.",
    "waits_for_device": KERNEL % ("first_kernel", "0", "0") + r"waits here, and all .* kernel second_kernel \([^()]*:\d+\), which is for device 1, could "
                        r"run at the same time\. .* needs several cards\.",
    "host_reads": DEVICE_POINTER % ("(read from|touched)", 12, "allocation"),
    "host_writes": DEVICE_POINTER % ("(wrote to|touched)", 0, "allocation"),
    "host_copies": DEVICE_POINTER % ("(read from|touched)", 0, "allocation"),
    "host_reads_freed": DEVICE_POINTER % ("(read from|touched)", 0, "freed allocation"),
    "host_barrier": r"host code calls __syncthreads\(\), which only a kernel can do\. .*",
    "host_shuffle": r"host code calls a warp primitive, which only a kernel can do\. .*",
    "called": CALLED % (("add_kernel",) * 2),
    "called_by_pointer": CALLED % (("add_kernel",) * 2),
    "called_in_template": CALLED % (("reset_kernel<float>",) * 2),
    "host_argument": ARGUMENT % (2, "add_kernel", r"host pointer, 0x[0-9a-f]+\. A kernel can only use .*"),
    "local_argument": ARGUMENT % (1, "add_kernel", r"host pointer, 0x[0-9a-f]+\. A kernel can only .*"),
    "freed_argument": ARGUMENT % (1, "add_kernel", r"pointer into memory that was given to cudaFree\."),
    "other_device": ARGUMENT.replace(" a %s", " %s") % (1, "add_kernel", "memory of device 1, but the kernel runs on device 0, which " + NO_ACCESS),
    "held_of_other_device": KERNEL % ("held_kernel", "0", "0") +
                            r".* byte 0 of the allocation of 4096 bytes of device 1\. The kernel runs on device 0, which " + NO_ACCESS,
    "past_end": KERNEL % ("past_end_kernel", "0", "4") +
                r"\S+ ?\w* the first byte past the end of the allocation of 4096 bytes: .*",
    "past_odd_end": r"kernel past_end_kernel wrote past the end of the allocation of 4000 bytes: .*",
    "before_start": KERNEL % ("before_start_kernel", "0", "0") +
                    r".* 4 bytes before the start of the allocation of 4096 bytes: .*",
    "far_away": "(?:launched here: )?" + KERNEL % ("far_away_kernel", "0", "0") +
                r".* 15904 bytes past the end of the allocation of 4096 bytes: .*",
    "lineless": "launched here: " + KERNEL % ("lineless_kernel", "0", "0") + r".* 15904 bytes past .*",
    "over_guard": KERNEL % ("over_guard_kernel", "0", "0") +
                  r".* 3696 bytes past the end of the allocation of 4096 bytes: .*",
    "over_guard_of_two": KERNEL % ("over_guard_kernel", "0", "0") +
                         r".* 3696 bytes past the end of the allocation of 4096 bytes, or 400 bytes before the start of .*",
    "nowhere": KERNEL % ("over_guard_kernel", "0", "0") +
               r".* address 0x\w+, which is in no allocation: 17179865084 bytes past the end of [^:]* .nearly 2\^32 elements: .* an unsigned number that went below 0.*",
    "use_after_free": KERNEL % ("freed_kernel", "0", "0") +
                      r".* byte 0 of the freed allocation of 4096 bytes: it was given to cudaFree .*",
    "null_pointer": KERNEL % ("null_kernel", "7", "0") + r".* address \S+: a null pointer\.",
    "null_element": KERNEL % ("null_kernel", "7", "0") + r".* address 0x9c40: a null pointer\.",
    "past_shared": KERNEL % ("dynamic_kernel", "0", "0") +
                   r".* past the end of the dynamic shared memory of its block: .*",
    "past_static": r"kernel static_kernel wrote past the end of a static __shared__ array: .*",
    "far_past_static": KERNEL % (r"static_kernel", "[0-9]+", "0") + r".* an address past the end of a static __shared__ array: .*",
    "plain_flag": KERNEL % ("plain_flag_kernel", "0", "[01]") + r"loops here for ever: .* declare the variable volatile\.",
    "no_value": KERNEL % ("no_value_kernel", "10", "0") + r"comes to the end of a function that must return a value: write its return\.",
    "large_local": r"kernel local_kernel needs more than the 128 KiB of stack .*",
    "deep_recursion": r"kernel recursion_kernel needs more than the 128 KiB of stack .*",
    "early_return": BARRIER % (17, 32, r"15 ended before it \(the first is thread \(17,0,0\)\)"),
    "return_before_grid": r"only 17 of the 32 threads of block \([01],0,0\) reach this (?:barrier; 15 ended before it .*|grid\.sync\(\); the others ended before it\. .*)",
    "condition": BARRIER % (32, 64, r"32 ended before it \(the first is thread \(1,0,0\)\)"),
    "two_branches": r"10 of the block's 32 threads wait at this barrier, and 22 at the one in line \d+ \(block \(0,0,0\)\)\. .*",
    "loop_with_break": BARRIER % (31, 32, r"1 ended before it \(the first is thread \(0,0,0\)\)"),
    "barrier_and_warp": BARRIER % (32, 64, r"32 wait at the warp primitive in line \d+"),
    "split_warp": r"the lanes 0x0000ffff of a warp of block \(0,0,0\) wait in a warp primitive whose mask 0xffffffff names "
                  r"lane 16, too, and that one waits at the barrier in line \d+\. .*",
    "missing_lane": r"thread \(0,0,0\) of block \(0,0,0\) waits in a warp primitive with mask 0xffffffff "
                    r"for lane 16, which waits in line \d+\. .*",
    "unnamed_lane": r"lane 16 of the warp takes part in a warp primitive whose mask 0x0000ffff does not "
                    r"name it .*",
    "waits_in_kernel": r"kernel waiting_kernel calls cudaDeviceSynchronize, which device code cannot call: "
                       r".* cudaStreamTailLaunch\. \(A program of before CUDA 12: .*\)",
    "calls_in_kernel": r"kernel event_kernel calls cudaEventElapsedTime, which device code cannot call\.",
    "child_local": ARGUMENT % (1, "child_kernel", OWN % "local"),
    "child_shared": ARGUMENT % (1, "child_kernel", OWN % "shared"),
    "child_dynamic": ARGUMENT % (1, "child_kernel", OWN % "shared"),
}
# An Arm processor gives 0 and takes any address.
if CPU and farm.run(farm.cxx(), "-dumpmachine").stdout.startswith("x86_64"):
    MISTAKES["divides"] = KERNEL % ("divide_kernel", "0", "0") + r"divided an integer by zero\."
    MISTAKES["misaligned"] = KERNEL % ("misaligned_kernel", "0", "0") + r"used an address that is not .*"


def marked_lines(name, mark):
    """The lines of a program with `HERE mark` in a comment."""
    text = (farm.ROOT / program(name)).read_text()
    return [i for i, line in enumerate(text.splitlines(), 1)
            if mark in line.partition("// HERE")[2].split()]


@only_cpu
@built("stops")
@pytest.mark.parametrize("mistake, ended", [("early_return", "15 of the 32"), ("condition", "32 of the 64"), ("loop_with_break", "1 of the 32")])
def test_barrier_of_volta(mistake, ended):
    """Where `make run FILE=` asks for it, a barrier does not wait for threads that have ended, and that is said at the end."""
    result = start("stops", mistake, env={"CUDA_CPU_BARRIERS": "volta"})
    line = marked_lines("stops", mistake)[0]
    assert (result.returncode, result.stdout) == (0, "before\nnot stopped: no error\n"), result.stdout + result.stderr
    assert re.fullmatch(rf"[^\n]*runtime_stops\.cu:{line}: {ended} threads of block \(\d,0,0\) ended before this barrier\. It did not wait .*\n", result.stderr)


@only_cpu
@built("stops")
@pytest.mark.parametrize("mistake", ["two_branches", "barrier_and_warp", "return_before_grid"])
def test_no_barrier_of_volta(mistake):
    """What no card promises is refused there as well."""
    result = start("stops", mistake, env={"CUDA_CPU_BARRIERS": "volta"})
    line = marked_lines("stops", mistake)[0]
    assert (result.returncode, result.stdout) == (1, "before\n"), result.stdout + result.stderr
    assert re.fullmatch(rf"[^\n]*runtime_stops\.cu:{line}: {MISTAKES[mistake]}\n", result.stderr), result.stderr


@only_cpu
@built("stops")
@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_mistake(mistake):
    """One sentence that names the line, and status 1; what was printed before is still there."""
    result = start("stops", mistake)
    assert (result.returncode, result.stdout) == (1, "before\n"), result.stdout + result.stderr
    found = re.fullmatch(rf"[^\n]*runtime_stops\.cu:(\d+): {MISTAKES[mistake]}\n", result.stderr)
    assert found, result.stderr
    mistake += "_launch" * (": launched here: " in result.stderr)
    if mistake not in ("large_local", "deep_recursion"):  # the whole function needs the room
        assert int(found[1]) in marked_lines("stops", mistake), result.stderr


@only_cpu
@pytest.mark.parametrize("mistake, number", [("host_crashes", signal.SIGSEGV), ("host_divides", signal.SIGFPE)])
def test_crash_of_host_code(mistake, number):
    """It ends as any program would, but says where."""
    if mistake == "host_divides" and "divides" not in MISTAKES:
        pytest.skip("this processor divides by zero")
    result = start("stops", mistake)
    assert result.returncode == -number
    line, = marked_lines("stops", mistake)
    assert result.stderr.startswith(f"runtime_stops.cu:{line}: host code ")


@only_cpu
def test_interrupt():
    """Ctrl-C ends a kernel that never ends; tests that were started in the background ignore it themselves."""
    process = subprocess.Popen([farm.build(program("stops")), "endless"], stdout=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        assert process.stdout.readline() == b"before\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == -signal.SIGINT
    finally:
        process.kill()


@only_cpu
def test_progress():
    """Of much work it is said where it is."""
    process = subprocess.Popen([farm.build(program("stops")), "endless"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "CUDA_CPU_PROGRESS": "1"})
    try:
        assert re.fullmatch(r".*runtime_stops\.cu:\d+: kernels have computed for 1 seconds and go on: this is launch 1, of kernel endless_kernel, "
                            r"at about block \d of 4\. .*\n", process.stderr.readline())
    finally:
        process.kill()


REFUSALS = {1: "a block has at most 48 KB of static shared memory",
            2: "do not fit the parameters of the kernel kernel(int* value)",
            3: "do not fit the parameters of the kernel kernel(int* value)"}


@only_cpu
@pytest.mark.parametrize("case", REFUSALS)
def test_refused_by_the_compiler(case):
    built = farm.compile_source(Path(program("refused")), f"runtime_refused_{case}",
                                flags=f"-DCASE={case} -O0")
    assert not built and REFUSALS[case] in built.output
    line, = marked_lines("refused", str(case))
    assert f"runtime_refused.cu:{line}:" in built.output, built.output


# --------------------------------------------------------------------------- NVIDIA's own headers


@pytest.mark.skipif(farm.find_nvcc() is None, reason="needs nvcc")
def test_vector_types_are_those_of_nvcc(folder):
    """The sizes that the CPU's headers promise hold with nvcc's, too."""
    source = (farm.ROOT / program("math")).read_text()
    start = source.index("#define SIZE_AND_ALIGNMENT")
    end = source.index("__global__ void vector_kernel")
    (folder / "sizes.cu").write_text(source[start:end])
    result = farm.run(farm.find_nvcc(), "-std=c++17", "-ptx", folder / "sizes.cu", "-o", folder / "sizes.ptx")
    assert result.returncode == 0, result.stderr
