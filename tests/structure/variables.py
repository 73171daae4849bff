#!/usr/bin/python3
"""variables.py ROOT - docs/environment.md names every environment variable that the sources read, and no other.

A variable of the sources is a name in quotes with a runtime's prefix, or whatever is given to os_env or getenv. A
variable of the page is a name in backquotes. What the page says to be without effect stands in no string, but the
sources name it in a comment."""

import re
import sys
from pathlib import Path

PREFIX = r"(?:OMP|GOMP|KMP|LIBOMP|PSTHREADS)_"
QUOTED = re.compile(rf'"({PREFIX}[A-Z_]*[A-Z])"')
READ = re.compile(r'\b(?:os_env|getenv)\("([A-Z_]+)"\)')
LAUNCHERS = re.compile(r'"((?:OMPI|MPI|PMI|SLURM)_[A-Z_]*[A-Z])"')
NAMED = re.compile(r"`([A-Z][A-Z0-9_]*_[A-Z0-9_]*|PATH)`")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
FOLDERS = ("src", "tools/taskqc", "python")
NO_VARIABLES = {"OMP_INITIAL_DEVICE"}  # a constant's name, in a message
PATTERNS = {"OMP_X", "OMP_X_ALL", "OMP_X_DEV"}  # the page's words for a family of names


def of_sources(root):
    """(names that are read, names that are mentioned anywhere)."""
    read, mentioned = set(), set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".cc", ".py"):
                continue
            text = path.read_text()
            mentioned.update(re.findall(rf"\b{PREFIX}[A-Z_]*[A-Z]\b", text))
            code = COMMENT.sub("", text)
            read.update(QUOTED.findall(code), READ.findall(code))
            if path.name in ("ranks.c", "preload.c"):
                read.update(LAUNCHERS.findall(code))
    return read - NO_VARIABLES, mentioned


def of_page(text):
    """(names in tables and sentences, names of the list without effect)."""
    silent = re.search(r"^Accepted without effect.*?(?:\n\n|\Z)", text, re.S | re.M)
    without = set(NAMED.findall(silent.group(0))) if silent else set()
    return {name for name in NAMED.findall(text) if name not in PATTERNS} - without, without


def differences(root, text):
    read, mentioned = of_sources(root)
    told, without = of_page(text)
    for name in sorted(read - told):
        yield f"{name} is read by the sources, and docs/environment.md does not name it"
    for name in sorted(told - read):
        yield f"docs/environment.md names {name}, which no source reads"
    for name in sorted(without & read):
        yield f"docs/environment.md says that {name} has no effect, but the sources read it"
    for name in sorted(without - mentioned):
        yield f"docs/environment.md says that {name} is accepted, but no source mentions it"


def main():
    root = Path(sys.argv[1])
    found = list(differences(root, (root / "docs" / "environment.md").read_text()))
    count = len(of_sources(root)[0])
    print("\n".join(found + [f"{count} variables, {len(found)} differences"]))
    return int(bool(found) or count == 0)


if __name__ == "__main__":
    sys.exit(main())
