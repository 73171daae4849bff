#!/usr/bin/python3
"""prose.py ROOT [--list WORDS] [PATTERN...] - sentences are understood at the first reading.

In comments and documents no sentence has more than MOST words, and nothing is called "who": "whoever wakes it"
hides which thread that is. The last line tells how long sentences are, and how many begin with a pronoun and its verb
("It is set ..."), which is no error. --list shows sentences of more than WORDS words, and those
with a pronoun."""

import re
import sys
from pathlib import Path

MOST = 40
ROOMS = ["src", "include", "bench", "platform", "apps", "tools", "tests", "examples", "python", "packaging"]
C_LIKE = ["*.[chS]", "*.cc", "*.hpp", "*.pml"]
SCRIPTS = ["*.py", "*.cmake", "CMakeLists.txt"]
PATHS = [f"{room}/**/{name}" for room in ROOMS for name in [*C_LIKE, *SCRIPTS, "*.md"]]
PATHS += ["*.md", "docs/*.md", "CMakeLists.txt", "Makefile", "cmake/*.cmake", ".ci/*"]
# A character or string constant is passed over as a whole, so that no comment begins within it.
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
WHO = re.compile(r"(?<![\"`])\b(who|whoever|whom|whomever)\b(?![\"`])", re.I)
PRONOUN = re.compile(r"^\(?(It|They|That|This|These|Those|One|Each|Both)\s+"
                     r"(is|are|was|were|has|have|had|does|do|did|can|cannot|may|might|must|will|would|\w+s|\w+ed)\b")
# What ends a sentence: a full stop and the like, followed by a blank or the end.
END = re.compile(r"[.!?]\)?(?=\s|$)")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|etc)\.$")
WORD = re.compile(r"\w[\w'.\-/()>*]*")


def comments(text):
    """(line, text) of each comment, without its frame; consecutive lines of // are one."""
    found, next_line, column = [], 0, 0
    for match in TOKEN.finditer(text):
        raw = match.group()
        if raw[0] in "\"'":
            continue
        line = text.count("\n", 0, match.start()) + 1
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        body = raw[2:-2] if raw.startswith("/*") else raw[2:]
        body = "\n".join(re.sub(r"^\s*\*(?=\s|$)", " ", part) for part in body.split("\n"))
        if raw.startswith("//") and found and line == next_line and not before.strip() and len(before) == column:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + body)
        else:
            found.append((line, body))
        next_line, column = line + 1 if raw.startswith("//") else 0, len(before)
    return found


def script_comments(text, python):
    """(line, text) of each comment behind #, and of a Python file's texts in three quotes."""
    found, next_line = [], 0
    pattern = r'"""(?:.*?)"""|' if python else ""
    for match in re.finditer(pattern + r"(?<![\w$\"'{(\\[])#(?=[ #])[^\n]*", text, re.S):
        raw, line = match.group(), text.count("\n", 0, match.start()) + 1
        if raw.startswith("#"):
            alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
            body = raw.lstrip("#")
            if found and alone and line == next_line:
                found[-1] = (found[-1][0], found[-1][1] + "\n" + body)
            else:
                found.append((line, body))
            next_line = line + 1 if alone else 0
        elif re.search(r"\A(#[^\n]*\n|\s)*\Z|:\s*\Z", text[:match.start()]): # not a value
            found.append((line, raw[3:-3]))
    return found


def parts(path, text):
    if path.suffix == ".md":
        return paragraphs(text)
    if path.suffix in (".py", ".cmake", "") or path.name in ("CMakeLists.txt", "Makefile"):
        return script_comments(text, path.suffix == ".py")
    return comments(text)


def paragraphs(text):
    """(line, text) of each paragraph, list and table row of a document, without programs and pictures."""
    text = re.sub(r"^```.*?^```", lambda match: "\n" * match.group().count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for match in re.finditer(r"(?:^[^\n|].*\n?)+|^\|.*$", text, re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group().strip("|").replace(" | ", "\n\n")


def pieces(body):
    """A comment's running text: paragraphs, the items of a list, the cells of a table."""
    lines = re.sub(r"(?<=\S) {2,}(?=\S)", "\n\n", body).split("\n")
    piece, before, first = [], None, True
    for line in lines:
        indent = len(line) - len(line.lstrip())
        item = re.match(r"\s*([-*]|\d+\.|\([a-z0-9]\)) ", line)
        # A first line stands beside the comment's beginning, and the next one under its first word or its asterisk.
        moved = before is not None and not first and indent != before
        listed = bool(piece) and moved and piece[-1].rstrip()[-1:] in ";:,"
        if piece and (not line.strip() or item or listed or (moved and indent < before)):
            yield " ".join(" ".join(piece).split())
            piece = []
        if line.strip():
            first = before is None
            piece.append(line)
            before = indent
    if piece:
        yield " ".join(" ".join(piece).split())


def sentences(body):
    for piece in pieces(body):
        piece, start = re.sub(r"^([-*]|\d+\.) ", "", piece), 0
        for match in END.finditer(piece):
            sentence = piece[start:match.end()].strip()
            if sentence and not ABBREVIATION.search(sentence):
                yield sentence
                start = match.end()
        if piece[start:].strip():
            yield piece[start:].strip()


def main():
    args = sys.argv[1:]
    show = int(args.pop(args.index("--list") + 1)) if "--list" in args else None
    args = [arg for arg in args if arg != "--list"]
    root = Path(args[0])
    files = sorted({path for pattern in args[1:] or PATHS for path in root.glob(pattern) if path.is_file()})
    lengths, pronouns, wrong = {"comments": [], "documents": []}, 0, 0
    for path in files:
        name, text, document = path.relative_to(root), path.read_text(encoding="utf-8"), path.suffix == ".md"
        for line, body in parts(path, text):
            for sentence in sentences(body):
                words = len(WORD.findall(sentence))
                lengths["documents" if document else "comments"].append(words)
                pronoun = bool(PRONOUN.match(sentence))
                pronouns += pronoun
                where = f"{name}:{line}: {sentence[:100]}"
                if words > MOST:
                    wrong += 1
                    print(f"{where}\n    {words} words in a sentence, at most {MOST}: make two of it")
                if WHO.search(sentence):
                    wrong += 1
                    print(f"{name}:{line}: {sentence}\n    '{WHO.search(sentence).group()}': name the thread, the "
                          "member or the function")
                if show is not None and (words > show or pronoun):
                    print(f"{name}:{line}: {words} words{', a pronoun' if pronoun else ''}: {sentence}")
    for kind, unsorted in lengths.items():
        n = len(unsorted)
        words = sorted(unsorted) or [0]
        print(f"{kind}: {n} sentences, words: median {words[n // 2]}, 95th percentile {words[n * 95 // 100]}, "
              f"longest {words[-1]}")
    print(f"{pronouns} begin with a pronoun; {wrong} wrong")
    return int(wrong > 0 or not any(lengths.values()))


if __name__ == "__main__":
    sys.exit(main())
