#!/usr/bin/python3
"""unique.py ROOT - a function's name means one function of src, so that grep, gdb and perf answer.

Looked at are definitions, whose head begins in the first column. A static function's name is defined nowhere else.
What several files may define:
  - a function of a contract that has several implementations (ports, entities): not static, declared in a header
  - the inline functions of headers named *_port.h, of which a build has one
  - one file's variants under #if and #else, and an inline function of a header that a .c file beside it replaces"""

import collections
import re
import sys
from pathlib import Path

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
HEAD = re.compile(r"^(?!#)([A-Za-z_][\w\s*]*?)\b(\w+)\(([^;{}]*)\)\s*\{", re.M)
NO_NAMES = {"if", "for", "while", "switch", "return", "defined", "sizeof"}


def definitions(path):
    """(line, name, whether it is static) of each function that the file defines."""
    text = COMMENT.sub(lambda m: "\n" * m.group().count("\n") or " ", path.read_text())
    text = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group().count("\n"), text, flags=re.M)
    for found in HEAD.finditer(text):
        head, name = found.group(1), found.group(2)
        if name not in NO_NAMES and not name.isupper():
            yield text.count("\n", 0, found.start(2)) + 1, name, bool(re.search(r"\b(static|PS_ALWAYS_INLINE)\b", head))


def room(file):
    return file.split("/")[1]


def offences(root):
    places = collections.defaultdict(dict)
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in (".c", ".h") and not path.name.endswith("_port.h"):
            file = str(path.relative_to(root))
            for line, name, static in definitions(path):
                places[name].setdefault(file, (line, static))
    for name, found in sorted(places.items()):
        files = [f for f, at in found.items() if at[1]]
        replaced = len(files) == 1 and files[0].endswith(".h") and len({room(f) for f in found}) == 1
        if len(found) > 1 and files and not replaced:
            yield f"{name} means several functions: " + ", ".join(f"{f}:{at[0]}" for f, at in found.items())
    if not places:
        yield f"no functions under {root}/src"


def main():
    found = list(offences(Path(sys.argv[1])))
    print("\n".join(found + [f"unique: {len(found)} names of several functions"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
