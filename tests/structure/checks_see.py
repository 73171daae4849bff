#!/usr/bin/python3
"""checks_see.py ROOT - the checkers find what they are there for: each is shown a small tree with one offence in it."""

import os
import shutil
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
INCLUDES = os.path.join(ROOT, "tools/check-includes")
FORMATS = os.path.join(ROOT, "tests/structure/formats.py")
LINES = os.path.join(ROOT, "tests/structure/lines.py")
NAMES = os.path.join(ROOT, "tests/structure/names.py")
VARIABLES = os.path.join(ROOT, "tests/structure/variables.py")
PROCESSORS = os.path.join(ROOT, "tests/structure/processors.py")
WHERE = os.path.join(ROOT, "tests/structure/where.py")
UNIQUE = os.path.join(ROOT, "tests/structure/unique.py")
PROSE = os.path.join(ROOT, "tests/structure/prose.py")
REFERENCES = os.path.join(ROOT, "tests/structure/references.py")
WORDS = os.path.join(ROOT, "tests/structure/words.py")
SENTENCE = "A vp " + "looks and " * 40 + "sleeps."
TABLE = "## Where is it handled?\n\n| what | begins in |\n|---|---|\n" + "| x | `f`, `a.c` |\n" * 11
ROW = "| y | `f`, `a.c` |\n"
WALK = "| 1 | `f`, `a.c` | x |\n| 2 | `h`, `a.c` | y |\n" + TABLE


# (checker, {file: text}, what it must say; '' when it must find nothing)
CASES = [
    (INCLUDES, {"src/base/a.h": "", "src/uth/u.c": '#include "a.h"\n'}, ""),
    (INCLUDES, {"src/uth/u.h": "", "src/base/b.c": '#include "u.h"\n'}, "src/base/b.c:1: base may not see uth/u.h"),
    (INCLUDES, {"src/cpu/cpu.h": "", "src/os/o.c": '\n#include "cpu.h"\n'}, "src/os/o.c:2: os may not see cpu/cpu.h"),
    (INCLUDES, {"src/psthreads/data/scheduler.h": "", "src/ort/core/t.c": '#include "scheduler.h"\n'},
     "ort may not see psthreads/data/scheduler.h"),
    (INCLUDES, {"src/ee/ee.h": "", "src/ort/core/t.c": '#include "ee.h"\n'}, ""),
    (INCLUDES, {"src/ort/core/t.c": '#include "psthread.h"\n'}, "ort may not see the public threads API"),
    (INCLUDES, {"src/uth/u.c": "#include <linux/futex.h>\n"}, "<linux/futex.h> is for os alone"),
    (INCLUDES, {"src/abi/gomp/g.h": "", "src/abi/kmpc/k.c": '#include "g.h"\n'}, "abi/kmpc may not see abi/gomp/g.h"),
    (INCLUDES, {"src/uth/u.c": '#include "gone.h"\n'}, 'no header "gone.h"'),
    (INCLUDES, {"src/psthreads/debug/dump.h": "", "src/psrun/p.c": '#include "dump.h"\n'}, ""),
    (INCLUDES, {"src/psthreads/vp/vp.h": "", "src/psrun/p.c": '#include "vp.h"\n'},
     "psrun may not see psthreads/vp/vp.h"),
    (INCLUDES, {"src/os/a.h": '#include "b.h"\n', "src/os/b.h": '#include "c.h"\n', "src/os/c.h": '#include "a.h"\n'},
     "headers in a circle: os/a.h -> os/b.h -> os/c.h -> os/a.h"),
    (INCLUDES, {"src/os/a.h": '#include "b.h"\n#include "c.h"\n', "src/os/b.h": '#include "c.h"\n', "src/os/c.h": ""},
     ""),
    (INCLUDES, {"src/psthreads/team/t.h": "", "src/psthreads/vp/v.c": '#include "t.h"\n'},
     "src/psthreads/vp/v.c:1: psthreads/vp may not see psthreads/team/t.h, which stands above it"),
    (INCLUDES, {"src/psthreads/vp/v.h": "", "src/psthreads/team/t.c": '#include "v.h"\n'}, ""),
    (INCLUDES, {"src/psthreads/t.c": ""}, "src/psthreads/t.c: stands in none of the folders"),
    (INCLUDES, {}, "no sources"),
    (INCLUDES, {"src/base/a.h": "", "platform/cli/c.h": "", "platform/kernel/k.cc": '#include "cli/c.h"\n'},
     "platform/kernel/k.cc:1: kernel may not see cli/c.h"),
    (INCLUDES, {"src/base/a.h": "", "platform/kernel/k.h": "", "platform/cli/c.cc": '#include "kernel/k.h"\n'}, ""),
    (INCLUDES, {"src/base/a.h": "", "platform/kernel/k.h": '#include "src/base/a.h"\n'},
     'no header "src/base/a.h" in platform'),
    (INCLUDES, {"src/base/a.h": "", "platform/new/k.h": ""}, "platform/new/k.h: stands in none of the folders"),
    (PROCESSORS, {"src/ort/core/t.c": "#if defined __aarch64__\n#endif\n"}, "src/ort/core/t.c: a conditional"),
    (PROCESSORS, {"src/cpu/x86_64/t.h": "#ifdef __x86_64__\n#endif\n"}, ""),
    (FORMATS, {"src/os/o.c": 'void f(void) { ps_warn("%s %zu", (x), y);\n ps_fatal("%p%% %llu" "%lx"); }\n'}, ""),
    (FORMATS, {"src/os/o.c": '\nps_fatal("a %5d", 1);\n'}, "src/os/o.c:2: check.c cannot write: a %5d"),
    (FORMATS, {"src/os/o.c": 'PS_CHECK(f("x)"), "a %s"\n "%.*s", 1, b);\n'}, "cannot write: %.*s"),
    (FORMATS, {"src/os/o.c": 'ps_warn("%" PRIu64, x);\n'}, "a conversion of <inttypes.h>"),
    (LINES, {"src/os/o.c": "\n" + "x" * 121}, "src/os/o.c:2: 121 columns"),
    (LINES, {"src/os/o.c": "\n" * 601}, "src/os/o.c: 601 lines"),
    (LINES, {"docs/d.md": "\n" * 600, "src/x.txt": "\n" * 601, "src/os/CMakeLists.txt": "#\n" * 700},
     "700 lines; at most 600\n"),
    (LINES, {"docs/d.md": "\n" * 600, "src/x.txt": "\n" * 601}, "0 files with too many lines"),
    (NAMES, {"src/ort/core/t.c": 'void f(void) { puts("GOMP_x"); } /* GOMP_y */\n'}, ""),
    (NAMES, {"src/ort/core/t.c": "\nvoid GOMP_parallel(void);\n"},
     "src/ort/core/t.c:2: GOMP_parallel is an ABI's name"),
    (NAMES, {"src/psthreads/vp/t.c": "int x = omp_get_level();\n"}, "omp_get_level is an ABI's name"),
    (VARIABLES, {"src/a.c": 'x = os_env("OMP_A"); /* "KMP_C" */', "docs/environment.md": "`OMP_A`"}, ""),
    (VARIABLES, {"src/a.c": 'x = os_env("OMP_A"), y = f("KMP_B");', "docs/environment.md": "`OMP_A`"},
     "KMP_B is read by the sources"),
    (VARIABLES, {"src/a.c": 'x = os_env("OMP_A");', "docs/environment.md": "`OMP_A` `OMP_B`"},
     "names OMP_B, which no source reads"),
    (UNIQUE, {"src/os/a.c": "static int f(void)\n{\n}\n", "src/os/b.c": "/* f(x) { */ int g(int x) { f(x); }\n"}, ""),
    (UNIQUE, {"src/os/a.c": "static int f(void)\n{\n}\n", "src/ort/b.c": "\nint\nf(int x)\n{\n}\n"},
     "f means several functions: src/ort/b.c:3, src/os/a.c:1"),
    (UNIQUE, {"src/os/linux/a.c": "int os_f(void)\n{\n}\n", "src/os/bare/a.c": "int os_f(void)\n{\n}\n"}, ""),
    (UNIQUE, {"src/os/x.h": "static inline int f(void) { return 1; }\n", "src/os/a.c": "int f(void)\n{\n}\n"}, ""),
    (UNIQUE, {}, "no functions"),
    (WHERE, {"src/a.c": "static int f(int x)\n{\n", "ARCHITECTURE.md": TABLE + "| y | `f`, `a.c` |\n"}, ""),
    (WHERE, {"src/a.c": "int f(int x)\n{\n g(1); }\nint h(void);",
             "ARCHITECTURE.md": TABLE + "| y | `g`, `a.c` |\n"}, "y: a.c does not define g"),
    (WHERE, {"src/a.c": "int f(int x)\n{\n", "ARCHITECTURE.md": TABLE + "| y | `f`, `b.c` |\n"},
     "there is no file b.c"),
    (WHERE, {"src/a.c": "int f(int x)\n{\n", "ARCHITECTURE.md": TABLE}, "has 11 rows; at least 12"),
    (WHERE, {"src/a.c": "int f(int x)\n{\n    g(x);\n}\nint g(int x)\n{\n    h(x);\n}\nint h(int x)\n{\n}\n",
             "ARCHITECTURE.md": TABLE + "| y | `f`, `a.c` | `h`, `a.c` |\n"}, ""),
    (WHERE, {"src/a.c": "int f(int x)\n{\n    g(x);\n}\nint g(int x)\n{\n}\nint h(int x)\n{\n}\n",
             "ARCHITECTURE.md": TABLE + "| y | `f`, `a.c` | `h`, `a.c` |\n"}, "y: f does not lead to h"),
    (WHERE, {"src/a.c": "int f(int x)\n{\n}\nint h(int x)\n{\n}\n",
             "ARCHITECTURE.md": TABLE + "| y * | `f`, `a.c` | `h`, `a.c` |\n"}, ""),
    (WHERE, {"src/a.c": "int f(int x)\n{\n    h(x);\n}\nint h(int x)\n{\n}\n",
             "ARCHITECTURE.md": WALK + ROW}, ""),
    (WHERE, {"src/a.c": "int f(int x)\n{\n}\nint h(int x)\n{\n}\n",
             "ARCHITECTURE.md": WALK + ROW},
     "f, step 2: no earlier step leads to h"),
    (WHERE, {"src/a.c": "int f(int x)\n{\n}\n", "ARCHITECTURE.md": "| 1 | `g`, `a.c` | x |\n" + TABLE + ROW},
     "g, step 1: a.c does not define g"),
    (PROSE, {"src/a.c": "/* A vp sleeps. */", "README.md": "A thread waits.\n"}, ""),
    (PROSE, {"src/a.c": 'char *s = "/* who */"; /* ' + SENTENCE + " */"}, "83 words in a sentence"),
    (PROSE, {"src/a.c": "/* Whoever wakes it counts. */"}, "'Whoever': name the thread"),
    (PROSE, {"bench/NOTES.md": "- Tried.\n\n" + SENTENCE + "\n"}, "bench/NOTES.md:3"),
    (PROSE, {"tests/models/a.pml": "/* a thread that waits for who */"}, "'who': name the thread"),
    (WORDS, {"src/a.c": "/* It is cached, as thread_signal.h says. */"}, ""),
    (WORDS, {"src/a.c": "\nint vp_deafen;"}, "src/a.c:2: 'deafen': signals blocked"),
    (WORDS, {"HACKING.md": "Nobody waits.\n"}, "HACKING.md:1: 'Nobody'"),
    (REFERENCES, {"src/ort/a.c": "int ort_f(void); /* as ort_f does in a.c */",
                  "HACKING.md": "`ort_f`, `a.c`, [x](#y)\n# Y\n"}, ""),
    (REFERENCES, {"src/ort/a.c": "/* as ort_f does */", "README.md": ""}, "src/ort/a.c:1: there is no ort_f"),
    (REFERENCES, {"src/ort/a.c": "/* as b.c does */", "README.md": ""}, "src/ort/a.c:1: there is no file b.c"),
    (REFERENCES, {"README.md": "The lock is `ps_take_it`.\n"}, "README.md: there is no ps_take_it"),
    (REFERENCES, {"README.md": "See [there](docs/gone.md).\n"}, "there is no docs/gone.md"),
    (REFERENCES, {"README.md": "See [there](#gone).\n"}, "README.md has no heading #gone"),
    (REFERENCES, {"README.md": "See `f` in `a.c`.\n", "src/os/a.c": "int g;"}, "README.md: a.c has no f"),
    (REFERENCES, {"HACKING.md": "See `take_it`.\n"}, "HACKING.md: there is no take_it"),
    (REFERENCES, {"HACKING.md": "```c\ntake_it(1);\n```\n"}, "HACKING.md: there is no take_it"),
    (REFERENCES, {"README.md": "A task takes 98 `task`.\n", "bench/counts.txt": "# x\ntask  99.0\n"}, ""),
    (REFERENCES, {"README.md": "A task takes 98 `task`.\n", "bench/counts.txt": "# x\ntask  199.0\n"},
     "README.md: 98 task: bench/counts.txt has 199"),
    (REFERENCES, {}, "0 documents"),
]


def main():
    wrong = without_git = 0
    for checker, tree, message in CASES:
        if checker == LINES and not shutil.which("git"):
            without_git += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            for path, text in tree.items():
                os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
                    f.write(text)
            if checker == LINES:  # of tracked files
                for command in ["init", "-q"], ["add", "-A"]:
                    subprocess.run(["git", *command], cwd=folder, check=True)
            done = subprocess.run([checker, folder], stdout=subprocess.PIPE, encoding="utf-8")
            if done.returncode != (1 if message else 0) or message not in done.stdout:
                wrong += 1
                print(f"{os.path.basename(checker)} on {tree}: exit {done.returncode}, said:\n{done.stdout}")
    print(f"checks_see: {len(CASES)} cases, {wrong} wrong, {without_git} not tried: there is no git")
    return 1 if wrong else 0


sys.exit(main())
