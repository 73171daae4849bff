#!/usr/bin/python3
"""timing.py MANYCORE MCC - the cost model's rules under both kernels: timing.c, on the mesh and on the crossbar;
posted.c with noc.posted=2; cache.c with several numbers of ways. Their numbers beside those derived by hand (there)."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# 1 for the read of the counter, then the instructions' cycles
SINGLE = [1 + n for n in (4, 2, 3, 4, 3, 3, 1, 2, 1, 5, 35, 2, 12, 3, 24, 28, 24, 23, 79, 30, 52)]
EXPECTED = {f"single {i}": [n] for i, n in enumerate(SINGLE)}
EXPECTED |= {
    "contended 0": [2, 3],  # two words of one bank: one core a cycle
    "contended 1": [2, 2],  # reads of one word: both at once
    "contended 2": [2, 3],  # stores to one word
    "contended 3": list(range(2, 18)),  # 16 stores to one bank: one a cycle
    "contended 4": [25, 26],  # two loads leave their cluster by one port, 1 cycle a flit; then nothing is in their way
    "contended 5": [2] * 16,  # 16 loads of one word: all at once
    "contended 6": list(range(2, 18)),  # 16 loads of 16 words in one bank: one a cycle
    "contended 7": [29, 30],  # as contended 4, over two hops: 28
    "contended 8": [2, 4],  # two atomic operations on one word: the first keeps the bank 2 cycles
    "wake 1": [4],  # 3 cycles from the store to the sleeper's next instruction
    "wake 16": [4] * 15,
    # one store to all clusters: in the own one as above; the others 6 + 1 a hop later (1 and 2: one hop, 3: two)
    "wake 64": [4] * 15 + [11] * 30 + [12] * 15,
}

# With noc.crossbar=1 any way is latency 8, hop 2 and its flits. So L2 and memory are 2 cycles further each way, and
# all clusters are as far as the next one.
CROSSBAR = EXPECTED | {f"single {i}": [SINGLE[i] + more]
                       for i, more in ((15, -4), (17, 4), (18, 4), (19, 4), (20, 4))}
CROSSBAR |= {"contended 7": [25, 26], "wake 64": [4] * 15 + [11] * 45}

POSTED = {f"posted {i}": [1 + n] for i, n in enumerate((1, 2, 25, 25, 25, 26, 25, 48, 25))}


def messages_first(cycle):
    """event/wheel.h, struct Turn: which core is first in a cycle."""
    return ((cycle * 0x9E3779B1 & 0xFFFFFFFF) ^ (cycle * 0x85EBCA6B & 0xFFFFFFFF) >> 15) >> 31


def meeting(what, start, crossbar):
    """The cycles of the two that meet (timing.c, meeting()); `start`: the cycle in which the second one is awake."""
    if what == 0:  # by the crossbar the line is here in s+32, and the word in s+33
        return [33, 34] if crossbar else [29, 30]
    if what == 1 and crossbar:  # its beats come 4 cycles later, when the core's store is over
        return [57, 44]
    if what == 1:
        return [53, 45] if messages_first(start + 43) else [54, 44]
    return [25, 21] if messages_first(start + 19) else [26, 20]


def cached(ways):
    """cache.c with `ways` lines, which are all there, and one more: each line that goes is the next one that is needed.
    The first line stays, unless the set has one way. 13 cycles a line, 11 the last one, 1 for the read of the
    counter, 26 for each miss."""
    return {f"lines {ways}": [13 * ways - 1], f"lines {ways + 1}": [13 * ways + 12 + 26 * max(ways, 2)]}


def main():
    manycore, mcc = sys.argv[1:]
    failed = met = results = 0
    with tempfile.TemporaryDirectory() as folder:
        elf = {name: pathlib.Path(folder) / f"{name}.elf" for name in ("timing", "posted", "cache")}
        for name, made in elf.items():
            subprocess.run([mcc, HERE / f"{name}.c", "-o", made], check=True)
        runs = [("", [elf["timing"]], EXPECTED), ("noc.crossbar=1", [elf["timing"]], CROSSBAR),
                ("noc.posted=2", [elf["posted"]], POSTED)]
        runs += [(f"icache.ways={n}", [elf["cache"], str(n), str(n + 1)], cached(n)) for n in (1, 2, 4, 16)]
        for kernel in (["run-ahead"], ["run-ahead", "--hot", "1"], ["threaded"], ["lock-step"]):
            for setting, program, expected in runs:
                command = [manycore, "--kernel", *kernel, *(["--set", setting] if setting else []), *program]
                out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
                where = " ".join([*kernel, setting])
                seen = {}
                for line in out.splitlines():
                    name, numbers = line.split(":")
                    if name.startswith("meet"):
                        start, *numbers = map(int, numbers.split())
                        derived = meeting(int(name[5]), start, setting == "noc.crossbar=1")
                        met += 1
                        if numbers != derived:
                            print(f"{where}, {name}, from cycle {start} on: {numbers} cycles, derived: {derived}")
                            failed += 1
                        continue
                    seen[name] = sorted(int(n) for n in numbers.split())
                for name in sorted(expected.keys() | seen.keys()):
                    if expected.get(name) != seen.get(name):
                        print(f"{where}, {name}: {seen.get(name)} cycles, derived: {expected.get(name)}")
                        failed += 1
                results += len(expected)
    print(f"{results + met} results, {failed} wrong")
    return failed != 0 or met != 4 * 2 * 15


sys.exit(main())
