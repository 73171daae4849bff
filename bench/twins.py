#!/usr/bin/python3
"""twins.py GCC-PROGRAM CLANG-PROGRAM OUR-FOLDER - an entry point of LLVM's that is called in loops costs about what
GNU's for the same construct does, below compiled code.

The programs are bench/counts.c by both compilers. Each construct runs under callgrind with one virtual processor, in
two lengths. What is counted is what the program's calls of GOMP_ or __kmpc_ entry points cost, so that the difference
is what one repetition costs in the library. No member switches within. LIMITS says how many times GNU's cost each may
have, and why."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FEW, MANY = 200, 1200
PLAIN = 1.1
LIMITS = {  # constructs where no member waits for another one
    "single": (PLAIN, ""),
    "critical": (1.25, "a null lock ends with a line: two instructions of ten"),
    "named_critical": (1.25, "as critical"),
    "dynamic_chunk": (1.4, "four results for two: the step, and whether it is the last chunk"),
    "taskwait": (1.3, "whether tasks are recorded"),
    "included_task": (2.2, "three calls for one, and a descriptor that compiled code fills"),
}


def cost(program, construct, repetitions, folder, scratch):
    """Instructions below the entry points that the program itself calls."""
    out = os.path.join(scratch, "out")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "GOMP_", "LD_", "PSTHREADS_"))}
    env.update(LD_LIBRARY_PATH=folder, LD_BIND_NOW="1", PSTHREADS_NUM_VPS="1", PSTHREADS_TLS="never")
    done = subprocess.run(["valgrind", "-q", "--tool=callgrind", "--separate-threads=no",
                           f"--callgrind-out-file={out}", program, construct, str(repetitions)],
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        sys.exit(f"{program} {construct}: exit status {done.returncode}\n{done.stdout}")
    names, total, caller, callee = {}, 0, "", ""
    with open(out, encoding="utf-8") as f:
        lines = iter(f)
        for line in lines:
            named = re.match(r"(c?)fn=(\(\d+\))(?: (.*))?$", line)
            if named:
                if named.group(3):
                    names[named.group(2)] = named.group(3)
                if named.group(1):
                    callee = names[named.group(2)]
                else:
                    caller = names[named.group(2)]
            elif line.startswith("calls="):
                inclusive = int(next(lines).split()[1])
                entry = callee.startswith(("GOMP_", "__kmpc_")) and not re.match("GOMP_parallel|__kmpc_fork", callee)
                if entry and not caller.startswith(("GOMP_", "__kmpc_", "ort_", "ee_", "ps_")):
                    total += inclusive
                elif callee.startswith("ort_lock_turn"): # each 64th lock's end: the other member runs
                    total -= inclusive
    return total


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    gcc, clang, folder = sys.argv[1:4]
    wrong = 0
    print(f"{'below compiled code':20}{'GNU':>8}{'LLVM':>8}{'times':>8}{'at most':>9}")
    with tempfile.TemporaryDirectory() as scratch:
        for construct, (limit, why) in LIMITS.items():
            gnu, llvm = [(cost(p, construct, MANY, folder, scratch) - cost(p, construct, FEW, folder, scratch))
                         / (MANY - FEW) for p in (gcc, clang)]
            more = gnu < 1 or llvm < 1 or llvm > limit * gnu
            wrong += more
            print(f"{construct:20}{gnu:8.1f}{llvm:8.1f}{llvm / max(gnu, 1):8.2f}{limit:9.2f}"
                  f"{'   more' if more else ''}{'   (' + why + ')' if why else ''}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
