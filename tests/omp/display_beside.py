#!/usr/bin/python3
"""display_beside.py PROGRAM FOLDER... - what OMP_DISPLAY_ENV and OMP_DISPLAY_AFFINITY show, line by line as the
installed libgomp shows it.

PROGRAM is linked to libgomp; each FOLDER has a drop-in. The words in brackets (which device a value is for) and _OPENMP
are newer than libgomp 12 and left out; the lines of affinity come in any order. GOMP_SPINCOUNT counts, and OMP_PLACES
does where the list is given."""

import argparse
import os
import re
import subprocess
import sys

ENVIRONMENTS = [
    {}, {"OMP_NUM_THREADS": "3"}, {"OMP_NUM_THREADS": " 4 , 3 ,2 "}, {"OMP_DYNAMIC": "true"},
    {"OMP_DYNAMIC": " FALSE "},
    {"OMP_NESTED": "true"}, {"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_MAX_ACTIVE_LEVELS": "7"},
    {"OMP_MAX_ACTIVE_LEVELS": "0"}, {"OMP_MAX_ACTIVE_LEVELS": "100000"},
    {"OMP_SCHEDULE": "static"}, {"OMP_SCHEDULE": "STATIC,7"}, {"OMP_SCHEDULE": "dynamic"},
    {"OMP_SCHEDULE": "dynamic,1"},
    {"OMP_SCHEDULE": "guided, 4"}, {"OMP_SCHEDULE": "auto"}, {"OMP_SCHEDULE": "monotonic:static,2"},
    {"OMP_SCHEDULE": "nonmonotonic:static"}, {"OMP_SCHEDULE": "monotonic:guided"},
    {"OMP_SCHEDULE": "nonmonotonic:dynamic,9"},
    {"OMP_PROC_BIND": "true"}, {"OMP_PROC_BIND": "false"}, {"OMP_PROC_BIND": "spread"},
    {"OMP_PROC_BIND": "close,primary,spread"},
    {"OMP_PROC_BIND": "master"}, {"OMP_PLACES": "{0}"}, {"OMP_PLACES": "{0},{1}"}, {"OMP_PLACES": "{0:2}"},
    {"OMP_PLACES": "{0}:2", "OMP_PROC_BIND": "false"}, {"OMP_PLACES": "{0,1},{1}"}, {"OMP_PLACES": "threads"},
    {"OMP_PLACES": "threads(1)"},
    {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}, {"OMP_PLACES": "sockets"}, {"OMP_PLACES": "ll_caches"},
    {"OMP_PLACES": "numa_domains"}, {"GOMP_CPU_AFFINITY": "0 1"}, {"GOMP_CPU_AFFINITY": "0-1"},
    {"GOMP_CPU_AFFINITY": "1"},
    {"OMP_STACKSIZE": "1M"}, {"OMP_STACKSIZE": "600"}, {"OMP_STACKSIZE": "300 k"}, {"GOMP_STACKSIZE": "2000"},
    {"OMP_STACKSIZE": "65536B"},
    {"OMP_WAIT_POLICY": "active"}, {"OMP_WAIT_POLICY": "PASSIVE"}, {"GOMP_SPINCOUNT": "100"}, {"GOMP_SPINCOUNT": "2M"},
    {"GOMP_SPINCOUNT": "infinite"}, {"GOMP_SPINCOUNT": "5", "OMP_WAIT_POLICY": "active"}, {"OMP_THREAD_LIMIT": "12"},
    {"OMP_THREAD_LIMIT": "1"}, {"OMP_NUM_TEAMS": "3"}, {"OMP_TEAMS_THREAD_LIMIT": "4"}, {"OMP_CANCELLATION": "true"},
    {"OMP_DEFAULT_DEVICE": "2"}, {"OMP_MAX_TASK_PRIORITY": "10"}, {"OMP_DISPLAY_AFFINITY": "true"},
    {"OMP_AFFINITY_FORMAT": "%0.8n of %{num_threads}"}, {"OMP_AFFINITY_FORMAT": ""},
    {"OMP_ALLOCATOR": "omp_large_cap_mem_alloc"},
    {"OMP_ALLOCATOR": " OMP_HIGH_BW_MEM_ALLOC "}, {"OMP_TARGET_OFFLOAD": "disabled"}, {"OMP_TARGET_OFFLOAD": "default"},
    # two that say different things
    {"OMP_PLACES": "{1}", "GOMP_CPU_AFFINITY": "0"},
    {"OMP_PLACES": "{1}", "GOMP_CPU_AFFINITY": "0", "OMP_PROC_BIND": "true"},
    {"OMP_PROC_BIND": "false", "GOMP_CPU_AFFINITY": "0"}, {"OMP_PROC_BIND": "spread", "GOMP_CPU_AFFINITY": "0 1"},
    {"OMP_STACKSIZE": "1M", "GOMP_STACKSIZE": "2000"}, {"OMP_NUM_THREADS": "8", "OMP_THREAD_LIMIT": "3"},
    {"OMP_NUM_THREADS": "2,2", "OMP_NESTED": "false"}, {"OMP_NESTED": "false", "OMP_MAX_ACTIVE_LEVELS": "3"},
    {"OMP_NUM_THREADS": "2,2", "OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_PROC_BIND": "close,spread", "OMP_NESTED": "false"},
    {"OMP_PROC_BIND": "close,spread", "OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_DYNAMIC": "true", "OMP_NUM_THREADS": "64"},
    {"OMP_NUM_TEAMS": "5", "OMP_TEAMS_THREAD_LIMIT": "9", "OMP_THREAD_LIMIT": "2"},
    {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "infinite"}, {"OMP_NUM_THREADS": "5", "OMP_WAIT_POLICY": "active"},
]
FORMATS = ["L%L n%n N%N a%a t%t T%T A%A", "%0.4{thread_num}|%8{nesting_level}|%.6{ancestor_tnum}|%5L",
           "%%%{team_num}%{num_teams}",
           "%{host} %H %{thread_affinity}", "%0.10A|%20A|%.20A", "plain"]
BOUND = [{}, {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads"},
         {"OMP_PROC_BIND": "spread,close", "OMP_PLACES": "{0,1}"},
         {"OMP_PROC_BIND": "true", "OMP_PLACES": "{0},{1}"}, {"GOMP_CPU_AFFINITY": "1"}]


def run(program, mode, folder, settings):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_", "LD_", "PSTHREADS_"))}
    env.update(settings)
    if folder:
        env["LD_LIBRARY_PATH"] = folder
    done = subprocess.run([program, mode], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return [re.sub(r"^  \[[^]]*\] ", "  ", line) for line in done.stdout.decode(errors="replace").splitlines()
            if " _OPENMP = " not in line]


def cases():
    for settings in ENVIRONMENTS:
        for form in ("true", "verbose"):
            yield "-", dict(settings, OMP_DISPLAY_ENV=form)
    for settings in BOUND:
        for text in FORMATS:
            yield "regions", dict(settings, OMP_DISPLAY_AFFINITY="true", OMP_AFFINITY_FORMAT=text, OMP_NUM_THREADS="3")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("folder", nargs="+")
    args = parser.parse_args()
    compared = bad = 0
    for mode, settings in cases():
        theirs = run(args.program, mode, None, settings)
        if not theirs and "OMP_DISPLAY_ENV" in settings:
            sys.exit(f"display_beside: libgomp shows nothing with {settings}")
        for folder in args.folder:
            ours = run(args.program, mode, folder, settings)
            compared += 1
            if sorted(ours) != sorted(theirs) if mode == "regions" else ours != theirs:
                bad += 1
                print(f"{os.path.basename(folder)} differs with {' '.join(f'{k}={v!r}' for k, v in settings.items())}:")
                print("".join(f"  libgomp: {line}\n" for line in theirs if line not in ours), end="")
                print("".join(f"  ours:    {line}\n" for line in ours if line not in theirs), end="")
    print(f"{compared} displays compared, {bad} differ")
    return 1 if bad else 0


sys.exit(main())
