"""make profile-ncu and profile-nsys: the summaries, and what is said where there is no profile.

The profilers are scripts that answer as the real ones do; what they print was taken down from ncu 2025.3
and nsys 2023.4. So no test needs a card.
"""

import csv
import io
import os
import re
import shutil
import subprocess
import sys

import pytest

from farm import ROOT, labs, solution_files
from test_commands import course, machine  # noqa: F401

sys.path.insert(0, str(ROOT / "common"))
from checker import profile_ncu, profile_nsys, profiling  # noqa: E402

NVTX = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
UNITS = {"gpu__time_duration.sum": "ns", "dram__bytes.sum.per_second": "byte/s"}
FAR = {"gpu__time_duration.sum": "59,296", "dram__bytes.sum.per_second": "3,196,584,997,301.67",
       "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "66.44",
       "l1tex__throughput.avg.pct_of_peak_sustained_active": "19.11",
       "lts__throughput.avg.pct_of_peak_sustained_elapsed": "80.17",
       "sm__throughput.avg.pct_of_peak_sustained_elapsed": "22.89",
       "sm__warps_active.avg.pct_of_peak_sustained_active": "74.46",
       "sm__maximum_warps_per_active_cycle_pct": "100",
       "launch__waves_per_multiprocessor": "62.06",
       "launch__occupancy_limit_registers": "16", "launch__occupancy_limit_shared_mem": "32",
       "launch__occupancy_limit_warps": "8", "launch__occupancy_limit_blocks": "32",
       "launch__occupancy_limit_barriers": "32",
       "smsp__sass_average_branch_targets_threads_uniform.pct": "0",
       "smsp__thread_inst_executed_per_inst_executed.ratio": "32",
       "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": "4",
       "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio": "4",
       "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "41.3",
       "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": "2.0",
       "smsp__average_warps_issue_stalled_long_scoreboard_not_issued_per_issue_active.ratio": "41.0"}
QUIET = {**FAR, "dram__bytes.sum.per_second": "1e9",
         "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "10",
         "lts__throughput.avg.pct_of_peak_sustained_elapsed": "20"}


def raw(*launches):
    """What `ncu --import REPORT --page raw --csv --print-units base` prints for (variant, kernel, figures)."""
    columns = ["ID", "Process ID", "Process Name", "Host Name", NVTX, "Kernel Name", "Context", "Stream", "Block Size",
               "Grid Size", "Device", "CC", *FAR]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerow(UNITS)
    for i, (variant, kernel, figures) in enumerate(launches):
        range_ = f'1576  "<default domain>:{variant}:none:none:none:none:none:none" ' if variant else ""
        writer.writerow({"ID": i, "Process ID": 1576, "Process Name": "lab", NVTX: range_, "Kernel Name": kernel,
                         "Block Size": "(256, 1, 1)", "Grid Size": "(65536, 1, 1)", "CC": "9.0", **figures})
    return "==WARNING== Note: Running with unmodified GPU clocks.\n" + text.getvalue()


def kernel(**changes):
    figures = {**QUIET, **{next(name for name in QUIET if word in name): text for word, text in changes.items()}}
    return profile_ncu.read(raw(("naive", "void (anonymous namespace)::naive<float>(const float *)", figures)))[0]


# The ranges of common/lab.h

RANGES = """#include "common/lab.h"
const char* cudaGetErrorName(cudaError_t) { return ""; }
const char* cudaGetErrorString(cudaError_t) { return ""; }
cudaError_t cudaMemcpyFake(const char*) { return cudaSuccess; }
int main() {
    const lab::NvtxRange range(std::string("naive"));
    const char *HostToDevice = "", *DeviceToHost = "", *DeviceToDevice = "";
    for (int i = 0; i < 2; i++) CHECK(cudaMemcpyFake(HostToDevice));
    CHECK(cudaMemcpyFake(DeviceToDevice));
    CHECK(cudaMemcpyFake(DeviceToHost));
    const std::vector<float> values = lab::random_values<float>(2, 0, 1, 1);
    lab::compare(values.data(), values.data(), 2);
}
"""
NVTX_HEADER = """#include <cstdio>
inline int depth = 0;
inline void nvtxRangePushA(const char* name) { std::printf("%d %s\\n", depth++, name); }
inline void nvtxRangePop() { --depth; }
"""


def test_ranges_nest_and_end(tmp_path):
    (tmp_path / "nvtx3").mkdir()
    (tmp_path / "nvtx3/nvToolsExt.h").write_text(NVTX_HEADER)
    (tmp_path / "ranges.cpp").write_text(RANGES)
    subprocess.run([os.environ.get("CXX") or "g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-D__host__=", "-D__device__=",
                    f"-I{tmp_path}", f"-I{ROOT / 'common/cpu/include'}", f"-I{ROOT}", str(tmp_path / "ranges.cpp"),
                    "-o", str(tmp_path / "ranges")], check=True)
    said = subprocess.run([str(tmp_path / "ranges")], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["0 naive", "1 upload", "1 upload", "1 download", "1 input", "1 comparison"]


@pytest.mark.parametrize("name", [name for name in labs() if name[:2] > "02"])
def test_every_lab_names_its_reference_and_its_variants(name):
    text = "".join(solution_files(name).values())
    assert 'lab::NvtxRange range("reference");' in text or "study.time_on_cpu(" in text
    text += (ROOT / "common/lab/study.h").read_text() * ("lab::Study" in text)
    assert re.search(r"NvtxRange range\((variant\.|task\.)?name(\(\))?\);", text)


# What the figures of Nsight Compute say


def test_kernels_of_a_report():
    kernels = profile_ncu.read(raw(
        ("tiled", "tiled(const unsigned char *, unsigned char *, Shape, int)", FAR),
        ("tiled", "tiled(const unsigned char *, unsigned char *, Shape, int)", {**FAR, profile_ncu.TIME: "60,000"}),
        ("separable", "void lab::sum_along_rows<unsigned int>(const unsigned char *)", FAR), ("", "last()", FAR)))
    assert [(kernel.title(), kernel.launches) for kernel in kernels] == [
        ("tiled", 2), ("separable: sum_along_rows", 1), ("last", 1)]
    assert kernels[0].milliseconds() == pytest.approx(0.06)
    text = profile_ncu.summary(kernels)
    assert re.search(r"^tiled +2 +0.0600 +3197 +66 % +23 % +74 / 100 % +- +- +4.0 / 4.0$", text, re.MULTILINE)
    # What is said of several kernels is said once.
    assert "- tiled (66 %), separable: sum_along_rows (66 %), last (66 %): memory." in text
    assert profile_ncu.peak(kernels) == ", peak of DRAM 4811 GB/s"


@pytest.mark.parametrize("changes, busy, said", [
    ({}, 23, "latency. Nothing is busy: warps wait for global or local memory"),
    ({"stalled_wait_per": "60"}, 23, "latency. Nothing is busy: each instruction waits for the one before it"),
    ({"waves_per": "0.25"}, 23, "the grid does not fill the card; more blocks"),
    ({"sm__throughput": "85"}, 85, "compute. "),
    ({"lts__throughput": "90"}, 90, "memory. The busiest is the L2 cache"),
    ({"l1tex__throughput": "90", "sm__throughput": "85"}, 90, "memory. The busiest is the L1 cache and shared memory"),
    ({"l1tex__throughput": "70", "sm__throughput": "85"}, 85, "compute."),
    ({"gpu__dram": "61", "sm__throughput": "70"}, 61, "memory. The busiest is DRAM"),
    ({"gpu__dram": "n/a", "lts__throughput": "", "sm__throughput": "n/a"}, 19, "latency."),
])
def test_what_limits_a_kernel(changes, busy, said):
    share, sentence = kernel(**changes).verdict()
    assert round(share) == busy and said in sentence


def test_a_reason_why_nothing_is_busy_says_nothing_else():
    assert not [words for words in profile_ncu.STALLS.values() if "is busy" in words]


def test_what_else_catches_the_eye():
    assert kernel().remarks() == []
    assert "9.5 of a warp's 32 threads work" in kernel(thread_inst="9.5").remarks()[0]
    assert "a request takes 31.8 sectors" in kernel(op_ld="31.8").remarks()[0]
    assert "30 % of the warps are there, 100 % would fit" in kernel(warps_active="30").remarks()[0]
    few = kernel(maximum_warps="25", occupancy_limit_shared="2")
    assert "at most 25 % of the warps fit, because of: shared memory" in few.remarks()[0]
    assert kernel(maximum_warps="50", occupancy_limit_warps="16").possible() == "registers, block size"
    assert kernel().branches() == "-" and kernel(branch_targets="87.5").branches() == "87.5 %"


# What nsys stats prints, taken from nsys 2023.4


STATS = """Generating SQLite file r.sqlite from r.nsys-rep
Processing [r.sqlite] with [/opt/nsys/host-linux-x64/reports/cuda_gpu_kern_sum.py]...\x20
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
62.5,1250000,50,25000.0,24000.0,20000,30000,100.0,"naive(const float *, float *, long)"
37.5,750000,25,30000.0,30000.0,20000,40000,100.0,"void tiled<(int)16>(const float *, float *, long)"

Processing [r.sqlite] with [/opt/nsys/host-linux-x64/reports/cuda_gpu_mem_time_sum.py]...\x20
Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation
80.0,4000000,2,2000000.0,2000000.0,1900000,2100000,100.0,[CUDA memcpy Host-to-Device]
20.0,1000000,4,250000.0,250000.0,240000,260000,10.0,[CUDA memset]

Processing [r.sqlite] with [/opt/nsys/host-linux-x64/reports/cuda_gpu_mem_size_sum.py]...\x20
Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation
100.000,2,50.000,50.000,50.000,50.000,0.000,[CUDA memcpy Host-to-Device]
1.000,4,0.250,0.250,0.250,0.250,0.000,[CUDA memset]

Processing [r.sqlite] with [/opt/nsys/host-linux-x64/reports/cuda_api_sum.py]...\x20
Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
100.0,5000000,2,2500000.0,2500000.0,2400000,2600000,10.0,cudaMemcpy

Processing [r.sqlite] with [/opt/nsys/host-linux-x64/reports/nvtx_pushpop_sum.py]...\x20
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Range
62.5,50581439,1,50581439.0,50581439.0,50581439,50581439,0.0,:timing
37.5,30375574,3,10125191.3,10124954.0,10124083,10126537,1244.1,naive
"""


def test_the_summary_of_a_time_line():
    text = profile_nsys.summary(profile_nsys.tables_of(STATS))
    for line in ("naive +50 +1.250 +62.5 % +24.0", "tiled<16> +25 +0.750 +37.5 % +30.0", "upload +2 +100.0 +4.000 +25.0",
                 "memset +4 +1.0 +1.000 +1.0", "cudaMemcpy +2 +5.000 +2500.0", "timing +1 +50.581"):
        assert re.search(f"^{line}$", text, re.MULTILINE), (line, text)
    said = " ".join(text.split())
    assert "busy for 2.00 ms, copies and memsets for 5.00 ms, 4.00 ms of it between host and device" in said
    assert "the range `timing`" in said and "The way to the device costs more" in said


def test_a_time_line_without_a_card():
    only_ranges = STATS[STATS.index("Processing [r.sqlite] with [/opt/nsys/host-linux-x64/reports/nvtx"):]
    skipped = "SKIPPED: r.sqlite does not contain CUDA kernel data.\n\n" + only_ranges
    assert profile_nsys.summary(profile_nsys.tables_of(skipped)).startswith("NVTX ranges")
    assert profile_nsys.tables_of("ERROR: Report 'x' could not be found.\n") == []


# The commands, with a profiler that a script plays


PROGRAM = """#!/bin/sh
[ "$1" = --bad ] && { echo 'lab: unknown option "--bad"' >&2; exit 2; }
echo "device: a card"
exit ${STATUS:-0}
"""
# Finds the report's name as both tools take it, and the program behind the options.
TOOL = """#!/bin/sh
case " $* " in *" --import "* | *" stats "*) echo "$*" >>"$HERE/asked"; [ -z "$OLD" ] || [ -z "${*##*gpukernsum*}" ] || exit 0
    cat "$HERE/answer"; exit ;; esac
printf '%s\\n' "$*" >"$HERE/called"
[ -z "$SAYS" ] || { printf '%s\\n' "$SAYS"; exit 1; }
while [ $# -gt 0 ]; do case $1 in --export | --output) report=$2 ;; esac; shift; done
touch "${report%.ncu-rep}${SUFFIX}"
"""


@pytest.fixture
def lab(tmp_path):
    """lab(tool, answer, backend, **environment) -> what checker.profile_<tool> says of a program."""

    def run(tool, answer="", backend="gpu", words=(), **variables):
        program = tmp_path / f"build/{backend}/solutions/07_blur/blur"
        program.parent.mkdir(parents=True, exist_ok=True)
        for path, text in ((program, PROGRAM), (tmp_path / tool, TOOL)):
            path.write_text(text)
            path.chmod(0o755)
        (tmp_path / "answer").write_text(answer)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "common"), "HERE": str(tmp_path), "PATH": "/usr/bin:/bin",
                       tool.upper(): str(tmp_path / tool), "SUFFIX": {"ncu": ".ncu-rep", "nsys": ".nsys-rep"}[tool],
                       **variables}
        return subprocess.run([sys.executable, "-B", "-m", f"checker.profile_{tool}", "--program", str(program),
                               "--output", str(tmp_path / "out"), "--", *words], env=environment, cwd=tmp_path,
                              text=True, capture_output=True, check=False, timeout=60)

    run.folder = tmp_path
    return run


def one_line(text):
    return " ".join(text.split())


def test_a_report_of_kernels(lab):
    result = lab("ncu", raw(("naive", "naive(const float *)", FAR)), words=["--radius", "1"])
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Nsight Compute, 1 launch, the slowest of each kind, peak of DRAM 4811 GB/s" in result.stdout
    assert "report: out/blur.ncu-rep" in result.stdout and "device: a card" not in result.stdout
    called = (lab.folder / "called").read_text()
    assert "--nvtx --nvtx-exclude timing/" in called and called.endswith("/blur --radius 1\n")
    # A report that is older is not taken for this one.
    again = lab("ncu", SAYS="==ERROR== Something else")
    assert again.returncode == 77 and "==ERROR== Something else" in again.stdout


def test_a_report_of_the_time_line(lab):
    result = lab("nsys", STATS)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "report: out/blur.nsys-rep" in result.stdout
    assert "stats --force-export=true --format csv --report cuda_gpu_kern_sum" in (lab.folder / "asked").read_text()
    assert "naive" in lab("nsys", STATS, OLD="1").stdout  # before 2023 the reports had other names


@pytest.mark.parametrize("tool, variables, said", [
    ("ncu", {"SAYS": "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
                     "Counters on the target device 0."}, "NVreg_RestrictProfilingToAdminUsers=0"),
    ("ncu", {"SAYS": "==WARNING== No kernels were profiled."}, "has launched no kernel"),
    ("ncu", {"SAYS": "==ERROR== Profiling failed because a driver resource was unavailable."}, "dcgmi profile --pause"),
    ("ncu", {"SAYS": "==ERROR== Cuda driver is not compatible with Nsight Compute."}, "==ERROR== Cuda driver is not"),
    ("ncu", {"SAYS": "blur: no CUDA device: it is hidden"}, "has found no CUDA device"),
    ("ncu", {}, "cannot read its own report"),
    ("ncu", {"NCU": "/nowhere/ncu"}, "NCU=/nowhere/ncu is no program"),
    ("ncu", {"NCU": "", "PATH": "/nowhere"}, "Nsight Compute is not here"),
    ("nsys", {"NSYS": "", "PATH": "/nowhere"}, "Nsight Systems is not here"),
    ("nsys", {"SUFFIX": ".qdstrm"}, "QdstrmImporter"),
    ("nsys", {"SAYS": "Killed"}, "It said last: Killed"),
    ("nsys", {}, "finds neither kernels nor ranges"),
])
def test_without_a_profile_the_program_tells_its_times(lab, tool, variables, said):
    if "PATH" in variables and shutil.which(tool, path="/usr/local/cuda/bin:/opt/cuda/bin"):
        pytest.skip(f"{tool} is installed here")
    result = lab(tool, **variables)
    assert result.returncode == 77, result.stdout + result.stderr
    before, after = result.stdout.split("by events:")
    assert said in one_line(before) and before.startswith(f"profile-{tool}: ")
    assert after.strip() == "device: a card"


def test_the_status_is_the_programs_where_it_fails(lab):
    hidden = {"SAYS": "==WARNING== No kernels were profiled."}
    assert lab("ncu", STATUS="1", **hidden).returncode == 1
    assert lab("ncu", words=["--bad"], **hidden).returncode == 2
    assert lab("ncu", backend="cpu").returncode == 77
    assert "built for CPU mode" in lab("nsys", backend="cpu-debug").stdout


@pytest.mark.parametrize("name", ["NVCC", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDATOOLKIT_HOME"])
def test_a_tool_beside_the_nvcc_that_make_takes(monkeypatch, tmp_path, name):
    for other in ("NVCC", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDATOOLKIT_HOME"):
        monkeypatch.delenv(other, raising=False)
    folder = tmp_path / "my toolkit/bin"
    folder.mkdir(parents=True)
    for program in ("nvcc", "some-tool"):
        (folder / program).write_text("#!/bin/sh\n")
        (folder / program).chmod(0o755)
    assert profiling.find_command("some-tool", ()) is None
    (tmp_path / "nvcc").symlink_to(folder / "nvcc")
    monkeypatch.setenv(name, str(tmp_path / "nvcc" if name == "NVCC" else folder.parent))
    assert profiling.find_command("some-tool", ()) == str(folder / "some-tool")


def test_bad_usage(tmp_path):
    result = subprocess.run([sys.executable, "-B", "-m", "checker.profile_ncu", "--program", str(tmp_path)], text=True,
                            env={**os.environ, "PYTHONPATH": str(ROOT / "common")}, capture_output=True, check=False)
    assert result.returncode == 2 and "is no program; make build LAB=NN makes it" in result.stderr


def test_through_make(course):  # noqa: F811
    shutil.copytree(ROOT / "common/checker", course.path / "common/checker")
    course.card("9.0, NVIDIA H100")
    course.nvcc()
    course.extra("ncu", TOOL.removeprefix("#!/bin/sh\n"))
    (course.machine / "answer").write_text(raw(("naive", "naive(const float *)", FAR)))
    here = {"HERE": str(course.machine), "SUFFIX": ".ncu-rep"}
    result = course.make("profile-ncu", "LAB=1", "SOLUTION=1", "ARGS=--radius 1", **here)
    assert "report: build/profile/01_alpha/alpha.ncu-rep" in result.stdout
    assert (course.machine / "called").read_text().endswith("/build/gpu/solutions/01_alpha/alpha --radius 1\n")
    # Without a profiler, inside the lab's folder: the program's own output, and no error.
    (course.machine / "extra/ncu").unlink()
    result = course.make("profile-ncu", at="labs/01_alpha", **here)
    assert "Nsight Compute is not here" in result.stdout and "on the card\n" in result.stdout
    assert "skipped, for the reason above" in result.stderr
