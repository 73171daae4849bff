#!/usr/bin/python3
"""run.py [--build DIR] [--rounds N] [--mpi NAME] - MPI programs under libgomp, libomp and psrun.

psrun with the task-aware layer and without it. Runs each program with each MPI that was found, in turns, and prints
medians:
- what messages cost (messages.c);
- the stencil with tasks (apps/heat_mpi) on 2 and 4 ranks with 2 and 8 threads;
- conjugate gradients (apps/cg_mpi);
- threads of one processor that wait for one another's messages (chain.c), and tasks that do (tests/mpi/task_pairs.c);
- what the layer adds to a call whose message is there already (path.c): the thread's own time, of pairs of runs, and
  instructions, by callgrind.

libomp's programs are built by clang, where it was there; so are those of "ours, clang". The others are built by GCC."""

import argparse
import glob
import os
import re
import resource
import statistics
import subprocess
import sys

LIMIT_S = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="the build's folder (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], help="this one only")
    args = parser.parse_args()
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    build = os.path.abspath(args.build)
    psrun = f"{build}/bin/psrun"
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    unpacked = "libomp5-*/usr/lib/llvm-*/lib/libomp.so.5"  # tools/get-libomp
    libomp = [os.path.dirname(path) for folder in (f"{build}/peers", f"{source}/.cache/peers")
              for path in sorted(glob.glob(f"{folder}/{unpacked}"))]
    # name: what stands before the program, the folder of the programs, variables
    runners = {"libgomp": ([], f"{build}/bin", {}), "ours": ([psrun], f"{build}/bin", {}),
               "ours, --mpi=off": ([psrun, "--mpi=off"], f"{build}/bin", {})}
    if libomp and os.path.isdir(f"{build}/bench/mpi"):
        runners["libomp"] = ([], f"{build}/bench/mpi", {"LD_LIBRARY_PATH": libomp[-1]})
        runners["ours, clang"] = ([psrun], f"{build}/bench/mpi", {})
    launchers = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpirun.mpich"]}
    found = [mpi for mpi in launchers if args.mpi in (None, mpi) and os.path.exists(f"{build}/bin/heat_mpi.{mpi}")]
    if not found:
        print(f"run.py: no {build}/bin/heat_mpi.openmpi or .mpich: tools/install-deps mpi, then make", file=sys.stderr)
        return 1

    def once(mpi, runner, ranks, threads, program, *words, **more):
        prefix, folder, variables = runners[runner]
        command = launchers[mpi] + ["-n", str(ranks), *prefix, f"{folder}/{program}.{mpi}", *words]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, env=dict(environment, OMP_NUM_THREADS=str(threads), **variables, **more),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                  encoding="utf-8", timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return f"{done.stdout}\nprocessor time {spent:.3f} s\n" if done.returncode == 0 else None

    def table(rows, mpi, *what, **more):
        """rows: title -> pattern. Medians of what each pattern finds; of one without a group: 1."""
        results = {title: {runner: [] for runner in runners} for title in rows}
        for _ in range(args.rounds):
            for runner in runners:
                text = once(mpi, runner, *what, **more)
                for title, pattern in rows.items():
                    match = re.search(pattern, text) if text else None
                    results[title][runner].append(float(match.group(1) if match.groups() else 1) if match else None)
        for title, found_numbers in results.items():
            row = f"{mpi:8} {title:40}"
            for runner, numbers in found_numbers.items():
                ended = [number for number in numbers if number is not None]
                row += f"  {runner}: " + (f"{statistics.median(ended):10.3f}" if ended else "   no end  ")
                row += f" ({len(ended)} of {len(numbers)})" if len(ended) < len(numbers) else ""
            print(row, flush=True)

    def path(mpi, layer):
        """A rank alone receives messages of its own: the thread's time of one."""
        text = once(mpi, "ours" if layer else "ours, --mpi=off", 1, 1, "mpi_path", "60000", PSTHREADS_NUM_VPS="1")
        match = re.search(r"path ([\d.]+)", text or "")
        return float(match.group(1)) if match else None

    def added(mpi):
        """What the layer adds to each of the two calls that it answers there: of pairs of runs, the quarters."""
        pairs = [(path(mpi, False), path(mpi, True)) for _ in range(max(9, args.rounds))]
        both = [(plain, ours) for plain, ours in pairs if plain and ours]
        if len(both) > 1:
            more = [(ours - plain) / 2 for plain, ours in both]
            low, middle, high = statistics.quantiles(more)
            print(f"{mpi:8} ns that a call costs more, message there: {middle:.0f} ({low:.0f} to {high:.0f} in half of "
                  f"{len(both)} pairs; MPI alone {statistics.median(plain for plain, _ in both) / 2:.0f})", flush=True)

    def instructions(mpi, layer, count):
        """What callgrind counts of a rank alone that receives so many messages of its own; None: no valgrind."""
        dropin = f"{build}/lib/dropin/libgomp.so.1"
        preload = f"{build}/lib/mpi/libpsthreads-mpi-{mpi}.so:{dropin}" if layer else dropin
        try:
            done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                   f"{build}/bin/mpi_path.{mpi}", str(count)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, encoding="utf-8", check=False,
                                  env=dict(environment, LD_PRELOAD=preload, PSTHREADS_NUM_VPS="1"))
        except FileNotFoundError:
            return None
        match = re.search(r"Collected : (\d+)", done.stderr)
        return int(match.group(1)) if match else None

    for mpi in found:
        table({"ns, message there already": r"there ([\d.]+)", "ns, 8 bytes": r"latency ([\d.]+)",
               "MB/s, 1 MiB": r"bandwidth ([\d.]+)", "MB/s, 1 MiB both ways": r"both ways ([\d.]+)",
               "thousand messages/s, 64 under way": r"rate ([\d.]+)", "ns a message, 2 threads": r"2 threads ([\d.]+)",
               "ns a message, 4 threads": r"4 threads ([\d.]+)", "ns a message, 8 threads": r"8 threads ([\d.]+)",
               "% of waiting hidden, 2 threads": r"overlap ([\d.]+)"},
              mpi, 2, 1, "mpi_messages")
        for vps in ("1", "2"):
            table({f"chain of 8 threads, {vps} vps, ms": r"chain ([\d.]+)"}, mpi, 2, 8, "mpi_chain",
                  PSTHREADS_NUM_VPS=vps)
        for ranks in (2, 4):
            for threads in (2, 8):
                table({f"heat_mpi, ms a step, {ranks} ranks x {threads}": r"([\d.]+) ms a step",
                       "  processor time of the job, s": r"processor time ([\d.]+)"}, mpi, ranks, threads,
                      "heat_mpi", "--steps=30")
        table({"cg_mpi, ms an iteration, 2 ranks x 2": r"([\d.]+) ms each"}, mpi, 2, 2, "cg_mpi")
        added(mpi)
        counts = {layer: [instructions(mpi, layer, count) for count in (1000, 5000)] for layer in (False, True)}
        if all(count for pair in counts.values() for count in pair):
            plain, ours = ((pair[1] - pair[0]) / 4000 for pair in counts.values())
            print(f"{mpi:8} instructions of Isend, Recv and Wait, message there: MPI alone {plain:.0f}, "
                  f"with the layer {ours:.0f} ({(ours - plain) / 2:.0f} a call that it answers)", flush=True)
    for mpi in found:
        if not os.path.exists(f"{build}/tests/mpi/task_pairs.{mpi}"):
            continue
        for name in ("libgomp", "ours", "ours, --mpi=off"):
            runners[name] = (runners[name][0], f"{build}/tests/mpi", runners[name][2])
        for name in ("libomp", "ours, clang"):
            runners.pop(name, None)
        table({"16 pairs of tasks end": "all is well"}, mpi, 2, 2, "task_pairs", PSTHREADS_NUM_VPS="1")
    return 0


sys.exit(main())
