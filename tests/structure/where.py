#!/usr/bin/python3
"""where.py ROOT - ARCHITECTURE.md's table "Where is it handled?" tells the truth: each function that it names is
defined in the file beside it, and there are rows enough."""

import re
import sys
from pathlib import Path

TITLE = "## Where is it handled?"
LEAST = 12
PAIR = re.compile(r"`(\w+)`, `([\w./-]+)`")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def rows(text):
    """The cells of the table below the title."""
    _, _, section = text.partition(TITLE)
    section = section.split("\n## ")[0]
    lines = [line for line in section.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def is_defined(name, path):
    """A definition's head begins in the first column, and a body follows its parameters."""
    text = COMMENT.sub("", path.read_text())
    return re.search(rf"^[A-Za-z_][^\n;=]*\b{name}\([^;{{]*\)\s*{{", text, re.M) is not None


def wrong_in(root, text):
    found = rows(text)
    if len(found) < LEAST:
        yield f"the table has {len(found)} rows; at least {LEAST}"
    for cells in found:
        pairs = PAIR.findall(" ".join(cells[1:]))
        if len(pairs) != len(cells) - 1:
            yield f"{cells[0]}: each cell names a function and its file, as `function`, `file`"
        for name, file in pairs:
            path = root / file
            if not path.is_file():
                yield f"{cells[0]}: there is no file {file}"
            elif not is_defined(name, path):
                yield f"{cells[0]}: {file} does not define {name}"


def main():
    root = Path(sys.argv[1])
    text = (root / "ARCHITECTURE.md").read_text()
    found = list(wrong_in(root, text))
    print("\n".join([f"ARCHITECTURE.md: {line}" for line in found] + [f"{len(rows(text))} rows, {len(found)} wrong"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
