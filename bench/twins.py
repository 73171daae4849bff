#!/usr/bin/python3
"""twins.py GCC-PROGRAM CLANG-PROGRAM OUR-FOLDER [LIBOMP-FOLDER [CONSTRUCT..]] - an entry point of LLVM's that is called
in loops costs about what GNU's for the same construct does, below compiled code; and no more than libomp's own.

The programs are bench/counts.c by both compilers. Each construct runs under callgrind with one virtual processor, in
two lengths. What is counted is what the program's calls of GOMP_, __kmpc_ or omp_ entry points cost, so that the
difference is what one repetition costs in the library. No member waits for another one within, but for a loop's end.
ROWS says how many times GNU's cost each may have, and why (None: GCC does it in place, or by other calls). Where
libomp's folder is given, the peers' own libraries are counted by the same programs, with the least spinning that they
can be asked for, and LLVM's entry points may not cost more than libomp's. libgomp's figures are shown only: GNU's entry
points are held to theirs by counts.txt. What stands behind the folder names constructs: these alone."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FEW, MANY = 200, 1200
PLAIN = 1.1
ROWS = {  # construct: (limit beside GNU's, why)
    "single": (PLAIN, ""),
    "critical": (1.35, "whether the lock is a null pointer, two instructions a call: the rest is the same"),
    "named_critical": (1.35, "as critical"),
    "lock": (PLAIN, ""),
    "nest_lock": (PLAIN, ""),
    "dynamic_chunk": (1.4, "four results by pointers that may be null; GNU's has two"),
    "ordered": (PLAIN, ""),
    "taskwait": (PLAIN, ""),
    "taskgroup": (PLAIN, ""),
    "included_task": (1.5, "three calls for one, and a descriptor that compiled code fills"),
    "final_task": (PLAIN, ""),
    "copied_task": (PLAIN, ""),
    "task": (1.12, "two calls for one"),
    "depend_task": (1.15, "each dependence has 24 bytes and its kind, GNU's has its address"),
    "taskloop": (1.85, "the bounds' places are data, and compiled code wants its number"),
    "atomic_lock": (2.1, "the update itself is within"),
    "reduction": (None, ""),
    "static_loop": (None, ""),
    "masked": (None, ""),
    "flush": (None, ""),
    "global_number": (None, ""),
    "threadprivate": (None, ""),
}
ENTRY = re.compile(r"GOMP_(?!parallel)|__kmpc_(?!fork)|omp_(un)?set_(nest_)?lock")
WITHIN = ("GOMP_", "__kmpc_", "__kmp", "ort_", "ee_", "ps_", "gomp_", "omp_")
PEER = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}


def cost(program, construct, repetitions, folder, scratch, peer):
    """Instructions below the entry points that the program itself calls."""
    out = os.path.join(scratch, "out")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "GOMP_", "LD_", "PSTHREADS_"))}
    env.update({"LD_BIND_NOW": "1"}, **(PEER if peer else {"PSTHREADS_NUM_VPS": "1", "PSTHREADS_TLS": "never"}))
    if folder:
        env["LD_LIBRARY_PATH"] = folder
    done = subprocess.run(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no", "--separate-threads=no",
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
                if ENTRY.match(callee) and not caller.startswith(WITHIN):
                    total += inclusive
                elif callee.startswith("ort_lock_turn"): # each 64th lock's end: the other member runs
                    total -= inclusive
    return total


def each(program, construct, folder, scratch, peer=False):
    return (cost(program, construct, MANY, folder, scratch, peer)
            - cost(program, construct, FEW, folder, scratch, peer)) / (MANY - FEW)


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    gcc, clang, folder = sys.argv[1:4]
    libomp = sys.argv[4] if len(sys.argv) > 4 else None
    wanted = sys.argv[5:]
    wrong = 0
    print(f"{'below compiled code':20}{'GNU':>8}{'libgomp':>9}{'LLVM':>8}{'libomp':>8}{'times':>8}{'at most':>9}")
    with tempfile.TemporaryDirectory() as scratch:
        for construct, (limit, why) in ROWS.items():
            if wanted and construct not in wanted or limit is None and libomp is None:
                continue
            llvm, gnu, peer, libgomp = each(clang, construct, folder, scratch), None, None, None
            if limit is not None:
                gnu = each(gcc, construct, folder, scratch)
            if libomp is not None:
                peer = each(clang, construct, libomp, scratch, True)
                libgomp = each(gcc, construct, None, scratch, True) if limit is not None else None
            more = llvm < 1 or gnu is not None and (gnu < 1 or llvm > limit * gnu) or peer is not None and llvm > peer
            wrong += more
            values = []
            for value, width, digits in ((gnu, 8, 1), (libgomp, 9, 1), (llvm, 8, 1), (peer, 8, 1),
                                         (gnu and llvm / gnu, 8, 2), (limit, 9, 2)):
                values.append(f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}")
            print(f"{construct:20}{''.join(values)}{'   more' if more else ''}{'   (' + why + ')' if why else ''}",
                  flush=True)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
