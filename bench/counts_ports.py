#!/usr/bin/python3
"""Counts the instructions of the hot paths on other processors, and sets them beside x86-64's (bench/counts.txt).

  bench/counts_ports.py [--build FOLDER] [PROCESSOR...]   aarch64 and riscv64, as tools/check-ports builds them

qemu-user translates one instruction at a time and tells of each one that it runs; those of the program's first kernel
thread are counted. Each program runs with two numbers of repetitions, and the difference is the construct's alone. As
in bench/counts.py there is one virtual processor, and no thread-local blocks. Needs of each processor: Debian's cross
compiler, tools/get-ports, and dropin and psthreads_shared in FOLDER/PROCESSOR."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEWER_QEMU = ROOT / ".cache" / "peers" / "ports" / "qemu" / "usr" / "bin"
# Without nested_barrier: the turns of its teams have a limit of time, which a traced program passes.
CONSTRUCTS = {"counts": ["flat_region", "nested_region", "barrier", "task"],
              "counts_threads": ["thread_switch", "root_switch"]}
FEW, MANY = 200, 1000
MARK = 1.3  # times x86-64's count: worth a look


def build(processor, folder):
    """The programs of CONSTRUCTS, linked to what the build folder has."""
    cc = f"{processor}-linux-gnu-gcc"
    where = folder / "bench"
    where.mkdir(exist_ok=True)
    for program in CONSTRUCTS:
        own = ["-fopenmp"] if program == "counts" else [f"-L{folder / 'lib'}", "-lpsthreads"]
        subprocess.run([cc, "-O3", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", ROOT / "bench" / f"{program}.c", "-o",
                        where / program, *own], check=True)
    return subprocess.run([cc, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def executed(qemu, processor, folder, program, name, repetitions):
    """Instructions of the first kernel thread: qemu's processor 0."""
    env = {k: v for k, v in os.environ.items() if not re.match(r"(OMP|GOMP|KMP|PSTHREADS|LD|QEMU)_", k)}
    env |= {"QEMU_LD_PREFIX": f"/usr/{processor}-linux-gnu", "PSTHREADS_NUM_VPS": "1", "PSTHREADS_TLS": "never",
            "LD_LIBRARY_PATH": f"{folder / 'lib' / 'dropin'}:{folder / 'lib'}"}
    with subprocess.Popen([qemu, "-one-insn-per-tb", "-d", "exec,nochain", "-D", "/dev/stdout",
                           folder / "bench" / program, name, str(repetitions)],
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as run:
        count = sum(line.startswith(b"Trace 0:") for line in run.stdout)
    if run.returncode or not count:
        sys.exit(f"{program} {name} on {processor}: exit status {run.returncode}, {count} instructions")
    return count


def measure(processor, folder):
    qemu = shutil.which(f"qemu-{processor}", path=f"{NEWER_QEMU}:{os.environ['PATH']}")
    if not qemu or not shutil.which(f"{processor}-linux-gnu-gcc"):
        sys.exit(f"no qemu-{processor} or no {processor}-linux-gnu-gcc (tools/install-deps ports)")
    folder = folder.resolve()
    if not (folder / "lib" / "dropin" / "libgomp.so.1").exists() or not (folder / "lib" / "libpsthreads.so").exists():
        sys.exit(f"{folder}: dropin and psthreads_shared have to be built there (tools/check-ports)")
    compiler = build(processor, folder)
    result = {}
    for program, names in CONSTRUCTS.items():
        for name in names:
            few, many = (executed(qemu, processor, folder, program, name, n) for n in (FEW, MANY))
            result[name] = (many - few) / (MANY - FEW)
            print(f"{processor} {name} {result[name]:.1f}", file=sys.stderr, flush=True)
    return compiler, subprocess.run([qemu, "--version"], capture_output=True, text=True).stdout.splitlines()[0], result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "ports", type=Path, help="default: build/ports")
    parser.add_argument("processors", nargs="*", default=["aarch64", "riscv64"], metavar="PROCESSOR")
    a = parser.parse_args()
    lines = (ROOT / "bench" / "counts.txt").read_text().splitlines()
    x86 = {name: float(value) for name, value in (line.split() for line in lines if line and line[0] != "#")}
    columns = {processor: measure(processor, a.build / processor) for processor in a.processors}
    for compiler, qemu, _ in columns.values():
        print(f"# {compiler}; {qemu}")
    print("# Instructions a repetition, and times x86-64's count; bench/counts_ports.py prints this.")
    print(f"{'construct':16}{'x86-64':>9}" + "".join(f"{processor:>10}{'':>7}" for processor in columns).rstrip())
    for name in (name for names in CONSTRUCTS.values() for name in names):
        row = f"{name:16}{x86[name]:9.1f}"
        for _, _, counts in columns.values():
            times = counts[name] / x86[name]
            row += f"{counts[name]:10.1f}{times:6.2f}{'*' if times > MARK else ' '}"
        print(row.rstrip())
    print(f"# *: more than {MARK} times as many as on x86-64")


if __name__ == "__main__":
    main()
