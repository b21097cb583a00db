"""One case: the tools that a case function uses to make input, run the program and judge the output."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from pathlib import Path

import numpy
from PIL import Image

from . import comparison, diagnose
from . import record as records
from .failure import Failure, Skipped
from .program import PatienceWith, Run, explain_ending, quoted_output, run_program

FORMATS = ("PNG", "JPEG", "BMP", "TGA", "PPM")  # that labs write; for others Pillow may start a program, as for EPS


def first_words(error: Exception) -> str:
    """What an exception says, on one line of a sensible length."""
    return " ".join(str(error).split())[:200] or type(error).__name__


class Case:
    """What a case function works with. One object a case; nothing is shared between cases."""

    def __init__(self, name: str, parameters: dict, program: Path, folder: Path, kept_folder: Path,
                 seed: int, backend: str, patience: PatienceWith, order: str = ""):
        self.name = name
        self.parameters = parameters
        self.program = program
        self.folder = folder
        self.kept_folder = kept_folder  # where the folder goes when the case fails
        self.backend = backend
        self.seed = seed
        self.order = order  # of blocks and threads in CPU mode; "" as they come
        self.random = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
        self.inputs: dict[str, numpy.ndarray] = {}
        self.input_files: set[str] = set()
        self.wrong: numpy.ndarray | None = None
        self.last_run: Run | None = None
        self.statuses: list[int] = []  # of all runs, for the lab's verdict on status 77
        self.runs: list[tuple[Run, int]] = []  # all, with how many elements of each were compared
        self._patience = patience
        self._computed: tuple = ()  # what the last compute() was asked for: words, output, timeout
        self._denied: Run | None = None  # a run that wrote its output and yet ended with status 1

    # Input

    def floats(self, shape, low: float = -1.0, high: float = 1.0, dtype=numpy.float32) -> numpy.ndarray:
        """Random values in [low, high)."""
        return self.random.uniform(low, high, shape).astype(dtype)

    def save(self, name: str, array: numpy.ndarray) -> str:
        """Writes `name`.npy, or the picture `name`.png, into the case's folder; returns the file name for the command line."""
        name, dot, kind = name.partition(".")
        file = f"{name}.{kind or 'npy'}"
        self.inputs[name] = numpy.asarray(array)
        self.input_files.add(file)
        if dot:
            Image.fromarray(array).save(self.folder / file)
        else:
            numpy.save(self.folder / file, array)
        return file

    # Running

    def run(self, *arguments, status=0, env: dict[str, str] | None = None,
            timeout: float | None = None) -> Run:
        """Runs the program in the case's folder. `status`: what is expected; None takes any ending."""
        words = [str(self.program), *map(str, arguments)]
        settings = {"CUDA_CPU_ORDER": self.order} if self.order else {}
        run = run_program(words, self.folder, self.kept_folder, {**settings, **(env or {})},
                          self._patience.limit(timeout), self._patience, self.backend == "cpu")
        self.last_run = run
        self.runs.append((run, 0))
        self.statuses.append(run.status)
        if not self.folder.is_dir():
            raise Failure("the program has removed the folder that it was started in")
        allowed = (status,) if isinstance(status, int) else status
        if allowed is None or run.status in allowed:
            return run
        if run.status == 77:
            reason = (run.stderr.strip() or run.stdout.strip() or "no reason given").splitlines()[0]
            raise Skipped(reason, by_program=True)
        text = explain_ending(run)
        if 0 not in allowed:
            text += f"; expected status {' or '.join(map(str, allowed))}"
        raise Failure(text + quoted_output(run))

    def compute(self, *arguments, inputs: dict[str, numpy.ndarray] | None = None,
                output: str = "output", kind: str = "", env: dict[str, str] | None = None,
                timeout: float | None = None) -> numpy.ndarray:
        """Saves the inputs, runs with `--name name.npy` for each and `--output`, returns the output.

        `kind` ("png") makes pictures of them; an output with an ending has its own."""
        words = list(arguments)
        if "--variant" in words:
            self.parameters = {**self.parameters, "variant": words[words.index("--variant") + 1]}
        self._computed = words, output, kind, timeout
        for name, array in (inputs or {}).items():
            words += [f"--{name}", self.save(f"{name}.{kind}" if kind else name, array)]
        option, dot, own = output.partition(".")
        path = self.folder / f"{option}.{own or kind or 'npy'}"
        path.unlink(missing_ok=True)  # a second run in one case must write again
        before = self.states_of_inputs(path.name)
        run = self.run(*words, f"--{option}", path.name, status=(0, 1), env=env, timeout=timeout)
        if run.status == 1 and path.exists():
            self._denied = run
        touched = [name for name, state in before.items() if self.states_of_inputs().get(name) != state]
        self.expect(not touched, f"the program has changed or removed its input {', '.join(touched)}")
        return self.load(path.name)

    def in_order(self, order: str) -> numpy.ndarray | None:
        """For diagnosers: what the last compute() gives when one core runs blocks and threads in this order; None on
        a card, and when it fails."""
        run, denied = self.last_run, self._denied
        words, output, kind, timeout = self._computed
        try:
            return self.compute(*words, output=output, kind=kind, timeout=timeout,
                                env={"CUDA_CPU_ORDER": order, "CUDA_CPU_THREADS": "1"}) if self.backend == "cpu" else None
        except Failure:
            return None
        finally:
            self.last_run, self._denied = run, denied
            self._computed = words, output, kind, timeout

    def states_of_inputs(self, besides: str = "") -> dict[str, tuple[int, int]]:
        """The input files that are there, with what changes when somebody writes to them."""
        paths = [self.folder / name for name in self.input_files if name != besides]
        states = {path.name: path.lstat() for path in paths if path.exists()}
        return {name: (state.st_size, state.st_mtime_ns) for name, state in states.items()}

    def load(self, name: str) -> numpy.ndarray:
        """The array in `name`.npy, or in the picture `name`.png, which the program has written."""
        path = self.folder / (name if "." in name else f"{name}.npy")
        if not path.exists():
            self.no_file(path.name)
        if not path.is_file():  # reading a pipe would wait for ever
            raise Failure(f"{path.name} is not a regular file")
        if path.suffix != ".npy":
            try:
                with Image.open(path, formats=FORMATS) as picture:
                    return numpy.asarray(picture)
            except Exception as error:  # what a broken file makes of a reader is without end
                raise Failure(f"{path.name} is no picture that Pillow can read: {first_words(error)}")
        try:
            array = numpy.load(path, allow_pickle=False)
        except Exception as error:
            raise Failure(f"{path.name} is no NumPy array: {first_words(error)}")
        if not isinstance(array, numpy.ndarray):
            raise Failure(f"{path.name} is no NumPy array: it is an archive of several")
        return array

    def no_file(self, name: str) -> None:
        """Fails: the last run wrote no such file. Why it ended is the first thing to know, when it did not end well."""
        run = self.last_run
        if run is not None and run.status != 0:
            raise Failure(explain_ending(run) + quoted_output(run))
        raise Failure(f"the program ended well but wrote no {name}")

    # Judging

    def compare(self, expected, got, tolerance: comparison.Tolerance, dtype=None, diagnosers=(), place=None) -> None:
        """Fails unless `got` has the shape, the type and, within the tolerance, the values expected.

        `place`: a function from an index to what the report calls that element; without it its coordinates."""
        expected, got = numpy.asarray(expected), numpy.asarray(got)
        if self.runs:
            self.runs[-1] = self.runs[-1][0], expected.size
        complaint = comparison.shape_complaint(expected, got, dtype)
        if complaint:
            raise Failure(complaint)
        self.wrong = comparison.wrong_elements(expected, got, tolerance)
        if not self.wrong.any():
            return
        text = comparison.difference_text(expected, got, self.wrong, tolerance, place)
        if self._denied and self._denied.stderr.strip():
            text += quoted_output(self._denied)
        raise Failure(text, diagnose.likely_cause(expected, got, self, diagnosers), expected.size)

    # Judging what the last run has asked of CUDA. Only CPU mode knows it; on a card each of these says nothing.

    def kernels(self, what: str, own, others=(), run: Run | None = None, elements: int = 0) -> None:
        """`what` ("variant tiled") must launch its own kernels and none of the others; "a|b" is a or b.

        `elements`: how many the run had to compute; without any it need not launch anything.
        """
        run = run or self.last_run
        if run.record:
            self.complain(records.wrong_kernels(run.record, what, list(own), list(others), elements > 0))

    def threads(self, kernel: str, threads: int = 1, blocks: int = 1, storing: int = 0) -> None:
        """The kernel must be launched with so many threads and blocks; `storing` of them must store to global
        memory, which is judged in a watched run only (lab.watched)."""
        self.judge_record(records.too_few_threads, kernel, threads, blocks, storing)

    def copied_back(self, bytes_needed: int, task: str = "") -> None:
        """So many bytes must have been copied from the device; `task` is where."""
        self.judge_record(records.not_copied_back, bytes_needed, task=task)

    def freed(self, task: str = "") -> None:
        """All device memory must have been freed; `task` ("TODO 1e") is where."""
        self.judge_record(records.leaks, task=task)

    def checked(self, task: str = "") -> None:
        """Each launch must be followed by a question for the last error; `task` is where."""
        self.judge_record(records.unchecked, task=task)

    def judge_record(self, question, *arguments, task: str = "") -> None:
        """Fails with what checker.record has to say of the last run."""
        if self.last_run and self.last_run.record:
            sentence = question(self.last_run.record, *arguments)
            self.complain(f"{sentence} ({task})" if sentence and task else sentence)

    def complain(self, sentence: str | None) -> None:
        """Fails with a sentence, if there is one."""
        if sentence:
            raise Failure(sentence)

    def refuses(self, *arguments, saying: str = "", env: dict[str, str] | None = None) -> Run:
        """Bad usage: the program must end with 2, say one sentence on stderr and write no file."""
        before = {path.name for path in self.folder.iterdir()}
        run = self.run(*arguments, status=(2, 77), env=env)
        if run.status == 77:
            self.fail("the program skipped the work (status 77): bad arguments are refused with status 2, "
                      "before it looks for a device" + quoted_output(run))
        if not run.stderr.strip():
            self.fail("the program ended with status 2 but said nothing on stderr")
        if saying.lower() not in run.stderr.lower():
            self.fail(f"the sentence on stderr does not mention '{saying}'" + quoted_output(run))
        added = {path.name for path in self.folder.iterdir()} - before
        if added:
            self.fail(f"the program refused its arguments, yet left {', '.join(sorted(added))} behind")
        return run

    def refuses_values(self, options: str, *values: str) -> None:
        """Bad usage: each of the options ("--height --width") with each of the values."""
        for option in options.split():
            for value in values:
                self.refuses(option, value, saying=option)

    def refuses_broken(self, option: str, good: str, *arguments) -> None:
        """Bad usage: a file that is not there, a folder, one that is empty, that holds something else, or a part of `good`."""
        suffix, content = Path(good).suffix, (self.folder / good).read_bytes()
        broken = {"absent": None, "empty": b"", "text": b"This is no input.\n", "cut": content[:-40]}
        for name, part in broken.items():
            if part is not None:
                (self.folder / f"{name}{suffix}").write_bytes(part)
            self.refuses(option, f"{name}{suffix}", *arguments, saying=f"{name}{suffix}")
        self.refuses(option, ".", *arguments, saying="folder")

    def calls_correct(self, run: Run, variants) -> None:
        """The table of the run must have a row for each variant, and call it correct."""
        for variant in variants:
            self.expect(re.search(rf"^{variant} .*\bcorrect$", run.stdout, re.MULTILINE),
                        f"the table has no row that calls {variant} correct")

    def same_lines(self, expected: list[str], got: list[str], any_order: bool = False) -> None:
        """Fails unless the lines are the same; white space at their ends does not count."""
        expected, got = [line.rstrip() for line in expected], [line.rstrip() for line in got]
        missing = list((Counter(expected) - Counter(got)).elements())
        surplus = list((Counter(got) - Counter(expected)).elements())
        parts = []
        for lines, word in ((missing, "missing"), (surplus, "too many")):
            if lines:
                total = f" of {len(expected)}" if word == "missing" else ""
                noun = "line is" if len(lines) == 1 and not total else "lines are"
                parts.append(f"{len(lines)}{total} {noun} {word}:")
                parts += [f"  {line}" for line in lines[:comparison.SHOWN_ELEMENTS]]
                if len(lines) > comparison.SHOWN_ELEMENTS:
                    parts.append(f"  ... and {len(lines) - comparison.SHOWN_ELEMENTS} more")
        if parts:
            raise Failure("\n".join(parts))
        if not any_order and expected != got:
            place = next(i for i, pair in enumerate(zip(expected, got)) if pair[0] != pair[1])
            raise Failure(f"the lines are right but in another order: line {place + 1} is\n"
                          f"  {got[place]}\nexpected\n  {expected[place]}")

    def expect(self, condition, sentence: str) -> None:
        """Fails with the sentence unless the condition holds."""
        if not condition:
            raise Failure(sentence)

    def fail(self, sentence: str) -> None:
        raise Failure(sentence)

    def finish(self) -> None:
        """Called when the case function has found nothing wrong."""
        if self._denied:
            raise Failure("the output is right, yet the program ended with status 1: is its own "
                          "comparison, or another variant of the same run, wrong?"
                          + quoted_output(self._denied))
