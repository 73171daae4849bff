#!/usr/bin/python3
"""gdb_plugin_test.py PROGRAM FOLDER WORK PLUGIN - LLVM's OMPD plug-in for gdb on a process with the drop-in of FOLDER,
and on its core dump; and how often gdb's break points for debuggers are reached. PROGRAM is observed.c. Skipped (77)
where there is no gdb with Python, no PLUGIN that its Python can load, or no process may be traced."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAM, FOLDER, WORK, PLUGIN = (Path(os.path.abspath(a)) for a in sys.argv[1:5])
BASE = ["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set pagination off"]
QUESTIONS = ["ompd init", "ompd threads", "ompd parallel", "ompd icvs", "ompd bt on", "bt"]
WITH_US = {**os.environ, "LD_LIBRARY_PATH": str(FOLDER), "OMP_DEBUG": "enabled"}
# two inner regions and the outer one; their implicit tasks and the explicit one; the initial thread and a thread for
# each member but the first
REACHED = {"parallel_begin": 3, "parallel_end": 3, "task_begin": 9, "task_end": 9, "thread_begin": 6}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def gdb(arguments, commands, **more):
    line = [*BASE]
    for command in commands:
        line += ["-ex", command]
    result = subprocess.run([*line, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False, **more)
    return result.stdout


def questions(extra=()):
    return [f"source {PLUGIN}/__init__.py", *QUESTIONS, *extra]


def problems(text, where):
    """What the plug-in says of the initial thread, in the first inner region."""
    wanted = [r"Loaded OMPD lib successfully", r"Nesting Level 2: Team Size: 3", r"Nesting Level 1: Team Size: 2",
              r"run-sched-var +task +guided,7", r"max-task-priority-var +address_space +7",
              r"team-size-var +parallel +3", r"levels-var +parallel +2", r"debug-var +address_space +1",
              r"ompt_state_wait_lock", r"Enabled filter", r"inner_member \"#pragma omp parallel\""]
    for pattern in wanted:
        if not re.search(pattern, text):
            yield f"{where}: nothing like {pattern!r}"
    for bad in ("Traceback", "Error code", "Python Exception"):
        if bad in text:
            yield f"{where}: {bad}"


def start():
    child = subprocess.Popen([PROGRAM], env=WITH_US, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if line == "ready\n":
            return child
    sys.exit(f"{PROGRAM} does not say that it is ready")


def looked_at():
    child = start()
    core = WORK / "core"
    try:
        text = gdb(["-p", str(child.pid)], questions([f"gcore {core}"]))
        if "ptrace: " in text and "Loaded" not in text:
            skip("no process may be traced here")
        if "Saved corefile" not in text:
            yield "no core dump was written"
    finally:
        child.stdin.close()
        child.wait()
    print(text)
    yield from problems(text, "process")
    if core.exists():
        text = gdb([PROGRAM, core], questions())
        print(text)
        yield from problems(text, "core dump")


def break_points():
    names = [f"ompd_bp_{name}" for name in REACHED]
    setting = [f"set environment {name} {WITH_US[name]}" for name in ("LD_LIBRARY_PATH", "OMP_DEBUG")]
    commands = [*setting, "set breakpoint pending on"]
    for number, name in enumerate(names, 1):
        commands += [f"break {name}", f"ignore {number} 1000"]
    text = gdb([PROGRAM], [*commands, "run < /dev/null", "info breakpoints"])
    print(text)
    for name, times in REACHED.items():
        found = re.search(rf"ompd_bp_{name}\b.*\n\s+breakpoint already hit (\d+) time", text)
        if not found or int(found.group(1)) != times:
            yield f"ompd_bp_{name} is reached {found.group(1) if found else 0} times, not {times}"


def main():
    if not shutil.which("gdb") or "3." not in gdb([], ["python print(__import__('sys').version)"]):
        skip("no gdb with Python")
    if not (PLUGIN / "ompdModule.so").exists():
        skip("no OMPD plug-in of LLVM's (tools/get-libomp)")
    loaded = gdb([], [f"source {PLUGIN}/__init__.py"])
    if "OMPD GDB support loaded" not in loaded:
        skip(f"gdb cannot load the plug-in: {loaded.strip().splitlines()[-1:]}")
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    found = [*looked_at(), *break_points()]
    shutil.rmtree(WORK)
    print("\n".join(found + [f"{len(found)} offences"]))
    return int(bool(found))


sys.exit(main())
