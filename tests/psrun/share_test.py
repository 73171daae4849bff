#!/usr/bin/env python3
"""share_test.py PSRUN WORK SOURCES CC processes|containers|foreign - programs under psrun share the processors. Nothing
here asserts a time: the test waits for what it expects.

processes: each of two programs has vps offline while the other one runs, and all online again afterwards; a program in
a sequential part wants one processor; psrun top tells of it. Their weight is so large that other programs of the
machine do not count.
containers: the same of two programs that do not see each other, in namespaces of their own.
foreign: a program gives a processor to one that does not share, and has it back when that ends."""

import atexit
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

PSRUN, WORK, SOURCES, CC, WHAT = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5]
PROCESSORS = len(os.sched_getaffinity(0))
WEIGHT = 1000
if PROCESSORS < 2:
    print("SKIPPED: one processor")
    sys.exit(77)
WORK.mkdir(parents=True, exist_ok=True)
subprocess.run([CC, "-O2", "-fopenmp", SOURCES / "share_regions.c", "-o", WORK / "regions"], check=True)
FILE = WORK / f"psthreads-{os.geteuid()}"
FILE.unlink(missing_ok=True)
ENVIRONMENT = dict(os.environ, XDG_RUNTIME_DIR=str(WORK), PSTHREADS_NUM_VPS=str(PROCESSORS))


def start(share, *before):
    program = subprocess.Popen([*before, PSRUN, WORK / "regions"], env=dict(ENVIRONMENT, PSTHREADS_SHARE=str(share)))
    atexit.register(program.kill)  # if the test fails
    return program


def count_offline(program):
    """How many of the program's vps are offline, as its dump says; None: the program is only beginning."""
    assert program.poll() is None, "the program has ended"
    dump = subprocess.run([PSRUN, "dump", str(program.pid)], capture_output=True, text=True).stdout
    return dump.count(": offline") if "virtual processors" in dump else None


def await_offline(program, right):
    while (n := count_offline(program)) is None or not right(n):
        time.sleep(0.01)


def top(*before, json_=True):
    found = subprocess.run([*before, PSRUN, "top", "--once"] + ["--json"] * json_, env=ENVIRONMENT, text=True,
                           stdout=subprocess.PIPE, check=True).stdout
    return json.loads(found)["processes"] if json_ else found


def await_top(right):
    while not right(found := top()):
        pass
    return found


def table_lines(width):
    """The table on a terminal of that width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    subprocess.run([PSRUN, "top", "--once"], env=ENVIRONMENT, stdout=its, check=True)
    os.close(its)
    text = b""
    try:
        while part := os.read(ours, 4096):  # it may come in pieces
            text += part
    except OSError:  # so a terminal says that all was read
        pass
    os.close(ours)
    return text.decode().splitlines()


def end(program):
    program.kill()
    program.wait()


def processes():
    first = start(WEIGHT)
    await_top(lambda found: [p["pid"] for p in found] == [first.pid])
    await_offline(first, lambda n: n == 0)
    second = start(WEIGHT)
    await_offline(first, lambda n: n >= PROCESSORS // 2)
    both = top()
    assert {p["pid"] for p in both} == {first.pid, second.pid}, both
    assert all(p["command"] == "regions" and p["weight"] == WEIGHT and p["processors_now"] is not None
               for p in both), both
    for width in (37, 49, 50, 69, 70, 71, 80):
        lines = table_lines(width)
        assert len(lines) == 3 and max(map(len, lines)) <= width and ("ALL" in lines[0][32:]) == (width >= 50), lines
    second.send_signal(signal.SIGUSR1)
    await_top(lambda found: {p["pid"]: p["wanted"] for p in found} == {first.pid: PROCESSORS, second.pid: 1})
    await_offline(first, lambda n: n <= 1)
    end(second)
    await_offline(first, lambda n: n == 0)
    aside = start("off")
    await_offline(aside, lambda n: n == 0)
    await_top(lambda found: [p["pid"] for p in found] == [first.pid])
    end(aside)
    end(first)
    table = top(json_=False)
    assert "no process shares processors" in table and "\033" not in table, table
    with open("/dev/full", "w") as full:
        unwritten = subprocess.run([PSRUN, "top", "--once"], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE)
    assert unwritten.returncode == 1 and unwritten.stderr.count(b"\n") == 1, unwritten
    FILE.write_bytes(b"x" * 100)
    wrong = subprocess.run([PSRUN, "top", "--once"], env=ENVIRONMENT, capture_output=True, text=True)
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1, wrong
    assert subprocess.run([PSRUN, "top", "--twice"], capture_output=True).returncode == 125


def containers():
    """The number of a program is 1 in its container. It is also that of a program outside, which top must not take for
    it."""
    for options in (["-pf", "--mount-proc"], ["-Ucpf", "--mount-proc"]):
        apart = ["unshare", *options, "--kill-child"]
        try:
            made = subprocess.run([*apart, "true"], capture_output=True).returncode == 0
        except FileNotFoundError:
            made = False
        if made:
            break
    else:
        print("SKIPPED: no process may have namespaces of its own here")
        sys.exit(77)
    first, second = start(WEIGHT, *apart), start(WEIGHT, *apart)
    half = (PROCESSORS + 1) // 2
    both = await_top(lambda found: sorted(p["allowed"] for p in found) == [PROCESSORS - half, half])
    assert all(p["pid"] == 1 and p["command"] == "" and p["processors_now"] is p["processors"] is None
               for p in both), both
    rows = [line.split() for line in top(json_=False).splitlines()[1:]]
    assert len(rows) == 2 and all(r[0] == "1" and r[4:6] == ["-", "-"] and r[-1] == "?" for r in rows), rows
    end(second)
    alone = await_top(lambda found: len(found) == 1 and found[0]["allowed"] == PROCESSORS)
    assert alone[0]["pid"] == 1
    end(first)
    await_top(lambda found: not found)


def foreign():
    """On a machine where other programs compute as well, nothing is shown: the test is skipped."""
    clock = 1 / os.sysconf("SC_CLK_TCK")
    ours, known = [start(1)], []

    def busy():
        with open("/proc/stat") as stat:
            return sum(clock * sum(int(n) for i, n in enumerate(line.split()[1:8]) if i in (0, 2, 5, 6))
                       for line in stat if line[:3] == "cpu" and line[3] != " ")

    def used(program):
        fields = Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return clock * (int(fields[11]) + int(fields[12]))

    def await_allowed(n):
        """Skips the test if programs that are not the test's have used a tenth of a processor for a second."""
        known.clear()
        while [p["allowed"] for p in top()] != [n] or count_offline(ours[0]) != PROCESSORS - n:
            known.append((time.monotonic(), busy() - sum(map(used, ours))))
            while known[-1][0] - known[0][0] > 1:
                (then, before), (now, after) = known.pop(0), known[-1]
                if after - before > 0.1 * (now - then):
                    print("SKIPPED: other programs use the processors")
                    sys.exit(77)

    await_allowed(PROCESSORS)
    ours.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
    atexit.register(ours[1].kill)
    await_allowed(PROCESSORS - 1)
    end(ours.pop())
    await_allowed(PROCESSORS)
    end(ours[0])


{"processes": processes, "containers": containers, "foreign": foreign}[WHAT]()
FILE.unlink()
