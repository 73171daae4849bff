#!/usr/bin/env python3
"""share_test.py PSRUN WORK SOURCES CC - two programs under psrun share the processors: each has vps
offline while the other one runs, and all online again afterwards; psrun top tells of it. Nothing here asserts a
time: the test waits for what it expects."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

PSRUN, WORK, SOURCES, CC = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
PROCESSORS = len(os.sched_getaffinity(0))
if PROCESSORS < 2:
    print("SKIPPED: one processor")
    sys.exit(77)
WORK.mkdir(parents=True, exist_ok=True)
subprocess.run([CC, "-O2", "-fopenmp", SOURCES / "share_regions.c", "-o", WORK / "regions"], check=True)
FILE = WORK / f"psthreads-{os.geteuid()}"
FILE.unlink(missing_ok=True)
ENVIRONMENT = dict(os.environ, XDG_RUNTIME_DIR=str(WORK), PSTHREADS_NUM_VPS=str(PROCESSORS))


def start(share):
    return subprocess.Popen([PSRUN, WORK / "regions"], env=dict(ENVIRONMENT, PSTHREADS_SHARE=share))


def await_offline(program, right):
    """Waits until a number of the program's vps is offline, as its dump says."""
    while True:
        assert program.poll() is None, "the program has ended"
        dump = subprocess.run([PSRUN, "dump", str(program.pid)], capture_output=True, text=True).stdout
        if "virtual processors" in dump and right(dump.count(": offline")):
            return
        time.sleep(0.01)


def await_top(pids):
    while {p["pid"] for p in top()} != set(pids):
        pass


def top():
    found = subprocess.run([PSRUN, "top", "--once", "--json"], env=ENVIRONMENT, capture_output=True, check=True)
    return json.loads(found.stdout)["processes"]


def table_lines(width):
    """The table on a terminal of that width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    subprocess.run([PSRUN, "top", "--once"], env=ENVIRONMENT, stdout=its, check=True)
    lines = os.read(ours, 4096).decode().splitlines()
    os.close(its)
    os.close(ours)
    return lines


def end(program):
    program.kill()
    program.wait()


first = start("1")
await_top([first.pid])
await_offline(first, lambda n: n == 0)
second = start("1")
await_offline(first, lambda n: n >= PROCESSORS // 2)
both = top()
assert {p["pid"] for p in both} == {first.pid, second.pid}, both
assert all(p["command"] == "regions" and p["weight"] == 1 for p in both), both
for width in (37, 49, 50, 69, 70, 71, 80):
    lines = table_lines(width)
    assert len(lines) == 3 and max(map(len, lines)) <= width and ("ALL" in lines[0][32:]) == (width >= 50), lines
end(second)
await_offline(first, lambda n: n == 0)
aside = start("off")
await_offline(aside, lambda n: n == 0)
await_top([first.pid])
end(aside)
end(first)
table = subprocess.run([PSRUN, "top", "--once"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
assert "no process shares processors" in table and "\033" not in table, table
FILE.write_bytes(b"x" * 100)
wrong = subprocess.run([PSRUN, "top", "--once"], env=ENVIRONMENT, capture_output=True, text=True)
assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1, wrong
assert subprocess.run([PSRUN, "top", "--twice"], capture_output=True).returncode == 125
FILE.unlink()
