#!/usr/bin/python3
"""run.py [--build DIR] [--rounds N] - MPI programs under libgomp, psrun, and psrun without the task-aware layer.

Runs each program with each MPI that was found, in turns, and prints medians: what messages cost (messages.c), the
stencil with tasks (apps/heat_mpi) on 2 and 4 ranks with 2 and 8 threads, conjugate gradients (apps/cg_mpi), and the
two programs whose threads and tasks wait for one another (tests/mpi)."""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time

LIMIT_S = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="the build's folder (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    args = parser.parse_args()
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    psrun = os.path.join(args.build, "bin/psrun")
    runners = {"libgomp": [], "ours": [psrun], "ours, --mpi=off": [psrun, "--mpi=off"]}
    launchers = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpirun.mpich"]}
    bin_ = os.path.join(args.build, "bin")
    found = [mpi for mpi in launchers if os.path.exists(f"{bin_}/heat_mpi.{mpi}")]
    if not found:
        print(f"run.py: no {bin_}/heat_mpi.openmpi or .mpich: tools/install-deps mpi, then make", file=sys.stderr)
        return 1

    def once(mpi, runner, ranks, threads, program, *words, **more):
        command = launchers[mpi] + ["-n", str(ranks)] + runners[runner] + [program, *words]
        began = time.monotonic()
        try:
            done = subprocess.run(command, env=dict(environment, OMP_NUM_THREADS=str(threads), **more),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                  encoding="utf-8", timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return None, float("inf")
        return done.stdout if done.returncode == 0 else None, time.monotonic() - began

    def table(rows, mpi, *what, **more):
        """rows: title -> pattern. Medians of what each pattern finds, or of the whole run's seconds (pattern None)."""
        results = {title: {runner: [] for runner in runners} for title in rows}
        for _ in range(args.rounds):
            for runner in runners:
                text, seconds = once(mpi, runner, *what, **more)
                for title, pattern in rows.items():
                    match = re.search(pattern, text) if text and pattern else None
                    number = float(match.group(1)) if match else seconds if text and not pattern else None
                    results[title][runner].append(number)
        for title, found_numbers in results.items():
            row = f"{mpi:8} {title:40}"
            for runner, numbers in found_numbers.items():
                ended = [number for number in numbers if number is not None]
                row += f"  {runner}: " + (f"{statistics.median(ended):10.3f}" if ended else "   no end  ")
                row += f" ({len(ended)} of {len(numbers)})" if len(ended) < len(numbers) else ""
            print(row, flush=True)

    for mpi in found:
        table({"ns, message there already": r"there ([\d.]+)", "ns, 8 bytes": r"latency ([\d.]+)",
               "MB/s, 1 MiB": r"bandwidth ([\d.]+)", "ns a message, 4 threads": r"threads ([\d.]+)"},
              mpi, 2, 1, f"{bin_}/mpi_messages.{mpi}")
        for ranks in (2, 4):
            for threads in (2, 8):
                table({f"heat_mpi, ms a step, {ranks} ranks x {threads}": r"([\d.]+) ms a step"}, mpi, ranks, threads,
                      f"{bin_}/heat_mpi.{mpi}", "--steps=30")
        table({"cg_mpi, ms an iteration, 2 ranks x 2": r"([\d.]+) ms each"}, mpi, 2, 2, f"{bin_}/cg_mpi.{mpi}")
        for program in ("deadlock", "task_pairs"):
            table({f"{program}, s in all": None}, mpi, 2, 2, f"{args.build}/tests/mpi/{program}.{mpi}",
                  PSTHREADS_NUM_VPS="1")
    return 0


sys.exit(main())
