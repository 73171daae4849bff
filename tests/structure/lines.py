#!/usr/bin/python3
"""lines.py ROOT - no tracked text file has a line of more than 120 columns, but for those in EXCEPTIONS; an exception
that no longer has such a line is an error too."""

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


def exception_for(name):
    return next((pattern for pattern in EXCEPTIONS if fnmatch.fnmatch(name, pattern)), None)


def tracked(root):
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"], capture_output=True,
                            text=True, check=True).stdout
    return [name for name in listed.split("\0") if name]


def long_lines(path):
    """(number, columns) of each line that is too long; none of a file that is no text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []
    return [(i, len(line)) for i, line in enumerate(text.split("\n"), 1) if len(line) > MOST]


def main():
    root = Path(sys.argv[1])
    if not (root / ".git").exists():
        print("SKIPPED: no git here to tell which files are the project's")
        return 77
    names, used, wrong = tracked(root), set(), 0
    for name in names:
        path = root / name
        found = [] if path.is_symlink() or not path.is_file() else long_lines(path)
        pattern = exception_for(name)
        if found and pattern:
            used.add(pattern)
            continue
        for line, columns in found:
            wrong += 1
            print(f"{name}:{line}: {columns} columns; at most {MOST}")
    for pattern in sorted(set(EXCEPTIONS) - used):
        wrong += 1
        print(f"lines.py: the exception {pattern} is not needed any more")
    print(f"{len(names)} files, {wrong} lines too long")
    return int(wrong > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
