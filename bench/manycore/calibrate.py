#!/usr/bin/python3
"""calibrate.py [--build DIR] [--peer COMMAND] [--keep] [--check] - the cost model beside another simulator.

calibrate.c is compiled to one ELF file. The virtual manycore runs it with one cluster of 16 cores, and an instruction
cache of 64 KB, so that no line is missed. COMMAND, if given, is run with the file's name behind it and must print the
same kinds of lines; calibrate.c says what a machine needs for that. Another simulator is neither fetched nor built.

Prints the cycles side by side; without a peer, beside those that bench/results/manycore-calibration.csv has of one.
--keep writes this file; manycore-calibration.txt beside it says what the peer is. --check compares the pieces of a few
instructions with the file, and says which takes other cycles on the virtual manycore now (exit status 1)."""
import argparse
import csv
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROWS = ROOT / "bench" / "results" / "manycore-calibration.csv"
REPEAT = 32
COMPILER = ("riscv64-unknown-elf-gcc", "-march=rv32imc_zicsr", "-mabi=ilp32", "-mno-relax", "-O2", "-ffreestanding",
            "-fno-tree-loop-distribute-patterns", "-fno-jump-tables", "-falign-functions=16", "-nostdlib",
            "-T", ROOT / "platform" / "board" / "manycore.ld", "-Wl,--no-warn-rwx-segments,--no-relax")
FIELDS = {"micro": ("cycles", "instructions"), "shared": ("cores", "cycles"),
          "kernel": ("cores", "cycles", "instructions", "result", "fetches", "jumps")}
COLUMNS = ["kind", "name", "cores", "instructions", "cycles", "peer instructions", "peer cycles", "peer fetches",
           "peer jumps", "result"]


def output(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise SystemExit(f"calibrate.py: {e}") from None


def run(command):
    """The lines of a machine: by kind, name and cores, their fields."""
    try:
        rows = {}
        for line in output(command).splitlines():
            kind, name, *numbers = line.split()
            row = dict(zip(FIELDS[kind], map(int, numbers), strict=True))
            rows[kind, name, row.pop("cores", 1)] = row
        empty = rows.pop(("micro", "nothing", 1))  # the reads of the counters
    except (KeyError, ValueError):
        raise SystemExit(f"calibrate.py: {command[0]} printed something else than calibrate.c does") from None
    for (kind, _, _), row in rows.items():
        if kind == "micro":
            row["cycles"] -= empty["cycles"]
            row["instructions"] -= empty["instructions"]
    return rows


def known():
    """The rows that are kept."""
    if not ROWS.exists():
        return {}
    with open(ROWS, newline="", encoding="utf-8") as f:
        return {(r["kind"], r["name"], int(r["cores"])): r for r in csv.DictReader(f)}


def show(ours, peer):
    print(f"{'cycles':30}{'cores':>6}{'ours':>10}{'peer':>10}{'peer/ours':>10}")
    for (kind, name, cores), row in ours.items():
        scale = REPEAT if kind == "micro" else 1
        other = peer.get((kind, name, cores))
        beside = f"{other['cycles'] / scale:10.6g}{other['cycles'] / row['cycles']:10.3f}" if other else ""
        print(f"{kind + ' ' + name:30}{cores:6}{row['cycles'] / scale:10.6g}{beside}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--peer", metavar="COMMAND")
    p.add_argument("--keep", action="store_true")
    p.add_argument("--check", action="store_true")
    a = p.parse_args()
    if a.keep and not a.peer:
        p.error("--keep needs --peer: the rows are of both")
    with tempfile.TemporaryDirectory() as folder:
        elf = pathlib.Path(folder) / "calibrate.elf"
        output([*COMPILER, HERE / "calibrate.c", "-o", elf])
        ours = run([a.build / "bin" / "manycore", "--clusters", "1", "--set", "icache.size=65536", elf])
        peer = run([*shlex.split(a.peer), elf]) if a.peer else {}
    kept = known()
    if a.check:
        wrong = [f"{name}: {row['cycles']} cycles, {kept.get((kind, name, 1), {}).get('cycles', 'none')} kept"
                 for (kind, name, _), row in ours.items()
                 if kind == "micro" and str(row["cycles"]) != kept.get((kind, name, 1), {}).get("cycles")]
        print(*wrong, f"{len(wrong)} pieces take other cycles than {ROWS.relative_to(ROOT)} has", sep="\n")
        return int(bool(wrong))
    wrong = [key for key, row in peer.items() if key[0] == "kernel" and row["result"] != ours[key]["result"]]
    if wrong or (peer and peer.keys() != ours.keys()):
        print("the peer computes something else:", *wrong or peer.keys() ^ ours.keys(), file=sys.stderr)
        return 1
    show(ours, peer or {k: {"cycles": int(r["peer cycles"])} for k, r in kept.items()})
    if a.keep:
        with open(ROWS, "w", newline="", encoding="utf-8") as f:
            w = csv.DictWriter(f, COLUMNS, extrasaction="ignore", lineterminator="\n")
            w.writeheader()
            for (kind, name, cores), row in ours.items():
                other = {f"peer {k}": v for k, v in peer[kind, name, cores].items()}
                w.writerow({"kind": kind, "name": name, "cores": cores, **row, **other})
    return 0


sys.exit(main())
