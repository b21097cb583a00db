"""A lab's checker, loaded once, for one program after another.

    python3 judge.py labs/NN_name/check.py

Each line of standard input is a JSON list: the fault that a program is to be that is any of several (together.py), or an empty
text, and the checker's options. The checker runs in a process of its own. The answer is a line, too: its status, standard output
and standard error.
"""

import json
import os
import runpy
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import checker  # noqa: E402

main = checker.Lab.main


def serve(lab) -> None:
    """Takes the place of Lab.main, with which a checker ends."""
    for line in sys.stdin:
        planted, *options = json.loads(line)
        with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
            child = os.fork()
            if child == 0:
                for number, file in enumerate((open(os.devnull), stdout, stderr)):
                    os.dup2(file.fileno(), number)
                os.environ["PLANTED"] = planted
                main(lab, options)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            texts = [file.seek(0) or file.read() for file in (stdout, stderr)]
        print(json.dumps([status, *texts]), flush=True)


checker.Lab.main = serve
sys.argv = sys.argv[1:]
sys.path.insert(0, str(Path(sys.argv[0]).parent))  # as for every script
runpy.run_path(sys.argv[0], run_name="__main__")
