"""CPU mode beside plain loops, and a learner's build and check beside a plain compilation: nothing has become many times slower.

The bounds are far above what a quiet machine shows (docs/cpu-mode.md has the figures), since tests
share the cores with other work. What is compared with a compiler is processor time.
"""

import os
import re
import subprocess
import sys

import pytest

import farm

PROGRAM = "tests/programs/cpu_mode_speed.cu"
MOST = {"sum of 16 Mi floats": 5, "product of 512x512 doubles": 60}
# A lab -> how many times the compilation of PLAIN its build and its check may take; about twice what they take.
MOST_OF_LABS = {"03_vector_add": (4, 3), "04_matrix_add": (4, 5), "09_warp_divergence": (5, 4)}
PLAIN = """\
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
int main(int count, char** words) {
    std::map<std::string, std::vector<double>> found;
    std::vector<std::function<void()>> later;
    for (int i = 0; i < count; i++) later.push_back([&found, words, i] { found[words[i]].push_back(i); });
    for (auto& one : later) one();
    for (auto& [word, places] : found) std::sort(places.begin(), places.end());
    return static_cast<int>(found.size());
}
"""

pytestmark = pytest.mark.skipif(farm.BACKEND != "cpu", reason="this is about CPU mode")


def test_speed(build, run):
    result = run(build(PROGRAM, flags="-O3"), timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    ratios = dict(re.findall(r"^(.*): .* ratio ([\d.]+), same result$", result.stdout, re.MULTILINE))
    assert ratios.keys() == MOST.keys(), result.stdout
    slow = [name for name, most in MOST.items() if float(ratios[name]) > most]
    assert not slow, result.stdout


def processor_seconds(*words):
    """What a command that succeeds costs, with all that it starts."""
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return usage.ru_utime + usage.ru_stime


def test_a_learner_does_not_wait(folder):
    (folder / "plain.cpp").write_text(PLAIN)
    plain = processor_seconds(os.environ.get("CXX") or "g++", "-std=c++17", "-O1", folder / "plain.cpp", "-o", folder / "plain")
    said, slow = [], []
    for lab, most in MOST_OF_LABS.items():
        source, program = farm.ROOT / "solutions" / lab / farm.source_name(lab), folder / lab
        spent = (processor_seconds(*farm.compile_command(source, program, "cpu", False, farm.lab_flags(lab, "cpu"))),
                 processor_seconds(sys.executable, "-B", farm.ROOT / "labs" / lab / "check.py", "--program", program, "--quick",
                                   "--keep", folder / "kept"))
        said.append(f"{lab}: build {spent[0] / plain:.1f}, check {spent[1] / plain:.1f} times the {plain:.2f} s of a plain file")
        slow += [said[-1] for time, times in zip(spent, most) if time > times * plain]
    print("\n".join(said))
    assert not slow, "\n".join(said)
