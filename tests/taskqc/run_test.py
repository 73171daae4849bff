#!/usr/bin/python3
"""run_test.py TASKQC PSRUN FOLDER NAME... - programs with task queues: translated, compiled without a warning, run.

Each program of run/ checks itself. The program is made by libpsthreads and by OpenMP tasks (libgomp; the same program
under psrun), and run with one thread, two, three and eight; by libpsthreads also with the address and
undefined-behaviour sanitizers."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What the sources themselves are not free of, and what a queue's own copy of a variable makes.
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-but-set-variable", "-Wno-old-style-definition"]


def run(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})},
                          timeout=120)
    return done.returncode, (done.stdout + done.stderr).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("taskqc")
    parser.add_argument("psrun")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0

    def check(what, command, environment=None):
        nonlocal wrong
        code, said = run(command, environment)
        if code or said:
            wrong += 1
            print(f"{what}: exit status {code}: {said}")
        return code == 0

    for name in a.names:
        source = HERE / "run" / f"{name}.c"
        direct, openmp, watched = (a.folder / f"{name}{kind}" for kind in ("", "-openmp", "-watched"))
        compile_ = [a.taskqc, "-O1", *WARNINGS, source, "-lm"]
        if check(f"{name} by libpsthreads", [*compile_, "-o", direct]):
            for n in (1, 2, 3, 8):
                check(f"{name} by libpsthreads, {n}", [direct], {"PSTHREADS_NUM_VPS": str(n)})
        if check(f"{name} by OpenMP", [*compile_, "--openmp", "-o", openmp]):
            for n in (1, 2, 3, 8):
                check(f"{name} under libgomp, {n}", [openmp], {"OMP_NUM_THREADS": str(n)})
                check(f"{name} under psrun, {n}", [a.psrun, openmp], {"OMP_NUM_THREADS": str(n)})
        if check(f"{name} with sanitizers", [*compile_, "-g", "-fsanitize=address,undefined",
                                             "-fno-sanitize-recover=all", "-o", watched]):
            check(f"{name} with sanitizers, run", [watched],
                  {"PSTHREADS_NUM_VPS": "3", "ASAN_OPTIONS": "detect_leaks=0"})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
