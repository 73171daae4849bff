#!/usr/bin/python3
"""exports.py LIBRARY MAP [--header HEADER] [--later NODES] - a shared object shows exactly what its version script
lists, and needs only the C library.

Every exported symbol must stand in the map, under the version it is exported with. Every symbol that the map names in
full must be exported. Those of the version nodes that match NODES need not: whole interfaces that are not there yet
(counted and printed; none missing is an offence too). With HEADER the exported set must be the functions that the
header declares, the table for debuggers, and what is interposed before the C library. Also: no search path of its
own, no executable stack, no text relocations, NEEDED only the C library and the dynamic linker."""

import argparse
import fnmatch
import os
import re
import subprocess
import sys


def tool(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def read_map(path):
    """{version node: patterns of its global part}"""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/|#[^\n]*", " ", f.read(), flags=re.S)
    nodes = {}
    for name, body in re.findall(r"([\w.]+)\s*\{(.*?)\}", text, re.S):
        parts = re.split(r"\b(global|local)\s*:", body)
        shown = parts[0] if len(parts) == 1 else ""
        for kind, symbols in zip(parts[1::2], parts[2::2]):
            shown += symbols if kind == "global" else ""
        nodes[name] = [s.strip() for s in shown.split(";") if s.strip()]
    return nodes


def exported(library):
    """{(symbol, version)} of what is defined in the dynamic symbol table."""
    found = set()
    for line in tool("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, _, name = line.partition(" ")[2].partition(" ")
        symbol, _, version = name.replace("@@", "@").partition("@")
        if kind != "A":  # the version nodes' own names
            found.add((symbol, version))
    return found


def offences(library, map_path, header, later):
    missing = {}
    nodes, shown = read_map(map_path), exported(library)
    base = os.path.basename(library)
    for symbol, version in sorted(shown):
        if not any(fnmatch.fnmatchcase(symbol, p) for p in nodes.get(version, [])):
            yield f"{base} exports {symbol}@{version}, which {os.path.basename(map_path)} does not list there"
    for version, patterns in nodes.items():
        for symbol in patterns:
            if set("*?[") & set(symbol) or (symbol, version) in shown:
                continue
            excuse = next((p for p in later if fnmatch.fnmatchcase(version, p)), None)
            missing[excuse] = missing.get(excuse, 0) + 1
            if excuse is None:
                yield f"{os.path.basename(map_path)} lists {symbol} under {version}; {base} does not export it"
    for pattern in later:
        print(f"not there yet, of {pattern}: {missing.get(pattern, 0)} symbols")
        if pattern not in missing:
            yield f"nothing of {pattern} is missing any more: it need not be excused"
    if header:
        with open(header, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)
        declared = set(re.findall(r"\b(psthread_\w+)\(", text))
        # the others are the C library's by name
        own = {symbol for symbol, version in shown if not version.startswith("GLIBC_")}
        for symbol in sorted(declared ^ (own - {"ps_debug_layout", "ps_layer"})):
            yield f"{symbol} is {'declared but not exported' if symbol in declared else 'exported but not declared'}"
    if not shown:
        yield f"{base} exports nothing"
    dynamic = tool("readelf", "-dW", library)
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not re.match(r"libc\.so|libpthread\.so|libdl\.so|libc\.musl|ld-linux|ld-musl|ld64", needed):
            yield f"{base} needs {needed}"
    for tag in ("RPATH", "RUNPATH", "TEXTREL"):
        if f"({tag})" in dynamic:
            yield f"{base} has a {tag} entry"
    if re.search(r"GNU_STACK.*\bRWE\b", tool("readelf", "-lW", library)):
        yield f"{base} asks for an executable stack"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("map")
    parser.add_argument("--header")
    parser.add_argument("--later", nargs="*", default=[])
    args = parser.parse_args()
    found = list(offences(args.library, args.map, args.header, args.later))
    print("\n".join(found + [f"{args.library}: {len(exported(args.library))} symbols, {len(found)} offences"]))
    return 1 if found else 0


sys.exit(main())
