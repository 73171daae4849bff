#!/usr/bin/python3
"""programs.py MANYCORE MCC - the examples run, and what a program, a file, a configuration or a command line does wrong
is told in one line."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
failed = count = 0


def check(name, p, status, out=None, err=None, lines=None):
    global failed, count
    count += 1
    stdout, stderr = p.stdout.decode(), p.stderr.decode()
    wrong = p.returncode != status or (out is not None and out not in stdout) or (err is not None and err not in stderr)
    wrong = wrong or (lines is not None and len(stderr.splitlines()) != lines)
    if wrong:
        failed += 1
        print(f"{name}: status {p.returncode} (expected {status})\n  out: {stdout[:300]}\n  err: {stderr[:500]}\n  "
              f"expected: {out or err}")


def debug(manycore, elf, folder):
    """A session of gdb-multiarch: breakpoint, step, registers, memory, a thread for each core, the end."""
    server = subprocess.Popen([manycore, "--gdb", "0", "--cores", "2", elf], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    port = server.stderr.readline().decode().rstrip().rstrip(")").split(":")[-1]
    script = ["set pagination off", "set architecture riscv:rv32", f"target remote localhost:{port}", "break add",
              "continue", "info threads", "x/2i $pc",
              "print $pc == (long)&add", "stepi", "print $sp > 0x10000000", "print lock", "set var sum = 5", "delete",
              "continue"]
    p = subprocess.run(["gdb-multiarch", "-nx", "-batch", *[a for line in script for a in ("-ex", line)], elf],
                       stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    out = server.communicate(timeout=100)[0]
    for text in ("Breakpoint 1, ", "Thread 8 (core 3.1", "= 1", "$3 = 0", "exited"):
        check(f"gdb: {text}", p, 0, text)
    check("gdb: the program's output", subprocess.CompletedProcess([], server.returncode, out, b""), 1, "805\n")


def largest(manycore, elf, folder):
    """1024 cores: they run, in at most 1 GB beyond the simulated memories."""
    out = folder / "largest"
    with open(out, "wb") as to:
        p = subprocess.Popen([manycore, "--clusters", "64", "--cores", "16", elf], stdin=subprocess.DEVNULL, stdout=to)
        _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    check("64 clusters", subprocess.CompletedProcess([], p.returncode, out.read_bytes(), b""), 0,
          "a barrier of 1024 cores")
    beyond = used.ru_maxrss / 1024 - 64 / 4  # MB; of the simulated memories only the TCDM is surely touched as a whole
    check(f"64 clusters: {beyond:.0f} MB beyond the simulated memories",
          subprocess.CompletedProcess([], 0 if 0 < beyond <= 1024 else 1, b"", b""), 0)


def interrupted(manycore, elf, folder):
    """SIGTERM leaves no half-written file behind, and what stood there before stays."""
    out = folder / "out"
    out.mkdir()
    (out / "t.json").write_text("before")
    p = subprocess.Popen([manycore, "--trace", out / "t.json", "--clusters", "16", elf], stdout=subprocess.DEVNULL)
    while len(list(out.iterdir())) == 1 and p.poll() is None:
        time.sleep(0.01)
    p.terminate()
    p.wait()
    left = {f.name: f.read_text()[:10] for f in out.iterdir()}
    check(f"interrupted: {left}", subprocess.CompletedProcess([], p.returncode, b"", b""),
          -signal.SIGTERM if left == {"t.json": "before"} else 0)


def ends_by_key(manycore, kernel, elf):
    """The interrupt key ends a program that does not end by itself, and tells where each core is."""
    p = subprocess.Popen([manycore, "--cores", "2", "--kernel", kernel, "--stats", elf], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    status = pathlib.Path(f"/proc/{p.pid}/status")
    while not re.search(r"^SigCgt:\s*[0-9a-f]*[2367abef]$", status.read_text(), re.MULTILINE) and p.poll() is None:
        time.sleep(0.01)  # until it has a handler for signal 2
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=100)
    told = subprocess.CompletedProcess([], p.returncode, out, err)
    check(f"{kernel}: interrupted", told, 130, err=": interrupted\n")
    check(f"{kernel}: interrupted core", told, 130, err="  core 0.0 at 0x200")
    check(f"{kernel}: statistics of an interrupted program", told, 130, err="NoC: ")


def told_in_json(manycore, elf, folder):
    """--stats-json names the program, with its arguments, and every parameter."""
    out = folder / "s.json"
    p = subprocess.run([manycore, "--stats-json", out, "--set", "noc.hop=3", elf, 'a "quoted" one'],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    told = json.loads(out.read_text())
    right = told["program"] == [str(elf), 'a "quoted" one'] and told["parameters"]["noc.hop"] == 3
    check(f"--stats-json: {told['program']}", p, 0 if right and told["parameters"]["platform.cores"] == 16 else -1)


def discarded(manycore, mcc, folder):
    """The line of a function that stands before those of a file of which the linker has discarded some."""
    (folder / "first.c").write_text("int called(int);\nint main(void)\n{\n    *(volatile int *)4 = called(1);\n}\n")
    elf = folder / "discarded.elf"
    subprocess.run([mcc, HERE / "lines.c", folder / "first.c", "-o", elf], check=True)
    p = subprocess.run([manycore, elf], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    check("a line beside discarded code", p, 70, err="(first.c:4)")
    elf2 = folder / "discarded2.elf"
    subprocess.run([mcc, folder / "first.c", HERE / "lines.c", "-o", elf2], check=True)
    p = subprocess.run([manycore, elf2], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    check("a line before discarded code", p, 70, err="(first.c:4)")


FAULTS = [
    "load of 4 bytes at 0x00000010, where there is no memory",
    "store of 4 bytes at 0x7ffffff0, where there is no memory",
    "misaligned load of 2 bytes at 0x",
    "illegal instruction",
    "is below the stack's limit",
    "DMA: destination 0x1003ffe0, 64 bytes (row 0): over the end",
    "HWS: core mask 0x10000 names cores that the cluster does not have",
    None,  # deadlock: below
    "jump to 0x30000000, where there is no code",
    "which is code",
    "HWS: word for cluster 0 core 1 slot 5, which holds 4 unread words already",
    "ebreak",
    "ecall",
    "DMA: neither source nor destination is in the own cluster's TCDM",
    "HWS: core arrives twice in slot 3",
    "illegal instruction (no such rounding mode)",
    "stack pointer 0x00000010 is below the stack's limit",
    "stack pointer 0x00000010 is below the stack's limit",
    "statistics: region 7 begins again before its end",
    "statistics: region 5 ends, but has not begun",
    "statistics: region 64 does not exist (0 to 63)",
]


LOCAL = """#include "manycore.h"
static uint32_t mine[16] MC_LOCAL_ZEROS;
static volatile uint32_t counter;
int main(void)
{
    counter = 7;
    *(volatile uint32_t *)mine = 1;
    return (int)counter;
}
"""


def main():
    manycore, mcc = sys.argv[1:]

    def run(*command):
        return subprocess.run([manycore, *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=100)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        elf = {}
        (folder / "endless.c").write_text("int main(void) { for (volatile int x = 0;; x++) ; }")
        (folder / "local.c").write_text(LOCAL)
        for source in [*EXAMPLES.glob("*.c"), HERE / "faults.c", folder / "endless.c", folder / "local.c"]:
            elf[source.stem] = folder / (source.stem + ".elf")
            subprocess.run([mcc, source, "-o", elf[source.stem]], check=True)
        for k in (("--hot", "8"), ("--hot", "1"), ("--kernel", "threaded"), ("--kernel", "lock-step")):
            check("hello", run(*k, elf["hello"], "a", "b c"), 3,
                  "argument 2: b c\ncore 0 of cluster 0\ncore 1 of cluster 0\n")
            check("hello 2x3", run(*k, "--clusters", 2, "--cores", 3, elf["hello"]), 3,
                  "core 1 of cluster 1\ncore 2 of cluster 1\n")
            check("lock", run(*k, elf["lock"]), 0, "6400\n")
            check("dma", run(*k, elf["dma"]), 0, "0 words wrong")
            check("events", run(*k, elf["events"]), 0, "8 signals, 7 words, sum 56\n")
            check("barrier", run(*k, elf["barrier"]), 0, "a barrier of 64 cores: ")
            for i, line in enumerate(FAULTS):
                if line:
                    check(f"fault {i}", run(*k, "--cores", 2, elf["faults"], i), 70, err=line, lines=1)
            p = run(*k, "--clusters", 1, "--cores", 2, elf["faults"], 7)
            check("deadlock", p, 70, err="deadlock: every core waits", lines=3)
            check("deadlock's cores", p, 70, err="core 0.0 at 0x20")
            check("deadlock's reason", p, 70, err="waits for a signal in slot 9")
        check("a region that was not begun", run("--stats", elf["faults"], 19), 70, err="run: ")
        check("variables of each cluster and no data", run(elf["local"]), 7)
        check("place", run(elf["faults"], 3), 70, err="in main+0x")
        told = run(elf["faults"], 3)
        pc = told.stderr.decode().split("pc ")[1].split()[0]
        line = subprocess.run(["riscv64-unknown-elf-addr2line", "-e", elf["faults"], pc], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        check("line", told, 70, err="(faults.c:" + line.strip().split(":")[1].split()[0] + ")")
        # files
        whole = elf["lock"].read_bytes()
        broken = folder / "broken.elf"
        for size in (0, 3, 40, 60, 400, 6000):
            broken.write_bytes(whole[:size])
            check(f"{size} bytes of a program", run(broken), 64, err="is truncated" if size >= 52 else "is no ELF file",
                  lines=1)
        check("foreign", run("/bin/true"), 64, err="is no 32-bit little-endian ELF file", lines=1)
        check("nothing there", run(folder / "none"), 64, err="cannot be opened", lines=1)
        check("a folder", run(folder), 64, err="cannot be opened: Is a directory", lines=1)
        # configurations
        toml = folder / "c.toml"
        for text, line in (("[noc]\nlatency = 20\n", None),
                           ("[noc]\n\nlatncy = 20\n",
                            ":3: no parameter 'noc.latncy'; there are: crossbar, latency, hop"),
                           ("[noc]\nlatency = 9999\n", ":2: noc.latency = 9999: allowed are 0 to 200"),
                           ("[noc]\nlatency = \"a\"\n", ":2: noc.latency must be a whole number"),
                           ("[nok]\nlatency = 1\n", ":2: no parameter 'nok.latency'; there are: platform.clusters"),
                           ("[noc\n", ":1: "),
                           ("latency = 1\n", ":1: 'latency' stands outside of a section"),
                           ("[tcdm]\nsize = 5000\n", "c.toml:2: tcdm.size = 5000: must be a power of two"),
                           ("[icache]\nways = 3\n", "c.toml:2: icache.ways = 3: must be a power of two"),
                           ("[icache]\nways = 16\n[noc]\ncrossbar = 1\n", None),
                           ("[platform]\nclusters = 4\n[l2]\nnode = 4\n",
                            "c.toml:4: l2.node = 4: the network has nodes 0 to 3"),
                           ("[icache]\nsize = 64\nline = 64\nways = 2\n",
                            "c.toml:2: icache.size = 64: smaller than one line of each way"),
                           ("[icache]\nsize = 64\nline = 64\n", "c.toml:2: icache.size = 64: one line;")):
            toml.write_text(text)
            check(f"configuration {text!r}", run("--config", toml, elf["barrier"]), 64 if line else 0, err=line,
                  lines=1 if line else 0)
        for name in (folder, folder / "none"):
            check(f"configuration {name}", run("--config", name, elf["barrier"]), 64, err="cannot be read: ", lines=1)
        toml.write_text("[platform]\nclusters = 1\ncores = 4\n")
        check("configuration used", run("--config", toml, elf["barrier"]), 0, "a barrier of 4 cores")
        check("--set", run("--config", toml, "--set", "platform.cores=3", elf["barrier"]), 0, "a barrier of 3 cores")
        check("--set wrong", run("--set", "noc.latency=x", elf["barrier"]), 64, err="'x' is no whole number", lines=1)
        for option, value, line in (("--clusters", 0, "platform.clusters = 0: allowed are 1 to 64"),
                                    ("--cores", -1, "platform.cores = -1: allowed are 1 to 16"),
                                    ("--cores", "", "--cores"), ("--trace", "", "--trace"),
                                    ("--profile", "", "--profile")):
            check(f"{option} {value}", run(option, value, elf["barrier"]), 64, err=line, lines=1)
        check("no program", run(), 64, err="no program given", lines=1)
        check("unknown option", run("--nonsense", elf["lock"]), 64, err="--nonsense", lines=1)
        check("limit", run("--set", "run.limit=1000", elf["lock"]), 70, err="stopped after 1000 cycles")
        for k in ("run-ahead", "lock-step"):
            ends_by_key(manycore, k, elf["endless"])
        check("stacks", run("--set", "tcdm.size=32768", elf["lock"]), 64, lines=1,
              err="16 stacks of 4096 bytes do not fit into a TCDM of 32768 bytes (tcdm.size)")
        told_in_json(manycore, elf["lock"], folder)
        discarded(manycore, mcc, folder)
        check("regions", run("--trace", folder / "t.json", elf["events"]), 0)
        events = json.loads((folder / "t.json").read_text())["traceEvents"]
        regions = {(e["ph"], e["tid"]) for e in events if e.get("name") == "work"}
        wanted = {(b, i) for b in "be" for i in range(1, 16)}
        check(f"regions: {regions}", run(elf["hello"]), 3 if regions == wanted else -1)
        interrupted(manycore, elf["lock"], folder)
        p = run("--trace", folder / "none" / "t.json", elf["lock"])
        check("unwritable", p, 64, err="t.json: cannot be written", lines=1)
        same = folder / "same"
        check("two outputs", run("--log", same, "--stats-json", same, elf["lock"]), 64, err="two outputs", lines=1)
        check("trace", run("--trace", folder / "t.json", "--profile", folder / "p.txt", elf["dma"]), 0, "0 words wrong")
        names = {e["name"] for e in json.loads((folder / "t.json").read_text())["traceEvents"] if "name" in e}
        profile = (folder / "p.txt").read_text()
        check("trace's and profile's names", run(elf["hello"]), 3 if {"asleep", "main", "64 bytes x 64"} <= names
              and "_start;mc_boot;main" in profile else -1)
        if shutil.which("gdb-multiarch"):
            debug(manycore, elf["lock"], folder)
        check("stats", run("--stats", elf["lock"]), 0, err="NoC: ")
        largest(manycore, elf["barrier"], folder)
    print(f"{count} runs, {failed} wrong")
    return failed != 0


sys.exit(main())
