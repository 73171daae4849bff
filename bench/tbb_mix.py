#!/usr/bin/env python3
"""OpenMP regions and oneTBB's loops in one process: how they share the processors, without and with the thread
composability manager (tbb_mix.cc). Runs in turns; medians, and medians of the rounds' ratios to psrun with 95 %
intervals. The wheels tbb, tcmlib and intel-openmp of PyPI stand in one virtual environment: tbb_mix.py ENVIRONMENT"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOBS = ["regions-in-tbb", "tbb-in-region", "beside", "barriers", "turns", "3-tbb", "3-region", "arrays"]
OURS = "psrun"


def interval(ratios):
    drawn = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(2000))
    return f"{statistics.median(ratios):.2f} [{drawn[50]:.2f} {drawn[1949]:.2f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--jobs", nargs="*", default=JOBS)
    a = parser.parse_args()
    psrun, tcm = [a.build / "bin" / "psrun"], {"TCM_ENABLE": "1"}
    intel = {"LD_PRELOAD": str((a.environment / "lib" / "libiomp5.so").resolve())}
    ways = {"libiomp5": ([], [], intel), "libiomp5, TCM": ([], [], intel | tcm), OURS: (psrun, [], {}),
            "psrun, TCM": (psrun, [], tcm), "1 held": (psrun, ["1"], tcm), "2 held": (psrun, ["2"], tcm),
            "one vp": (psrun, [], {"PSTHREADS_NUM_VPS": "1"})}
    env = {k: v for k, v in os.environ.items() if k != "TCM_ENABLE"}
    env["LD_LIBRARY_PATH"] = str((a.environment / "lib").resolve())

    def run(job, way):
        before, after, more = ways[way]
        command = [*before, a.build / "bench" / "tbb_mix", job, *after]
        out = subprocess.run(command, env=env | more, check=True, capture_output=True, text=True).stdout
        return [float(number) for number in out.split()]

    found = {(job, way): [] for job in a.jobs for way in ways}
    for _ in range(a.rounds):
        for job, way in found:
            found[job, way].append(run(job, way))
    print("load", *(f"{load:.0f}" for load in os.getloadavg()))
    for job in a.jobs:
        print(f"{job}:  ms wall, ratio; ms processor, ratio")
        for way in ways:
            columns = [[values[i] for values in found[job, way]] for i in (0, 1)]
            ratios = [[v[i] / o[i] for v, o in zip(found[job, way], found[job, OURS])] for i in (0, 1)]
            print(f"  {way:14}", *(f"{statistics.median(c):6.0f} {interval(r)}" for c, r in zip(columns, ratios)))


if __name__ == "__main__":
    main()
