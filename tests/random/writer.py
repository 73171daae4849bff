"""What every piece of a random program is made of: the program's head, its functions and regions while they are
written, small choices, loops, calls."""
import random

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


class Writer:
    """Random choices; the text, and the functions that are written so far."""

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
