#!/usr/bin/python3
"""kernels.py MANYCORE MCC [--cases N] [--seed S] [--fuzz ISA_FUZZ] [--oracle MANYCORE] [PROGRAM...]

The run-ahead kernel, with and without translation, against the lock-step kernel. Each case runs once under each: exit
status, output, and every counter of every core, the registers and the TCDM's contents (--stats-json) must be equal.
In a third of the cases some cycles are watched: the kernels take turns.
Cases: the PROGRAMs (C sources) on 1 to 16 clusters, and random ones: tests/mix.c with random seeds, and isa_fuzz's
programs run by several cores at once on the same memory, each on a random platform (clusters, cores, every cost).
--oracle: the build that runs the lock-step kernel, if another than MANYCORE."""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIZES = ((1, 16), (2, 7), (4, 4), (9, 3), (16, 2))  # clusters and cores for the PROGRAMs


def platform(rng):
    """Options of a random platform."""
    few = {"platform.clusters": rng.choice([1, 2, 3, 4, 4, 6, 9, 16]),
           "platform.cores": rng.choice([1, 2, 3, 4, 7, 8, 16])}
    if rng.random() < 0.7:
        size, line = rng.choice([256, 1024, 4096]), rng.choice([8, 16, 32, 64])
        few |= {"core.branch": rng.randint(0, 4), "core.div": rng.randint(1, 60), "core.fp": rng.randint(1, 5),
                "icache.ways": min(rng.choice([1, 2, 4, 16]), size // line), "icache.size": size,
                "icache.line": line, "tcdm.banks": rng.choice([1, 2, 8, 32, 64]),
                "tcdm.atomic": rng.randint(1, 4), "noc.crossbar": rng.randint(0, 1),
                "noc.latency": rng.randint(0, 30), "noc.hop": rng.randint(1, 5),
                "noc.occupancy": rng.randint(1, 4), "noc.flit": rng.choice([4, 8, 16]),
                "noc.posted": rng.choice([0, 1, 2, 8]),
                "l2.latency": rng.randint(1, 20), "memory.latency": rng.randint(1, 100),
                "dma.outstanding": rng.randint(1, 8), "dma.burst": rng.choice([8, 32, 64, 256]),
                "hws.latency": rng.randint(2, 9), "hws.remote": rng.randint(1, 20)}
    options = []
    for key, value in few.items():
        options += ["--set", f"{key}={value}"]
    return options


def run(manycore, kernel, options, command, folder):
    stats = folder / "stats.json"
    stats.unlink(missing_ok=True)
    whole = [manycore, "--kernel", kernel, "--set", "run.limit=40000000", *options, "--stats-json", stats, *command]
    p = subprocess.run(whole, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    errors = re.sub(rb"manycore: the run ended .*: nothing was watched\n", b"", p.stderr)  # a window behind the end
    return p.returncode, p.stdout, errors, stats.read_text() if stats.exists() else ""


def equal(manycore, oracle, options, command, folder, expect=None, kernel="run-ahead", window=()):
    one = run(manycore, kernel, [*options, *window], command, folder)
    other = run(oracle, "lock-step", options, command, folder)
    if expect is not None and one[0] != expect:
        print(f"exit status {one[0]} ({one[2].decode()[:300]}): {' '.join(map(str, options + command))}")
        return False
    if one == other and one[3]:
        return True
    print(f"{kernel} and lock-step differ:", *options, *window, *command)
    for name, a, b in zip(("status", "output", "errors", "counters"), one, other):
        if a != b:
            if name == "counters":
                for x, y in zip(a.splitlines(), b.splitlines()):
                    if x != y:
                        print(f"  {kernel}: {x}\n  lock-step: {y}")
                        break
            else:
                print(f"  {name}: {a!r:.300} and {b!r:.300}")
    return False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("manycore")
    p.add_argument("mcc")
    p.add_argument("--cases", type=int, default=30)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--fuzz")
    p.add_argument("--oracle", help="another build, which runs the lock-step kernel")
    p.add_argument("programs", nargs="*")
    a = p.parse_args()
    failed = 0
    oracle = a.oracle or a.manycore
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mix = folder / "mix.elf"
        subprocess.run([a.mcc, HERE / "mix.c", "-o", mix], check=True)
        for program in a.programs:
            elf = folder / "program.elf"
            subprocess.run([a.mcc, program, "-o", elf], check=True)
            for clusters, cores in SIZES:
                options = ["--clusters", str(clusters), "--cores", str(cores), "--hot", "2"]
                failed += not equal(a.manycore, oracle, options, [elf], folder)
        for case in range(a.cases):
            rng = random.Random(a.seed + case)
            options = platform(rng)
            if a.fuzz and case % 4 == 3:
                elf = folder / "fuzz.elf"
                subprocess.run([a.fuzz, str(a.seed + case), "3", "300", elf], check=True)
                command, expect = [elf], None
            else:
                command, expect = [mix, str(a.seed + case), str(rng.randint(20, 120))], 0
                if case % 4 == 2:
                    command.append("regions")
            # code is translated at once, after the usual number of times, or never
            kernel = "threaded" if case % 5 == 4 else "run-ahead"
            options += ["--hot", ["1", "8", "2"][case % 3]]
            window = []
            if case % 3 == 1:  # the kernel takes turns with the lock-step one
                first = rng.randint(1, 20000)
                window = ["--log", folder / "log", "--from", str(first), "--to", str(first + rng.randint(0, 5000))]
            failed += not equal(a.manycore, oracle, options, command, folder, expect, kernel, window)
    print(f"{len(SIZES) * len(a.programs) + a.cases} cases, {failed} differ")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
