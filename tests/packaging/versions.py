#!/usr/bin/python3
"""versions.py LIST COMPILER OBJECT... - the objects run on glibc 2.28: they want no newer version of a symbol.

Before glibc 2.30 the dynamic linker also looks at the library that a version is wanted of. So what LIST
(cmake/oldest-glibc.txt) has must be wanted of the library that is named there. COMPILER makes a library without any of
this, in which the check has to find what is wrong."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = (2, 28)
PLAIN = "int pthread_once(int *, void (*)(void)); int plain(void) { static int once; return pthread_once(&once, 0); }\n"


def wanted(path):
    """[(symbol, version, library)] that an object wants of others."""
    told = subprocess.run(["readelf", "-W", "--dyn-syms", "--version-info", path], check=True, capture_output=True,
                          text=True).stdout
    needs = told[told.find("Version needs section"):]
    nodes, library = {}, None
    for line in needs.splitlines():
        file = re.search(r"File: (\S+)", line)
        node = re.search(r"Name: (\S+).*Version: (\d+)", line)
        library = file.group(1) if file else library
        if node:
            nodes[node.group(2)] = node.group(1), library
    found = re.findall(r" UND (\w+)@\S+ \((\d+)\)", told)
    return [(symbol, *nodes[number]) for symbol, number in found if number in nodes]


def offences(path, places):
    for symbol, version, library in wanted(path):
        number = re.fullmatch(r"GLIBC_([\d.]+)", version)
        if number and tuple(int(part) for part in number.group(1).split(".")) > OLDEST:
            yield f"{path.name}: wants {symbol} of {version}; glibc {OLDEST[0]}.{OLDEST[1]} has none"
        elif symbol in places and places[symbol] != library:
            yield f"{path.name}: wants {symbol} of {library}; glibc 2.28 has it in {places[symbol]}"


def main():
    lines = [line.split() for line in Path(sys.argv[1]).read_text().splitlines() if not line.startswith("#")]
    places = {symbol: library for library, symbol, _ in lines}
    objects = [Path(name) for name in sys.argv[3:]]
    wrong = [offence for path in objects for offence in offences(path, places)]
    print("\n".join(wrong))
    numbers = [len(wanted(path)) for path in objects]
    print(f"versions: {len(objects)} objects want {sum(numbers)} symbols, {len(wrong)} wrong")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "plain.c"), Path(folder, "plain.so")
        source.write_text(PLAIN)
        subprocess.run([sys.argv[2], "-shared", "-fPIC", "-pthread", source, "-o", library], check=True)
        modern = any(symbol == "pthread_once" and of == "libc.so.6" for symbol, _, of in wanted(library))
        blind = modern and not list(offences(library, places))
    if blind:
        print("versions: a library that is linked as ever passes: the check sees nothing")
    return 1 if wrong or blind or not all(numbers) else 0


sys.exit(main())
