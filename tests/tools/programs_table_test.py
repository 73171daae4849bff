#!/usr/bin/python3
"""programs_table_test.py FOLDER WORK - FOLDER's table.py (tools/programs) keeps the rows of what a run did not take,
and the machine and load that each row was taken under. WORK is a folder to write in."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import table


def row(name, seconds, load, wrong=None):
    figures = {"seconds": seconds, "cpu": seconds, "all": [seconds] * 2}
    return {"name": name, "from": "Debian", "load": load, "wrong": wrong, "own_wrong": None, "note": "5 entry points",
            table.OWN: {"seconds": 2.0, "cpu": 2.0, "all": [2.0] * 2}, table.OURS: figures, table.KERNEL: figures}


def expect(condition, what, text):
    if not condition:
        sys.exit(f"not so: {what}\n{text}")


work = Path(sys.argv[2])
work.mkdir(parents=True, exist_ok=True)
file = work / "table.md"
file.write_text("before\n```\n```\nbehind\n")
order = ["one", "two", "three", "none"]
table.keep(file, order, [row("one", 1, 0.5), row("two", 3, 0.5)], {"none": "there is none"}, "old machine")
first = file.read_text()
expect(first.startswith("before\n```\nA  old machine\n") and first.endswith("```\nbehind\n"), "one machine", first)
expect("three" not in first and "none".ljust(table.NAME) + " not run: there is none\n" in first, "what is not run",
       first)
expect(first.index("one  ") < first.index("two  ") < first.index("none  "), "in order", first)

table.keep(file, order, [row("three", 1, 9.5), row("one", 4, 9.5, "it differs")], {"two": "interrupted"}, "new machine")
second = file.read_text()
machines, lines = table.parse(table.block(file)[1])
expect(set(machines.values()) == {"old machine", "new machine"}, "both machines", second)
letter = {name: key for key, name in machines.items()}
expect(lines["two"][table.NAME + 1] == letter["old machine"], "two's machine", second)
expect(lines["two"].split()[2:] == [line for line in first.splitlines() if line.startswith("two")][0].split()[2:],
       "two's figures stay", second)
for name in "one", "three":
    expect(lines[name][table.NAME + 1] == letter["new machine"] and " 9.5 " in lines[name], f"{name} is new", second)
expect("WRONG: it differs" in lines["one"], "what is wrong", second)
expect(list(lines) == order and "there is none" in lines["none"], "order, and why it is not run", second)

table.keep(file, order, [row("two", 1, 1)], {}, "new machine")
third = file.read_text()
expect("old machine" not in third and third.count("new machine") == 1, "no machine without a row", third)
without = work / "without.md"
without.write_text("no table\n")
try:
    table.keep(without, order, [], {}, "m")
    expect(False, "a file without a table is refused", "")
except SystemExit as refusal:
    expect("has no block" in str(refusal) and without.read_text() == "no table\n", "why it is refused", str(refusal))
