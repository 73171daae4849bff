#!/usr/bin/python3
"""where.py ROOT - ARCHITECTURE.md's table "Where is it handled?" tells the truth, and so do its walks.

Each function that the table names is defined in the file beside it. The left one names the right one, directly or
through others (but in rows with a star). There are rows enough. A step of a walk is a row with a number, a function and
its file. A step is reached from one of the walk's earlier steps, but for the first one, and those with a star."""

import re
import sys
from collections import defaultdict
from pathlib import Path

TITLE = "## Where is it handled?"
LEAST = 12
PAIR = re.compile(r"`(\w+)`, `([\w./-]+)`")
STEP = re.compile(r"^\| (\d+)( \*)? \| `(\w+)`, `([\w./-]+)` \|", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
HEAD = re.compile(r"^[A-Za-z_][^\n;=]*?\b(\w+)\s*\([^;{}]*\)\s*{", re.M)


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


def named_by(root):
    """{function: what the bodies of that name name}; a body ends with a brace in the first column."""
    graph = defaultdict(set)
    for path in sorted((root / "src").rglob("*.[ch]")):
        text = COMMENT.sub("", path.read_text())
        for head in HEAD.finditer(text):
            body = text[head.end():].split("\n}", 1)[0]
            graph[head[1]].update(re.findall(r"\b[a-z_]\w*\b", body))
    return graph


def leads_to(graph, start, end):
    seen, todo = {start}, [start]
    while todo:
        for name in graph.get(todo.pop(), ()):
            if name == end:
                return True
            if name in graph and name not in seen:
                seen.add(name)
                todo.append(name)
    return False


def walks(text):
    """The steps of each walk: (number, whether it has a star, function, file)."""
    walk = []
    for number, star, name, file in STEP.findall(text):
        if number == "1" and walk:
            yield walk
            walk = []
        walk.append((number, bool(star), name, file))
    if walk:
        yield walk


def wrong_pair(root, what, name, file):
    path = root / "src" / file
    if not path.is_file():
        yield f"{what}: there is no file {file}"
    elif not is_defined(name, path):
        yield f"{what}: {file} does not define {name}"


def wrong_in_walks(root, text, graph):
    for walk in walks(text):
        before = []
        for number, star, name, file in walk:
            what = f"{walk[0][2]}, step {number}"
            yield from wrong_pair(root, what, name, file)
            if before and not star and not any(leads_to(graph, other, name) for other in before):
                yield f"{what}: no earlier step leads to {name}"
            before.append(name)


def wrong_in(root, text):
    found = rows(text)
    graph = named_by(root)
    if len(found) < LEAST:
        yield f"the table has {len(found)} rows; at least {LEAST}"
    for cells in found:
        pairs = PAIR.findall(" ".join(cells[1:]))
        if len(pairs) != len(cells) - 1:
            yield f"{cells[0]}: each cell names a function and its file, as `function`, `file`"
        for name, file in pairs:
            yield from wrong_pair(root, cells[0], name, file)
        names = [name for name, _ in pairs]
        if len(names) == 2 and not cells[0].endswith("*") and not leads_to(graph, *names):
            yield f"{cells[0]}: {names[0]} does not lead to {names[1]}"
    yield from wrong_in_walks(root, text, graph)


def main():
    root = Path(sys.argv[1])
    text = (root / "ARCHITECTURE.md").read_text()
    found = list(wrong_in(root, text))
    print("\n".join([f"ARCHITECTURE.md: {line}" for line in found] +
                    [f"{len(rows(text))} rows, {sum(map(len, walks(text)))} steps, {len(found)} wrong"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
