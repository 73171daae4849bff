#!/usr/bin/python3
"""errors_test.py TASKQC FOLDER - mistakes in directives: what is said, where; exit status 1; nothing is written.

Each case is a source and the messages for it, LINE:COLUMN: error: TEXT, all of them in order. A line that is no
directive, and in which nothing is wrong, is written as in any C file."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

HEAD = "void f(int *);\nint n;\nint main(void)\n{\n    int x = 0, y[3];\n    float r = 0;\n"  # six lines
TAIL = "    return x + y[0] + (int)r;\n}\n"
QUEUES = "firstprivate, lastprivate, nowait, ordered, private, reduction, shared"

CASES = {
    "no such clause": ("#pragma omp taskq nonsense\n f(&x);",
                       [f"7:19: error: 'taskq' has no clause 'nonsense'; it has {QUEUES}"]),
    "a task's clause on a queue": ("#pragma omp taskq captureprivate(x)\n f(&x);",
                                   [f"7:19: error: 'taskq' has no clause 'captureprivate'; it has {QUEUES}"]),
    "num_threads without a region": ("#pragma omp taskq num_threads(2)\n f(&x);",
                                     ["7:19: error: 'taskq' has no clause 'num_threads'"]),
    "nowait on a region": ("#pragma omp parallel taskq nowait\n f(&x);",
                           ["7:28: error: 'parallel taskq' cannot be nowait"]),
    "not closed": ("#pragma omp parallel taskq num_threads(2\n f(&x);",
                   ["7:28: error: the parenthesis of 'num_threads' is not closed"]),
    "nothing inside": ("#pragma omp parallel taskq if()\n f(&x);",
                       ["7:31: error: 'if' needs an expression in its parentheses"]),
    "no list": ("#pragma omp taskq private\n f(&x);", ["7:26: error: '(' must follow 'private'"]),
    "an empty list": ("#pragma omp taskq private()\n f(&x);",
                      ["7:27: error: 'private' needs names of variables, not ')'"]),
    "no comma": ("#pragma omp taskq private(x y)\n f(&x);", ["7:29: error: ',' or ')' must follow 'x' in 'private'"]),
    "a clause after a line's end": ("#pragma omp taskq \\\n    private(x) \\\n  oops\n f(&x);",
                                    ["9:3: error: 'taskq' has no clause 'oops'"]),
    "twice": ("#pragma omp parallel taskq if(x) if(x)\n f(&x);", ["7:34: error: 'if' stands twice"]),
    "named twice": ("#pragma omp taskq private(x) reduction(+: x)\n f(&x);",
                    ["7:43: error: 'x' is named by 'private' already"]),
    "no reduction": ("#pragma omp taskq reduction(/: x)\n f(&x);",
                     ["7:29: error: a reduction is one of + * - & | ^ && || min max, not '/'"]),
    "no colon": ("#pragma omp taskq reduction(+ x)\n f(&x);", ["7:31: error: ':' must follow the operator"]),
    "reduction of an array": ("#pragma omp taskq reduction(+: y)\n f(y);",
                              ["7:32: error: 'y' has type 'int[3]': a reduction needs a number"]),
    "bits of a float": ("#pragma omp taskq reduction(|: r)\n r = 1;",
                        ["7:32: error: '|' reduces integers, and 'r' has type 'float'"]),
    "default": ("#pragma omp parallel taskq default(private)\n f(&x);",
                ["7:36: error: default is shared or none, not 'private'"]),
    "not declared": ("#pragma omp taskq private(zz)\n f(&x);", ["7:27: error: use of undeclared identifier 'zz'"]),
    "no variable": ("#pragma omp taskq private(f)\n f(&x);",
                    ["7:27: error: 'f' is no variable, which 'private' needs"]),
    "an expression that is none": ("#pragma omp parallel taskq num_threads(x +)\n f(&x);",
                                   ["7:40: error: expected expression"]),
    "intel omp with something else": ("#pragma intel omp for\n f(&x);",
                                      ["7:19: error: 'intel omp' is followed by 'parallel taskq', 'taskq' or 'task', "
                                       "not by 'for'"]),
    "no queue around": ("#pragma intel omp task\n f(&x);", ["7:19: error: 'task' stands in no taskq of this function"]),
    "captureprivate without a queue": ("#pragma omp task captureprivate(x)\n f(&x);",
                                       ["7:13: error: 'task' stands in no taskq of this function"]),
    "a task in a task": ("#pragma omp taskq\n#pragma omp task\n#pragma omp task\n f(&x);",
                         ["9:13: error: a task directly inside of a task"]),
    "a region in a queue": ("#pragma omp taskq\n {\n#pragma omp parallel taskq\n f(&x);\n }",
                            ["9:13: error: 'parallel taskq' directly inside of 'taskq'"]),
    "return": ("#pragma omp taskq\n {\n#pragma omp task\n { return x; }\n }",
               ["10:4: error: return leaves the block of 'task'"]),
    "break": ("for (;;)\n#pragma omp taskq\n {\n   break;\n }", ["10:4: error: break leaves the block of 'taskq'"]),
    "continue": ("for (;;)\n#pragma omp parallel taskq\n#pragma omp task\n   continue;",
                 ["10:4: error: continue leaves the block of 'task'"]),
    "break of a switch": ("switch (x) { case 1:\n#pragma omp parallel taskq\n   break;\n }",
                          ["9:4: error: break leaves the block of 'parallel taskq'"]),
    "goto out": ("#pragma omp taskq\n {\n goto out;\n }\nout:", ["9:2: error: goto 'out' leaves the block of 'taskq'"]),
    "goto in": ("goto in;\n#pragma omp taskq\n {\nin: f(&x);\n }",
                ["7:1: error: goto 'in' enters the block of 'taskq'"]),
    "goto from task to queue": ("#pragma omp taskq\n {\nhere: x++;\n#pragma omp task\n { goto here; }\n }",
                                ["11:4: error: goto 'here' leaves the block of 'task'"]),
    "before a declaration": ("#pragma omp taskq\n int z = 1;\n f(&z);",
                             ["7:13: error: 'taskq' must stand before a statement"]),
    "before nothing": ("{\n#pragma omp taskq\n}\n f(&x);", ["8:13: error: 'taskq' must stand before a statement"]),
    "ordered without": ("#pragma omp taskq\n#pragma omp task\n {\n#pragma omp ordered\n f(&x);\n }",
                        ["10:13: error: the taskq of this task has no clause 'ordered'"]),
    "ordered in a queue": ("#pragma omp taskq ordered\n {\n#pragma omp ordered\n f(&x);\n }",
                           ["9:13: error: 'ordered' must stand in a task"]),
    "a barrier": ("#pragma omp taskq\n {\n#pragma omp barrier\n f(&x);\n }",
                  ["9:13: error: 'omp barrier' cannot stand in a taskq"]),
    "a loop": ("#pragma omp taskq\n {\n#pragma omp for\n for (int i = 0; i < 3; i++) f(&x);\n }",
               ["9:13: error: 'omp for' cannot stand in a taskq"]),
    "default(none)": ("#pragma omp parallel taskq default(none)\n {\n#pragma omp task\n f(&x);\n }",
                      ["10:5: error: 'x' is in no clause of the 'parallel taskq' of line 7, which has default(none)"]),
    "a register": ("register int q = 1;\n#pragma omp taskq\n#pragma omp task\n q = 2;",
                   ["10:2: error: 'q' is a register variable and has no address to share: captureprivate(q) "
                    "copies it"]),
    "from a macro": ('#define Q _Pragma("omp taskq bad")\n  Q\n f(&x);',
                     [f"8:3: error: 'taskq' has no clause 'bad'; it has {QUEUES}"]),
    "a block from a macro": ('#define OUT return 1\n#define T _Pragma("omp task") {\n#pragma omp taskq\n {\n  T '
                             '  OUT; }\n }', ["11:7: error: return leaves the block of 'task'"]),
    "case in": ("switch (x) {\n#pragma omp taskq\n {\n case 1: f(&x);\n }\n }",
                ["10:2: error: case enters the block of 'taskq'"]),
    "default in": ("switch (x) {\n#pragma omp taskq\n#pragma omp task\n default: f(&x);\n }",
                   ["10:2: error: default enters the block of 'task'"]),
    "case in a critical block": ("switch (x) {\n case 0:;\n#pragma omp taskq\n {\n#pragma omp critical\n {\n case 1: "
                                 "f(&x);\n }\n }\n }", ["13:2: error: case enters the block of 'critical'"]),
    "a label's address": ("#pragma omp taskq\n#pragma omp task\n { void *p = &&out; f(p); }\nout:;",
                          ["9:14: error: the address of label 'out', which is outside of the block of 'task'"]),
    "asm goto": ('#pragma omp taskq\n#pragma omp task\n asm goto ("" : : : : out);\nout:;',
                 ["9:2: error: asm goto cannot stand in the block of 'task'"]),
    "threads that are no number": ("#pragma omp parallel taskq num_threads(y)\n f(y);",
                                   ["7:40: error: 'y' has type 'int *': 'num_threads' needs a whole number"]),
    "a condition that is none": ("struct { int a; } s = {0};\n#pragma omp parallel taskq if(s)\n f(&s.a);",
                                 ["8:31: error: 's' has type 'struct (unnamed struct at case.c:7:1)': 'if' needs a "
                                  "condition"]),
    "no such directive": ("#pragma omp taskqq\n f(&x);",
                          ["7:13: error: there is no 'taskqq'; there are 'parallel taskq', 'taskq' and 'task'"]),
    "parallel task": ("#pragma omp parallel task\n f(&x);", ["7:13: error: there is no 'parallel task'; there are"]),
    "ordered with a clause": ("#pragma omp taskq ordered\n#pragma omp task\n {\n#pragma omp ordered depend(source)\n "
                              "f(&x);\n }", ["10:13: error: 'omp ordered' cannot stand in a task"]),
    "critical with something else": ("#pragma omp taskq\n#pragma omp task\n {\n#pragma omp critical (\n f(&x);\n }",
                                     ["10:13: error: behind 'critical' a name in parentheses can stand"]),
    "after #line": ('#line 500 "grammar.y"\n#pragma omp taskq bad\n f(&x);',
                    [f"500:19: error: 'taskq' has no clause 'bad'; it has {QUEUES}"]),
    "two mistakes": ("#pragma omp taskq private(zz)\n f(&x);\n#pragma omp taskq nonsense\n f(&x);",
                     ["9:19: error: 'taskq' has no clause 'nonsense'"]),
    "C that is wrong in a block": ("#pragma omp taskq\n {\n#pragma omp task\n f(&unknown);\n }",
                                   ["10:5: error: use of undeclared identifier 'unknown'"]),
    "after what looks like one": ('/* #pragma omp taskq bad */ char *s = "#pragma omp taskq bad"; (void)s;\n#pragma '
                                  'omp taskq bad\n f(&x);', ["8:19: error: 'taskq' has no clause 'bad'"]),
}
WHOLE = {  # sources of their own
    "outside of functions": ("#pragma omp taskq\nint x;\n",
                             ["1:13: error: 'taskq' must stand before a statement, in a function"]),
    "in an included file": ('#include "queue.h"\nint main(void)\n{\n    return queue();\n}\n',
                            ["4:1: error: 'parallel taskq' comes from an included file"]),
    "in an included file, by brackets": ('#include <queue.h>\nint main(void)\n{\n    return queue();\n}\n',
                                         ["4:1: error: 'parallel taskq' comes from an included file"]),
    "a block that is included": ('int main(void)\n{\n    int x = 0;\n#pragma omp parallel taskq\n    {\n#include '
                                 '<body.inc>\n    }\n    return x;\n}\n',
                                 ["1:1: error: 'task' comes from an included file"]),
    "no file included": ('#include "not_there.h"\nint main(void)\n{\n#pragma omp taskq\n    ;\n}\n',
                         ["1:10: error: 'not_there.h' file not found"]),
}


OTHERS_OWN = {"a barrier", "a loop", "a register", "case in a critical block", "ordered with a clause",
              "critical with something else"}
INCLUDED = {
    "queue.h": "static inline int queue(void)\n{\n    int x = 0;\n#pragma omp parallel taskq\n    {\n#pragma omp task\n"
               "        x = 1;\n    }\n    return x;\n}\n",
    "body.inc": "#pragma omp task\n    x = 1;\n",
}


def check(taskqc, folder, name, source, expected, mode):
    path, out = folder / "case.c", folder / "case.out"
    path.write_text(source)
    wrong = []
    options = [*mode, f"-I{folder}-included"]
    for command in ([taskqc, *options, "--translate", "case.c", "-o", "case.out"],
                    [taskqc, *options, "-c", "case.c", "-o", "case.out"]):
        out.unlink(missing_ok=True)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if ": warning: " not in line]
        if done.returncode != 1:
            wrong.append(f"exit status {done.returncode}, not 1")
        if len(said) != len(expected) or not all(re.sub("fatal error", "error", s).split(":", 1)[1].startswith(e)
                                                 for s, e in zip(said, expected)):
            wrong.append("said: " + "\n      ".join(said) + "\n   expected: " + "\n      ".join(expected))
        if [p.name for p in folder.iterdir()] != ["case.c"]:
            wrong.append(f"left: {sorted(p.name for p in folder.iterdir())}")
        if wrong:
            break
    for line in wrong:
        print(f"{name} ({' '.join(mode) or 'libpsthreads'}): {line}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("taskqc", type=lambda p: str(Path(p).resolve()))
    parser.add_argument("folder", type=Path)
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    for left in a.folder.iterdir():
        left.unlink()
    a.folder = a.folder.resolve()
    included = Path(f"{a.folder}-included")
    included.mkdir(exist_ok=True)
    for name, text in INCLUDED.items():
        (included / name).write_text(text)
    fine = True
    for name, (lines, expected) in CASES.items():
        fine &= check(a.taskqc, a.folder, name, HEAD + lines + "\n" + TAIL, expected, [])
    for name, (source, expected) in WHOLE.items():
        fine &= check(a.taskqc, a.folder, name, source, expected, [])
    # the other output: the same words, but for what an OpenMP compiler knows itself
    for name, (lines, expected) in CASES.items():
        if name not in OTHERS_OWN:
            fine &= check(a.taskqc, a.folder, name, HEAD + lines + "\n" + TAIL, expected, ["--openmp"])
    print(f"{len(CASES) + len(WHOLE)} cases")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
