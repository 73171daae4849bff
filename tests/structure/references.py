#!/usr/bin/python3
"""references.py ROOT - what documents and comments name exists.

Links and their anchors lead somewhere. A file that is named stands in the tree. A name with a room's prefix (ps_, ort_,
...) is in the code, and so is every name in backquotes of ARCHITECTURE.md and HACKING.md. Where a name stands beside
its file (`name`, `file` or `name` in `file`), that file has it. Where a number stands before a name of
bench/counts.txt, it is that count, or nearly so."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import prose  # noqa: E402

FOLDERS = ("src", "include", "tests", "bench", "apps", "platform", "tools", "examples", "cmake", "docs", "python",
           "packaging", ".ci")
C_LIKE = (".c", ".h", ".cc", ".hpp", ".S", ".pml")
CODE = C_LIKE + (".py", ".cmake", ".in", ".map", ".ld", ".sh", ".inc", ".txt", ".f90", ".F90", "")
ROOMS = r"(?:ps|vp|ort|uth|os|cpu|ee|idle|psthread)_[a-z0-9_]*[a-z0-9]|(?:PS|ORT|UTH|OS|CPU|EE)_[A-Z0-9_]*[A-Z0-9]"
PREFIXED = re.compile(rf"(?<![\w%$.-])(?:{ROOMS})\b(?![*\w]|\.\.\.|-[A-Za-z])")
NAME = re.compile(r"`([A-Za-z]\w*_\w*[A-Za-z0-9])(?:\(\))?`")
CALLED = re.compile(r"\b([a-z]\w*_\w+)\(")  # in a piece of code
FILE = re.compile(r"(?<![\w./<>-])((?:\w+/)*\w+\.(?:c|h|cc|S|py|pml|cmake))\b(?![-/]|\.\w)")
PAIR = re.compile(r"`([A-Za-z_]\w*)`,? (?:in |\()?`((?:\w+/)*\w+\.(?:c|h|cc|S|py))`")
INCLUDE = re.compile(r"""include\s*[<"']([\w./-]+)[>"']""")
COUNT = re.compile(r"\b(\d+) `(\w+)`")
NEARLY = 0.03
OWN_WORDS = ("ARCHITECTURE.md", "HACKING.md")
OTHERS_FILES = ("docs/conformance.md",)  # the peers' suites' files are not here
PLACEHOLDER = re.compile(r"NEW|MODULE|PROTOCOL|CONSTRUCT|\bN_WHAT")


def counts_of(root):
    path = root / "bench" / "counts.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split()[0]: float(line.split()[1]) for line in lines if line.strip() and not line.startswith("#")}


class Tree:
    def __init__(self, root):
        self.counts = counts_of(root)
        self.root, self.files, self.words, self.included = root, {}, set(), set()
        found = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file()]
        found += [path for path in root.glob("*") if path.is_file()]
        for path in found:
            name = str(path.relative_to(root))
            if "__pycache__" in name:
                continue
            self.files[name] = path
            if path.suffix not in CODE or path.name.startswith("results"):
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            self.included.update(INCLUDE.findall(text))
            if path.suffix in C_LIKE:
                text = prose.TOKEN.sub(lambda match: match[0] if match[0][0] in "\"'" else " ", text)
            self.words.update(re.findall(r"[A-Za-z_]\w*", text))

    def named(self, name):
        """Files of the tree that a document may mean by the name."""
        return [path for file, path in self.files.items() if file == name or file.endswith("/" + name)]

    def has_file(self, name):
        first = name.split("/")[0]
        if name in self.included or self.named(name):
            return True
        # a path of another project's
        return "/" in name and first not in FOLDERS and not any(f"/{first}/" in file for file in self.files)


def anchor(heading):
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"[`*]", "", heading.strip().lower()))
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def of_links(tree, path, text):
    for match in re.finditer(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        url, _, where = match[1].partition("#")
        if re.match(r"\w+:", url):
            continue
        target = path.parent / url if url else path
        if not target.exists():
            yield f"there is no {match[1]}"
        elif where and where not in map(anchor, re.findall(r"^#+ (.*)$", target.read_text(), re.M)):
            yield f"{url or path.name} has no heading #{where}"


def of_text(tree, text, files=True):
    """text: a document, or a comment."""
    for name in sorted(set(PREFIXED.findall(text)) - tree.words):
        yield f"there is no {name}"
    for name in sorted(set(FILE.findall(text))) if files else ():
        if not PLACEHOLDER.search(name) and not tree.has_file(name):
            yield f"there is no file {name}"


def of_document(tree, path):
    name, text = str(path.relative_to(tree.root)), path.read_text(encoding="utf-8")
    yield from of_links(tree, path, text)
    running = re.sub(r"^```.*?^```", "", re.sub(r"\]\([^)]*\)", "]", text), flags=re.S | re.M)
    yield from of_text(tree, text, False)
    if name not in OTHERS_FILES:
        yield from of_text(tree, re.sub(r"^    .*$", "", running, flags=re.M))
    flat = re.sub(r"\s+", " ", running)
    for function, file in PAIR.findall(flat):
        found = tree.named(file)
        if found and not any(re.search(rf"\b{function}\b", other.read_text()) for other in found):
            yield f"{file} has no {function}"
    for number, count in COUNT.findall(flat):
        if count in tree.counts and abs(float(number) / tree.counts[count] - 1) > NEARLY:
            yield f"{number} {count}: bench/counts.txt has {tree.counts[count]:.0f}"
    if name in OWN_WORDS:
        called = CALLED.findall(" ".join(re.findall(r"^ *```.*?^ *```", text, re.S | re.M)))
        for word in sorted((set(NAME.findall(flat)) | set(called)) - tree.words):
            if not PLACEHOLDER.search(word):
                yield f"there is no {word}"


def wrong_in(tree):
    for name, path in sorted(tree.files.items()):
        if path.suffix == ".md":
            for line in dict.fromkeys(of_document(tree, path)):
                yield f"{name}: {line}"
        elif path.suffix in C_LIKE:
            for line, body in prose.comments(path.read_text(encoding="utf-8")):
                for fault in of_text(tree, body):
                    yield f"{name}:{line}: {fault}"


def main():
    tree = Tree(Path(sys.argv[1]))
    found = list(wrong_in(tree))
    documents = sum(name.endswith(".md") for name in tree.files)
    print("\n".join(found + [f"references: {documents} documents, {len(found)} wrong"]))
    return int(bool(found) or documents == 0)


if __name__ == "__main__":
    sys.exit(main())
