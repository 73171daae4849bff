#!/usr/bin/python3
"""Instructions, system calls and transfers of cache lines of each construct, beside their limits.

  bench/rows.py --build build             compares ours with the limits in bench/rows.txt; exit status 1 above one
  bench/rows.py --build build --table     measures the peers too, and writes rows-counts.txt (results folder, --out)
  bench/rows.py --build build --update    makes the limits anew; say why in the commit

The machine is the one of transfers.c: no clock, and no other program, has a say. Instructions are those of a machine
with one processor, so that no member spins while another works; system calls and transfers are of two processors.
A repetition of a nest is a construct by each of its teams, counted together. NOTES.md"""

import argparse
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
from harness import OURS, number, say
from model import Model

LIMITS = harness.ROOT / "bench" / "rows.txt"
ROOM, SLACK, CALLS = 0.05, 5, 0.1  # a limit is above the figure by: relative, instructions, system calls


def epcc(construct, config):
    return lambda reps: ["epcc_nested", "--reps", reps, "--constructs", construct, config]


def counts(name):
    return lambda reps: ["counts", name, reps]


FLAT = (2000, 6000)
LESS = 10  # peers' nests take longer here, but have no memory of the regions before: a tenth of the repetitions
# name, command by repetitions, (few, many)
ROWS = [("for, 2", epcc("for", "2"), FLAT), ("barrier, 2", epcc("barrier", "2"), FLAT),
        ("static, 2", epcc("static", "2"), FLAT), ("dynamic, 2", epcc("dynamic", "2"), (200, 600)),
        ("parallel, 2", epcc("parallel", "2"), FLAT), ("critical, 2", epcc("critical", "2"), (10000, 20000)),
        ("taskwait, 2", epcc("taskwait", "2"), FLAT), ("taskwait, 64", epcc("taskwait", "64"), (50, 150)),
        *((f"{construct}, {nest}", epcc(construct, nest), reps)
          for nest, reps in (("4x4", (400, 800)), ("8x8", (400, 800)), ("16x16", (100, 200)))
          for construct in ("for", "barrier", "parallel")),
        ("atomic by lock", counts("atomic_lock"), FLAT), ("task, 2 dependences", counts("depend_task"), FLAT),
        ("undeferred task", counts("included_task"), FLAT), ("taskloop, a task", counts("taskloop"), FLAT)]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--rows", default="", help="regular expression: only rows whose name matches")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


def measure(model, row, runtime):
    """(instructions, system calls, transfers) of a repetition, or why there is none."""
    row_name, command, (few, many) = row
    if runtime != OURS and "x" in row_name:
        few, many = few // LESS, many // LESS

    def program(reps):
        name, *rest = command(reps)
        return [model.build / "bench" / name, *rest]

    try:
        one, two = (model.difference(runtime, n, program(few), program(many), many - few) for n in (1, 2))
    except RuntimeError as why:
        return str(why)
    return one["instructions"], two["syscalls"], two["transfers"]


def read_limits():
    """{row: (instructions, system calls)}"""
    limits = {}
    for line in LIMITS.read_text().splitlines() if LIMITS.exists() else []:
        if not line.startswith("#"):
            name, instructions, calls = line.rsplit(None, 2)
            limits[name.strip()] = float(instructions), float(calls)
    return limits


def write_limits(limits):
    LIMITS.write_text("# Limits of a repetition: instructions, system calls; bench/rows.py --update writes this.\n" +
                      "".join(f"{name:20} {limits[name][0]:8.0f} {limits[name][1]:6.1f}\n"
                              for name, *_ in ROWS if name in limits))


def compare(rows, found, limits):
    """The lines of the rows that are above their limits, or have none."""
    above = []
    for name, *_ in rows:
        if name not in limits:
            above.append(f"{name}: has no limit")
        elif isinstance(found[name], str):
            above.append(f"{name}: {found[name]}")
        else:
            above += [f"{name}: {now:.1f} {what}, limit {most:g}" for now, most, what in
                      zip(found[name], limits[name], ("instructions", "system calls")) if now > most]
    return above


def cell(value):
    return "-" if value is None else "0" if abs(value) < 0.05 else number(value)


def table(rows, runtimes, found, limits):
    head = [("instructions", 0), ("system calls", 1), ("transfers", 2)]
    lines = [" " * 20 + "".join(f"{what:>{10 * (len(runtimes) + (i < 2))}}" for what, i in head),
             " " * 20 + "".join((f"{'limit':>10}" if i < 2 else "") + "".join(f"{r:>10}" for r in runtimes)
                                for _, i in head)]
    whys = []
    for name, *_ in rows:
        line = f"{name:20}"
        for _, i in head:
            values = [limits.get(name, (None, None))[i]] if i < 2 else []
            values += [None if isinstance(found[r][name], str) else found[r][name][i] for r in runtimes]
            line += "".join(f"{cell(v):>10}" for v in values)
        lines.append(line)
        whys += [f"{name} under {r}: {found[r][name]}" for r in runtimes if isinstance(found[r][name], str)]
    return [*lines, *whys]


def main():
    a = read_arguments()
    model = Model(a.build, peers=a.table)
    why = model.missing()
    if why:
        print(f"{why}: nothing is counted")
        sys.exit(77)
    rows = [row for row in ROWS if re.search(a.rows, row[0])]
    found = {runtime: {} for runtime in model.libraries}

    def fill(job):
        runtime, row = job
        found[runtime][row[0]] = value = measure(model, row, runtime)
        say(f"{runtime:10} {row[0]:20} {value if isinstance(value, str) else ' '.join(map(cell, value))}")

    with ThreadPoolExecutor(model.processors.qsize()) as pool:
        list(pool.map(fill, [(runtime, row) for runtime in model.libraries for row in rows]))
    limits = read_limits()
    if a.update:
        limits |= {name: (value[0] * (1 + ROOM) + SLACK, max(value[1], 0) + CALLS)
                   for name, value in found[OURS].items() if not isinstance(value, str)}
        write_limits(limits)
    if a.table:
        out = a.out or a.build / "bench" / "results"
        out.mkdir(parents=True, exist_ok=True)
        lines = [model.line(), "a repetition: instructions with one processor, system calls and transfers with two; "
                 "below 0: less than two runs differ by", "", *table(rows, list(model.libraries), found, limits)]
        (out / "rows-counts.txt").write_text("\n".join(lines) + "\n")
        print("\n".join(lines))
    above = compare(rows, found[OURS], limits)
    if above:
        sys.exit("\n".join([*above, "Where that is meant, bench/rows.py --update, and say why in the commit."]))


if __name__ == "__main__":
    main()
