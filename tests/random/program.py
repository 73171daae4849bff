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
import random
import sys

MASK = (1 << 64) - 1
MULTIPLIER = 0x9E3779B97F4A7C15

PRELUDE = """#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long u64;
#ifdef PEER /* libgomp 12 takes the event of a task that is not deferred from a stack that is gone */
#define PEER_HAS_DETACH (omp_get_num_threads() > 1)
#else
#define PEER_HAS_DETACH 1
#endif
#define NOINLINE __attribute__((noinline))
static void NOINLINE fail(const char *what, int line, u64 got, u64 want)
{
    printf("line %d: %s: got %llu, want %llu (thread %d of %d, level %d)\\n", line, what, got, want,
           omp_get_thread_num(), omp_get_num_threads(), omp_get_level());
    fflush(stdout);
    _Exit(1);
}
#define CHECK(what, got, want)                                                                                       \\
    do {                                                                                                             \\
        u64 got_ = (u64)(got), want_ = (u64)(want);                                                                  \\
        if (got_ != want_)                                                                                           \\
            fail(what, __LINE__, got_, want_);                                                                       \\
    } while (0)
static inline u64 mix(u64 x)
{
    x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}
static inline void add(u64 *place, u64 value)
{
#pragma omp atomic
    *place += value;
}
static void *zeroed(size_t size)
{
    void *block = calloc(1, size);
    if (!block)
        fail("calloc", __LINE__, 0, size);
    return block;
}
static volatile int always = 1;
static void NOINLINE compute(int turns)
{
    for (volatile int t = 0; t < turns; t++)
        ;
}
"""


def mix(x):
    x &= MASK
    x = ((x ^ (x >> 31)) * MULTIPLIER) & MASK
    return x ^ (x >> 29)


class Function:
    """A function of the program: its name, what it returns, what one call costs, and whether a call of it is a
    scheduling point of the caller's team."""

    def __init__(self, name, value, cost, schedules):
        self.name, self.value, self.cost, self.schedules = name, value & MASK, cost, schedules


class Space:
    """The iterations of one loop: `head` is its for (...), `values` are what its variable takes."""

    def __init__(self, kind, head, values, first, step, tight):
        self.kind, self.head, self.values, self.first, self.step, self.tight = kind, head, values, first, step, tight

    def index(self, var):
        """The number of the iteration, in C."""
        if self.step > 0:
            return f"(((u64){var} - (u64){self.first}) / {self.step}u)"
        return f"(((u64){self.first} - (u64){var}) / {-self.step}u)"


class Region:
    """A parallel region while it is written: fields of its block, variables before it, checks after it."""

    def __init__(self, name, repeats):
        self.name, self.repeats = name, repeats
        self.fields, self.before, self.after, self.clauses = [], [], [], []
        self.cost = 0

    def sum_is(self, field, value, each_thread=False, times=None):
        times = self.repeats if times is None else times
        want = f"{hex(value * times & MASK)}u" + (" * n" if each_thread else "")
        self.after.append(f'CHECK("{field}", F->{field}, {want});')


class Program:
    TYPES = ("int", "unsigned", "long", "u64", "long long", "short", "unsigned char", "unsigned long")

    def __init__(self, seed, compiler="gcc", long_bits=64, size=12, only=None):
        self.rng = random.Random(seed)
        self.compiler, self.size, self.only = compiler, size, only
        self.bits = {"int": 32, "unsigned": 32, "long": long_bits, "unsigned long": long_bits, "u64": 64,
                     "long long": 64, "short": 16, "unsigned char": 8}
        self.functions, self.text, self.count = [], [], 0
        self.region_cost_limit = 4000

    # --- small choices ---

    def pick(self, *items):
        return self.rng.choice(items)

    def chance(self, probability):
        return self.rng.random() < probability

    def number(self):
        self.count += 1
        return self.count

    def name(self, stem):
        return f"{stem}{self.number()}"

    def constant(self):
        return self.rng.getrandbits(64)

    def opaque(self, kind, literal, known=0.6):
        """A value that the compiler may know, or must not."""
        if self.chance(known):
            return f"({kind}){literal}"
        name = self.name("k")
        self.text.append(f"static volatile {kind} {name} = {literal};")
        return name

    def signed(self, kind):
        return not kind.startswith("u")

    def limits(self, kind):
        bits = self.bits[kind]
        if self.signed(kind):
            return -(1 << bits - 1), (1 << bits - 1) - 1
        return 0, (1 << bits) - 1

    @staticmethod
    def literal(value):
        if value < 0:
            return f"(-{-value - 1}LL - 1)"
        return f"{value}{'ULL' if value >= 1 << 63 else 'LL'}"

    def indent(self, lines, by=1):
        return [line if line.startswith("#") else "    " * by + line for line in lines]

    # --- iteration spaces ---

    def space(self, most=40, kinds=None, may_be_tight=False, var="i", zero=True):
        """A loop in canonical form. Its last value plus the step is a value of the type, for GCC computes it; clang
        counts iterations, and `may_be_tight` is enough."""
        kind = self.rng.choice(kinds or self.TYPES)
        low, high = self.limits(kind)
        count = self.pick(1, 2, 3, self.rng.randint(4, most), self.rng.randint(4, most), most)
        if zero and self.chance(0.06):
            count = 0
        step = self.pick(1, 1, 1, 2, 3, 7, self.rng.randint(1, 1000))
        room = (high - low) // 2 - 2 if self.signed(kind) else high - low - 2
        if self.chance(0.15) and count:
            step = max(1, room // (count + 1))  # the whole type
        step = min(step, max(1, room // (count + 1)))
        count = min(count, room // step - 1)
        tight = may_be_tight and self.compiler == "clang" and self.chance(0.3)
        span = step * count
        where = self.rng.random()
        if where < 0.35:
            first = high - span - (0 if not tight else -min(step - 1, span))
        elif where < 0.55:
            first = low
        elif where < 0.7 and self.signed(kind):
            first = -(span // 2)
        else:
            first = self.rng.randint(low, min(low + 1000, high - span)) if self.chance(0.3) else 0
            if first + span > high:
                first = low
        first = max(low, first)
        values = [first + step * k for k in range(count)]
        after = first + span  # exclusive
        if after > high:
            after = high
            values = [v for v in values if v < after]
        elif values and self.chance(0.5):  # any bound behind the last value
            after = self.rng.randint(values[-1] + 1, after)
        tight = bool(values) and values[-1] + step > high
        form = self.rng.random()
        less, bound, by = "<", after, step
        if form < 0.25 and low < after <= high - 2:  # compilers add one
            less, bound = "<=", after - 1
        elif form < 0.35 and step == 1 and values:
            less = "!="
        # The other way round. GCC hands negative steps of small unsigned types on as large positive ones.
        backward = self.signed(kind) or self.bits[kind] == 64
        if self.chance(0.35) and values and (backward or self.compiler == "clang"):
            values = [low + high - v for v in values]
            bound, by = low + high - bound, -step
            less = less.replace("<", ">")
            first = low + high - first
        if not values:
            first = bound = self.rng.randint(max(low, -100), min(high, 100))
            less, by = self.pick("<", ">") if self.signed(kind) else "<", step
            if less == ">":
                by = -step
        first_text = self.opaque(kind, self.literal(first))
        # GCC 12 takes a loop for signed where it knows that bound plus step, wrapped, is small; and refuses one whose
        # comparison it knows to be false of every value
        hidden = bound + by > high or (less == "<" and bound == low)
        bound_text = self.opaque(kind, self.literal(bound), known=0 if hidden else 0.6)
        if abs(by) == 1 and self.chance(0.7):
            change = f"{var}{'++' if by > 0 else '--'}"
        elif self.chance(0.5):
            change = f"{var} {'+' if by > 0 else '-'}= {abs(by)}"
        else:
            change = f"{var} = {var} {'+' if by > 0 else '-'} {abs(by)}"
        head = f"for ({kind} {var} = {first_text}; {var} {less} {bound_text}; {change})"
        return Space(kind, head, values, f"({kind}){self.literal(first)}", by, tight)

    def schedule(self, space=None, ordered=False, chunks=True):
        """(clause, whether iterations of a thread are in order, chunk of a static schedule or None)"""
        kinds = ["dynamic", "guided", "runtime"]
        if not (space and space.tight):
            kinds += ["", "static", "static", "auto"]
        kind = self.rng.choice(kinds)
        if not kind:
            return "", True, None
        modifier = ""
        if self.chance(0.3):
            modifier = "monotonic: "
        elif not ordered and kind in ("dynamic", "guided") and self.chance(0.5):
            modifier = "nonmonotonic: "
        chunk = None
        if chunks and kind in ("static", "dynamic", "guided") and self.chance(0.6):
            chunk = self.pick(1, 2, 3, self.rng.randint(1, 20))
            if kind != "static" and self.chance(0.1):
                chunk = 0x7FFFFFFF
            elif kind == "static" and space and self.bits[space.kind] == 8 and self.compiler == "gcc":
                chunk = min(chunk, 3)  # GCC 12 computes numbers of iterations in the variable's type: MOST chunks fit
        text = f" schedule({modifier}{kind}{', ' + self.opaque('int', chunk) if chunk else ''})"
        in_order = kind == "static" or modifier == "monotonic: " or ordered
        return text, in_order, chunk if kind == "static" else None

    # --- calls ---

    def callee(self, budget, schedules=True):
        fit = [f for f in self.functions if f.cost <= budget and (schedules or not f.schedules)]
        return self.rng.choice(fit) if fit else None

    def body(self, budget, schedules=True):
        """(expression, value, cost, whether it is a scheduling point)"""
        function = self.callee(budget, schedules) if self.chance(0.5) else None
        if function:
            return f"{function.name}()", function.value, function.cost, function.schedules
        constant = self.constant()
        return f"mix({hex(constant)}u)", mix(constant), 1, False

    def define(self, name, lines, value, cost, schedules):
        self.text += [f"static u64 NOINLINE {name}(void)", "{", *self.indent(lines),
                      f"    return {hex(value & MASK)}u;", "}"]
        self.functions.append(Function(name, value, cost, schedules))

    # --- tasks ---

    def task_clauses(self, untied=True, final=True):
        clauses = ""
        if self.chance(0.15):
            clauses += f" if({self.pick('0', '1', 'always', '!always')})"
        if final and self.chance(0.12):
            clauses += f" final({self.pick('0', '1', 'always', '!always')})"
        if untied and self.chance(0.2):
            clauses += " untied"
        if self.chance(0.15):
            clauses += " mergeable"
        if self.chance(0.2):
            clauses += f" priority({self.rng.randint(0, 5)})"
        return clauses

    def some_tasks(self, target, budget):
        """Tasks that add to `target`: (lines, value, cost)"""
        lines, value, cost = [], 0, 0
        shared = " shared(x)" if target == "&x" else ""
        for _ in range(self.rng.randint(1, 6)):
            expression, known, price, _ = self.body(budget // 8)
            many = self.pick(1, 1, 2, 8, 30) if price < 10 else self.pick(1, 2)
            form = self.rng.random()
            task = [f"#pragma omp task firstprivate(t){shared}{self.task_clauses()}"]
            if form < 0.3:
                wide = self.pick(1, 3, 64, 300)  # data of this many longs is copied
                fill = self.constant()
                lines += ["{", f"    u64 block[{wide}];", f"    for (int b = 0; b < {wide}; b++)",
                          f"        block[b] = mix({hex(fill)}u + b);"]
                task = self.indent([f"for (int t = 0; t < {many}; t++) {{",
                                    f"#pragma omp task firstprivate(t, block){shared}{self.task_clauses()}", "{",
                                    f"    for (int b = 0; b < {wide}; b++)",
                                    f'        CHECK("firstprivate", block[b], mix({hex(fill)}u + b));',
                                    f"    add({target}, {expression} + t);", "}", "}"]) + ["}"]
                lines += task
            elif form < 0.45:  # tasks of tasks
                inner = self.rng.randint(1, 4)
                lines += [f"for (int t = 0; t < {many}; t++) {{", task[0], "{",
                          f"    for (int s = 0; s < {inner}; s++) {{",
                          f"#pragma omp task firstprivate(s){shared}{self.task_clauses()}",
                          f"        add({target}, {expression} + t);", "    }"]
                if self.chance(0.6):
                    lines += ["#pragma omp taskwait"]
                lines += ["}", "}"]
                value += inner * (known * many + many * (many - 1) // 2)
                cost += many * inner * (price + 3)
                continue
            else:
                lines += [f"for (int t = 0; t < {many}; t++) {{", task[0], "{"]
                if self.chance(0.2):
                    lines += ["#pragma omp taskyield"]
                if self.chance(0.2):
                    lines += [f"    compute({self.pick(10, 100, 1000)});"]
                lines += [f"    add({target}, {expression} + t);", "}", "}"]
            value += known * many + many * (many - 1) // 2
            cost += many * (price + 3)
            if self.chance(0.15):
                lines += ["#pragma omp taskyield"]
            if self.chance(0.15):
                lines += ["#pragma omp taskwait"]
        return lines, value, cost

    def f_tasks(self):
        lines, value, cost = self.some_tasks("&x", 1500)
        group = self.chance(0.4)
        code = ["u64 x = 0;"]
        if group:
            code += ["#pragma omp taskgroup", "{", *self.indent(lines), "}"]
        else:
            # descendants that no thread waited for are waited for by the group
            code += ["#pragma omp taskgroup", "{", *self.indent(lines), "#pragma omp taskwait", "}"]
        code += [f'CHECK("tasks", x, {hex(value & MASK)}u);']
        self.define(self.name("tasks"), code, value, cost + 10, True)

    def f_tree(self):
        """A recursive function of tasks."""
        depth, fan = self.pick((4, 3), (6, 2), (9, 1), (3, 5))
        name = self.name("tree")
        leaf = self.constant()
        value = leaf
        for level in range(1, depth + 1):
            value = mix(value * fan + level)
        clauses = self.task_clauses(final=False)
        if self.chance(0.3):
            clauses += f" final(depth == {depth // 2})"
        wait = self.pick("taskwait", "taskgroup")
        lines = [f"static u64 {name}_at(int depth)", "{", "    u64 x = 0;", "    if (depth == 0)",
                 f"        return {hex(leaf)}u;"]
        if wait == "taskgroup":
            lines += ["#pragma omp taskgroup", "    {"]
        lines += [f"    for (int c = 0; c < {fan}; c++) {{",
                  f"#pragma omp task shared(x) firstprivate(depth){clauses}",
                  f"        add(&x, {name}_at(depth - 1));", "    }"]
        lines += ["    }"] if wait == "taskgroup" else ["#pragma omp taskwait"]
        lines += ["    return mix(x + (u64)depth);", "}"]
        self.text += lines
        self.define(name, [f'CHECK("tree", {name}_at({depth}), {hex(value & MASK)}u);'], value,
                    10 + 3 * fan ** depth, True)

    def f_depend(self):
        """Tasks in the order that their depend clauses give them: as if they were run one after the other."""
        variables = self.rng.randint(1, 6)
        state = [0] * variables
        exclusive = self.chance(0.7)
        lines = [f"u64 v[{variables}] = {{0}}, x = 0;"]
        cost, value = 10, 0
        open_set = {}  # variable -> kind of the set of tasks that is open on it
        use_iterator = self.chance(0.3)
        for _ in range(self.rng.randint(3, 25)):
            chosen = self.rng.sample(range(variables), self.rng.randint(1, min(3, variables)))
            lines_in, clauses = [], ""
            one_set = self.chance(0.3)
            for variable in chosen:
                kinds = ["in", "in", "out", "inout"]
                if exclusive:
                    kinds.append("mutexinoutset")
                if self.compiler == "clang":
                    kinds.append("inoutset")
                kind = self.rng.choice(kinds)
                if one_set and kind == "in" and exclusive:
                    kind = "mutexinoutset"
                constant = self.constant()
                if kind == "in":
                    lines_in.append(f'CHECK("depend in", v[{variable}], {hex(state[variable])}u);')
                elif kind in ("out", "inout"):
                    lines_in.append(f"v[{variable}] = mix(v[{variable}] + {hex(constant)}u);")
                    state[variable] = mix(state[variable] + constant)
                elif kind == "mutexinoutset":
                    lines_in.append(f"u64 was{variable} = v[{variable}];")
                    lines_in.append(f"compute({self.pick(1, 50, 300)});")
                    lines_in.append(f"v[{variable}] = was{variable} + {hex(constant)}u;")
                    state[variable] = (state[variable] + constant) & MASK
                else:
                    lines_in.append(f"add(&v[{variable}], {hex(constant)}u);")
                    state[variable] = (state[variable] + constant) & MASK
                place = f"v[{variable}]"
                if kind == "in" and use_iterator and len(chosen) == 1:
                    clauses += f" depend(iterator(q = {variable}:{variable + 1}), in: v[q])"
                else:
                    clauses += f" depend({kind}: {place})"
                open_set[variable] = kind
            expression, known, price, _ = self.body(150)
            lines_in.append(f"add(&x, {expression});")
            value += known
            cost += price + 10
            clauses += self.task_clauses(final=False)
            lines += [f"#pragma omp task shared(v, x){clauses}", "{", *self.indent(lines_in), "}"]
            if self.chance(0.08):
                lines += ["#pragma omp taskwait"]
            if self.chance(0.08):
                variable = self.rng.randrange(variables)
                lines += [f"#pragma omp taskwait depend(in: v[{variable}])",
                          f'CHECK("taskwait depend", v[{variable}], {hex(state[variable])}u);']
                # reading here ends a set only for what comes after it
        lines += ["#pragma omp taskwait"]
        for variable in range(variables):
            lines.append(f'CHECK("depend", v[{variable}], {hex(state[variable])}u);')
        lines.append(f'CHECK("depend x", x, {hex(value & MASK)}u);')
        self.define(self.name("depend"), lines, value, cost, True)

    def task_space(self, most=40):
        """The iterations of a taskloop. clang 19 makes a task for each number below 2^32 where there is no unsigned
        one, and asks in each whether there is any."""
        while True:
            space = self.space(most=most, kinds=("int", "unsigned", "long", "u64", "long long"))
            if space.values or self.signed(space.kind) or self.compiler == "gcc":
                return space

    def f_taskloop(self):
        space = self.task_space(most=60)
        constant = self.constant()
        expression, known, price, _ = self.body(60)
        value = sum(mix(v + constant) for v in space.values) + known * len(space.values)
        how = self.pick("", f" grainsize({self.rng.randint(1, 9)})", f" num_tasks({self.rng.randint(1, 9)})",
                        f" grainsize(strict: {self.rng.randint(1, 9)})",
                        f" num_tasks(strict: {self.rng.randint(1, 9)})")
        reduction = self.chance(0.4)
        clauses = how + self.task_clauses()
        lines = ["u64 x = 0;"]
        addend = f"mix((u64)i + {hex(constant)}u) + {expression}"
        if reduction:
            lines += [f"#pragma omp taskloop reduction(+: x){clauses}", space.head, f"    x += {addend};"]
        elif self.chance(0.3):
            lines += ["#pragma omp taskgroup", "{", f"#pragma omp taskloop shared(x) nogroup{clauses}", space.head,
                      f"    add(&x, {addend});", "}"]
        elif self.chance(0.3) and space.values:
            lines += [f"{space.kind} last = 0;", f"#pragma omp taskloop shared(x) lastprivate(last){clauses}",
                      space.head + " {", f"    add(&x, {addend});", "    last = i;", "}",
                      f'CHECK("lastprivate", last, ({space.kind}){self.literal(space.values[-1])});']
        elif self.chance(0.3):
            inner = self.rng.randint(0 if self.signed(space.kind) or self.compiler == "gcc" else 1, 5)
            value *= inner
            lines += [f"#pragma omp taskloop shared(x) collapse(2){clauses}", space.head,
                      f"for (int j = 0; j < {inner}; j++)", f"    add(&x, {addend});"]
        else:
            lines += [f"#pragma omp taskloop shared(x){clauses}", space.head, f"    add(&x, {addend});"]
        lines.append(f'CHECK("taskloop", x, {hex(value & MASK)}u);')
        self.define(self.name("taskloop"), lines, value, 20 + len(space.values) * (price + 5) * 3, True)

    def f_task_reduction(self):
        lines = ["u64 x = 0, y = 0;", "#pragma omp taskgroup task_reduction(+: x) task_reduction(^: y)", "{"]
        value, parity, cost = 0, 0, 10
        for _ in range(self.rng.randint(1, 5)):
            expression, known, price, _ = self.body(150)
            constant = self.constant()
            many = self.pick(1, 2, 5, 20) if price < 10 else 1
            lines += [f"    for (int t = 0; t < {many}; t++) {{",
                      f"#pragma omp task in_reduction(+: x) in_reduction(^: y){self.task_clauses(untied=False)}",
                      "        {", f"            x += {expression};", f"            y ^= mix(t + {hex(constant)}u);",
                      "        }", "    }"]
            value += known * many
            for t in range(many):
                parity ^= mix(t + constant)
            cost += many * (price + 5)
        if self.chance(0.4):
            many, constant = self.rng.randint(1, 20), self.constant()
            lines += ["#pragma omp taskloop in_reduction(+: x)" + self.pick("", " grainsize(3)", " num_tasks(4)"),
                      f"    for (int i = 0; i < {many}; i++)", f"        x += mix(i + {hex(constant)}u);"]
            value += sum(mix(i + constant) for i in range(many))
        lines += ["}", f'CHECK("task_reduction", x, {hex(value & MASK)}u);',
                  f'CHECK("task_reduction", y, {hex(parity)}u);']
        self.define(self.name("grouped"), lines, value, cost, True)

    def f_detach(self):
        many = self.rng.randint(1, 6)
        expression, known, price, _ = self.body(100)
        form = self.pick("later", "within", "by_task")
        lines = [f"omp_event_handle_t event[{many}];", "u64 x = 0;"]
        clauses = self.pick("", " untied", " priority(3)")
        if form == "within":
            lines += ["#pragma omp taskgroup", "{", f"    for (int t = 0; t < {many}; t++) {{",
                      "        omp_event_handle_t own;",
                      f"#pragma omp task detach(own) shared(x) firstprivate(t){clauses}", "        {",
                      f"            add(&x, {expression});", "            omp_fulfill_event(own);", "        }",
                      "    }",
                      "}"]
        else:
            # The event is stored when the construct is over, and no thread needs the task to have run.
            lines += ["#pragma omp taskgroup", "{", f"    for (int t = 0; t < {many}; t++) {{",
                      "        omp_event_handle_t own;",
                      f"#pragma omp task detach(own) shared(x) firstprivate(t){clauses}",
                      f"            add(&x, {expression});", "        event[t] = own;", "    }"]
            lines += [f"    for (int t = {many - 1}; t >= 0; t--) {{"]
            if form == "by_task":
                lines += ["#pragma omp task shared(event) firstprivate(t)"]
            lines += ["        omp_fulfill_event(event[t]);", "    }", "}"]
        lines.append(f'CHECK("detach", x, {hex(known * many & MASK)}u);')
        # An included task is waited for on the spot, by the one that would fulfil the event.
        lines = ["if (!omp_in_final() && PEER_HAS_DETACH) {", *self.indent(lines), "}"]
        if form == "within":  # it has no use
            lines.remove(f"    omp_event_handle_t event[{many}];")
        self.define(self.name("detached"), lines, known * many, many * (price + 10), True)

    def f_cancel_taskgroup(self):
        many, at = self.rng.randint(1, 30), self.rng.randint(0, 29)
        lines = ["u64 begun = 0, x = 0;", "#pragma omp taskgroup", "{", f"    for (int t = 0; t < {many}; t++) {{",
                 f"#pragma omp task shared(begun, x) firstprivate(t){self.task_clauses(final=False)}", "        {",
                 "            add(&begun, 1);", f"            if (t == {at}) {{", "#pragma omp cancel taskgroup",
                 "            }", "#pragma omp cancellation point taskgroup",
                 f"            compute({self.pick(1, 100, 1000)});", "            add(&x, 1);", "        }", "    }",
                 "}",
                 f"if (!omp_get_cancellation() || {at} >= {many}) {{", f'    CHECK("all tasks", begun, {many});',
                 f'    CHECK("all tasks", x, {many});', "}", f'CHECK("more than all tasks", begun <= {many}, 1);',
                 'CHECK("begun before done", x <= begun, 1);']
        self.define(self.name("cancelled"), lines, self.constant(), 10 + 4 * many, True)

    def f_task_locks(self):
        many, locks = self.rng.randint(2, 25), self.rng.randint(1, 3)
        nested = self.chance(0.4)
        kind, stem = ("omp_nest_lock_t", "nest_lock") if nested else ("omp_lock_t", "lock")
        hint = "(&lock[l]"
        if self.compiler == "clang" and self.chance(0.3):
            hint = f"_with_hint(&lock[l], {self.pick('omp_sync_hint_contended', 'omp_sync_hint_none')}"
        lines = [f"{kind} lock[{locks}];", f"u64 x[{locks}] = {{0}};", f"for (int l = 0; l < {locks}; l++)",
                 f"    omp_init_{stem}{hint});",
                 f"for (int t = 0; t < {many}; t++) {{",
                 f"#pragma omp task shared(lock, x) firstprivate(t){self.task_clauses()}", "    {",
                 f"        {kind} *mine = &lock[t % {locks}];"]
        if nested:
            lines += ["        omp_set_nest_lock(mine);",
                      '        CHECK("test_nest_lock", omp_test_nest_lock(mine), 2);']
        elif self.chance(0.3):
            lines += ["        while (!omp_test_lock(mine))", "            compute(10);"]
        else:
            lines += ["        omp_set_lock(mine);"]
        lines += [f"        u64 was = x[t % {locks}];", f"        compute({self.pick(0, 10, 200)});",
                  f"        x[t % {locks}] = was + 1;"]
        lines += [f"        omp_unset_{stem}(mine);"] * (2 if nested else 1)
        lines += ["    }", "}", "#pragma omp taskwait", f"for (int l = 0; l < {locks}; l++) {{",
                  f'    CHECK("lock", x[l], {many} / {locks} + (l < {many} % {locks}));',
                  f"    omp_destroy_{stem}(&lock[l]);", "}"]
        self.define(self.name("locked"), lines, self.constant(), 20 + 6 * many, True)

    # --- statements of a region: each is met by all of its threads, `r` counts the repetitions ---

    def p_loop(self, region):
        space = self.space(may_be_tight=True)
        clause, in_order, chunk = self.schedule(space)
        field, constant = self.name("sum"), self.constant()
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(60)
        count = len(space.values)
        value = sum(mix(v + constant) for v in space.values) + known * count
        region.sum_is(field, value)
        region.cost += count * (price + 2)
        last = self.chance(0.25) and count
        nowait = not last and self.chance(0.5)
        lines = ["{", "    u64 s = 0, before = 0;", "    int first = 1;", "    (void)before, (void)first;"]
        if last:
            variable = self.name("last")
            region.before.append(f"{space.kind} {variable} = 0;")
            clause += f" lastprivate({variable})"
        lines += [f"#pragma omp for{clause}{' nowait' if nowait else ''}", f"    {space.head} {{",
                  f"        s += mix((u64)i + {hex(constant)}u) + {expression};"]
        if last:
            lines.append(f"        {variable} = i;")
        if in_order and count:
            lines += [f"        CHECK(\"in order\", first || {space.index('i')} > before, 1);",
                      f"        before = {space.index('i')}, first = 0;"]
        if chunk and count:
            lines.append(f"        CHECK(\"static chunk\", {space.index('i')} / {chunk} % n, me);")
        lines += ["    }", f"    add(&F->{field}, s);"]
        if last:
            lines += [f'    CHECK("lastprivate", {variable}, ({space.kind}){self.literal(space.values[-1])});',
                      "#pragma omp barrier"]
        lines += ["}"]
        return lines, not last

    def p_same_threads(self, region):
        """Two loops with the same static schedule: iterations on the same threads, without a barrier between them."""
        count, constant = self.rng.randint(1, 60), self.constant()
        owners, field = self.name("data"), self.name("sum")
        chunk = self.pick("", f", {self.rng.randint(1, 9)}")
        region.fields += [f"u64 {owners}[{count}];", f"u64 {field};"]
        region.sum_is(field, sum(mix(constant + i) for i in range(count)))
        region.cost += 3 * count
        return [f"#pragma omp for schedule(static{chunk}) nowait", f"for (int i = 0; i < {count}; i++)",
                f"    F->{owners}[i] = mix({hex(constant)}u + i);", f"#pragma omp for schedule(static{chunk}) nowait",
                f"for (int i = 0; i < {count}; i++) {{", f"    add(&F->{field}, F->{owners}[i]);",
                f"    F->{owners}[i] = 0;", "}"], True

    def p_reduction(self, region):
        space = self.space(may_be_tight=True)
        clause, _, _ = self.schedule(space)
        x, y, top, product = (self.name("red") for _ in range(4))
        constant = self.constant()
        hashes = [mix(v + constant) for v in space.values]
        region.before += [f"u64 {x} = 5, {y} = 0, {top} = 0, {product} = 3;"]
        parity = 0
        for h in hashes:
            parity ^= h
        power = 3
        for h in hashes * region.repeats:
            power = power * (h | 1) & MASK
        region.after += [f'CHECK("reduction +", {x}, {hex((5 + region.repeats * sum(hashes)) & MASK)}u);',
                         f'CHECK("reduction ^", {y}, {hex(parity if region.repeats % 2 else 0)}u);',
                         f'CHECK("reduction max", {top}, {hex(max(hashes, default=0))}u);',
                         f'CHECK("reduction *", {product}, {hex(power)}u);']
        region.cost += 4 * len(hashes)
        nowait = self.pick("", " nowait")
        return [f"#pragma omp for reduction(+: {x}) reduction(^: {y}) reduction(max: {top}) reduction(*: {product})"
                f"{clause}{nowait}", space.head + " {", f"    u64 h = mix((u64)i + {hex(constant)}u);",
                f"    {x} += h;",
                f"    {y} ^= h;", f"    {top} = h > {top} ? h : {top};", f"    {product} *= h | 1;", "}",
                *(["#pragma omp barrier"] if nowait else [])], False

    def p_array_reduction(self, region):
        count, wide, constant = self.rng.randint(0, 60), self.rng.randint(1, 20), self.constant()
        array = self.name("red")
        clause, _, _ = self.schedule()
        region.before.append(f"u64 {array}[{wide}] = {{0}};")
        want = [0] * wide
        for i in range(count):
            want[i % wide] += mix(i + constant)
        for w in range(min(wide, 4)):
            region.after.append(f'CHECK("array reduction", {array}[{w}], {hex(want[w] * region.repeats & MASK)}u);')
        region.cost += 3 * count
        return [f"#pragma omp for reduction(+: {array}){clause}", f"for (int i = 0; i < {count}; i++)",
                f"    {array}[i % {wide}] += mix(i + {hex(constant)}u);"], False

    def p_scan(self, region):
        count, constant = self.rng.randint(1, 50), self.constant()
        x, array = self.name("red"), self.name("data")
        region.before += [f"u64 {x} = 0;"]
        region.fields.append(f"u64 {array}[{count}];")
        total, sums = 0, []
        for i in range(count):
            total = (total + mix(i + constant)) & MASK
            sums.append(total)
        lines = ["#pragma omp single", f"{x} = 0;", f"#pragma omp for reduction(inscan, +: {x})",
                 f"for (int i = 0; i < {count}; i++) {{", f"    {x} += mix(i + {hex(constant)}u);",
                 f"#pragma omp scan inclusive({x})", f"    F->{array}[i] = {x};", "}"]
        for i in {0, count // 2, count - 1}:
            region.after.append(f'CHECK("scan", F->{array}[{i}], {hex(sums[i])}u);')
        region.cost += 4 * count
        return lines, False

    def p_linear(self, region):
        count, step, start = self.rng.randint(1, 50), self.rng.randint(1, 9), self.rng.randint(-5, 5)
        j, field = self.name("linear"), self.name("sum")
        clause, _, chunk = self.schedule()
        region.before.append(f"int {j} = 0;")
        region.fields.append(f"u64 {field};")
        region.sum_is(field, sum((start + i * step) * (i + 1) for i in range(count)))
        region.cost += 2 * count
        return ["#pragma omp single", f"{j} = {start};", f"#pragma omp for linear({j}: {step}){clause}",
                f"for (int i = 0; i < {count}; i++) {{", f"    add(&F->{field}, (u64)(long long){j} * (u64)(i + 1));",
                f"    {j} += {step};", "}",
                f'CHECK("linear", {j}, {start + step * count});', "#pragma omp barrier"], False

    def p_conditional(self, region):
        """The last iteration that assigns."""
        count, every = self.rng.randint(1, 60), self.rng.randint(1, 7)
        variable = self.name("last")
        clause, _, _ = self.schedule(ordered=True)
        region.before.append(f"int {variable} = -1;")
        region.cost += 2 * count
        return [f"#pragma omp for lastprivate(conditional: {variable}){clause}",
                f"for (int i = 0; i < {count}; i++) {{",
                f"    if (i % {every} == 0)", f"        {variable} = i;", "}",
                f'CHECK("lastprivate conditional", {variable}, {(count - 1) // every * every});',
                "#pragma omp barrier"], False

    def p_collapse(self, region):
        field, constant = self.name("sum"), self.constant()
        depth = self.pick(2, 2, 3)
        kinds = ("int", "unsigned", "long", "u64")
        spaces = [self.space(most=(12, 7)[depth - 2], kinds=kinds, var=v) for v in "ijk"[:depth]]
        if self.chance(0.25):
            rows, extra = self.rng.randint(0, 9), self.rng.randint(0, 4)
            pairs = [(i, j) for i in range(rows) for j in range(i, rows + extra)]
            head = [f"for (int i = 0; i < {rows}; i++)", f"for (int j = i; j < {rows + extra}; j++)"]
            value = sum(mix(mix(i + constant) + j) for i, j in pairs)
            expression, total = f"mix(mix((u64)i + {hex(constant)}u) + (u64)j)", len(pairs)
        else:
            head = [s.head for s in spaces]
            values = [constant]
            expression, total = f"{hex(constant)}u", 1
            value = None
            for space, var in zip(spaces, "ijk"):
                values = [mix(h + v) for h in values for v in space.values]
                expression = f"mix({expression} + (u64){var})"
            value, total = sum(values), len(values)
        clause, _, _ = self.schedule()
        if "j = i" in head[1]:
            clause = ""  # those of dependent bounds have none
        region.fields.append(f"u64 {field};")
        region.sum_is(field, value)
        region.cost += 3 * total
        depth = len(head)
        nowait = self.pick("", " nowait")
        return [f"#pragma omp for collapse({depth}){clause}{nowait}", *head,
                f"    add(&F->{field}, {expression});"], True

    def p_ordered(self, region):
        space = self.space(may_be_tight=True)
        clause, _, _ = self.schedule(space, ordered=True)
        order, field, constant = self.name("order"), self.name("sum"), self.constant()
        region.fields += [f"u64 {order}[{region.repeats}];", f"u64 {field};"]
        expression, known, price, _ = self.body(40)
        count = len(space.values)
        region.sum_is(field, sum(mix(v + constant) for v in space.values) + known * count)
        region.cost += count * (price + 5)
        for r in range(min(region.repeats, 3)):
            region.after.append(f'CHECK("ordered", F->{order}[{r}], {count});')
        outside = self.chance(0.5)
        nowait = self.pick("", " nowait")
        lines = [f"#pragma omp for ordered{clause}{nowait}", space.head + " {"]
        addition = f"    add(&F->{field}, mix((u64)i + {hex(constant)}u) + {expression});"
        if outside and self.chance(0.5):
            lines.append(addition)
        skip = self.chance(0.15) and count  # an iteration without its ordered region: only order of the others
        if skip:
            region.after = [a for a in region.after if f"F->{order}[" not in a]
            lines += [f"    if ({space.index('i')} % 3 != 1) {{"]
        lines += ["#pragma omp ordered", "    {"]
        if skip:
            lines += [f"        CHECK(\"ordered\", F->{order}[r] <= {space.index('i')}, 1);",
                      f"        F->{order}[r] = {space.index('i')} + 1;"]
        elif count:
            lines += [f"        CHECK(\"ordered\", F->{order}[r], {space.index('i')});", f"        F->{order}[r]++;"]
        if not (outside and addition in lines) and not outside:
            lines.append("    " + addition)
        lines += ["    }"]
        if skip:
            lines += ["    }"]
            if not outside:
                lines.remove("    " + addition)
                outside = True
        if outside and addition not in lines:
            lines.append(addition)
        lines += ["}"]
        return lines, True

    def p_doacross(self, region):
        data = self.name("data")
        clause, _, _ = self.schedule(ordered=True)
        if self.chance(0.5):
            back = self.pick(1, 1, 2)
            while True:  # a sink in front of the first iteration is a value of the type, too
                # Of unsigned iterations GCC 12 makes wild numbers. clang 19 divides the distance without a sign: the
                # sink in front of the first iteration is a later one then, which waits for ever (also under libomp).
                space = self.space(most=30, kinds=("int", "long"))
                low, high = self.limits(space.kind)
                if all(low <= v - back * space.step <= high for v in space.values):
                    break
            count = len(space.values)
            region.fields.append(f"u64 {data}[{region.repeats}][{count + 1}];")
            values = []
            for k in range(count):
                values.append(mix((values[k - back] if k >= back else 0) + k))
            for k in {0, count // 2, count - 1} if count else ():
                region.after.append(f'CHECK("doacross", F->{data}[{region.repeats - 1}][{k}], {hex(values[k])}u);')
            sign, far = ("-", "+")[space.step < 0], back * abs(space.step)
            lines = [f"#pragma omp for ordered(1){clause}", space.head + " {", f"    const u64 at = {space.index('i')};"
                     if count else "    const u64 at = 0;",
                     f"#pragma omp ordered depend(sink: i {sign} {far})",
                     f"    F->{data}[r][at] = mix((at >= {back} ? F->{data}[r][at - {back}] : 0) + at);",
                     "#pragma omp ordered depend(source)", "}"]
            region.cost += 5 * count
            return lines, True
        rows, columns = self.rng.randint(1, 8), self.rng.randint(1, 8)
        region.fields.append(f"u64 {data}[{region.repeats}][{rows}][{columns}];")
        value = [[0] * columns for _ in range(rows)]
        for i in range(rows):
            for j in range(columns):
                value[i][j] = mix((value[i - 1][j] if i else 0) + (value[i][j - 1] if j else 0) + 1)
        region.after.append(f'CHECK("doacross", F->{data}[0][{rows - 1}][{columns - 1}], {hex(value[-1][-1])}u);')
        region.cost += 8 * rows * columns
        base = self.pick(0, -3, 2147483600)
        up, left = f"F->{data}[r][i - {base} - 1][j]", f"F->{data}[r][i - {base}][j - 1]"
        collapse = self.pick("", "", " collapse(2)")
        return [f"#pragma omp for{collapse} ordered(2){clause}", f"for (int i = {base}; i < {base + rows}; i++)",
                f"    for (int j = 0; j < {columns}; j++) {{",
                "#pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)",
                f"        F->{data}[r][i - {base}][j] = mix((i > {base} ? {up} : 0) + (j > 0 ? {left} : 0) + 1);",
                "#pragma omp ordered depend(source)", "    }"], True

    def p_sections(self, region):
        many, field = self.rng.randint(1, 7), self.name("sum")
        region.fields.append(f"u64 {field};")
        nowait = self.chance(0.4)
        last = not nowait and self.chance(0.4)
        value, clause, lines = 0, "", []
        if last:
            variable = self.name("last")
            region.before.append(f"int {variable} = -1;")
            clause = f" lastprivate({variable})"
        lines += [f"#pragma omp sections{clause}{' nowait' if nowait else ''}", "{"]
        for k in range(many):
            expression, known, price, _ = self.body(150)
            value += known
            region.cost += price + 2
            lines += ["#pragma omp section"] if k or self.chance(0.8) else []
            lines += ["    {", f"        add(&F->{field}, {expression});",
                      *([f"        {variable} = {k};"] if last else []),
                      "    }"]
        lines += ["}"]
        region.sum_is(field, value)
        if last:
            lines += [f'CHECK("lastprivate", {variable}, {many - 1});', "#pragma omp barrier"]
        return lines, not last

    def p_single(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(300)
        region.cost += price + 2
        if self.chance(0.4):
            constant = self.constant()
            region.sum_is(field, constant, each_thread=True)
            return ["{", "    u64 told = 0, other = 7;",
                    f"#pragma omp single copyprivate(told{self.pick('', ', other')})",
                    "    {", f'        CHECK("single", {expression}, {hex(known)}u);',
                    f"        told = {hex(constant)}u;",
                    "    }", "    (void)other;", f"    add(&F->{field}, told);", "}"], True
        region.sum_is(field, known)
        return [f"#pragma omp single{self.pick('', ' nowait')}", f"add(&F->{field}, {expression});"], True

    def p_masked(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(150)
        region.cost += price + 2
        if self.chance(0.5):
            region.sum_is(field, known)
            return [f"#pragma omp {self.pick('master', 'masked')}", f"add(&F->{field}, {expression});"], True
        who = self.rng.randint(0, 4)
        want = hex(known * region.repeats & MASK)
        region.after.append(f'CHECK("masked", F->{field}, n > {who} ? {want}u : 0);')
        return [f"#pragma omp masked filter({self.pick(who, f'{who} * always')})",
                f"add(&F->{field}, {expression});"], True

    def p_critical(self, region):
        field = self.name("plain")
        region.fields.append(f"u64 {field};")
        times = self.pick(1, 2, 10)
        # unnamed ones are one lock for the program: nothing that might want it is called
        named = self.chance(0.8)
        expression, known, price, _ = self.body(100, schedules=False) if named else ("1", 1, 1, False)
        hint = self.pick("", "", " hint(omp_sync_hint_contended)", " hint(omp_sync_hint_speculative)") if named else ""
        name = f"({self.name('lock_')})" if named else ""
        region.sum_is(field, known * times, each_thread=True)
        region.cost += 8 * times * (price + 3)
        return [f"for (int t = 0; t < {times}; t++) {{", f"#pragma omp critical {name}{hint}", "    {",
                f"        u64 was = F->{field};", f"        u64 more = {expression};",
                f"        F->{field} = was + more;",
                "    }", "}"], True

    def p_locks(self, region):
        lock, field, flag = self.name("lock"), self.name("plain"), self.chance(0.4)
        kind, stem = ("omp_nest_lock_t", "nest_lock") if flag else ("omp_lock_t", "lock")
        region.fields += [f"{kind} {lock};", f"u64 {field};"]
        region.before.append(f"omp_init_{stem}(&F->{lock});")
        region.after.append(f"omp_destroy_{stem}(&F->{lock});")
        times = self.pick(1, 2, 20)
        expression, known, price, _ = self.body(100, schedules=False)
        region.sum_is(field, known * times, each_thread=True)
        region.cost += 8 * times * (price + 3)
        take = [f"omp_set_{stem}(&F->{lock});"]
        if self.chance(0.3):
            take = [f"while (!omp_test_{stem}(&F->{lock}))", f"    compute({self.pick(0, 10, 500)});"]
        give = [f"omp_unset_{stem}(&F->{lock});"]
        if flag:
            take.append(f"omp_set_nest_lock(&F->{lock});")
            give *= 2
        return [f"for (int t = 0; t < {times}; t++) {{", *self.indent(take), f"    u64 was = F->{field};",
                f"    u64 more = {expression};", f"    F->{field} = was + more;", *self.indent(give), "}"], True

    def p_atomic(self, region):
        form = self.pick("ticket", "type", "max", "compare", *(["long double"] if self.compiler == "gcc" else []))
        field = self.name("sum")
        if form == "ticket":
            times, next_one = self.pick(1, 3, 20), self.name("next")
            region.fields += [f"u64 {field};", f"u64 {next_one};"]
            region.after.append(f'CHECK("atomic capture", F->{field}, {times * region.repeats}u * n * '
                                f"({times * region.repeats}u * n - 1) / 2);")
            order = self.pick("", " seq_cst", " acq_rel", " relaxed")
            return [f"for (int t = 0; t < {times}; t++) {{", "    u64 mine;", f"#pragma omp atomic capture{order}",
                    f"    mine = F->{next_one}++;", f"    add(&F->{field}, mine);", "}"], True
        if form == "long double":
            region.fields.append(f"long double {field};")
            region.after.append(f'CHECK("atomic long double", F->{field}, {2 * region.repeats}u * n);')
            return ["#pragma omp atomic", f"F->{field} += 2;"], True
        if form == "type":
            kind = self.pick("unsigned char", "unsigned short", "int", "unsigned", "long", "float", "double")
            region.fields.append(f"{kind} {field};")
            region.after.append(f'CHECK("atomic {kind}", F->{field}, ({kind})({3 * region.repeats}u * n));')
            return [f"#pragma omp atomic update{self.pick('', ' seq_cst')}", f"F->{field} = F->{field} + 3;"], True
        region.fields.append(f"u64 {field};")
        if form == "max":
            region.after.append(f'CHECK("critical max", F->{field}, n + {region.repeats - 1});')
            return [f"#pragma omp critical (max{field})", f"if (F->{field} < (u64)(me + r + 1))",
                    f"    F->{field} = (u64)(me + r + 1);"], True
        region.after.append(f'CHECK("atomic compare", F->{field}, n + {region.repeats - 1});')
        return ["{", "    u64 mine = (u64)(me + r + 1);", "#pragma omp atomic compare",
                f"    if (F->{field} < mine) {{ F->{field} = mine; }}", "}"], True

    def p_barrier(self, region):
        data, far = self.name("data"), self.rng.randint(1, 7)
        region.fields.append(f"u64 {data}[MOST];")
        region.cost += 16
        return [f"F->{data}[me] = mix((u64)me + (u64)r * 77);", "#pragma omp barrier",
                f'CHECK("barrier", F->{data}[(me + {far}) % n], mix((u64)((me + {far}) % n) + (u64)r * 77));',
                "#pragma omp barrier"], True

    def p_call(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(300)
        region.cost += 6 * price
        region.sum_is(field, known, each_thread=True)
        return [f"add(&F->{field}, {expression});"], True

    def p_tasks(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        lines, value, cost = self.some_tasks(f"&F->{field}", 800)
        region.cost += 6 * cost
        who = self.pick("all", "single", "single nowait", "master", "sections")
        region.sum_is(field, value, each_thread=who == "all")
        if who == "all":
            code = ["{", *self.indent(lines), "}"]
        elif who == "sections":
            code = ["#pragma omp sections", "{", "#pragma omp section", "    {", *self.indent(lines, 2), "    }", "}"]
        else:
            code = [f"#pragma omp {who}", "{", *self.indent(lines), "}"]
        code += self.pick([], ["#pragma omp barrier"], ["#pragma omp taskwait"])
        return code, True

    def p_threadprivate(self, region):
        name = self.name("own")
        self.text += [f"static u64 {name};", f"#pragma omp threadprivate({name})"]
        constant = self.constant()
        lines = []
        if self.chance(0.5):
            region.clauses.append(f"copyin({name})")
            region.before.append(f"{name} = {hex(constant)}u;")
            lines += [f'CHECK("copyin", r || {name} == {hex(constant)}u, 1);', "#pragma omp barrier"]
        expression, known, price, _ = self.body(60)
        region.cost += 6 * price
        return [*lines, f"{name} = mix((u64)me + {hex(constant)}u);", "#pragma omp barrier",
                f'CHECK("call", {expression}, {hex(known)}u);',
                f'CHECK("threadprivate", {name}, mix((u64)me + {hex(constant)}u));', "#pragma omp barrier"], True

    def p_settings(self, region):
        expression, known, price, _ = self.body(60)
        region.cost += 6 * price
        return ["{", "    int was = omp_get_max_threads(), levels = omp_get_max_active_levels();",
                "    omp_set_num_threads(me % 3 + 1);",
                *self.pick(["#pragma omp barrier"], []),
                f'    CHECK("call", {expression}, {hex(known)}u);',
                '    CHECK("num_threads", omp_get_max_threads(), me % 3 + 1);',
                "    omp_set_num_threads(was);", '    CHECK("levels", omp_get_max_active_levels(), levels);', "}"], True

    def p_run_schedule(self, region):
        field, constant, count = self.name("sum"), self.constant(), self.rng.randint(1, 80)
        region.fields.append(f"u64 {field};")
        region.sum_is(field, sum(mix(i + constant) for i in range(count)))
        region.cost += 3 * count
        kind = self.pick("omp_sched_static", "omp_sched_dynamic", "omp_sched_guided", "omp_sched_auto",
                         "(omp_sched_t)(omp_sched_dynamic | omp_sched_monotonic)")
        return [f"omp_set_schedule({kind}, {self.rng.randint(0, 9)});", "#pragma omp for schedule(runtime) nowait",
                f"for (int i = 0; i < {count}; i++)", f"    add(&F->{field}, mix(i + {hex(constant)}u));"], True

    def p_cancel_for(self, region):
        space = self.space(kinds=("int", "unsigned", "long", "u64", "long long"))
        clause, _, _ = self.schedule(space)
        count = len(space.values)
        at = self.rng.randint(0, max(count, 1))
        field = self.name("begun")
        region.fields.append(f"u64 {field}[{count + 1}];")
        region.cost += 4 * count
        limit = region.repeats
        region.after += [f"for (u64 k = 0; k < {count}; k++) {{",
                         f'    CHECK("cancelled for", F->{field}[k] <= {limit}, 1);',
                         f'    CHECK("for", omp_get_cancellation() && {at} < {count} ? {limit} : F->{field}[k], '
                         f"{limit});",
                         "}"]
        point = ["#pragma omp cancellation point for"] if self.chance(0.7) else []
        return [f"#pragma omp for{clause}", space.head + " {", *point,
                f"    add(&F->{field}[{space.index('i') if count else 0}], 1);",
                f"    if ({space.index('i') if count else 0} == {at}) {{", "#pragma omp cancel for", "    }",
                f"    compute({self.pick(0, 10, 100)});", "}"], True

    def p_cancel_sections(self, region):
        many = self.rng.randint(1, 6)
        at, field = self.rng.randrange(many), self.name("begun")
        region.fields.append(f"u64 {field};")
        lines = ["#pragma omp sections", "{"]
        for k in range(many):
            lines += ["#pragma omp section", "    {", f"        add(&F->{field}, 1);"]
            if k == at:
                lines += [f"        if (always == {self.pick(0, 1)}) {{", "#pragma omp cancel sections", "        }"]
            else:
                lines += ["#pragma omp cancellation point sections"]
            lines += ["    }"]
        lines += ["}"]
        want = many * region.repeats
        region.after += [f'CHECK("cancelled sections", F->{field} <= {want}, 1);',
                         f'CHECK("sections", omp_get_cancellation() ? {want} : F->{field}, {want});']
        return lines, True

    STATEMENTS = {"loop": 10, "same_threads": 2, "reduction": 3, "array_reduction": 1, "scan": 1, "linear": 1,
                  "conditional": 1, "collapse": 3, "ordered": 4, "doacross": 3, "sections": 4, "single": 5, "masked": 2,
                  "critical": 3, "locks": 3, "atomic": 3, "barrier": 3, "call": 3, "tasks": 5, "threadprivate": 1,
                  "settings": 1, "run_schedule": 1, "cancel_for": 2, "cancel_sections": 1}

    def statement(self, region):
        # clang 19 computes inscan from memory that it has not written, and forgets which thread assigned last
        left_out = ("scan", "conditional") if self.compiler == "clang" else ()
        names = [n for n in self.STATEMENTS if (not self.only or n in self.only) and n not in left_out]
        names = names or ["loop"]
        name = self.rng.choices(names, [self.STATEMENTS[n] for n in names])[0]
        lines, may_be_orphan = getattr(self, "p_" + name)(region)
        if may_be_orphan and self.chance(0.4):
            orphan = f"orphan{self.number()}"
            self.orphans.append((orphan, region.name, lines))
            return [f"{orphan}(F, me, n, r);"]
        return lines

    # --- regions ---

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
