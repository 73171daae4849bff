#!/usr/bin/python3
"""A random OpenMP program in C that checks itself: the same seed makes the same program.

Usage: program.py --seed N [--compiler gcc|clang] [--long-bits 32|64] [--size N] [--only KIND,...] > program.c

The program prints "ok", or one line "line N: what: got A, want B" of itself, and ends with status 1. The program is
valid OpenMP 5.1, has no data race, and needs no reference: what it must compute is known when it is written, or is a
function of the number of threads that the runtime gives it.

A program is a set of functions, each of which checks itself and returns a value that is known here. A function is one
piece of code outside any team's work-sharing: a parallel region, tasks, a taskloop. A function calls functions that
were written before it, so that no program recurses without end, and so that locks are always taken in one order.
Nothing that is a scheduling point of the caller's team is called while a lock is held.

A region's statements share a block of fields, made for each execution. Each statement says what its fields must hold
when the region is over: a sum of hashed iterations, so that one which is lost, doubled or made up is seen."""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from statements import Statements  # noqa: E402
from writer import MASK, mix, PRELUDE, Region  # noqa: E402


class Program(Statements):
    def region_clauses(self):
        clauses = []
        if self.chance(0.75):
            clauses.append(f"num_threads({self.pick(1, 2, 2, 3, 3, 4, 4, 5, 8)})")
        if self.chance(0.1):
            clauses.append(f"if({self.pick('0', '1', 'always', '!always')})")
        if self.chance(0.2):
            clauses.append(f"proc_bind({self.pick('close', 'spread', 'master', 'primary')})")
        return clauses

    def f_region(self):
        name = self.name("region")
        repeats = self.pick(1, 1, 1, 2, 3, 7)
        region = Region(name, repeats)
        self.orphans = []
        lines = []
        for _ in range(self.rng.randint(1, self.pick(2, 5, 10))):
            lines += self.statement(region)
            if region.cost * repeats > self.region_cost_limit:
                break
        frame = f"struct frame_{name}"
        head = [f"{frame} {{", "    int n;", "    u64 threads;", *self.indent(region.fields), "};"]
        self.text += head
        for orphan, _, code in self.orphans:
            self.text += [f"static void NOINLINE {orphan}({frame} *F, int me, int n, int r)", "{", *self.indent(code),
                          "    (void)F, (void)me, (void)n, (void)r;", "}"]
        clauses = self.region_clauses() + region.clauses
        team_reduction = self.chance(0.3)
        if team_reduction:
            clauses.append(f"reduction({self.pick('+', '+')}: members)")
        self.rng.shuffle(clauses)
        code = [f"{frame} *F = zeroed(sizeof(*F));", "int level = omp_get_level(), up = omp_get_thread_num();",
                "u64 members = 0;", *region.before, f"#pragma omp parallel {' '.join(clauses)}", "{",
                "    const int me = omp_get_thread_num(), n = omp_get_num_threads();", "    if (me == 0)",
                "        F->n = n;",
                '    CHECK("level", omp_get_level(), level + 1);',
                '    CHECK("ancestor", omp_get_ancestor_thread_num(level), up);',
                '    CHECK("team size", omp_get_team_size(level + 1), n);',
                '    CHECK("more threads than a frame has room for", n <= MOST, 1);', "    add(&F->threads, 1);"]
        if team_reduction:
            code += ["    members += (u64)me + 1;"]
        if repeats > 1:
            code += [f"    for (int r = 0; r < {repeats}; r++) {{", *self.indent(lines, 2), "    }"]
        else:
            code += ["    {", "        const int r = 0;", "        (void)r;", *self.indent(lines, 2), "    }"]
        code += ['    CHECK("thread number", omp_get_thread_num(), me);', "}", "const u64 n = (u64)F->n;",
                 'CHECK("threads", F->threads, n);']
        code += ['CHECK("members", members, n * (n + 1) / 2);'] if team_reduction else ["(void)members;"]
        code += [*region.after, "free(F);"]
        self.define(name, code, self.constant(), 200 + region.cost * repeats, False)

    def f_combined(self):
        """parallel for, parallel sections, and with tasks: entry points of their own in GCC's ABI."""
        space = self.space(may_be_tight=True)
        clause, _, _ = self.schedule(space)
        constant = self.constant()
        expression, known, price, _ = self.body(60)
        value = sum(mix(v + constant) for v in space.values) + known * len(space.values)
        addend = f"mix((u64)i + {hex(constant)}u) + {expression}"
        clauses = " ".join(self.region_clauses())
        form = self.pick("for", "for reduction", "sections", "taskloop", "ordered", "nothing", "collapse", "bare")
        cost = 200 + len(space.values) * (price + 3)
        code = ["u64 x = 0;"]
        if form == "for":
            code += [f"#pragma omp parallel for {clauses}{clause}", space.head, f"    add(&x, {addend});"]
        elif form == "for reduction":
            code += [f"#pragma omp parallel for reduction(+: x) {clauses}{clause}", space.head, f"    x += {addend};"]
        elif form == "ordered":
            clause, _, _ = self.schedule(space, ordered=True)
            code += [f"#pragma omp parallel for ordered {clauses}{clause}", space.head + " {", "#pragma omp ordered",
                     f"    x = mix(x) + {addend};", "}"]
            value = 0
            for v in space.values:
                value = (mix(value) + mix(v + constant) + known) & MASK
        elif form == "collapse":
            inner = self.rng.randint(0, 4)
            if space.tight:
                inner = 1
                clause = ""
                space = self.space(most=8)
                value = sum(mix(v + constant) for v in space.values) + known * len(space.values)
            value *= inner
            code += [f"#pragma omp parallel for collapse(2) {clauses}{clause}", f"for (int j = 0; j < {inner}; j++)",
                     space.head, f"    add(&x, {addend});"]
            cost *= max(inner, 1)
        elif form == "sections":
            value = 0
            code += [f"#pragma omp parallel sections {clauses}", "{"]
            for _ in range(self.rng.randint(1, 6)):
                one, known, price, _ = self.body(150)
                value += known
                cost += price
                code += ["#pragma omp section", f"    add(&x, {one});"]
            code += ["}"]
        elif form == "taskloop":
            space = self.task_space()
            value = sum(mix(v + constant) for v in space.values) + known * len(space.values)
            which = f"#pragma omp {self.pick('parallel master taskloop', 'parallel masked taskloop')} {clauses}"
            how = self.pick(" shared(x)", " shared(x) grainsize(2)", " shared(x) num_tasks(5)", " reduction(+: x)")
            if self.compiler == "clang":  # clang 19 loses what the combined form adds
                which = f"#pragma omp parallel {clauses}\n    #pragma omp masked\n    #pragma omp taskloop"
                how = how.replace("reduction(+: x)", "shared(x)")
            code += [which + how, space.head,
                     f"    x += {addend};" if "reduction" in how else f"    add(&x, {addend});"]
        else:
            value = 0
            schedule = self.pick("dynamic", "guided", "runtime", "dynamic, 3", "static")
            if form == "nothing":  # what was prepared for the loop is not used by some, or by anybody
                code += [f"#pragma omp parallel for schedule({schedule}) {clauses}",
                         f"for (int i = 0; i < {self.pick('0', '!always', '1', 'always')}; i++)", "    compute(1);"]
            else:
                code += [f"#pragma omp parallel {clauses}", "compute(1);"]
        code.append(f'CHECK("parallel {form}", x, {hex(value & MASK)}u);')
        self.define(self.name("combined"), code, value, cost, False)

    def f_cancel_parallel(self):
        rounds, who, at = self.rng.randint(1, 6), self.rng.randint(0, 3), self.rng.randint(0, 5)
        stop = self.pick("#pragma omp barrier", "#pragma omp cancellation point parallel",
                         "#pragma omp for schedule(dynamic)\nfor (int i = 0; i < 9; i++)\n    compute(5);",
                         "#pragma omp single\n        compute(5);")
        code = ["u64 begun = 0, done = 0, size = 0;", f"#pragma omp parallel {' '.join(self.region_clauses())}", "{",
                "    int me = omp_get_thread_num();", "    if (me == 0)",
                "        add(&size, (u64)omp_get_num_threads());",
                f"    for (int r = 0; r < {rounds}; r++) {{", "        add(&begun, 1);",
                f"        if (me == {who} && r == {at}) {{", "#pragma omp cancel parallel", "        }",
                *stop.split("\n"), "        add(&done, 1);", "    }", "}",
                f'CHECK("cancelled parallel", begun <= size * {rounds} && done <= begun, 1);',
                f"if (!omp_get_cancellation() || {who} >= (int)size || {at} >= {rounds})",
                f'    CHECK("parallel", done, size * {rounds});', "else",
                f'    CHECK("cancelled parallel", done < size * {rounds}, 1);']
        self.define(self.name("stopped"), code, self.constant(), 300, False)

    FUNCTIONS = {"region": 10, "combined": 4, "tasks": 3, "tree": 1, "depend": 3, "taskloop": 3, "task_reduction": 1,
                 "detach": 1, "cancel_taskgroup": 1, "task_locks": 1, "cancel_parallel": 1}

    def write(self):
        names = [n for n in self.FUNCTIONS if not self.only or n in self.only] or ["region"]
        for _ in range(self.size):
            name = self.rng.choices(names, [self.FUNCTIONS[n] for n in names])[0]
            getattr(self, "f_" + name)()
        calls = []
        for function in self.functions:
            if self.chance(0.6):
                turns = self.pick(1, 1, 2, 5) if function.cost < 2000 else 1
                calls += [f"for (int t = 0; t < {turns}; t++)",
                          f'    CHECK("{function.name}", {function.name}(), {hex(function.value)}u);']
        unused = [f"(void){f.name};" for f in self.functions]
        # libgomp 12 has faults where tasks are met outside of every region
        main = ["int main(void)", "{", *self.indent(unused), "#ifdef PEER", "#pragma omp parallel num_threads(1)",
                "#endif",
                "    {", *self.indent(calls, 2), "    }", '    puts("ok");', "    return 0;", "}"]
        return "\n".join([PRELUDE, "#define MOST 64", *self.text, *main]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc", help="which the program is for")
    parser.add_argument("--long-bits", type=int, choices=(32, 64), default=64)
    parser.add_argument("--size", type=int, default=12, help="functions")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these kinds of functions and statements")
    args = parser.parse_args()
    sys.stdout.write(Program(args.seed, args.compiler, args.long_bits, args.size, args.only).write())


if __name__ == "__main__":
    main()
