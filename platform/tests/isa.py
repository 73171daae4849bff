#!/usr/bin/python3
"""isa.py MANYCORE ISA_FUZZ [--programs N] [--seed S] [--kernel K]

Random programs on the platform and under qemu-system-riscv32. Each batch is one ELF file with 50 programs of 1000
instructions (isa_fuzz.cc); after each program x1 to x31, f0 to f31 and fcsr are dumped, at the end the memory. All
bytes must be equal. A difference is told by program and register, and the file is kept."""
import argparse
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

RECORD = 65


def out(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=300, **more).stdout


def tell(mine, theirs, programs):
    if len(mine) != len(theirs) or not mine:
        return f"{len(mine)} bytes here, {len(theirs)} under qemu"
    for at in range(0, len(mine), 4):
        a, b = (struct.unpack_from("<I", x, at)[0] for x in (mine, theirs))
        if a != b:
            program, word = divmod(at // 4, RECORD)
            if program >= programs:
                return f"memory word {at // 4 - programs * RECORD}: {a:#010x} here, {b:#010x} under qemu"
            name = f"x{word}" if word < 32 else f"f{word - 32}" if word < 64 else "fcsr"
            return f"program {program}: {name} = {a:#010x} here, {b:#010x} under qemu"
    return ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("manycore")
    p.add_argument("fuzz")
    p.add_argument("--programs", type=int, default=200)
    p.add_argument("--length", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--kernel", default="run-ahead")
    a = p.parse_args()
    if not shutil.which("qemu-system-riscv32"):
        print("skipped: no qemu-system-riscv32 (tools/install-deps manycore)")
        return 77
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        elf = pathlib.Path(folder) / "programs.elf"
        while done < a.programs:
            n = min(50, a.programs - done)
            subprocess.run([a.fuzz, str(a.seed), str(n), str(a.length), elf], check=True)
            # every second file is translated at once, the others' code runs once and is not
            mine = out([a.manycore, "--kernel", a.kernel, "--hot", str(1 + 7 * (a.seed % 2)), "--clusters", "1",
                        "--cores", "1", elf])
            theirs = out(["qemu-system-riscv32", "-M", "virt", "-m", "256", "-nographic", "-bios", "none",
                          "-semihosting", "-kernel", elf], cwd=folder)  # it makes a file :tt there
            difference = tell(mine, theirs, n)
            if difference:
                kept = f"isa-{a.seed}.elf"
                shutil.copy(elf, kept)
                print(f"seed {a.seed}: {difference}; kept as {kept}")
                return 1
            done += n
            a.seed += 1
    print(f"{done} programs of {a.length} instructions: registers, flags and memory equal")
    return 0


sys.exit(main())
