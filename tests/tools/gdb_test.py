#!/usr/bin/python3
"""gdb_test.py PROGRAM FOLDER WORK - tools/gdb under gdb: lists the user-level threads of a process, shows the stack of
one that waits, with its locals; the same from a core dump, and with a stripped library. PROGRAM deadlocks with six
threads (deadlock.c); FOLDER has the drop-in with the script beside it. Skipped (77) where there is no gdb with Python,
or no process may be traced."""

import os
import re
import shutil
import subprocess
import sys
import time

COMMANDS = ["info psthreads", "psthread apply all bt", "psthread 99"]


def gdb(arguments, commands, folder):
    command = ["gdb", "-q", "-nx", "-batch", "-iex", f"add-auto-load-safe-path {folder}", *arguments]
    for c in commands:
        command += ["-ex", c]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": ""})


def problems(text, stripped):
    rows = [line for line in text.splitlines() if re.match(r"[* ] \d+ +0x", line)]
    if len(rows) != 6:
        yield f"{len(rows)} threads are listed, not 6"
    for level_number in ("0 of 3, level 2", "1 of 3, level 2", "2 of 3, level 2"):
        if sum(level_number in row for row in rows) != 2:
            yield f"{level_number}: not listed twice"
    if sum("root, waits" in row for row in rows) != 1:
        yield "not one root"
    if sum("OpenMP wait on" in row and "wait_for_lock" in row for row in rows) != 2:
        yield "the two that wait for the lock are not shown there"
    if sum("barrier of team" in row for row in rows) != 4:
        yield "the four that wait in barriers are not shown so"
    stacks = [s.split("\n\n")[0] for s in re.split(r"\npsthread \d+ \(", text)[1:]]
    if len(stacks) != 6:
        yield f"{len(stacks)} backtraces, not 6"
    if sum(" main () " in s for s in stacks) != 1:
        yield "not one backtrace ends in main"
    if not stripped and sum("in cpu_first () " in s for s in stacks) != 5:
        yield "not all others end in cpu_first"
    if sum(re.search(r"wait_for_lock \(depth=(depth@entry=)?77\)", s) is not None for s in stacks) != 2:
        yield "wait_for_lock and its argument are not in two backtraces"
    if "no psthread 99" not in text:
        yield "psthread 99 is not refused"


def look(what, arguments, folder, stripped=False, tries=1):
    """A process that was just started may be on its way to where it waits: some tries."""
    for _ in range(tries):
        time.sleep(0.5)
        done = gdb(arguments, COMMANDS, folder)
        found = list(problems(done.stdout + done.stderr, stripped))
        if not found:
            return True
    for p in found:
        print(f"{what}: {p}")
    print(done.stdout, done.stderr, sep="\n")
    return False


def run_on(program, folder, core, stripped=False):
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "PSTHREADS_NUM_VPS": "2"}
    with subprocess.Popen([program], env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            good = look("process" + " stripped" * stripped, ["-p", str(process.pid)], folder, stripped, tries=10)
            if core:
                gdb(["-p", str(process.pid)], [f"gcore {core}"], folder)
        finally:
            process.kill()
    return good


def main():
    program, folder, work = sys.argv[1:]
    if not shutil.which("gdb"):
        print("skipped: no gdb")
        return 77
    probe = gdb(["-p", str(os.getpid())], ["python print('traces')"], folder)
    if "traces" not in probe.stdout or "ptrace" in probe.stderr or "not permitted" in probe.stderr:
        print("skipped: gdb has no Python or may not trace:", probe.stderr.strip()[:200])
        return 77
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    core = os.path.join(work, "core")
    good = run_on(program, folder, core)
    good &= look("core", [program, core], folder)
    stripped = os.path.join(work, "stripped")
    shutil.copytree(folder, stripped, symlinks=True)
    subprocess.run(["strip", os.path.join(stripped, "libgomp-psthreads.so")], check=True)
    good &= run_on(program, stripped, None, True)
    shutil.rmtree(work)
    return 0 if good else 1


sys.exit(main())
