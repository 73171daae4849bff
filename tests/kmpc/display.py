#!/usr/bin/python3
"""display.py PROGRAM LIBOMP FOLDER... - what OMP_DISPLAY_ENV, omp_display_env and KMP_SETTINGS show, line by line as
libomp shows it.

PROGRAM is linked to libomp, which lies in the folder LIBOMP; each other FOLDER has a drop-in. libomp's lines of its
internals, which have no effect here, are left out: of KMP_ variables those count that the drop-in shows. What may
differ is named in OTHERWISE."""

import argparse
import os
import re
import subprocess
import sys

ENVIRONMENTS = [
    {}, {"OMP_NUM_THREADS": "3"}, {"OMP_NUM_THREADS": "4,3,2"}, {"OMP_SCHEDULE": "dynamic"},
    {"OMP_SCHEDULE": "static,5"},
    {"OMP_SCHEDULE": "dynamic,4"}, {"OMP_SCHEDULE": "auto"}, {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close,spread"},
    {"OMP_PLACES": "threads", "OMP_PROC_BIND": "close"},
    {"OMP_PLACES": "{0}", "OMP_PROC_BIND": "spread"}, {"OMP_PROC_BIND": "false"},
    {"OMP_PROC_BIND": "TRUE", "OMP_PLACES": "cores"}, {"OMP_PROC_BIND": "true", "OMP_PLACES": "threads"},
    {"OMP_PLACES": "threads"}, {"OMP_WAIT_POLICY": "active"}, {"OMP_WAIT_POLICY": "passive"},
    {"OMP_PROC_BIND": "false", "OMP_PLACES": "cores"}, {"KMP_BLOCKTIME": "infinite"}, {"OMP_DYNAMIC": "true"},
    {"OMP_MAX_ACTIVE_LEVELS": "3"}, {"OMP_CANCELLATION": "1"}, {"OMP_MAX_TASK_PRIORITY": "3"},
    {"OMP_THREAD_LIMIT": "5"},
    {"OMP_STACKSIZE": "1M"}, {"OMP_STACKSIZE": "300"}, {"OMP_STACKSIZE": "65536B"}, {"OMP_TARGET_OFFLOAD": "disabled"},
    {"OMP_NUM_TEAMS": "2", "OMP_TEAMS_THREAD_LIMIT": "1"}, {"OMP_TOOL": "disabled"},
    {"OMP_TOOL_LIBRARIES": "/nowhere.so"},
    {"OMP_AFFINITY_FORMAT": "%n of %N"}, {"KMP_BLOCKTIME": "5"}, {"KMP_LIBRARY": "turnaround"},
    {"KMP_DETERMINISTIC_REDUCTION": "true"}, {"KMP_STACKSIZE": "2m"},
    {"KMP_WARNINGS": "off"},
]
# Levels are limited to 255 here.
OTHERWISE = {("OMP_MAX_ACTIVE_LEVELS", "255"), ("OMP_NESTED", "255")}
VARIABLE = re.compile(r"^ +(?:\[host\] )?((?:OMP|KMP|LIBOMP)_\w+)\W.*?('?)(\d*)'?$")


def run(program, folder, settings):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OMP_", "GOMP_", "KMP_", "LIBOMP_", "LD_", "PSTHREADS_"))}
    env.update(settings, LD_LIBRARY_PATH=folder)
    asked = ["asked"] if "asked" in settings else []
    env.pop("asked", None)
    done = subprocess.run([program, *asked], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.stdout.decode(errors="replace").splitlines()


def variable(line):
    found = VARIABLE.match(line)
    return (found.group(1), found.group(3)) if found else ("", "")


def comparable(lines, kept):
    """Without libomp's internals and what may differ."""
    left = []
    for line in lines:
        name, _ = variable(line)
        if name == "KMP_BLOCKTIME": # libomp 19 forgets the second quote
            line = line.replace("'", "")
        if not name.startswith(("KMP_", "LIBOMP_")) or name in kept:
            left.append(line)
    return left


def cases():
    for settings in ENVIRONMENTS:
        yield dict(settings, OMP_DISPLAY_ENV="true")
        yield dict(settings, OMP_DISPLAY_ENV="verbose")
        yield dict(settings, KMP_SETTINGS="1")
    for value in ("1", "yes", "on", "T", ".true.", "enabled"):
        yield {"OMP_DISPLAY_ENV": value}
    yield {"asked": "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("libomp")
    parser.add_argument("folder", nargs="+")
    args = parser.parse_args()
    wrong = n = 0
    for settings in cases():
        theirs = run(args.program, args.libomp, settings)
        for folder in args.folder:
            ours = run(args.program, folder, settings)
            n += 1
            known = {name for line in ours for name, value in [variable(line)] if (name, value) in OTHERWISE}
            kept = {variable(line)[0] for line in ours}
            left = [[line for line in comparable(lines, kept) if variable(line)[0] not in known]
                    for lines in (theirs, ours)]
            if left[0] != left[1] or len(left[0]) < 20:
                wrong += 1
                print(f"{settings} in {folder}:")
                for sign, lines, others in (("-", left[0], left[1]), ("+", left[1], left[0])):
                    print("\n".join(f"  {sign} {line}" for line in lines if line not in others))
    print(f"{n} displays, {wrong} not as libomp's")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
