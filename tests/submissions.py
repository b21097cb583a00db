"""Makes a folder of synthetic submissions, to try the grader: right ones, untouched exercises, planted
faults, and one bad one of every kind.

    python3 tests/submissions.py FOLDER [--count 200] [--lab 01_hello_world ...]

`make grade SUBMISSIONS=FOLDER` then grades them. With --count the folder is filled up with right ones,
exercises and faults in turn; the bad ones come in any case. Everything is the same each time.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests")]

from checker import exercises  # noqa: E402
from farm import load_faults, source_name  # noqa: E402

FAULTS_A_LAB = 8


@dataclass(frozen=True)
class Bad:
    """A kind of bad submission: what is done to the worked solution, and what the verdict must say."""

    name: str
    verdict: str  # a regular expression
    before: str = ""  # put before the solution
    start: str = ""  # what the program does first of all
    whole: str | None = None  # the whole file instead
    line_end: str = "\n"


ALL = r"^(\d+) of \1 cases"
NONE = r"^0 of \d+ cases: "

BAD = [
    Bad("does_not_compile", "^does not compile$", before="this is no C++;"),
    Bad("is_empty", "^does not compile$", whole=""),
    Bad("is_no_text", "^does not compile$", whole="\x00\x01\x7f" * 1000),
    Bad("includes_passwords", "^does not compile$", before='#include "/etc/passwd"'),
    Bad("includes_the_solution", "^does not compile$", whole='#include "../../solutions/{lab}/{source}"\n'),
    Bad("includes_the_solution_by_its_path", "^does not compile$",
        whole='#include "{root}/solutions/{lab}/{source}"\n'),
    Bad("assembles_the_solution", "^does not compile$",
        before='asm(".incbin \\"{root}/solutions/{lab}/{source}\\"");'),
    Bad("includes_itself_without_end", "^does not compile$", before='#include "{source}"'),
    Bad("fills_the_compiler", "^does not compile$",
        before="template <int n, int m> struct F {{ static const long v = F<n - 1, m>::v + F<n - 1, m + (1 << n)>::v; }};\n"
               "template <int m> struct F<0, m> {{ static const long v = 1; }};\nlong fills = F<24, 0>::v;"),
    Bad("is_a_huge_program", "^does not compile$", before="char huge[1u << 30] = {{1}};"),
    Bad("has_lines_as_on_windows", ALL, line_end="\r\n"),
    Bad("crashes", NONE + "the program crashed .SIGSEGV",
        start=r'fputs("\033[2J \x9b \xff <b> \xe2\x80\xae", stderr); *(volatile int*)1 = 1;'),
    Bad("never_ends", NONE + "the program did not end within",
        start="for (volatile int i = 0;;) i = i + 1;"),
    Bad("sleeps_and_heeds_no_signal", NONE + "the program did not end within",
        start="for (int i = 1; i < 65; i++) signal(i, SIG_IGN); for (;;) pause();"),
    Bad("prints_without_end", NONE + "the program (printed more than 32 MiB|crashed .SIGXFSZ)",
        start="for (;;) puts(\"and so on, and so on, and so on\");"),
    Bad("prints_short_lines", "^(0 of \\d+ cases: the program printed more than 1000000 lines|1 of \\d+ cases)",
        start="for (int i = 0; i < 1'500'000; i++) puts(\"\");"),
    Bad("forks_without_end", NONE + "(confine: more than 100|the program did not end|0 is not doubled)", start="for (;;) fork();"),
    Bad("starts_threads_without_end", NONE + "(confine: more than 100 processes|the program crashed .SIGABRT)",
        start="for (;;) std::thread(pause).detach();"),
    Bad("takes_all_memory", NONE + "(confine: more than 2048 MiB of memory|the program crashed)",
        start="for (;;) {{ volatile char* p = (char*)malloc(1 << 24); for (int i = 0; i < 1 << 24; i += 4096) p[i] = 1; }}"),
    Bad("shares_all_memory", NONE + "the program crashed .SIGSEGV",
        start="volatile char* p = (char*)mmap(nullptr, 3L << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); "
              "for (long i = 0; i < 3L << 30; i += 4096) p[i] = 1; for (;;) pause();"),
    Bad("writes_a_huge_file", NONE + "the program crashed .SIGXFSZ",
        start='FILE* f = fopen("huge", "w"); for (;;) fwrite(f, 1, 64, f), fseek(f, 1 << 20, SEEK_CUR);'),
    Bad("writes_many_files", NONE + "confine: more than 1000 files",
        start='for (int i = 0;; i++) fclose(fopen(std::to_string(i).c_str(), "w"));'),
    Bad("nests_folders", NONE + "the program crashed",
        start='for (;;) if (mkdir("d", 0700) != 0 || chdir("d") != 0) abort();'),
    Bad("leaves_a_daemon", ALL,
        start="if (fork() == 0) {{ setsid(); if (fork() == 0) {{ for (int i = 0; i < 3; i++) close(i); "
              "for (;;) usleep(1000); }} _exit(0); }}"),
    Bad("kills_everybody", ALL, start="kill(-1, SIGKILL); kill(getppid(), SIGKILL);"),
    Bad("asks_the_network", ALL,
        start="if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_INET6, SOCK_DGRAM, 0) >= 0) abort();"),
    Bad("looks_around", ALL,
        start='for (const char* path : {{"{root}/solutions/{lab}/{source}", "{root}/labs/{lab}/check.py", "/etc/passwd", '
              '"/etc/shadow", "{root}/.git/HEAD"}}) if (fopen(path, "r")) abort();'),
    Bad("writes_its_own_results", NONE + "the program crashed|" + ALL,
        start='for (const char* path : {{"../../../../results.json", "../../../../../results.json", '
              '"{root}/build/grades/grades.csv", "/usr/evil"}}) if (fopen(path, "w")) abort();'),
    Bad("claims_success", NONE, start='puts("64 of 64 cases pass"); fflush(stdout); _exit(0);'),
    Bad("skips_all", NONE + "skipped: ", start='fputs("no device here\\n", stderr); _exit(77);'),
]

HEADERS = """#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
"""


def made_bad(kind: Bad, lab: str) -> str:
    """The main source of a bad submission."""
    solution = (ROOT / "solutions" / lab / source_name(lab)).read_text(encoding="utf-8")
    names = {"root": ROOT, "lab": lab, "source": source_name(lab)}
    if kind.whole is not None:
        return kind.whole.format(**names)
    parts = [f"{kind.before}\n".format(**names) if kind.before else ""]
    if kind.start:
        # A constructor that runs before those of the program, and so before main.
        parts += [HEADERS, "[[gnu::constructor]] static void start() { ", kind.start.format(**names), " }\n"]
    return "".join([*parts, solution]).replace("\n", kind.line_end)


def good_kinds(lab: str) -> dict[str, str]:
    """Name -> main source: the solution, the exercise, some planted faults."""
    source = source_name(lab)
    solution = (ROOT / "solutions" / lab / source).read_text(encoding="utf-8")
    kinds = {"solution": solution, "exercise": exercises.exercise_text(solution, source)}
    everywhere = [fault for fault in load_faults(lab) if not fault.file]
    for fault in everywhere[::max(1, len(everywhere) // FAULTS_A_LAB)]:
        kinds[re.sub(r"\W+", "_", fault.name)] = fault.apply(solution)
    return kinds


def write_sources(folder: Path, lab: str, number: int, text: str) -> None:
    """The main source, and the solution's other ones, in one of the forms of a submission in turn."""
    place = [folder / "labs" / lab, folder / lab, folder][number % 3]
    place.mkdir(parents=True, exist_ok=True)
    for path in (ROOT / "solutions" / lab).iterdir():
        if path.suffix in exercises.SUFFIXES:
            (place / path.name).write_bytes(path.read_bytes())
    (place / source_name(lab)).write_text(text, encoding="utf-8")


def write_refused(folder: Path, lab: str) -> dict[str, str]:
    """Submissions that are not even compiled; student -> what the verdict must say."""
    source = source_name(lab)
    for name in ("missing", "link", "link_to_folder", "pipe", "folder", "too_large"):
        (folder / f"bad_{name}").mkdir(parents=True)
    solution = ROOT / "solutions" / lab
    (folder / "bad_link" / source).symlink_to(solution / source)
    (folder / "bad_link_to_folder" / lab).symlink_to(solution)
    os.mkfifo(folder / "bad_pipe" / source)
    (folder / "bad_folder" / source).mkdir()
    (folder / "bad_too_large" / source).write_text("//" + "x" * (1 << 20))
    return {"bad_missing": f"^there is no {source}", "bad_link": "symbolic link", "bad_link_to_folder": "symbolic link",
            "bad_pipe": "is a pipe", "bad_folder": "is a folder", "bad_too_large": "larger than 1 MiB"}


def make(folder: Path, labs: list[str], count: int = 0, kinds: list[Bad] = BAD) -> dict[str, str]:
    """Fills the folder; returns for each bad student what the first lab's verdict must say."""
    expected = write_refused(folder, labs[0])
    for number, kind in enumerate(kinds):
        student = f"bad_{kind.name}"
        write_sources(folder / student, labs[0], number, made_bad(kind, labs[0]))
        expected[student] = kind.verdict
    good = {lab: list(good_kinds(lab).items()) for lab in labs}
    for number in range(count - len(expected)):
        for shift, lab in enumerate(labs):
            _, text = good[lab][(number + shift) % len(good[lab])]
            write_sources(folder / f"student_{number:03}", lab, number, text)
    return expected


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes a folder of synthetic submissions.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder")
    parser.add_argument("--count", type=int, default=200, help="students in all (200)")
    parser.add_argument("--lab", action="append", help="01_hello_world and 03_vector_add, unless given")
    options = parser.parse_args()
    if options.folder.exists():
        print(f"submissions: {options.folder} is there already: a new folder is wanted", file=sys.stderr)
        return 2
    expected = make(options.folder, options.lab or ["01_hello_world", "03_vector_add"], options.count)
    print(f"{len(list(options.folder.iterdir()))} submissions, {len(expected)} of them bad, each in its own way")
    return 0


if __name__ == "__main__":
    sys.exit(main())
