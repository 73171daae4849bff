#!/usr/bin/python3
"""Counts the instructions of constructs under callgrind and compares them with the committed figures in
bench/counts.txt.

  bench/counts.py --build build             compares; exit status 1 where a figure has grown by more than the tolerance
  bench/counts.py --build build --update    writes the figures anew; commit them with the change that moved them, and
  say why

What clang compiles has names that begin with clang_; it is left out where clang, or the version that the figures are
of, is not there. Each program runs with two numbers of repetitions; the difference is the construct's alone. One
virtual processor, and only what the program's first kernel thread does within the construct (counted.h), so the counts
are repeatable. Other compilers make other code: where the compiler is not the figures', it says so and skips (exit
status 77)."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "bench" / "counts.txt"
PROGRAMS = {"counts": "", "counts_threads": "", "counts_clang": "clang_"}  # and what their constructs' names begin with
FEW, MANY = 2000, 10000
TOLERANCE, SLACK = 0.03, 2.0  # relative, and instructions


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--compiler", default="gcc", help="what built it")
    parser.add_argument("--clang", default="clang", help="what built counts_clang; empty: nothing did")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*", help="only these")
    return parser.parse_args()


def instructions(build, program, name, repetitions):
    env = {k: v for k, v in os.environ.items() if not re.match(r"(OMP|GOMP|KMP|PSTHREADS|LD)_", k)}
    env |= {"LD_LIBRARY_PATH": str(build.resolve() / "lib" / "dropin"), "PSTHREADS_NUM_VPS": "1",
            "PSTHREADS_TLS": "never"}
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
                           build / "bench" / program, name, str(repetitions)],
                          env=env, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{program} {name}: exit status {done.returncode} under valgrind\n{done.stderr}")
    if int(found[1]) == 0:
        print("built without Valgrind's headers (counted.h): nothing is counted")
        sys.exit(77)
    return int(found[1])


def measure(build, wanted, with_clang):
    result = {}
    for program, prefix in PROGRAMS.items():
        if prefix and not (with_clang and (build / "bench" / program).exists()):
            print("what clang compiles is not counted: there is none, or another one than the figures'")
            continue
        for name in subprocess.run([build / "bench" / program], capture_output=True, text=True,
                                   check=True).stdout.split():
            if not wanted or prefix + name in wanted:
                few, many = (instructions(build, program, name, n) for n in (FEW, MANY))
                result[prefix + name] = (many - few) / (MANY - FEW)
    return result


def compiler_line(compiler):
    if not compiler or not shutil.which(compiler):
        return "none"
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True)
    name = done.stdout.splitlines()[0].partition(" ")[2] if done.stdout else "unknown"  # cc, gcc: the same one
    return f"{name}; {os.uname().machine}"


def read_figures():
    """(compiler, clang, {name: instructions})"""
    lines = FIGURES.read_text().splitlines()
    figures = dict(line.split() for line in lines if line and not line.startswith("#"))
    return lines[0].lstrip("# ").strip(), lines[1].lstrip("# ").strip(), {name: float(value)
                                                                          for name, value in figures.items()}


def main():
    a = read_arguments()
    if not shutil.which("valgrind"):
        print("no valgrind (tools/install-deps check): nothing is counted")
        sys.exit(77)
    compiler, clang = compiler_line(a.compiler), compiler_line(a.clang)
    if a.update:
        figures = read_figures()[2] if FIGURES.exists() else {}
        figures |= measure(a.build, a.names, clang != "none")
        FIGURES.write_text(f"# {compiler}\n# {clang}\n# Instructions a repetition; bench/counts.py --update writes "
                           f"this.\n"
                           + "".join(f"{name:16} {value:8.1f}\n" for name, value in figures.items()))
        print(FIGURES.read_text(), end="")
        return
    made_by, made_by_clang, figures = read_figures()
    if made_by != compiler:
        print(f"the figures are of '{made_by}', this is '{compiler}': not compared")
        sys.exit(77)
    grown = []
    for name, now in measure(a.build, a.names, clang == made_by_clang).items():
        figure = figures.get(name)
        if figure is None:
            grown.append(name)
            print(f"{name:16} {'':8} {now:8.1f}  has no figure")
            continue
        change = now - figure
        verdict = ""
        if change > max(SLACK, TOLERANCE * figure):
            grown.append(name)
            verdict = "GROWN"
        elif -change > max(SLACK, TOLERANCE * figure):
            verdict = "less than the figure: update it"
        print(f"{name:16} {figure:8.1f} {now:8.1f} {change:+8.1f}  {verdict}".rstrip())
    if grown:
        sys.exit(f"more instructions than committed: {', '.join(grown)}. Where that is meant, bench/counts.py --update "
                 f"and say why in the commit.")


if __name__ == "__main__":
    main()
