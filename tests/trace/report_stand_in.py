#!/usr/bin/python3 -S
"""Stands in for psthreads-report where psrun is tested: a timeline is a copy of the recording."""

import shutil
import sys

if sys.argv[1] == "pftrace":
    shutil.copy(sys.argv[2], sys.argv[4])
elif sys.argv[1] == "page":
    print("page:", *sys.argv[2:])
else:
    if "--json" in sys.argv:
        with open(sys.argv[sys.argv.index("--json") + 1], "w", encoding="utf-8") as f:
            f.write("{}\n")
    print("profile:", *sys.argv[2:])
