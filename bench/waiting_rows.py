"""What waiting.py runs and shows: a row is a program with its arguments, and what of its output is the row's.

A program prints lines of JSON with "bench", a name. Either its line has "first", "mean" and "cpu" (regions.h): then
`line` may be left out. Or the program prints lines as sample.h does: then `line` names the one whose
median is the row's time, and `cpu` the one whose median is the row's processor time; there is no first region."""

from dataclasses import dataclass

SIZES = (2, 3, 4, 8, 16)
QUICK = ("2", "4", "16", "4x4", "2r4")


@dataclass(frozen=True)
class Row:
    group: str
    title: str
    shape: str
    command: tuple  # the program's name, and its arguments
    line: str = ""
    cpu: str = ""
    clang: bool = False
    regions: int = 0  # where the program takes their number as its last argument
    quick: bool = False

    @property
    def name(self):
        return f"{self.group}: {self.title}{', clang' if self.clang else ''}, {self.shape}"

    def arguments(self, folder, regions=0):
        """The command; regions: so many instead of the row's own."""
        program = folder / (self.command[0] + ("_clang" if self.clang else ""))
        number = [str(regions or self.regions)] if self.regions else []
        return [program, *self.command[1:], *number]


def waits(group, title, kind, regions, shapes=SIZES, clang=()):
    """Rows of waits.c; `clang`: shapes that are measured as built by clang too."""
    for shape in map(str, shapes):
        for by_clang in (False, True) if shape in map(str, clang) else (False,):
            yield Row(group, title, shape, ("waits", kind, shape), clang=by_clang, regions=regions,
                      quick=shape in QUICK and not by_clang)


def products(group, title, regions, shapes=SIZES, clang=()):
    """Rows of eigen_product.cc."""
    for shape in map(str, shapes):
        for by_clang in (False, True) if shape in map(str, clang) else (False,):
            yield Row(group, title, shape, ("eigen_product", shape), clang=by_clang, regions=regions,
                      quick=shape in QUICK and not by_clang)


def lines(group, shape, command, names, cpu="", quick=False):
    """Rows of a program that prints lines as sample.h does: one for each name of a line. `cpu` is what a name has
    behind it where it is the processor time's."""
    for name in names:
        yield Row(group, name, shape, tuple(command), line=name, cpu=name + cpu if cpu else "", quick=quick)


BLOCKS, LAST, FLAG, SPIN = "a call that blocks", "for the last member", "by a flag", "by spinning"
NESTED, ROOTS = "nested, inner members", "two threads of the program's"
ROWS = [
    *waits(BLOCKS, "2 ms read of a pipe", "read_pipe", 40, clang=[4]),
    *waits(BLOCKS, "2 ms read of a timer", "read_timer", 40),
    *waits(BLOCKS, "2 ms usleep", "usleep", 40, clang=[4]),
    *waits(BLOCKS, "2 ms nanosleep", "nanosleep", 40),
    *waits(BLOCKS, "2 ms poll", "poll", 40),
    *waits(BLOCKS, "uneven files", "files", 20, [4, 8, 16]),
    *waits(LAST, "pthread_cond_wait", "cond", 200, clang=[4]),
    *waits(LAST, "sem_wait", "sem", 200),
    *waits(LAST, "pthread_barrier_wait", "barrier", 200),
    *waits(FLAG, "the next member's", "later", 100, clang=[4]),
    *waits(FLAG, "ten steps (NAS LU)", "pipeline", 20),
    *waits(SPIN, "until all are there", "together", 50, clang=[4]),
    *waits(SPIN, "the same, sched_yield", "yield", 200),
    *waits(SPIN, "ten barriers (llama.cpp)", "spin_barrier", 10),
    *products(SPIN, "Eigen's product", 30, clang=[4, 16]),
    *waits(NESTED, "spin until all are there", "together", 50, ["2x2", "2x4", "2x8", "4x4"]),
    *waits(NESTED, "2 ms usleep", "usleep", 40, ["2x2", "2x4", "2x8", "4x4"]),
    *products(NESTED, "Eigen's product", 20, ["4x4", "8x4", "16x4"]),
    *waits(ROOTS, "2 ms usleep", "usleep", 40, ["2r4"]),
    *waits(ROOTS, "pthread_cond_wait", "cond", 200, ["2r4"]),
    *waits(ROOTS, "spin until all are there", "together", 50, ["2r4"]),
    *products(ROOTS, "Eigen's product", 20, ["2r4"]),
    *(Row("after members have asked or set", kind, n, ("asks", kind, n), line="region, after", quick=True)
      for kind in ("nothing", "number", "name", "processors", "nice", "set-name", "set-processors")
      for n in ("2", "4")),
    *lines("after a pause", "2", ["sparse", "60", "1000"], [f"sparse, {us} us {how}" for how in ("asleep", "computing")
           for us in (200, 1000, 5000, 20000)], cpu=", burnt", quick=True),
    *lines("threads that come and go", "4", ["come_and_go", "4"], [f"come and go, {beside}, {n} at once"
           for beside in ("alone", "beside") for n in (1, 4)], cpu=", cpu", quick=True),
]
