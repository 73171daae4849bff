#!/usr/bin/python3
"""names.py ROOT ARCHIVES... - each room speaks its own words.

In src/ort and to its left no GOMP_, __kmpc_, omp_ or ompt_ name stands in the code (comments and strings may have
them). Every symbol that a room's archive libps_<room>.a shows begins with one of the room's prefixes or, between the
room's own files, with the name of one of its headers (vp_, idle_)."""

import os
import re
import subprocess
import sys

FOREIGN = re.compile(r"\b(GOMP_\w*|__kmpc_\w*|kmp_\w+|omp_\w+|ompt_\w+)\b")
PREFIXES = {"base": ("ps_",), "cpu": ("cpu_",), "os": ("os_",), "lockfree": ("ps_",),
            "uth": ("uth_",), "psthreads": ("ps_", "psthread_"), "ee_psthreads": ("ee_",), "ee_pthreads": ("ee_",),
            "ort": ("ort_",)}
# The one variable of the entity contract (src/ee/ee.h), which each implementation defines: thread-local variables
# have no aliases in other objects.
CONTRACT = {"psthreads": ("ee_here",)}
BLANK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def code(path):
    """The file without comments and strings, lines kept."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return BLANK.sub(lambda m: "\n" * m.group().count("\n"), f.read())


def foreign_names(root):
    number = 0
    for room in ("base", "cpu", "os", "lockfree", "uth", "psthreads", "ee", "ort"):
        for folder, _, names in os.walk(os.path.join(root, "src", room)):
            for name in names:
                if name.endswith((".c", ".h", ".S")):
                    number += 1
                    path = os.path.join(folder, name)
                    text = code(path)
                    for match in FOREIGN.finditer(text):
                        line = text.count("\n", 0, match.start()) + 1
                        yield f"{os.path.relpath(path, root)}:{line}: {match.group()} is an ABI's name"
    if not number:
        yield f"no sources under {root}/src"


def modules(root, room):
    """The prefixes that a room's own headers stand for."""
    folder = os.path.join(root, "src", room.replace("ee_", "ee/"))
    return tuple(name[:-2] + "_" for _, _, names in os.walk(folder) for name in names if name.endswith(".h"))


def strange_symbols(root, archive):
    room = re.sub(r"^libps_|\.a$", "", os.path.basename(archive))
    prefixes = PREFIXES.get(room)
    if prefixes is None:
        yield f"{os.path.basename(archive)}: names.py knows no prefixes for this room"
        return
    own = modules(root, room) + CONTRACT.get(room, ())
    out = subprocess.run(["nm", "--defined-only", "--extern-only", "--format=posix", archive], check=True,
                         stdout=subprocess.PIPE, encoding="utf-8").stdout
    for line in out.splitlines():
        symbol = line.split()[0] if " " in line else ""
        made_by_tools = ("__odr_asan.", "DW.ref.", "_.stapsdt.")
        if symbol and not symbol.startswith(made_by_tools + prefixes + own):
            yield f"{os.path.basename(archive)} shows {symbol}; this room's names begin with {' or '.join(prefixes)}"


def main():
    found = list(foreign_names(sys.argv[1]))
    for archive in sys.argv[2:]:
        found += strange_symbols(sys.argv[1], archive)
    print("\n".join(found + [f"names: {len(sys.argv) - 2} archives, {len(found)} offences"]))
    return 1 if found else 0


sys.exit(main())
