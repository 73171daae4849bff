#!/usr/bin/python3
"""eztrace.py FOLDER RUNTIME PROGRAM - EZTrace (Debian's), which attaches through the tools interface, traces the
program (profiled.c) under our runtime.

The trace must show each region once on the thread that opened it, each member's implicit task, each task and each
critical section, all of them entered and left; and the regions must have been shared by several threads. Exit status 77
where eztrace or otf2-print is not installed."""

import collections
import os
import re
import shutil
import subprocess
import sys

# with the initial task; tasks made and run
WANTED = {"OpenMP parallel": 5, "OpenMP implicit task": 16, "OpenMP task": 10, "OpenMP acquire mutex": 15}


def main():
    folder, runtime, program = sys.argv[1:4]
    for tool in ("eztrace", "otf2-print"):
        if shutil.which(tool) is None:
            print(f"no {tool}: skipped (tools/install-deps conformance)")
            return 77
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = dict(os.environ, LD_LIBRARY_PATH=runtime, OMP_NUM_THREADS="3")
    done = subprocess.run(["eztrace", "-t", "ompt", "-o", "trace", program], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout, end="")
    if done.returncode != 0 or "515\n" not in done.stdout:
        return f"eztrace ends with {done.returncode}"
    traces = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
              if name.endswith(".otf2")]
    if len(traces) != 1:
        return f"traces: {traces}"
    text = subprocess.run(["otf2-print", traces[0]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=True).stdout
    entered, left, threads = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    for what, thread, region in re.findall(r'^(ENTER|LEAVE)\s+(\d+)\s+\d+\s+Region: "([^"]*)"', text, re.MULTILINE):
        (entered if what == "ENTER" else left)[region] += 1
        threads[region].add(thread)
    wrong = [f"{region}: entered {entered[region]} times, left {left[region]}, instead of {n}"
             for region, n in WANTED.items()
             if entered[region] != n or left[region] != n]
    if len(threads["OpenMP parallel"]) != 1 or len(threads["OpenMP implicit task"]) != 3:
        wrong.append(f"threads: {dict(threads)}")
    print("\n".join(wrong) or f"{sum(entered.values())} regions in the trace")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
