#!/usr/bin/python3
"""checkpoint.py MANYCORE MCC [--cases N] [--seed S] [--fuzz ISA_FUZZ]

A run that is restored ends as one that was not interrupted. Each case runs a program on a random platform, once as it
is, once with a checkpoint in a random cycle by one kernel, and once restored by each kernel. Exit status and all
counters, registers and memories of --stats-json must be equal, and the output behind the checkpoint must be the rest of
the whole. Then what is wrong with a file or a run is told in one line."""
import argparse
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from kernels import HERE, platform, run

KERNELS = ("run-ahead", "threaded", "lock-step")


def case(a, rng, command, folder):
    options = platform(rng)
    whole = run(a.manycore, "run-ahead", options, command, folder)
    if not whole[3]:
        print("no counters:", whole, *options)
        return 1
    state = folder / "state"
    counts = json.loads(whole[3])
    end = max(r["cycles"] for r in counts.get("regions", [counts]))  # a run with regions has not its own
    at = rng.randint(1, end) if rng.random() < 0.9 else rng.randint(1, 3)
    first, failed = rng.choice(KERNELS), 0
    made = run(a.manycore, first, [*options, "--checkpoint", state, "--checkpoint-at", str(at)], command, folder)
    if made[0] == whole[0] and made[1] == whole[1] and made[3] == whole[3] and not state.exists():
        return 0  # it ended before; told on standard error
    if b"has a file open" in made[2]:
        return 0  # picolibc opens one when the program exits
    runs = [("checkpoint", made)]
    for kernel in KERNELS:
        runs.append((kernel, run(a.manycore, kernel, [*options, "--restore", state], command, folder)))
    for name, r in runs:
        rest = r[1] == whole[1] if name == "checkpoint" else whole[1].endswith(r[1])
        if r[0] != whole[0] or r[2] != whole[2] or r[3] != whole[3] or not rest:
            failed = 1
            print(f"{first} at {at} of {end}, then {name}:", *options, *command)
            print(f"  status {r[0]} (expected {whole[0]}), output {rest}, errors {r[2][:300]!r}, expected {whole[2]!r}")
            for x, y in zip(r[3].splitlines(), whole[3].splitlines()):
                if x != y:
                    print(f"  {x}\n  expected {y}")
                    break
    return failed


def wrong(a, mix, folder):
    """What a file or a run does not allow: status 64, and one line that says it."""
    state, other = folder / "state", folder / "other"
    small = ["--clusters", "2", "--cores", "4"]

    def manycore(*options, elf=mix):
        return subprocess.run([a.manycore, *small, *options, elf, "1", "20"], capture_output=True, text=True)

    failed = 0

    def expect(p, line, status=64):
        nonlocal failed
        if p.returncode != status or line not in p.stderr or len(p.stderr.splitlines()) != 1:
            failed += 1
            print(f"status {p.returncode}, {p.stderr!r}; expected {status}, one line: {line}")

    small_state = folder / "state.gz"
    manycore("--checkpoint", small_state, "--checkpoint-at", "2000")
    p = manycore("--checkpoint", state, "--checkpoint-at", "2000")
    if p.returncode or not state.exists():
        print("no checkpoint:", p.stderr)
        return 1
    good = state.read_bytes()
    again = manycore("--restore", small_state)
    if gzip.decompress(small_state.read_bytes()) != good or again.returncode or again.stdout != p.stdout:
        failed += 1
        print("a compressed checkpoint:", again)
    for name, bad, line in (
        ("empty", b"", "it is no checkpoint"),
        ("another file", b"\x7fELF" + good, "it is no checkpoint"),
        ("cut", good[: len(good) // 2], "it is damaged"),
        ("cut and compressed", small_state.read_bytes()[:5000], "it is damaged"),
        ("a bit", good[:5000] + bytes([good[5000] ^ 1]) + good[5001:], "it is damaged"),
        ("version", good[:8] + b"\x63" + good[9:], "it has the format 99"),
    ):
        other.write_bytes(bad)
        expect(manycore("--restore", other), line)
    expect(manycore("--restore", state, "--set", "noc.latency=9"), "noc.latency = 8, and this run has 9")
    program = folder / "hello.elf"
    subprocess.run([a.mcc, HERE.parent / "examples" / "hello.c", "-o", program], check=True)
    expect(manycore("--restore", state, elf=program), "another program")
    expect(manycore("--restore", folder / "none"), "cannot be read")
    expect(manycore("--restore", folder), "cannot be read: Is a directory")
    expect(manycore("--restore", "/dev/zero"), "it is no checkpoint")
    expect(manycore("--checkpoint", other, "--checkpoint-at", "0"), "--checkpoint-at")
    expect(manycore("--restore", state, "--checkpoint", other, "--checkpoint-at", "500"), "before the restored run's")
    expect(manycore("--checkpoint", folder / "no" / "such", "--checkpoint-at", "5"), "cannot be written")
    expect(manycore("--checkpoint", other), "go together")
    expect(manycore("--checkpoint", other, "--checkpoint-at", "5", "--trace", folder / "t"), "goes with none of")
    late = manycore("--checkpoint", folder / "late", "--checkpoint-at", "2000000000")
    expect(late, "not written, since the run ended in cycle", 0)
    if (folder / "late").exists():
        failed += 1
        print("a file without a checkpoint")
    source = folder / "open.c"
    source.write_text('#include <stdio.h>\nint main(void)\n{\n    FILE *f = fopen("/dev/null", "w");\n'
                      '    for (volatile int i = 0; i < 100000; i++) {\n    }\n    return f == 0;\n}\n')
    subprocess.run([a.mcc, source, "-o", program], check=True)
    expect(manycore("--checkpoint", other, "--checkpoint-at", "200000", elf=program), "has a file open")
    return failed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("manycore")
    p.add_argument("mcc")
    p.add_argument("--cases", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--fuzz")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mix = folder / "mix.elf"
        subprocess.run([a.mcc, HERE / "mix.c", "-o", mix], check=True)
        failed = wrong(a, mix, folder)
        for number in range(a.cases):
            rng = random.Random(a.seed + number)
            if a.fuzz and number % 4 == 3:
                elf = folder / "fuzz.elf"
                subprocess.run([a.fuzz, str(a.seed + number), "3", "300", elf], check=True)
                failed += case(a, rng, [elf], folder)
            else:
                marks = ["1"] if number % 4 else []  # regions of the statistics are open at the checkpoint, or were
                failed += case(a, rng, [mix, str(a.seed + number), str(rng.randint(20, 120)), *marks], folder)
            (folder / "state").unlink(missing_ok=True)
    print(f"{a.cases} cases, {failed} differ or are told wrongly")
    return failed != 0


sys.exit(main())
