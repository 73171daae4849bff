#!/usr/bin/python3
"""formats.py ROOT - ps_warn, ps_fatal and PS_CHECK format their lines themselves (src/base/check.c): whatever a line's
text asks for must be among what that can do."""

import re
import sys
from pathlib import Path

CALL = re.compile(r"\b(?:ps_warn|ps_fatal|PS_CHECK)\(")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
KNOWN = re.compile(r"%(?:s|p|%|zu|(?:l|ll)?[dux])")


def calls(text):
    """Each call's arguments as they stand, with the line they begin in."""
    for found in CALL.finditer(text):
        depth, at, quoted = 1, found.end(), False
        while depth and at < len(text):
            c = text[at]
            if c == "\\":
                at += 1
            elif c == '"':
                quoted = not quoted
            elif not quoted:
                depth += (c == "(") - (c == ")")
            at += 1
        yield text.count("\n", 0, found.start()) + 1, text[found.end():at]


def wrong_in(text):
    for line, arguments in calls(text):
        if "PRI" in arguments:
            yield line, "a conversion of <inttypes.h>"
        for string in STRING.findall(arguments):
            rest = KNOWN.sub("", string)
            if "%" in rest:
                yield line, string


def main():
    files = n = wrong = 0
    root = Path(sys.argv[1])
    for path in sorted((root / "src").rglob("*.[ch]")):
        text = path.read_text()
        files += 1
        n += sum(1 for _ in calls(text))
        for line, what in wrong_in(text):
            wrong += 1
            print(f"{path.relative_to(root)}:{line}: check.c cannot write: {what}")
    print(f"{n} lines' texts in {files} files, {wrong} wrong")
    return int(wrong > 0 or n == 0)


if __name__ == "__main__":
    sys.exit(main())
