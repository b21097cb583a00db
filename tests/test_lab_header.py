"""common/lab.h: arguments, errors, comparison, random values, timers and the table of results."""

import csv
import datetime
import os
import re
import resource
import subprocess

import numpy
import pytest

ARGUMENTS = "tests/programs/lab_arguments.cu"
RUN = "tests/programs/lab_run.cu"
pytestmark = pytest.mark.builds(ARGUMENTS, RUN)

ON_CPU = os.environ.get("BACKEND", "cpu") != "gpu"


@pytest.fixture(scope="module")
def program(build):
    return build(RUN)


@pytest.fixture(scope="module")
def parser(build):
    return build(ARGUMENTS)


@pytest.fixture(scope="module")
def options(parser, run):
    """options(*words) -> what each option holds."""

    def parse(*words, **settings):
        result = run(parser, *words, **settings)
        assert result.returncode == 0, result.stderr
        return dict(line.split(" ", 1) for line in result.stdout.splitlines())

    return parse


@pytest.fixture(scope="module")
def refusal(parser, run):
    """refusal(*words) -> the sentence with which they are refused."""

    def parse(*words, **settings):
        result = run(parser, *words, **settings)
        assert result.returncode == 2, result
        assert result.stdout == "" and result.stderr.count("\n") == 1
        assert result.stderr.startswith("lab_arguments: ")
        return result.stderr.removeprefix("lab_arguments: ").rstrip("\n")

    return parse


# Arguments


def test_defaults(options):
    assert options() == {
        "elements": "1000", "offset": "0", "any": "0", "scale": "0.5", "verbose": "0", "title": "none",
        "policy": "clamp", "block": "32x8", "grid": "-", "variants": "naive tiled vectorised",
        "input": "", "output": "", "given": "0"}


@pytest.mark.parametrize("words, name, value", [
    (["--elements", "0"], "elements", 0),
    (["--elements=12"], "elements", 12),
    (["--elements", "007"], "elements", 7),
    (["--elements", "4294967296"], "elements", 2**32),
    (["--elements", "16Mi"], "elements", 16 * 2**20),
    (["--elements", "3Ki"], "elements", 3072),
    (["--elements", "4Gi"], "elements", 2**32),
    (["--elements", "12"], "given", 1),
    (["--elements=12"], "given", 1),
    (["--offset", "-100"], "offset", -100),
    (["--offset=-7"], "offset", -7),
    (["--any", str(2**63 - 1)], "any", 2**63 - 1),
    (["--any", str(-(2**63) + 1)], "any", -(2**63) + 1),
    (["--any", "-8Gi"], "any", -(2**33)),
    (["--scale", "0"], "scale", 0),
    (["--scale", "1e-3"], "scale", 0.001),
    (["--scale=.25"], "scale", 0.25),
    (["--verbose"], "verbose", 1),
    (["--title", "two words"], "title", "two words"),
    (["--title="], "title", ""),
    (["--title=--verbose"], "title", "--verbose"),
    (["--title", "a=b"], "title", "a=b"),
    (["--policy", "zero"], "policy", "zero"),
    (["--block", "256"], "block", "256"),
    (["--block", "1024"], "block", "1024"),
    (["--block", "32x32"], "block", "32x32"),
    (["--block=8x8x4"], "block", "8x8x4"),
    (["--block", "1x1x64"], "block", "1x1x64"),
    (["--block", "1x1024"], "block", "1x1024"),
    (["--grid", "2147483647x65535x65535"], "grid", "2147483647x65535x65535"),
    (["--variant", "all"], "variants", "naive tiled vectorised"),
    (["--variant", "tiled"], "variants", "tiled"),
    (["--variant", "tiled,naive"], "variants", "naive tiled"),
    (["--variant", "tiled,tiled"], "variants", "tiled"),
])
def test_values(options, words, name, value):
    assert options(*words)[name] == str(value)


def test_variants_of_further_are_there_where_they_were_built(build, run, refusal):
    assert "the lab's folder further, which only FURTHER=1 builds" in refusal("--variant", "naive,shuffled")
    assert "shuffled" not in refusal("--variant", "fast")
    program = build(ARGUMENTS, "lab_arguments_further", flags="-DLAB_FURTHER")
    for words, chosen in (([], "naive tiled vectorised shuffled"), (["--variant", "shuffled,naive"], "naive shuffled")):
        assert f"\nvariants {chosen}\n" in run(program, *words).stdout


@pytest.mark.parametrize("words, name", [(["--input", __file__, "--offset", "3"], "offset"),
                                         (["--offset=3", f"--input={__file__}"], "offset")])
def test_options_that_a_file_excludes(refusal, options, words, name):
    assert refusal(*words) == f"--{name} is for empty input: drop it, or --input"
    assert options("--offset", "3")["offset"] == "3"


@pytest.mark.parametrize("name, lowest, highest, texts", [
    ("elements", 0, 2**32, ["", "-1", "-0", "+1", "12x", "x", "1.0", "1e3", "0x10", " 1", "1 ", "1K", "1ki",
                            "1 Mi", "Mi", "4294967297", "5Gi", "18446744073709551616", "9" * 40,
                            "9223372036854775807Ki", "nan"]),
    ("offset", -100, 100, ["-101", "101", "-", "- 5", "-5x", "-9223372036854775809"]),
    ("any", -(2**63), 2**63 - 1, ["9223372036854775808", "9Gi9", "8589934592Gi"]),
])
def test_whole_numbers_that_are_refused(refusal, name, lowest, highest, texts):
    for text in texts:
        sentence = f'--{name}: "{text}" is not a whole number between {lowest} and {highest}'
        assert refusal(f"--{name}", text) == sentence
        assert refusal(f"--{name}={text}") == sentence


@pytest.mark.parametrize("text", ["", "nan", "inf", "-1", "10.5", "1e400", "0x1p3", "1,5", "1.5x", " 1",
                                  "1 ", "e", "--1", "infinity", "."])
def test_numbers_that_are_refused(refusal, text):
    assert refusal(f"--scale={text}") == f'--scale: "{text}" is not a number between 0 and 10'


BLOCK_FORM = "is not a block such as 256, 32x8 or 8x8x4"


@pytest.mark.parametrize("text, reason", [
    ("32x32x2", "has 2048 threads, and a block has at most 1024"),
    ("33x32", "has 1056 threads, and a block has at most 1024"),
    ("16x16x5", "has 1280 threads, and a block has at most 1024"),
    ("1x1x128", "is 128 along z, and a block has 1 to 64 there"),
    ("1025", "is 1025 along x, and a block has 1 to 1024 there"),
    ("1x1025", "is 1025 along y, and a block has 1 to 1024 there"),
    ("0", "is 0 along x, and a block has 1 to 1024 there"),
    ("0x1", "is 0 along x, and a block has 1 to 1024 there"),
    ("1x0", "is 0 along y, and a block has 1 to 1024 there"),
    ("4x4x0", "is 0 along z, and a block has 1 to 64 there"),
    ("4294967297", "is 4294967297 along x, and a block has 1 to 1024 there"),
    ("", BLOCK_FORM), ("x", BLOCK_FORM), ("32x", BLOCK_FORM), ("x32", BLOCK_FORM), ("32xx8", BLOCK_FORM),
    ("8x8x4x2", BLOCK_FORM), ("8x8x4x", BLOCK_FORM), ("-1", BLOCK_FORM), ("8,8", BLOCK_FORM),
    ("8 x 8", BLOCK_FORM), ("8X8", BLOCK_FORM), ("many", BLOCK_FORM), ("1Ki", BLOCK_FORM),
    ("18446744073709551617", BLOCK_FORM),
])
def test_blocks_that_are_refused(refusal, text, reason):
    assert refusal("--block", text) == f'--block: "{text}" {reason}'


@pytest.mark.parametrize("text, reason", [
    ("0", "is 0 along x, and a grid has 1 to 2147483647 there"),
    ("2147483648", "is 2147483648 along x, and a grid has 1 to 2147483647 there"),
    ("1x65536", "is 65536 along y, and a grid has 1 to 65535 there"),
    ("1x1x65536", "is 65536 along z, and a grid has 1 to 65535 there"),
    ("1x", "is not a grid such as 256, 32x8 or 8x8x4"),
])
def test_grids_that_are_refused(refusal, text, reason):
    assert refusal("--grid", text) == f'--grid: "{text}" {reason}'


@pytest.mark.parametrize("words, sentence", [
    (["--elements"], "--elements needs a value; --help says which"),
    (["--elements", "--verbose"], "--elements needs a value; --help says which"),
    (["--elements", "1", "--elements", "2"], "--elements is given twice; give it once"),
    (["--elements", "1", "--elements=1"], "--elements is given twice; give it once"),
    (["--verbose", "--verbose"], "--verbose is given twice; give it once"),
    (["--verbose=1"], '--verbose takes no value, and got "--verbose=1"'),
    (["--verbose", "1"], '"1" is not an option, and no option takes it; --help lists them all'),
    (["1000"], '"1000" is not an option, and no option takes it; --help lists them all'),
    ([""], '"" is not an option, and no option takes it; --help lists them all'),
    (["--elements", "1", "2"], '"2" is not an option, and no option takes it; --help lists them all'),
    (["--elemnts", "5"], 'unknown option "--elemnts"; did you mean --elements?'),
    (["--element=5"], 'unknown option "--element"; did you mean --elements?'),
    (["-elements", "5"], 'unknown option "-elements"; did you mean --elements?'),
    (["--halp"], 'unknown option "--halp"; did you mean --help?'),
    (["--colour", "red"], 'unknown option "--colour"; --help lists them all'),
    (["-h"], 'unknown option "-h"; --help lists them all'),
    (["--"], 'unknown option "--"; --help lists them all'),
    (["--Elements", "5"], 'unknown option "--Elements"; did you mean --elements?'),
    (["--variant", "tield"],
     '--variant: "tield" is not one of naive, tiled, vectorised; did you mean tiled?'),
    (["--variant", "naive,"], '--variant: "" is not one of naive, tiled, vectorised'),
    (["--variant="], '--variant: "" is not one of naive, tiled, vectorised'),
    (["--variant", "all,naive"], '--variant: "all" is not one of naive, tiled, vectorised'),
    (["--policy", "mirror"], '--policy: "mirror" is not one of clamp, zero'),
    (["--title", "\x1b[31m", "\n"], '"?" is not an option, and no option takes it; --help lists them all'),
])
def test_words_that_are_refused(refusal, words, sentence):
    assert refusal(*words) == sentence


def test_input_files(options, refusal, folder):
    (folder / "a.npy").write_text("anything")
    assert options("--input", "a.npy", cwd=folder)["input"] == "a.npy"
    os.mkfifo(folder / "pipe")
    for path, words in {"none.npy": "No such file or directory", ".": "it is a folder",
                        "pipe": "it is not a regular file", "/dev/null": "it is not a regular file",
                        "a.npy/b": "Not a directory"}.items():
        assert refusal("--input", path, cwd=folder) == f'--input: cannot read "{path}": {words}'
    assert refusal("--input=") == '--input: cannot read "": No such file or directory'


def test_output_files(options, refusal, folder):
    (folder / "old.npy").write_text("anything")
    for path in ["new.npy", "old.npy", "./new.npy", str(folder / "new.npy")]:
        assert options("--output", path, cwd=folder)["output"] == path
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("none/b.npy")
    (folder / "loop").symlink_to("loop")
    for path, words in {".": "it is a folder", "pipe": "it is not a regular file",
                        "link": "it is a link that leads nowhere", 300 * "b": "File name too long",
                        "loop": "Too many levels of symbolic links",
                        "/dev/full": "it is not a regular file", "b.npy/": "there is no such folder",
                        "none/b.npy": 'its folder "none": No such file or directory',
                        "old.npy/b": 'its folder "old.npy": Not a directory'}.items():
        assert refusal("--output", path, cwd=folder) == f'--output: cannot write "{path}": {words}'
    assert refusal("--output=") == '--output: cannot write "": the name is empty'
    assert sorted(os.listdir(folder)) == ["link", "loop", "old.npy", "pipe"]


def test_two_outputs_with_one_name(options, refusal, folder):
    (folder / "link").symlink_to("a.npy")
    (folder / "a.npy").write_text("anything")
    for path in ["a.npy", "./a.npy", str(folder / "a.npy"), "link"]:
        assert refusal("--output", "a.npy", "--log", path, cwd=folder) == (
            f'--output and --log both write "{path}"; give them two names')
    assert options("--output", "a.npy", "--log", "b.npy", cwd=folder)["output"] == "a.npy"


def test_an_output_that_is_the_input(refusal, folder):
    (folder / "link").symlink_to("a.npy")
    (folder / "a.npy").write_text("anything")
    for read, written in [("a.npy", "a.npy"), ("./a.npy", str(folder / "a.npy")), ("link", "a.npy"), ("a.npy", "link")]:
        assert refusal("--input", read, "--output", written, cwd=folder) == (
            f'--output would replace "{written}", which --input reads; choose another name')
    assert (folder / "a.npy").read_text() == "anything"


def test_help_wins_over_errors(parser, run):
    plain = run(parser, "--help")
    for words in [["--elements", "12x", "--help"], ["--help", "--nonsense"], ["--input", "--help"],
                  ["--verbose=3", "surplus", "--help"]]:
        result = run(parser, *words)
        assert (result.returncode, result.stdout, result.stderr) == (0, plain.stdout, "")
    text = plain.stdout
    assert text.startswith("lab_arguments: shows what its options hold\n\nusage: lab_arguments [options]\n")
    for line in ["--elements N         how many (1000; 0 to 4294967296)", "--verbose            say more",
                 "--scale X            a factor (0.5; 0 to 10)", "--policy clamp|zero  at a border (clamp)",
                 "--block X[xY[xZ]]    threads a block (32x8)", "--grid X[xY[xZ]]     blocks (from the size)",
                 "--variant NAME,...   which to run: naive, tiled, vectorised (all)",
                 "--input FILE         a file to read"]:
        assert f"  {line}\n" in text
    assert "--long               words words words" in text and "\n                       words words" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "Exit status: 0 right, 1 wrong or failed, 2 bad usage, 77 skipped." in text


# Ends of a program


@pytest.mark.parametrize("name, status", [("refuse", 2), ("fail", 1), ("skip", 77)])
def test_sentences(program, run, name, status):
    result = run(program, "--case", name)
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr == "lab_run: 3 sheep are too many\n"


def test_check_evaluates_once_and_says_where(program, run):
    result = run(program, "--case", "check")
    assert result.returncode == 1
    line = re.search(r"line (\d+)", result.stdout)[1]
    assert result.stdout == f"evaluated\nline {line}\nevaluated\n"
    assert re.fullmatch(rf".*tests/programs/lab_run.cu:{line}: `evaluated\(cudaErrorInvalidValue\)` failed: "
                        r"cudaErrorInvalidValue: invalid argument\n", result.stderr)


def test_a_launch_that_fails(program, run):
    result = run(program, "--case", "launch")
    assert result.returncode == 1
    line = re.search(r"line (\d+)", result.stdout)[1]
    assert result.stdout == f"line {line}\n"
    assert f"lab_run.cu:{line}: " in result.stderr
    # CUDA 13 calls 2048 threads in a block an invalid value, its predecessors an invalid configuration
    assert re.search("cudaErrorInvalid(Configuration|Value): invalid ", result.stderr)


def test_memory_that_the_machine_lacks(program, run):
    result = run(program, "--case", "host memory", "--bytes", 2**50)
    assert result.returncode == 2
    assert re.fullmatch(r"lab_run: not enough memory for the sheep: 1.0 PiB needed, "
                        r"this machine has [0-9.]+ [GT]iB\n", result.stderr)
    result = run(program, "--case", "host memory", "--bytes", -1)
    assert result.returncode == 2 and "more than 8 EiB needed" in result.stderr
    assert run(program, "--case", "host memory", "--bytes", 2**20).returncode == 0
    assert run(program, "--case", "host memory", "--bytes", 0).returncode == 0


def test_memory_that_the_device_lacks(program, run):
    result = run(program, "--case", "device memory", "--bytes", 2**50)
    assert result.returncode == 1
    assert re.fullmatch(r"lab_run: not enough device memory for the sheep: 1.0 PiB needed, "
                        r"[0-9.]+ [MGT]iB free of [0-9.]+ [MGT]iB\n", result.stderr)
    assert run(program, "--case", "device memory", "--bytes", -1).returncode == 1
    assert run(program, "--case", "device memory", "--bytes", 2**20).returncode == 0


# Comparing


@pytest.fixture
def compared(program, run, folder):
    """compared(got, expected, ...) -> (wrong, first, sentence) as compare() finds them."""

    def judge(got, expected, types="float double", absolute=0.0, relative=0.0):
        names = {"float": "float32", "double": "float64"}
        for name, values, kind in zip(["got", "expected"], [got, expected], types.split()):
            numpy.save(folder / f"{name}.npy", numpy.array(values, dtype=names.get(kind, kind)))
        result = run(program, "--got", folder / "got.npy", "--expected", folder / "expected.npy", "--types",
                     types, f"--absolute={absolute!r}", f"--relative={relative!r}")
        assert result.returncode == 0, result.stderr
        numbers, sentence = result.stdout.splitlines()
        wrong, first, right = map(int, numbers.split())
        assert right == (wrong == 0)
        return wrong, first, sentence

    return judge


NAN, INF = numpy.nan, numpy.inf


def test_equal_values_are_right(compared):
    assert compared([1, 2, 3], [1, 2, 3]) == (0, -1, "correct")
    assert compared([], []) == (0, -1, "correct (empty)")
    assert compared([-0.0, 0.0], [0.0, -0.0])[0] == 0


@pytest.mark.parametrize("first, wrong", [(0, 1), (1023, 3), (1024, 2), (4999, 1), (2500, 1)])
def test_equal_stretches_are_passed_over(compared, first, wrong):
    expected = [float(i % 7) for i in range(5000)]
    got = list(expected)
    for place in range(first, 5000, 1500)[:wrong]:
        got[place] = NAN if place % 2 else -1.0
    assert compared(got, expected, "double double")[:2] == (wrong, first)


def test_many_values_are_compared_by_several_threads(compared):
    expected = numpy.arange((4 << 20) + 5, dtype="float32")
    got = expected.copy()
    assert compared(got, expected, "float float") == (0, -1, "correct")
    got[[expected.size - 1, expected.size // 2, expected.size - 7]] = -1
    assert compared(got, expected, "float float")[:2] == (3, expected.size // 2)
    got[5] = NAN
    assert compared(got, expected, "float float")[2] == "4 of 4194309 differ; first at 5: expected 5, got nan"


def test_the_sentence(compared):
    got = [1.0] * 512 + [NAN] + [1.0] * 487
    expected = [1.0] * 512 + [1.5] + [1.0] * 483 + [2.0] * 4
    assert compared(got, expected) == (5, 512, "5 of 1000 differ; first at 512: expected 1.5, got nan")
    assert compared([2.0], [2.0**34])[2] == "1 of 1 differ; first at 0: expected 17179869184, got 2"
    assert compared([1], [1 + 2**-40])[2] == "1 of 1 differ; first at 0: expected 1.0000000000009095, got 1"


@pytest.mark.parametrize("got, expected, right", [
    (NAN, 1, False), (1, NAN, False), (-NAN, 0, False),
    (INF, 1, False), (1, INF, False), (INF, INF, True), (-INF, -INF, True), (INF, -INF, False),
    (NAN, INF, False), (INF, NAN, False),
])
def test_neither_nan_nor_infinity_passes(compared, got, expected, right):
    for types in ["float double", "float float", "double double"]:
        for absolute, relative in [(0, 0), (1, 0), (0, 1), (1e300, 1e300)]:
            assert compared([got], [expected], types, absolute, relative)[0] == (0 if right else 1)


def test_no_number_is_right_where_none_is_expected(compared):
    assert compared([NAN, 1, -NAN], [NAN, 1, NAN])[2] == "correct"
    assert compared([INF, -INF], [3e39, -1e300])[2] == "correct", "too large for a float"
    assert compared([INF], [3e39], "double double")[0] == 1
    unwritten = numpy.full(1, 0xFFFFFFFF, dtype="uint32").view("float32")
    assert compared(unwritten, [NAN])[2] == "1 of 1 differ; first at 0: expected nan, got nan"
    unwritten = numpy.full(1, 0xFFFFFFFFFFFFFFFF, dtype="uint64").view("float64")
    assert compared(unwritten, [NAN], "double double")[0] == 1


def test_poison_is_said_as_nan(compared):
    poison = numpy.full(2, 0xFFFFFFFF, dtype="uint32").view("float32")
    assert compared(poison, [0, 0])[2] == "2 of 2 differ; first at 0: expected 0, got nan"


@pytest.mark.parametrize("got, expected, absolute, relative, right", [
    (1.25, 1, 0.25, 0, True), (0.75, 1, 0.25, 0, True), (1.2500001, 1, 0.25, 0, False),
    (5, 4, 0, 0.25, True), (3, 4, 0, 0.25, True), (5.000001, 4, 0, 0.25, False),
    (-5, -4, 0, 0.25, True), (-5.000001, -4, 0, 0.25, False),  # the bound of a negative value is positive
    (4, 5, 0, 0.2, True), (5, 4, 0, 0.2, False),               # relative to what is expected
    (6, 4, 1, 0.25, True), (6.000001, 4, 1, 0.25, False),      # both bounds add up
    (1e-30, 0, 0, 1, False), (1e-30, 0, 1e-30, 0, False), (1e-30, 0, 2e-30, 0, True),
    (3e38, -3e38, 0, 1, False), (1, 1, 0, 0, True), (1, 2, 0, 0, False),
])
def test_the_edges_of_the_tolerance(compared, got, expected, absolute, relative, right):
    assert compared([got], [expected], "float double", absolute, relative)[0] == (0 if right else 1)


def test_whole_numbers(compared, program, run):
    assert compared([1, 2, -3], [1, 2, 3], "int32 int32")[:2] == (1, 2)
    assert compared([2**31 - 1], [-(2**31)], "int32 int32")[0] == 1  # the difference does not wrap
    assert compared([0, 255, 7], [255, 0, 8], "uint8 uint8", absolute=1)[:2] == (2, 0)
    assert compared([7], [8], "uint8 uint8", absolute=1)[0] == 0
    result = run(program, "--case", "integers")
    assert result.stdout == ("1 of 3 differ; first at 0: expected 9007199254740992, got 9007199254740992\n"
                             "correct\n")


# Random values


def splitmix(counter):
    """The finaliser of splitmix64 over the multiples of the golden ratio."""
    with numpy.errstate(over="ignore"):
        bits = numpy.asarray(counter, dtype="uint64") * numpy.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> numpy.uint64(31))


def expected_bits(seed, count=1000):
    with numpy.errstate(over="ignore"):
        return splitmix(splitmix(seed + 1) + numpy.arange(count, dtype="uint64"))


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**63 - 1])
def test_random_values_are_the_same_everywhere(program, run, folder, seed):
    def values(types):
        result = run(program, "--types", f"random {types}", "--seed", seed, "--output", folder / "a.npy")
        assert result.returncode == 0, result.stderr
        return numpy.load(folder / "a.npy")

    bits = expected_bits(seed)
    fraction = (bits >> numpy.uint64(11)).astype("float64") / 2.0**53
    assert numpy.array_equal(values("double"), fraction)
    assert numpy.array_equal(values("float"), (2 * fraction - 1).astype("float32"))
    assert numpy.array_equal(values("int32"), (bits % numpy.uint64(11)).astype("int32") - 5)
    assert numpy.array_equal(values("uint8"), bits.astype("uint8"))
    low_half = (bits % numpy.uint64(2**32)).astype("int64")
    assert numpy.array_equal(values("all int32"), low_half - 2**31)


def test_many_random_values_come_from_several_threads(program, run, folder):
    run(program, "--types", "random many", "--seed", 7, "--output", folder / "a.npy")
    assert numpy.array_equal(numpy.load(folder / "a.npy"), expected_bits(7, (4 << 20) + 5).astype("uint8"))


def test_random_values_cover_their_range(program, run, folder):
    run(program, "--types", "random int32", "--seed", 5, "--output", folder / "a.npy")
    assert sorted(set(numpy.load(folder / "a.npy"))) == list(range(-5, 6))
    run(program, "--types", "random float", "--seed", 5, "--output", folder / "a.npy")
    values = numpy.load(folder / "a.npy")
    assert len(set(values)) == 1000 and abs(values.mean()) < 0.1 and 0.5 < values.std() < 0.65


# A benchmark: one process for many runs


@pytest.fixture(scope="module")
def several(build):
    return build(RUN, name="several_runs", flags="-DLAB_BENCH")


def test_several_runs_in_one_process(several, run, folder):
    def random(seed):
        return ["--types", "random many", "--seed", seed, "--output", folder / f"{seed}.npy"]

    result = run(several, *random(1), "--and", *random(2))
    assert result.returncode == 0 and result.stdout.count("random many --seed") == 2, result.stderr
    for seed in (1, 2):
        assert numpy.array_equal(numpy.load(folder / f"{seed}.npy"), expected_bits(seed, (4 << 20) + 5).astype("uint8"))


@pytest.mark.parametrize("first, second, status", [
    ("integers", "study", 101), ("study", "integers", 101), ("integers", "integers", 0),
    ("skip", "integers", 77), ("refuse", "integers", 2), ("fail", "integers", 1)])
def test_how_several_runs_end(several, run, first, second, status):
    assert run(several, "--case", first, "--and", "--case", second).returncode == status


def test_a_single_run_ends_as_ever(several, run):
    assert run(several, "--case", "study").returncode == 1
    assert run(several).returncode == 0


# Time


def test_timers(program, run):
    result = run(program, "--case", "timers")
    assert result.returncode == 0, result.stderr
    found = {name: float(value) for name, value in map(str.split, result.stdout.splitlines())}
    assert 20 <= found["host"] < 2000 and found["restarted"] < 20
    for run_number in range(4):  # an event is at most as long as what the host sees around it
        assert 0 < found[f"events{run_number}"] <= found[f"outside{run_number}"]
    assert found["events1"] > 3 * found["events3"] > 9 * found["events2"]
    assert 3 * found["events2"] < found["median"] < found["events1"] / 3  # the first run is not timed
    assert found["launches"] == 4
    assert found["chosen"] == 4 if ON_CPU else found["chosen"] >= 6
    assert found["copy"] > 0 and found["empty"] == 0


def test_a_checker_has_one_run_timed(program, run):
    result = run(program, "--case", "timers", env={**os.environ, "LAB_JUDGED": "1"})
    found = dict(map(str.split, result.stdout.splitlines()))
    assert found["launches"] == found["chosen"] == "2"  # behind one that is not timed


# Results


def table(text):
    """The lines of the table, the heading first; each a dictionary from column to cell."""
    lines = text.split("\n\n")[1].splitlines()
    heading, rule, rows = lines[0], lines[1], lines[2:]
    assert set(rule) == {"-"} and len(rule) >= len(heading)
    assert all(line == line.rstrip() for line in lines)
    # a column's cells end where its heading ends, or begin where it begins
    columns = [(match[0], match.start(), match.end())
               for match in re.finditer(r"\S+(?: \S+)*", heading)]
    found = []
    for row in rows:
        cells = {}
        for name, start, end in columns:
            left = name in ("variant", "grid", "block", "result")
            assert (start == 0 or row[start - 1] == " ") if left else row[end:end + 1] in ("", " ")
            cells[name] = (re.match(r".*" if name == "result" else r"\S*", row[start:])[0] if left
                           else re.search(r"(\S+(?: %)?)$", row[:end])[1])
        found.append(cells)
    return [name for name, _, _ in columns], found


def test_a_table_of_right_results(program, run):
    result = run(program, "--case", "results", "--rows", "r", "--size", "1000 x 500", "--limit", 2500)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("device: ") and lines[1] == "size: 1000 x 500"
    assert lines[2] == "copy within the device: 2500.0 GB/s" and lines[3] == ""
    columns, rows = table(result.stdout)
    assert columns == ["variant", "grid", "block", "ms", "GB/s", "GFLOP/s", "of copy", "result"]
    assert rows == [{"variant": "naive", "grid": "4096", "block": "256", "ms": "0.5000", "GB/s": "2000.0",
                     "GFLOP/s": "4000.0", "of copy": "80.0 %", "result": "correct"}]
    assert (lines[-1] == "CPU mode: these are not GPU times.") == ON_CPU


def test_a_table_of_all_kinds(program, run):
    result = run(program, "--case", "results", "--rows", "rwsz")
    assert (result.returncode, result.stderr) == (1, "")
    columns, rows = table(result.stdout)
    assert columns == ["variant", "grid", "block", "ms", "GB/s", "GFLOP/s", "result"]
    assert [row["variant"] for row in rows] == ["naive", "tiled", "tensor_cores", "empty"]
    assert [row["ms"] for row in rows] == ["0.5000", "12.2500", "-", "-"]
    assert [row["grid"] for row in rows] == ["4096", "64x64", "-", "-"]
    assert [row["GFLOP/s"] for row in rows] == ["4000.0", "-", "-", "-"]
    assert [row["result"] for row in rows] == [
        "correct", "WRONG: 1 of 3 differ; first at 1: expected 2, got nan",
        "skipped: needs compute capability 8.0", "correct (empty)"]


@pytest.mark.parametrize("rows, status", [("", 0), ("r", 0), ("rs", 0), ("z", 0), ("w", 1), ("rw", 1),
                                          ("ws", 1), ("s", 77), ("ss", 77)])
def test_the_exit_status(program, run, rows, status):
    assert run(program, "--case", "results", "--rows", rows).returncode == status


def test_a_study_judges_before_and_after_it_measures(program, run):
    result = run(program, "--case", "study")
    assert result.returncode == 1  # tiled is wrong, and judged once
    assert "prepared 3 judged 3, launched more: 1" in result.stdout
    rows = {line.split()[0]: line for line in result.stdout.splitlines() if line.startswith(("naive", "tiled", "tensor"))}
    assert rows["naive"].endswith("correct") and "WRONG: 1 of 1000 differ; first at 999" in rows["tiled"]
    assert "skipped: needs tensor cores" in rows["tensor"]
    assert re.search(r"^variant +grid +block +ms +GB/s +result$", result.stdout, re.MULTILINE)
    alone = run(program, "--case", "study", "--variant", "naive")
    assert alone.returncode == 0 and "tiled" not in alone.stdout
    assert run(program, "--case", "study", "--variant", "tensor").returncode == 77


def test_columns_without_numbers_are_left_out(program, run):
    columns, _ = table(run(program, "--case", "results", "--rows", "zs", "--limit", 100).stdout)
    assert columns == ["variant", "grid", "block", "result"]


def test_csv(program, run, folder):
    path = folder / "times.csv"
    for rows in ["rs", "w"]:
        result = run(program, "--case", "results", "--rows", rows, "--csv", path, "--size", 'a "small", one')
        assert result.returncode in (0, 1), result.stderr
    device = result.stdout.splitlines()[0].removeprefix("device: ")
    with open(path, newline="") as file:
        right, wrong = csv.DictReader(file)
    date = datetime.datetime.strptime(right.pop("date"), "%Y-%m-%dT%H:%M:%S%z")
    age = datetime.datetime.now(datetime.timezone.utc) - date
    assert abs(age.total_seconds()) < 600
    assert right == {"card": device, "lab": "lab_run", "variant": "naive", "size": 'a "small", one',
                     "grid": "4096", "block": "256", "milliseconds": "0.5", "GB/s": "2000",
                     "GFLOP/s": "4000", "result": "right"}
    assert (wrong["variant"], wrong["milliseconds"], wrong["result"]) == ("tiled", "12.25", "wrong")


def test_csv_appends_to_no_other_file(program, run, folder):
    path = folder / "notes.csv"
    path.write_text("my notes\n")
    result = run(program, "--csv", path)
    assert result.returncode == 2 and "holds something else" in result.stderr
    assert path.read_text() == "my notes\n"
    path.write_text("")
    assert run(program, "--case", "results", "--rows", "r", "--csv", path).returncode == 0
    assert len(path.read_text().splitlines()) == 2
    result = run(program, "--csv", folder / "none" / "times.csv")
    assert result.returncode == 2 and "No such file or directory" in result.stderr


def test_a_full_disk_leaves_the_csv_as_it_was(program, run, folder):
    path = folder / "times.csv"
    assert run(program, "--case", "results", "--rows", "r", "--csv", path).returncode == 0
    before = path.read_bytes()
    for limit in [len(before), len(before) + 20]:
        result = subprocess.run(
            [program, "--case", "results", "--rows", "r", "--csv", path], text=True, capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert result.returncode == 1
        assert result.stderr == f'lab_run: cannot write "{path}": File too large\n'
        assert path.read_bytes() == before


def test_the_copy_is_a_row_of_the_csv(program, run, folder):
    path = folder / "times.csv"
    run(program, "--case", "results", "--rows", "r", "--limit", 100, "--csv", path, "--size", "small")
    with open(path, newline="") as file:
        copy, variant = csv.DictReader(file)
    assert (copy["variant"], copy["size"], copy["GB/s"]) == ("copy", "small", "100")
    assert variant["variant"] == "naive" and copy["card"] == variant["card"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_table_that_cannot_be_printed(program):
    with open("/dev/full", "w") as full:
        result = subprocess.run([program, "--case", "results", "--rows", "r"], stdout=full,
                                stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert result.stderr == "lab_run: cannot print the results: No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_for_what_is_printed(parser):
    for words in [[], ["--help"]]:
        with open("/dev/full", "w") as full:
            result = subprocess.run([parser, *words], stdout=full, stderr=subprocess.PIPE, text=True)
        assert result.returncode == 1
        assert result.stderr.startswith("lab_arguments: cannot print the results: ")
