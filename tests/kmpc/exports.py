#!/usr/bin/python3
"""exports.py LIBOMP OURS LIST - what LLVM's runtime shows for programs, we show too, under the same version node.

LIST names what need not be there, a pattern a line with its reason behind it, and what later releases show (+name):
those are wanted as well. Prints what is missing; an entry of LIST that LIBOMP does not show, or that we do, is an
offence as well."""

import fnmatch
import subprocess
import sys


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE,
                         encoding="utf-8").stdout
    return {line.split()[-1].replace("@@", "@") for line in out.splitlines()}


def read_list(path):
    internal, later = {}, set()
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#", 1)[0].split(None, 1)
            if words and words[0].startswith("+"):
                later.add(words[0][1:])
            elif words:
                if len(words) == 1:
                    sys.exit(f"{path}: {words[0]} has no reason")
                internal[words[0]] = words[1].strip()
    return internal, later


def main():
    libomp, ours = exported(sys.argv[1]), exported(sys.argv[2])
    internal, later = read_list(sys.argv[3])
    names = {symbol.partition("@")[0] for symbol in libomp}
    wrong = [f"{pattern}: {sys.argv[1]} has nothing of that name" for pattern in internal
             if not fnmatch.filter(names, pattern)]
    for symbol in sorted(libomp):
        name = symbol.partition("@")[0]
        listed = any(fnmatch.fnmatchcase(name, pattern) for pattern in internal)
        if symbol not in ours and not listed:
            wrong.append(f"missing: {symbol}")
        elif symbol in ours and name in internal:
            wrong.append(f"listed as internal, but there: {symbol}")
    wrong += [f"missing, of later releases: {name}@VERSION" for name in sorted(later) if f"{name}@VERSION" not in ours]
    print(f"{len(libomp)} symbols of libomp, {sum(s in ours for s in libomp)} of them here; {len(later)} of later "
          f"releases")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
