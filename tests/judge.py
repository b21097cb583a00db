"""A lab's checker, loaded once, for one program after another; or what every checker needs, loaded once for any of them.

    python3 judge.py [labs/NN_name/check.py]

Each line of standard input is a JSON list: the fault that a program is to be that is any of several (together.py), or an empty
text, and the checker's options; without a checker, what the environment is to be, the checker and its options. The checker runs
in a process of its own. The answer is a line, too: its status, standard output and standard error.
"""

import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import checker  # noqa: E402

main = checker.Lab.main


def status_of(run, *arguments) -> int:
    """How a script ends that does this. Python itself is not taken down: in a process that was forked that takes a tenth of a second."""
    status = 0
    try:
        run(*arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else print(end.code, file=sys.stderr) or 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def serve(run) -> None:
    """Answers each line of standard input with what comes of run(*line) in a process of its own."""
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
            child = os.fork()
            if child == 0:
                for number, file in enumerate((open(os.devnull), stdout, stderr)):
                    os.dup2(file.fileno(), number)
                os._exit(status_of(run, *json.loads(line)))
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            texts = [file.seek(0) or file.read() for file in (stdout, stderr)]
        print(json.dumps([status, *texts]), flush=True)


def run_loaded(lab, planted: str, *options: str) -> None:
    os.environ["PLANTED"] = planted
    main(lab, options)


def run_script(environment: dict[str, str], *words: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = list(words)
    sys.path.insert(0, str(Path(words[0]).parent))  # as for every script
    runpy.run_path(words[0], run_name="__main__")


if len(sys.argv) == 1:
    serve(run_script)
else:
    checker.Lab.main = lambda lab: serve(lambda *words: run_loaded(lab, *words))  # with which a checker ends
    run_script(dict(os.environ), *sys.argv[1:])
