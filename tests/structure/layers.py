#!/usr/bin/python3
"""layers.py FOLDER [ARCHIVE] - the files of a room form layers.

FOLDER/layers.txt says which file stands in which layer, and which functions a file may call although they stand in a
layer above its own. It may also say how many files at most call one another in a circle. The head of
src/psthreads/layers.txt says the format. ARCHIVE is the room's library of an optimised build, where a call of an inline
function is none; without it FOLDER/nm.txt is what nm said of one. Shown are: files without a layer, calls up that are
not listed, listed calls that no file makes, and a circle that is too large."""

import os
import re
import subprocess
import sys


def read_layers(path):
    """({file: number of its layer}, {(file, function)}, layer names, files in a circle at most)"""
    layer_of, allowed, names, at_most = {}, set(), [], None
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].rstrip()
            if not line:
                continue
            call = re.fullmatch(r"(\w+) calls ([\w ]+): .+", line)
            if call:
                allowed.update((call[1], function) for function in call[2].split())
                continue
            limit = re.fullmatch(r"at most (\d+) files in a circle", line)
            if limit:
                at_most = int(limit[1])
                continue
            if not line.startswith(" "):
                name, _, line = line.partition(":")
                names.append(name)
            layer_of.update((file, len(names) - 1) for file in line.split())
    return layer_of, allowed, names, at_most


def read_symbols(nm_output):
    """({function: file}, {file: names it uses})"""
    home, uses, file = {}, {}, None
    for line in nm_output.splitlines():
        if line.endswith(".o:"):
            file = line.split(".")[0]
            uses[file] = set()
            continue
        words = line.split()
        if len(words) == 2 and words[0] in "Uw":
            uses[file].add(words[1])
        elif len(words) == 3 and words[1] in "TtW":
            home[words[2]] = file
    return home, uses


def largest_circle(home, uses):
    """The most files that all call one another, directly or through others; sorted."""
    calls = {file: {home[name] for name in names if name in home} - {file} for file, names in uses.items()}

    def reached(start):
        found, todo = set(), [start]
        while todo:
            for file in calls[todo.pop()] - found:
                found.add(file)
                todo.append(file)
        return found
    reach = {file: reached(file) for file in calls}
    return max((sorted(b for b in calls if a in reach[b] and b in reach[a]) for a in calls), key=len, default=[])


def main():
    folder = sys.argv[1]
    layer_of, allowed, names, at_most = read_layers(os.path.join(folder, "layers.txt"))
    if len(sys.argv) > 2:
        symbols = subprocess.run(["nm", "-g", sys.argv[2]], capture_output=True, text=True, check=True).stdout
    else:
        with open(os.path.join(folder, "nm.txt"), encoding="utf-8") as f:
            symbols = f.read()
    home, uses = read_symbols(symbols)
    room = os.path.basename(os.path.abspath(folder))
    faults = [f"{room}: {file}.c stands in no layer" for file in sorted(uses) if file not in layer_of]
    faults += [f"{room}: there is no file {file}.c" for file in sorted(layer_of) if file not in uses]
    calls_up, used = set(), set()
    for file in sorted(uses):
        for function in sorted(uses[file]):
            if function in home and layer_of.get(home[function], -1) > layer_of.get(file, -1):
                calls_up.add((file, function))
                allowed_as = {(file, function), ("any", function)} & allowed
                used |= allowed_as
                if not allowed_as and file in layer_of:
                    above = home[function]
                    faults.append(f"{room}: {file}.c ({names[layer_of[file]]}) calls {function}, which stands above "
                                  f"it, in {above}.c ({names[layer_of[above]]})")
    faults += [f"{room}: {file} does not call {function}, or not from below" for file, function in
               sorted(allowed - used)]
    circle = largest_circle(home, uses)
    if at_most is not None and len(circle) > at_most:
        faults.append(f"{room}: {len(circle)} files call one another, at most {at_most} may: {' '.join(circle)}")
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{room}: {len(uses)} files in {len(names)} layers, {len(calls_up)} calls up, at most "
          f"{len(circle)} files in a circle")
    sys.exit(bool(faults) or not uses)


main()
