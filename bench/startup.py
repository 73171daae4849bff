#!/usr/bin/python3
"""What starting a program costs: by itself, with the runtime alone (as the loader's variables name it), by `env`, and
under psrun. The programs are one in C and one in C++, linked to an OpenMP runtime, a script that runs one, and Python.

Every program starts in every way in turns, ROUNDS times. Processor time is that of the process and of what it waited
for, user and system, of which other work on the machine takes little away. What a way adds is the median of its rounds'
differences from the program by itself, with a 95 % interval (bootstrap over the rounds). `env` is about the least that
a program which runs another can add. The script and Python get the runtime by LD_PRELOAD as well, as under psrun.
--before names another psrun. The last line compares what the two add to the runtime alone."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
import verdict

C = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
CXX = "#include <iostream>\n#include <omp.h>\nint main() { std::cout << omp_get_max_threads() << std::endl; }\n"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--before", type=Path, metavar="PSRUN", help="another psrun, beside its own runtime")
    a = parser.parse_args()
    if a.rounds < 1:
        parser.error("--rounds: want at least 1")
    a.build = a.build.resolve()
    return a


def make_programs(folder):
    """{name: (command, is a runtime preloaded?)}"""
    for name, compiler, text in (("c", "gcc", C), ("c++", "g++", CXX)):
        subprocess.run([compiler, "-x", name, "-O2", "-fopenmp", "-o", folder / name, "-"], input=text, text=True,
                       check=True)
    script = folder / "script"
    script.write_text(f'#!/bin/sh\nexec {folder / "c"} "$@"\n')
    script.chmod(0o755)
    return {"C": ([folder / "c"], False), "C++": ([folder / "c++"], False),
            "script that runs C": ([script], True), "python3 -c pass": (["/usr/bin/python3", "-c", "pass"], True)}


def make_ways(a, environment):
    """{name: (what stands before the command, its environment, the same where a runtime is preloaded)}"""
    dropin = a.build / "lib" / "dropin"
    named = {**environment, "LD_LIBRARY_PATH": str(dropin)}
    preloaded = {**named, "LD_PRELOAD": str(dropin / "libgomp.so.1")}
    ways = {"by itself": ([], environment, environment), "runtime alone": ([], named, preloaded),
            "env": (["/usr/bin/env"], environment, environment)}
    if a.before:
        ways["psrun before"] = ([a.before.resolve()], environment, environment)
    ways["psrun"] = ([a.build / "bin" / "psrun"], environment, environment)
    return ways


def run(command, environment, out):
    """(ms, ms of processor time)"""
    command = [str(c) for c in command]
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
    _, status, used = os.wait4(pid, 0)
    end = time.perf_counter()
    if status != 0:
        sys.exit(f"{' '.join(command)}: wait status {status}")
    return (end - start) * 1e3, (used.ru_utime + used.ru_stime) * 1e3


def measure(a, programs, ways):
    """{program: {way: {round: (ms, ms of processor time)}}}"""
    values = {program: {way: {} for way in ways} for program in programs}
    names = list(ways)
    with open(os.devnull, "wb") as null:
        for this_round in range(a.rounds):
            shift = this_round % len(names)
            for program, (command, preloaded) in programs.items():
                for way in names[shift:] + names[:shift]:
                    prefix, named, both = ways[way]
                    values[program][way][this_round] = run(prefix + command, both if preloaded else named,
                                                           null.fileno())
    return values


def with_quartiles(values, which):
    low, middle, high = statistics.quantiles((v[which] for v in values.values()), n=4)
    return f"{middle:.2f} [{low:.2f} {high:.2f}]"


def added(cell, way, to, which):
    return {r: v[which] - cell[to][r][which] for r, v in cell[way].items()}


def least(values):
    """The time that one of ten runs comes below: other work on the machine has disturbed these runs least."""
    return statistics.quantiles((v[0] for v in values.values()), n=10)[0]


def print_program(program, cell):
    print(f"{program:20}{'ms, median [quartiles]':>26}{'processor time':>26}{'added, processor time':>26}")
    for way, values in cell.items():
        line = f"  {way:18}{with_quartiles(values, 0):>26}{with_quartiles(values, 1):>26}"
        if way != "by itself":
            middle, low, high = verdict.median_interval(added(cell, way, "by itself", 1))
            line += f"{f'{middle:.2f} [{low:.2f} {high:.2f}]':>26}"
        print(line)
    if "psrun before" in cell:
        before, now = (verdict.median(added(cell, way, "runtime alone", 1)) for way in ("psrun before", "psrun"))
        print(f"  psrun's own part: {before:.2f} before, {now:.2f} now, {now / before:.2f} of it (ms, processor time)")
        before, now = (least(cell[way]) - least(cell["runtime alone"]) for way in ("psrun before", "psrun"))
        print(f"  psrun's own part: {before:.2f} before, {now:.2f} now, {now / before:.2f} of it (ms, least disturbed)")
    print()


def main():
    a = read_arguments()
    if not (a.build / "bin" / "psrun").is_file():
        sys.exit(f"{a.build / 'bin' / 'psrun'}: not there; build it first (make)")
    environment = harness.Peer("", "").clean_environment()
    print(harness.machine_line())
    print(f"bench/startup.py; {a.rounds} interleaved rounds\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="startup-") as folder:
        values = measure(a, make_programs(Path(folder)), make_ways(a, environment))
    for program, cell in values.items():
        print_program(program, cell)


if __name__ == "__main__":
    main()
