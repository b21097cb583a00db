"""CPU mode beside plain loops: the same results, and nothing has become many times slower.

The bounds are far above what a quiet machine shows (docs/cpu-mode.md has the figures), since tests
share the cores with other work.
"""

import re

import pytest

import farm

PROGRAM = "tests/programs/cpu_mode_speed.cu"
MOST = {"sum of 16 Mi floats": 5, "product of 512x512 doubles": 60}

pytestmark = [pytest.mark.builds(PROGRAM),
              pytest.mark.skipif(farm.BACKEND != "cpu", reason="this is about CPU mode")]


def test_speed(build, run):
    result = run(build(PROGRAM), timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    ratios = dict(re.findall(r"^(.*): .* ratio ([\d.]+), same result$", result.stdout, re.MULTILINE))
    assert ratios.keys() == MOST.keys(), result.stdout
    slow = [name for name, most in MOST.items() if float(ratios[name]) > most]
    assert not slow, result.stdout
