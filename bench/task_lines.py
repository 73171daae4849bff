#!/usr/bin/python3
"""Transfers of cache lines that a fine task costs, by the number of processors.

  bench/task_lines.py [--build build] [--processors 2,4,8,16] [--rows REGEX] [--functions N]

The machine is the one of transfers.c; so a machine with two processors is enough. Of each application and runtime:
transfers a task, of the runtime's lines and of the application's, and the model's time for a task. The time counts
instructions and transfers only. --functions: also the N functions of ours in which a task has most transfers. Writes
task-lines.txt (results folder, --out)."""

import argparse
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
from harness import OURS, number, say
from model import Model, by_function


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


FEW, MANY, SAMPLES = 10, 17, 5  # fib's argument, and how often the program computes it
FIB_TASKS = SAMPLES * (fib(MANY + 1) - fib(FEW + 1))
APPS = {"nqueens": 8, "uts": 120, "health": 20, "sparselu": 16}  # and their sizes


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--processors", default="2,4,8,16")
    parser.add_argument("--rows", default="", help="regular expression: only applications whose name matches")
    parser.add_argument("--functions", type=int, default=0, metavar="N")
    return parser.parse_args()


def measure(model, name, runtime, num):
    """{"transfers": a task, "ns": a task's, "functions": [(name, transfers a task)]}, or why there is none"""
    folder = model.build / "bench"
    try:
        if name == "fib":
            program = "fib_tbb" if runtime == "oneTBB" else "fib_task"
            found = model.difference(runtime, num, [folder / program, FEW, num], [folder / program, MANY, num],
                                     FIB_TASKS)
            tasks, ns = FIB_TASKS, harness.json_lines(found["printed"])[0]["median"]
        else:
            few, many = 1, 4
            found = model.difference(runtime, num, [folder / name, APPS[name], few, num],
                                     [folder / name, APPS[name], many, num], many - few)
            said = harness.json_lines(found["printed"])[0]
            found["transfers"] /= said["tasks"]
            tasks, ns = said["tasks"] * (many + 1), said["median"] * 1e6 / said["tasks"]
    except RuntimeError as why:
        return str(why)
    return {"transfers": found["transfers"], "ns": ns,
            "functions": [(f, n / tasks) for f, n in by_function(found["sites"][:60])]}


def table(names, runtimes, processors, found, what):
    lines = [f"{'':22}" + "".join(f"{n:>8}" for n in processors)]
    for name in names:
        for runtime in runtimes:
            values = [found.get((name, runtime, n)) for n in processors]
            if any(values):
                lines.append(f"{name:12}{runtime:10}" + "".join(
                    f"{number(v[what]) if isinstance(v, dict) else '-':>8}" for v in values))
    return lines


def main():
    a = read_arguments()
    model = Model(a.build)
    why = model.missing()
    if why:
        raise SystemExit(f"{why}: nothing is counted")
    model.libraries.pop("libgomp")  # its one lock for all tasks would take hours
    processors = [int(n) for n in a.processors.split(",")]
    names = [n for n in ("fib", *APPS) if re.search(a.rows, n)]
    runtimes = [*model.libraries, *(["oneTBB"] if (model.build / "bench" / "fib_tbb").exists() else [])]
    jobs = [(name, runtime, n) for name in names for runtime in runtimes for n in processors
            if runtime != "oneTBB" or name == "fib"]
    found = {}

    def fill(job):
        found[job] = value = measure(model, *job)
        say(f"{job} {value if isinstance(value, str) else number(value['transfers']) + ' ' + number(value['ns'])}")

    with ThreadPoolExecutor(model.processors.qsize()) as pool:
        list(pool.map(fill, jobs))
    lines = [model.line()]
    for what, title in (("transfers", "transfers a task"), ("ns", "ns of the model a task")):
        lines += ["", f"{title}, by processors", *table(names, runtimes, processors, found, what)]
    for name in names if a.functions else []:
        for n in processors:
            value = found[name, OURS, n]
            if isinstance(value, dict):
                lines += ["", f"{name}, {n} processors: transfers a task by function"]
                lines += [f"  {function:40} {num:8.3f}" for function, num in value["functions"][:a.functions]]
    lines += ["", *(f"{job}: {value}" for job, value in found.items() if isinstance(value, str))]
    out = a.out or a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    (out / "task-lines.txt").write_text("\n".join(lines).rstrip() + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
