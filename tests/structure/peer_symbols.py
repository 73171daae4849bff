#!/usr/bin/python3
"""peer_symbols.py LIBRARY LIST [--installed FILE] - a drop-in shows every symbol that libgomp shows, under the same
version node.

LIST holds names and nodes of the newest public libgomp ("symbol@node" a line; facts of its interface). With
--installed, or where the compiler knows a libgomp.so.1, that one's own dynamic symbols are compared as well. Prints
what is missing; nothing may be."""

import argparse
import os
import subprocess
import sys


def tool(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def exported(library):
    """{"symbol@node"} of the functions and objects that the library defines."""
    found = set()
    for line in tool("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, _, name = line.partition(" ")[2].partition(" ")
        if kind != "A":  # the version nodes' own names
            found.add(name.replace("@@", "@"))
    return found


def installed():
    path = tool("gcc", "-print-file-name=libgomp.so.1").strip()
    return os.path.realpath(path) if os.path.isabs(path) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("list")
    parser.add_argument("--installed", default=installed())
    args = parser.parse_args()
    with open(args.list, encoding="utf-8") as f:
        wanted = {os.path.basename(args.list): {line.strip() for line in f if line.strip() and line[0] != "#"}}
    if args.installed:
        wanted[args.installed] = exported(args.installed)
    else:
        print("no libgomp.so.1 is installed: compared with the list alone")
    ours, bad = exported(args.library), 0
    for source, symbols in wanted.items():
        missing = sorted(symbols - ours)
        bad += len(missing) + (not symbols)
        print("\n".join(f"missing, of {source}: {s}" for s in missing))
        print(f"{source}: {len(symbols)} symbols, {len(missing)} missing")
    return 1 if bad else 0


sys.exit(main())
