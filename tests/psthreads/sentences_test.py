#!/usr/bin/python3
"""sentences_test.py HEADER TABLE - every sentence of psthread.h's comments stands in TABLE (sentences.txt) with the
tests that would fail if it were false, and those tests exist and are run."""

import re
import sys
from pathlib import Path

TITLE = "---"


def sentences(text):
    for comment in re.finditer(r"/\*(.*?)\*/", text, re.S):
        if comment[1].strip().startswith(TITLE):
            continue
        words = " ".join(re.sub(r"^\s*\*?\s?", "", line) for line in comment[1].split("\n"))
        yield from (s for s in re.split(r"(?<=[.?!])\s+(?=[A-Z\"`*])", re.sub(r"\s+", " ", words).strip()) if s)


def read_table(path):
    """[line number, sentence, [test]] of each; a sentence may go on in lines that begin with two spaces."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("    "):
            rows[-1][2].append(line.strip())
        elif line.startswith("  "):
            rows[-1][1] += " " + line.strip()
        elif line and not line.startswith("#"):
            rows.append([number, line, []])
    return rows


def is_run(text, function):
    """Whether the file has the function, and names it a second time: among those that it runs."""
    return len(re.findall(rf"\b{re.escape(function)}\b", text)) >= 2


def problems(header, table):
    rows, wanted = read_table(table), list(sentences(header.read_text(encoding="utf-8")))
    for number, sentence, tests in rows:
        if sentence not in wanted:
            yield f"{table.name}:{number}: {header.name} has no such sentence (any more): {sentence}"
        if not tests:
            yield f"{table.name}:{number}: no test, and no -"
        for test in tests:
            file, _, function = test.partition(":")
            path = table.parent / file
            if test != "-" and not (path.is_file() and function and is_run(path.read_text(encoding="utf-8"), function)):
                yield f"{table.name}:{number}: {test}: there is no such test"
    listed = [sentence for _, sentence, _ in rows]
    for sentence in wanted:
        if sentence not in listed:
            yield f"{header.name}: {table.name} names no test for: {sentence}"
    if not wanted or ([s for s in wanted if s in listed] != [s for s in listed if s in wanted]):
        yield f"{table.name}: not in the header's order"


def main():
    header, table = map(Path, sys.argv[1:])
    found = list(problems(header, table))
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
