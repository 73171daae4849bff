"""The table of programs as text. A row says on which machine and under which load it was taken, so that rows of several
runs stand in one table: what a run did not take keeps the row that it has."""

import re

OWN, OURS, KERNEL = "own", "psthreads", "pthreads"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME = 34
HEAD = [f"{'program':{NAME}} on {'from':11} {'load':>5} {'runs':>4} {'own':>7} {'ours':>7} {'ratio':>5} "
        f"{'processor':>10} {'kernel thr.':>11}  result",
        f"{'':{NAME}}    {'':11} {'':5} {'':4} {'s':>7} {'s':>7} {'':5} {'time ratio':>10} {'ratio':>11}"]
NOTE = "ratio: ours / its own runtime, below 1 is faster; medians of so many runs"


def ratio(row, name, what):
    if name not in row or OWN not in row or not row[OWN][what]:
        return "-"
    return f"{row[name][what] / row[OWN][what]:.2f}"


def line_of(row, letter):
    own = f"{row[OWN]['seconds']:.2f}" if OWN in row else "-"
    ours = f"{row[OURS]['seconds']:.2f}" if OURS in row else "-"
    runs = len(row[OURS]["all"]) if OURS in row else "-"
    result = f"WRONG: {row['wrong']}" if row["wrong"] else "the same" if OWN in row else "right"
    note = "; ".join(x for x in (row["own_wrong"] and f"own: {row['own_wrong']}", row["note"]) if x)
    return (f"{row['name']:{NAME}} {letter}  {row['from']:11} {row['load']:5.1f} {runs:>4} {own:>7} {ours:>7} "
            f"{ratio(row, OURS, 'seconds'):>5} {ratio(row, OURS, 'cpu'):>10} {ratio(row, KERNEL, 'seconds'):>11}  "
            f"{result}" + (f" ({note})" if note else ""))


def parse(text):
    """({letter: machine}, {name: line}) of a table; none where there is no table yet."""
    machines, lines = {}, {}
    for line in text.splitlines():
        machine = re.match(r"([A-Z])  (\S.*)$", line)
        if machine and not lines:
            machines[machine[1]] = machine[2]
        elif line[NAME:].startswith(" not run: ") or line[NAME + 1:NAME + 2] in machines:
            lines[line[:NAME].strip()] = line
    return machines, lines


def render(order, rows, absent, machine, before=""):
    """The table's text. `order`: the programs' names; `rows`, `absent`: of this run; `before`: an earlier table."""
    machines, lines = parse(before)
    taken = {row["name"]: row for row in rows}
    used, text = [], []

    def letter(one):
        if one not in used:
            used.append(one)
        return LETTERS[used.index(one)]

    for name in [*order, *(name for name in absent if name not in order)]:
        old = lines.get(name, "")
        if name in taken:
            text.append(line_of(taken[name], letter(machine)))
        elif old and " not run: " not in old[NAME:NAME + 10]:
            text.append(old[:NAME + 1] + letter(machines[old[NAME + 1]]) + old[NAME + 2:])
        elif name in absent:
            text.append(f"{name:{NAME}} not run: {absent[name]}")
        elif old:
            text.append(old)
    head = [f"{LETTERS[i]}  {one}" for i, one in enumerate(used)]
    return "\n".join([*head, NOTE, "", *HEAD, *text]) + "\n"


def block(path):
    """(what is before the file's first two lines of ```, what is between them, what is behind)."""
    before, fence, rest = path.read_text().partition("```\n")
    between, end, after = rest.partition("```\n")
    if not fence or not end:
        raise SystemExit(f"{path}: has no block between two lines of ```; a table needs one")
    return before + fence, between, end + after


def keep(path, order, rows, absent, machine):
    """The table of the file, with this run's rows in it."""
    before, between, after = block(path)
    new = path.with_name(path.name + ".new")
    new.write_text(before + render(order, rows, absent, machine, between) + after)
    new.replace(path)
