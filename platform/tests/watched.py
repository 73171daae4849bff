#!/usr/bin/python3
"""watched.py MANYCORE MCC - what watches a run: --log, --trace and --profile, whole and for some cycles (--from, --to);
and regions of the statistics.

The log's instructions are compared with objdump's, and the registers that it names with what its own instructions
compute. What is watched changes no counter, and a window shows what the whole run's log shows of these cycles."""
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = ("run-ahead", "threaded", "lock-step")
failed = count = 0


def check(name, right):
    global failed, count
    count += 1
    if not right:
        failed += 1
        print(f"wrong: {name}")


class Line:
    def __init__(self, text):
        began, cycles, self.core, pc, self.code, rest = text.split(maxsplit=5)
        self.text, self.began, self.pc = text, int(began), int(pc, 16)
        self.cycles = None if cycles == "-" else int(cycles)
        self.instruction, _, self.written = re.sub("  +", "\t", rest).partition("\t")
        self.words = re.split("[ ,()]+", self.instruction.rstrip(")"))


def lines(path):
    return [Line(text) for text in path.read_text().splitlines()]


def disassembled(elf):
    """pc -> (bytes, instruction), by objdump."""
    out = subprocess.run(["riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases", elf], stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    code = {}
    for m in re.finditer(r"^\s*([0-9a-f]+):\t([0-9a-f]+)\s+(\S+)[ \t]*([^#<\n]*)", out, re.MULTILINE):
        code[int(m[1], 16)] = (m[2], f"{m[3]} {m[4].strip()}".rstrip())
    return code


def as_objdump(log, elf):
    """Bytes of all instructions; the text of those with 32 bits, but of what objdump writes otherwise by intent:
    lui and auipc (here the constant, li), shifts (hexadecimal), CSRs (names), fences (their kinds), orders
    of atomic operations."""
    code, compared = disassembled(elf), set()
    for line in log:
        code_bytes, text = code.get(line.pc, ("", ""))
        if line.code != code_bytes:
            return check(f"bytes: {line.text}; objdump: {code_bytes} {text}", False)
        name = text.split()[0]
        if len(code_bytes) == 4 or name in ("lui", "auipc", "slli", "srli", "srai", "fence") or name.startswith("csr"):
            continue
        ours = line.instruction.replace(", ", ",")
        text = re.sub(r",(dyn|rtz|rne)$|\.(aq|rl|aqrl)(?= )", "", text)
        if name[0] in "bj" and name != "jalr":
            text = re.sub(r"([0-9a-f]{8})$", r"0x\1", text)
        if ours != text:
            return check(f"text: {ours}; objdump: {text}", False)
        compared.add(name)
    return check(f"only {sorted(compared)} compared", len(compared) > 30)


def computed(log):
    """One core's log from the start: additions give what they should, and no instruction begins before the one before
    it has ended."""
    known, time, sums = {"zero": 0}, 0, 0
    for line in log:
        if line.cycles is None or line.began < time:
            return check(f"not in order: {line.text}", line is log[-1])
        time = line.began + line.cycles
        register, _, value = line.written.partition("=")
        kind, *operands = line.words
        if kind in ("addi", "add") and all(o in known or o[0] in "-0123456789" for o in operands[1:]):
            terms = [known[o] if o in known else int(o, 0) for o in operands[1:]]
            sums += 1
            if operands[0] != "zero" and (register, int(value, 16)) != (operands[0], sum(terms) & 0xffffffff):
                return check(f"computed: {line.text}", False)
        if register:
            known[register] = int(value, 16)
        if kind == "ebreak":  # semihosting's answer
            known.pop("a0")
    return check(f"{sums} sums in {len(log)} lines", sums > 1000)


def windowed(run, folder, elf, arguments):
    """A window of the log, and of the trace beside it, in each kernel."""
    stats = folder / "stats.json"
    run("--stats-json", stats, "--log", folder / "whole", elf, *arguments)
    plain, whole = stats.read_text(), lines(folder / "whole")
    first, last = 12345, 13579
    inside = [line.text for line in whole if line.cycles is not None and first < line.began and
              line.began + line.cycles <= last]
    check("instructions in the window", len(inside) > 1000)
    for kernel in KERNELS:
        p = run("--kernel", kernel, "--stats-json", stats, "--log", folder / "part", "--trace", folder / "t", "--from",
                first, "--to", last, elf, *arguments)
        check(f"{kernel}: status and counters with a window", p.returncode == 0 and stats.read_text() == plain)
        part = lines(folder / "part")
        ended = [line for line in part if line.cycles is not None]
        check(f"{kernel}: the window's lines",
              [line.text for line in ended if line.began > first and line.began + line.cycles <= last] == inside)
        check(f"{kernel}: lines outside of the window",
              all(first <= line.began + line.cycles and line.began <= last for line in ended))
        slices = [e for e in json.loads((folder / "t").read_text())["traceEvents"] if e["ph"] == "X"]
        check(f"{kernel}: the window's slices", len({(e["pid"], e["tid"]) for e in slices if e["tid"] < 1000}) == 8 and
              all(first <= e["ts"] and e["ts"] + e["dur"] <= last + 1 for e in slices))
        check(f"{kernel}: slices of functions", {e["name"] for e in slices} >= {"work"})
    p = run("--log", folder / "part", "--trace", folder / "t", "--from", 10 ** 9, elf, *arguments)
    check("a window behind the end", p.returncode == 0 and len(p.stderr.splitlines()) == 1 and
          b"before --from 1000000000: nothing was watched" in p.stderr and (folder / "part").read_text() == "" and
          {e["ph"] for e in json.loads((folder / "t").read_text())["traceEvents"]} == {"M"})


def regions(run, folder, elf):
    """What regions.c marks, in each kernel; its own readings of the counters of region 1 are two or three instructions
    wider than the region."""
    told = []
    for kernel in KERNELS:
        p = run("--kernel", kernel, "--clusters", 1, "--cores", 4, "--stats-json", folder / "s", "--stats", elf)
        told.append((folder / "s").read_text())
        found = {r["number"]: r for r in json.loads(told[-1])["regions"]}
        check(f"{kernel}: numbers and times {p.stderr}",
              p.returncode == 0 and {n: r["times"] for n, r in found.items()} == {1: 1, 2: 3, 3: 3, 4: 1, 63: 1})
        instructions, cycles = map(int, p.stdout.split())
        own = {n: r["cores"][0] for n, r in found.items()}
        check(f"{kernel}: region 1 by itself", own[1]["instructions"] == instructions - 3 and
              own[1]["cycles"] == found[1]["cycles"] == cycles - 3 and own[1]["misses"] == 0)
        accesses = {n: [core["tcdm"] for core in r["cores"]] for n, r in found.items()}
        check(f"{kernel}: accesses {accesses}", [accesses[n][0] for n in (1, 2, 3)] == [1000, 60, 30] and
              accesses[4] == [0, 1000, 1000, 1000] and 20 <= accesses[63][0] < 300)
        check(f"{kernel}: signals", found[4]["clusters"][0]["signals"] == 4 and found[1]["clusters"][0]["signals"] == 0)
        table = p.stderr.decode().split("region ")
        check(f"{kernel}: tables", [t.split(",")[0] for t in table[1:]] == ["1", "2", "3", "4", "63"] and
              f"run: {found[1]['cycles']} cycles" in table[1])
    check("the kernels' regions", len(set(told)) == 1)


def compressed(run, folder, elf):
    for option in ("--log", "--trace", "--stats-json"):
        plain, gz = folder / "plain", folder / "compressed.gz"
        for to in (plain, gz):
            run("--cores", 1, option, to, elf, 5, 20)
        check(f"{option}: compressed", gz.stat().st_size < plain.stat().st_size and
              gzip.decompress(gz.read_bytes()) == plain.read_bytes())
    for to in ("/dev/full", folder / "none" / "l.gz"):
        check(f"{to}", run("--cores", 1, "--log", to, elf, 5, 20).returncode == 64)


def told(run, folder, elf):
    """What is wrong is told in one line."""
    for options, line in ((("--from", "5"), "none of these is given"), (("--to", "5"), "none of these is given"),
                          (("--log", "", "--from", "5"), "--log"),
                          (("--log", folder / "l", "--from", "6", "--to", "5"), "--to 5 is before --from 6"),
                          (("--log", folder / "l", "--from", "0"), "--from: Value 0 not in range"),
                          (("--log", folder / "l", "--to", "x"), "--to: Value x not in range"),
                          (("--log", folder / "l", "--gdb", "0"), "--gdb goes with none of --trace, --profile"),
                          (("--log", folder / "none" / "l"), "cannot be written")):
        p = run(*options, elf)
        check(f"{options}: {p.stderr}", p.returncode == 64 and line in p.stderr.decode() and
              len(p.stderr.splitlines()) == 1)


def main():
    manycore, mcc = sys.argv[1:]

    def run(*command):
        return subprocess.run([manycore, *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=100)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mix, faults, marked = (folder / f"{name}.elf" for name in ("mix", "faults", "regions"))
        for made in (mix, faults, marked):
            subprocess.run([mcc, HERE / f"{made.stem}.c", "-o", made], check=True)
        run("--clusters", 1, "--cores", 1, "--log", folder / "one", mix, 5, 60)
        log = lines(folder / "one")
        as_objdump(log, mix)
        computed(log)
        windowed(lambda *command: run("--clusters", 2, "--cores", 4, *command), folder, mix, [5, 60])
        run("--clusters", 1, "--cores", 1, "--log", folder / "fault", faults, 2)
        last = lines(folder / "fault")[-1]
        check(f"the instruction that fails: {last.text}", last.cycles is None and last.words[0] == "lh")
        told(run, folder, mix)
        compressed(run, folder, mix)
        regions(run, folder, marked)
    print(f"{count} results, {failed} wrong")
    return failed != 0


sys.exit(main())
