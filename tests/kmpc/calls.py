#!/usr/bin/python3
"""calls.py PROGRAM LIBOMP OURS - loops with static schedules and atomic operations cost no call under us that libomp
does not make, and no more instructions.

PROGRAM (calls.c) runs under callgrind with each folder's libomp.so.5; only what is below its functions measured_... is
counted, in two lengths, so that the difference is what one loop or operation costs. Instructions and calls, not times:
the same on any machine."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

SHORT, LONG = 10, 110
HALF = 0.5 # an operation of libomp's that was interrupted and tried again


def counted(program, folder, n, scratch):
    """({kind: instructions}, calls) below the functions measured_..."""
    out = os.path.join(scratch, "out")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "GOMP_", "LD_", "PSTHREADS_"))}
    env.update(LD_LIBRARY_PATH=folder, LD_BIND_NOW="1", PSTHREADS_NUM_VPS="1")
    done = subprocess.run(["valgrind", "-q", "--tool=callgrind", "--toggle-collect=measured_*",
                           f"--callgrind-out-file={out}", program, str(n)],
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        sys.exit(f"under {folder}: exit status {done.returncode}\n{done.stdout}")
    names, costs, calls, callee = {}, {}, 0, ""
    with open(out, encoding="utf-8") as f:
        lines = iter(f)
        for line in lines:
            named = re.match(r"c?fn=(\(\d+\))(?: (.*))?$", line)
            if named:
                if named.group(2):
                    names[named.group(1)] = named.group(2)
                callee = names[named.group(1)]
            elif line.startswith("calls="):
                inclusive = int(next(lines).split()[1])
                if callee.startswith("measured_"):
                    costs[callee[9:]] = costs.get(callee[9:], 0) + inclusive
                else:
                    calls += int(line[6:].split()[0])
    return costs, calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("libomp")
    parser.add_argument("ours")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        (ours, our_calls), (theirs, their_calls) = [
            [subtract(long, short)
             for short, long in zip(*(counted(args.program, folder, n, scratch) for n in (SHORT, LONG)))]
            for folder in (args.ours, args.libomp)]
    wrong = our_calls > their_calls + HALF or len(ours) < 8 or set(ours) != set(theirs)
    print(f"{'each':16}{'instructions':>14}{'libomp':>10}")
    for kind, cost in ours.items():
        more = cost < 1 or cost > theirs.get(kind, 0) + HALF
        wrong |= more
        print(f"{kind:16}{cost:14.1f}{theirs.get(kind, 0):10.1f}{'   more' if more else ''}")
    print(f"calls of one each: {our_calls:.2f}, libomp's {their_calls:.2f}")
    return wrong


def subtract(long, short):
    """What one loop or operation of a member costs."""
    if isinstance(long, dict):
        return {kind: subtract(cost, short[kind]) for kind, cost in long.items()}
    return (long - short) / (2 * (LONG - SHORT))


if __name__ == "__main__":
    sys.exit(main())
