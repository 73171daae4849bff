#!/usr/bin/python3
"""speed.py [--build DIR] [--quick] [--keep] - simulated instructions a second of host processor time, one host thread.

Five programs (loops.c) on 64 cores with everything modelled, under the run-ahead kernel, the same without translation
(threaded) and the lock-step kernel. Peers: qemu-system-riscv32 runs the same loops on one core, which is functional
only (no cycles, no clusters, nothing shared); its instructions are counted by a simulation of that very loop. A SystemC
thread for each of 64 cores (systemc_loop.cc) is the technique of the paper's simulator, with a toy for its cores. All
take turns, so that what else runs on the machine meets all of them; medians of the rounds, and the medians of the
rounds' ratios. Time is the processes' own processor time. --keep writes bench/results/manycore-speed.csv; --quick: one
short round without peers."""
import argparse
import csv
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# how often, so that a run takes a second or so
LOOPS = {"matmul": 100, "colour": 100, "corners": 25, "chase": 60, "barrier": 200}
KERNELS = ("run-ahead", "threaded", "lock-step")
ALONE = {"matmul": 500, "colour": 1000, "corners": 200, "chase": 4000, "barrier": 20000}
SYSTEMC = 50000  # instructions of each of its 64 cores


def machine():
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"


def seconds(command):
    def used():
        u = resource.getrusage(resource.RUSAGE_CHILDREN)
        return u.ru_utime + u.ru_stime

    before = used()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return used() - before


def instructions(stats):
    return sum(core["instructions"] for core in json.loads(stats.read_text())["cores"])


def peers(loop, manycore, folder):
    """name -> (command, instructions) of what can be had here."""
    found = {}
    if shutil.which("qemu-system-riscv32"):
        source = ["-w", f"-DALONE={ALONE[loop]}", f"-DLOOP={loop}", HERE / "loops.c", "-o"]
        stats = folder / "alone.json"
        subprocess.run([ROOT / "platform" / "mcc", *source, folder / "alone"], check=True)
        one = [manycore, "--clusters", "1", "--cores", "1", "--stats-json", stats]
        subprocess.run([*one, folder / "alone"], check=True, stdout=subprocess.DEVNULL)
        memory = {"flash": "0x80000000", "flash_size": "0x200000", "ram": "0x80200000", "ram_size": "0x400000"}
        board = [f"-Wl,--defsym=__{name}={value}" for name, value in memory.items()]
        subprocess.run(["riscv64-unknown-elf-gcc", "--specs=picolibc.specs", "--oslib=semihost", "--crt0=hosted",
                        "-march=rv32imafc", "-mabi=ilp32f", "-O2", *board, *source, folder / "alone.qemu"], check=True)
        qemu = ["qemu-system-riscv32", "-M", "virt", "-m", "256", "-nographic", "-bios", "none", "-semihosting"]
        found["qemu"] = ([*qemu, "-kernel", folder / "alone.qemu"], instructions(stats))
    if pathlib.Path("/usr/include/systemc").exists():
        program = folder / "systemc_loop"
        if not program.exists():
            source = HERE / "systemc_loop.cc"
            subprocess.run(["g++", "-std=c++17", "-O3", source, "-lsystemc", "-o", program], check=True)
        os.environ["SYSTEMC_DISABLE_COPYRIGHT_MESSAGE"] = "1"
        found["SystemC"] = ([program, str(SYSTEMC)], 64 * SYSTEMC)
    return found


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=ROOT / "build")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--keep", action="store_true")
    a = p.parse_args()
    manycore = pathlib.Path(a.build) / "bin" / "manycore"
    rounds = 1 if a.quick else 7
    names = [*KERNELS] + ([] if a.quick else ["qemu", "SystemC"])
    others = [name for name in names if name != "run-ahead"]
    rows = []
    how = "one round" if a.quick else f"medians of {rounds} rounds"
    print(f"{machine()}; {how}; M instructions a second, and run-ahead as a multiple of each")
    columns = [f"{n:>10}" for n in names] + [f"{'x ' + n:>11}" for n in others]
    print(f"{'program':9}{'instructions':>13}{'cycles':>9}", *columns)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for loop, times in LOOPS.items():
            times = max(1, times // 10) if a.quick else times
            elf = folder / loop
            subprocess.run([ROOT / "platform" / "mcc", f"-DLOOP={loop}", HERE / "loops.c", "-o", elf], check=True)
            stats = {k: folder / f"{k}.json" for k in KERNELS}
            commands = {k: [manycore, "--kernel", k, "--stats-json", stats[k], elf, str(times)] for k in KERNELS}
            found = {} if a.quick else peers(loop, manycore, folder)
            commands |= {k: command for k, (command, _) in found.items()}
            taken = {k: [] for k in commands}
            for _ in range(rounds):
                for k, command in commands.items():
                    taken[k].append(seconds(command))
            if len({s.read_text() for s in stats.values()}) != 1:
                print(f"{loop}: the kernels count differently")
                return 1
            count = {k: instructions(stats["run-ahead"]) for k in KERNELS} | {k: n for k, (_, n) in found.items()}
            rates = {k: [count[k] / t / 1e6 for t in taken[k]] for k in taken}
            ratio = {k: statistics.median(x / y for x, y in zip(rates["run-ahead"], rates[k])) for k in rates}
            shown = [f"{statistics.median(rates[k]):.1f}" if k in rates else "" for k in names]
            ratios = [f"{ratio[k]:.2f}" if k in rates else "" for k in others]
            cycles = json.loads(stats["run-ahead"].read_text())["cycles"]
            columns = [f"{v:>10}" for v in shown] + [f"{v:>11}" for v in ratios]
            print(f"{loop:9}{count['run-ahead']:13}{cycles:9}", *columns)
            rows.append([loop, count["run-ahead"], cycles, *shown, *ratios])
    if a.keep:
        with open(ROOT / "bench" / "results" / "manycore-speed.csv", "w", newline="") as f:
            f.write(f"# {machine()}; {time.strftime('%Y-%m-%d')}; processor time, medians of {rounds} interleaved "
                    "rounds; the machine was shared\n")
            w = csv.writer(f)
            speeds = [f"{n}, M instructions/s" for n in names]
            w.writerow(["program", "instructions", "cycles", *speeds, *(f"run-ahead / {n}" for n in others)])
            w.writerows(rows)
    return 0


sys.exit(main())
