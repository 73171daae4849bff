#!/usr/bin/python3
"""lines.py ROOT - no tracked text file has a line of more than 120 columns, and no file of code or documents has more
than 600 lines. EXCEPTIONS and LONG_FILES name the others; one that is no longer needed is an error too."""

import fnmatch
import subprocess
import sys
from pathlib import Path

MOST = 120
EXCEPTIONS = {
    ".ci/run": "regular expressions and lists of steps that are one word to the shell",
    "apps/facedetect/weights.txt": "numbers, a layer a line",
    "bench/results/*": "what measurements wrote",
    "docs/manycore.svg": "a drawing, an element a line",
    "docs/programs.md": "its table is written by tools/programs/run",
    "tests/conformance/expected-failures*.txt": "a test and its reason, a line each",
    "tests/taskqc/run/*": "programs whose directives are long on purpose, and whose lines are counted",
    "tools/install-deps": "a group of packages a line",
}
MOST_LINES = 600
DATA = (".csv", ".json", ".scene", ".svg", ".txt")
LONG_FILES = {
    "include/psthread.hpp": "the library's one header for C++",
}


def exception_for(name):
    return next((pattern for pattern in EXCEPTIONS if fnmatch.fnmatch(name, pattern)), None)


def may_be_long(name):
    return name.endswith(DATA) and not name.endswith("CMakeLists.txt")


def tracked(root):
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"], capture_output=True,
                            text=True, check=True).stdout
    return [name for name in listed.split("\0") if name]


def lines_of(path):
    """None of a file that is no text."""
    if path.is_symlink() or not path.is_file():
        return []
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return []


def main():
    root = Path(sys.argv[1])
    if not (root / ".git").exists():
        print("SKIPPED: no git here to tell which files are the project's")
        return 77
    names, used, wrong, long_files = tracked(root), set(), 0, 0
    for name in names:
        lines = lines_of(root / name)
        if len(lines) > MOST_LINES and name in LONG_FILES:
            used.add(name)
        elif len(lines) > MOST_LINES and not may_be_long(name):
            long_files += 1
            print(f"{name}: {len(lines)} lines; at most {MOST_LINES}")
        found = [(i, len(line)) for i, line in enumerate(lines, 1) if len(line) > MOST]
        pattern = exception_for(name)
        if found and pattern:
            used.add(pattern)
            continue
        for line, columns in found:
            wrong += 1
            print(f"{name}:{line}: {columns} columns; at most {MOST}")
    for pattern in sorted({*EXCEPTIONS, *LONG_FILES} - used):
        wrong += 1
        print(f"lines.py: the exception {pattern} is not needed any more")
    print(f"{len(names)} files, {wrong} lines too long, {long_files} files with too many lines")
    return int(wrong + long_files > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
