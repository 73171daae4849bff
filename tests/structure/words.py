#!/usr/bin/python3
"""words.py ROOT - one word for one thing, and the field's word.

Names and sentences of src, of the models and of the documents for developers have none of the words below, which meant
something here that they mean nowhere else. Shown are the place, the word, and what is said instead."""

import os
import re
import sys

INSTEAD = {
    r"deaf\w*|undeaf\w*|unheard": "signals blocked",
    r"hears?|heard": "takes signals; signals unblocked",
    r"nobody": "no thread: the scheduler's own context",
    r"strays?": "a signal to the process",
    r"promot\w*": "dedicate: a thread with a kernel thread of its own",
    r"rous(?:e|es|ed|ing)": "dedicated by the watchdog",
    r"ghosts?": "a waiter of the parent process",
    r"at[ _]hand": "cached",
    r"uncover\w*": "recall the parent",
    r"comes? up|came up|come_up": "resume",
    r"go(?:es)? below|go_below|stands? below|stand_below": "run on a suspended thread's stack",
    r"recheck\w*": "per-region work",
}
WORD = re.compile(r"(?<![a-z])(?:" + "|".join(f"(?P<w{i}>{pattern})" for i, pattern in enumerate(INSTEAD)) +
                  r")(?![a-z])", re.I)
ENDINGS = (".c", ".h", ".S", ".pml", ".md")
PLACES = ("src", "tests/models", "ARCHITECTURE.md", "HACKING.md")


def files(root):
    for place in PLACES:
        path = os.path.join(root, place)
        if os.path.isfile(path):
            yield place
        for folder, _, names in sorted(os.walk(path)):
            for name in sorted(names):
                if name.endswith(ENDINGS):
                    yield os.path.relpath(os.path.join(folder, name), root)


def main():
    root, number, wrong = sys.argv[1], 0, 0
    instead = list(INSTEAD.values())
    for name in files(root):
        number += 1
        with open(os.path.join(root, name), encoding="utf-8") as f:
            for at, line in enumerate(f, 1):
                for match in WORD.finditer(line):
                    wrong += 1
                    print(f"{name}:{at}: '{match.group()}': {instead[int(match.lastgroup[1:])]}")
    print(f"words: {number} files, {wrong} wrong")
    return 1 if wrong or not number else 0


sys.exit(main())
