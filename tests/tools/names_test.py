#!/usr/bin/python3
"""names_test.py PROGRAM PSRUN SCRIPT - threads' names (psthread_setname) in `psrun dump` and in gdb's `info psthreads`.

PROGRAM (names.c) has four threads, three with names, which wait for ever. SCRIPT is tools/gdb's. Skipped (77) where
neither may look at another process."""

import os
import re
import subprocess
import sys
import time

NAMES = ["the first of all", "alpha", "a name with spaces"]


def problems_of_gdb(text):
    rows = [line for line in text.splitlines() if re.match(r"[* ] \d+ +0x", line)]
    if len(rows) != 4:
        yield f"gdb lists {len(rows)} threads, not 4"
    if sum("Name" in line for line in text.splitlines() if "Thread" in line and "State" in line) != 1:
        yield "gdb's table has no column for names"
    for name in NAMES:
        if sum(re.search(rf"0x\w+  {name}  ", row) is not None for row in rows) != 1:
            yield f"gdb does not list {name} once"
        if len(re.findall(rf'^psthread \d+ "{name}" \(', text, re.M)) != 1:
            yield f"psthread apply does not name {name}"
    if len(re.findall(r"^psthread \d+ \(", text, re.M)) != 1:
        yield "psthread apply names one that has no name"


def problems_of_dump(text):
    waiting = [line for line in text.splitlines() if ": waits for" in line]
    if len(waiting) != 4:
        yield f"psrun dump shows {len(waiting)} that wait, not 4"
    for name in NAMES:
        if sum(f', "{name}")' in line for line in waiting) != 1:
            yield f"psrun dump does not name {name} once"
    if sum('"' not in line for line in waiting) != 1:
        yield "psrun dump names one that has no name"


def look(command):
    return subprocess.run(command, capture_output=True, text=True)


def main():
    program, psrun, script = sys.argv[1:]
    gdb = ["gdb", "-q", "-nx", "-batch", "-ex", f"source {script}", "-p"]
    look_at_all = ["-ex", "info psthreads", "-ex", "psthread apply all echo"]
    seen = False
    found = []
    environment = {**os.environ, "PSTHREADS_NUM_VPS": "2"}
    with subprocess.Popen([program], env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            for _ in range(10):  # it may be on its way to where it waits
                found = []
                dump = look([psrun, "dump", str(process.pid)])
                if "cannot be read" not in dump.stderr:
                    seen = True
                    found += [(p, dump.stdout + dump.stderr) for p in problems_of_dump(dump.stdout)]
                try:
                    traced = look([*gdb, str(process.pid), *look_at_all])
                except FileNotFoundError:
                    traced = None
                if traced and "not permitted" not in traced.stderr and "Python" not in traced.stderr:
                    seen = True
                    found += [(p, traced.stdout + traced.stderr) for p in problems_of_gdb(traced.stdout)]
                if not found:
                    break
                time.sleep(0.3)
        finally:
            process.kill()
    for problem, text in found:
        print(f"wrong: {problem}\n{text}")
    if not seen:
        print("skipped: neither gdb nor psrun dump may look at another process here")
        return 77
    return 1 if found else 0


sys.exit(main())
