"""gdb sees user-level threads.

    info psthreads                    every user-level thread: its name, its state, what it waits for, its OpenMP
                                      number, where it is
    psthread N                        go there: bt, up, down, frame, print show that thread's stack
    psthread                          which one is selected
    psthread off                      back to the kernel thread
    psthread apply N...|all COMMAND   the command in each of them

gdb loads this by itself where it stands beside the library, under its name with -gdb.py at the end, in a folder that
gdb's auto-load safe-path allows; else: source FILE. Live processes and core dumps alike; the library may be stripped:
offsets come from its tables (ps_debug_layout, ort_debug_layout). Nothing is written into the process: a thread that
does not run is shown through an unwinder that takes the registers of frame 0's caller from the saved context, so frame
0 is the kernel thread's and hidden."""

import struct

import gdb
import gdb.unwinder

MAGIC = b"psthreads-layout"
VERSION = 1
NAMES = 40  # longest name of a function in the list
NAME_BYTES = 32  # of a thread's name: PSTHREAD_NAME_MAX + 1


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def pointer(address):
    return struct.unpack("<Q", read(address, 8))[0]


def u32(address):
    return struct.unpack("<I", read(address, 4))[0]


def u16(address):
    return struct.unpack("<H", read(address, 2))[0]


def u8(address):
    return read(address, 1)[0]


class NoRuntime(gdb.GdbError):
    pass


def load_table(symbol):
    """The table as {name: number}; None where there is no such symbol."""
    try:
        address = int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))
        head = read(address, 24)
    except gdb.error:
        return None
    if head[:16] != MAGIC:
        return None
    version, size = struct.unpack("<II", head[16:24])
    if version != VERSION:
        raise NoRuntime(f"{symbol} is of version {version}, this script knows {VERSION}")
    table, address = {}, address + 24
    while True:
        field = read(address, size)
        name = field[: size - 8].split(b"\0")[0].decode()
        if not name:
            return table
        table[name] = struct.unpack("<Q", field[size - 8 : size])[0]
        address += size


class Thread:
    """One user-level thread as it was when the process stopped. kernel: the kernel thread that runs it; saved: the
    stack pointer of its saved context; neither: it has not begun."""

    def __init__(self, address, state, kernel=None, saved=None):
        self.address, self.state, self.kernel, self.saved = address, state, kernel, saved


class Runtime:
    def __init__(self):
        self.at = load_table("ps_debug_layout")
        if self.at is None:
            raise NoRuntime("no psthreads runtime with user-level threads is loaded here")
        self.ort = load_table("ort_debug_layout")
        self.waits = {value: name[5:] for name, value in self.at.items() if name.startswith("wait.")}
        self.registers = {n[4:]: v for n, v in self.at.items() if n.startswith("reg.")}
        self.library = gdb.solib_name(int(gdb.parse_and_eval("(unsigned long)&ps_debug_layout")))

    def vps(self):
        base = self.at["&ps_rt"]
        for i in range(u32(base + self.at["ps_runtime.table_size"])):
            vp = pointer(base + self.at["ps_runtime.vp"] + 8 * i)
            if vp:
                yield i, vp

    def stacks(self):
        chunk = self.at["&uth_registry"]
        while chunk:
            slots = read(chunk + self.at["uth_chunk.slot"], 8 * self.at["uth_chunk.slots"])
            for (uth,) in struct.iter_unpack("<Q", slots):
                if uth:
                    yield uth
            chunk = pointer(chunk + self.at["uth_chunk.next"])

    def queue(self, queue):
        """(kind, item) of everything that is ready there."""
        head = queue + self.at["ps_queue.items"]
        node = pointer(head)
        while node and node != head:
            item = node - self.at["ps_item.link"]
            yield u8(item + self.at["ps_item.kind"]), item
            node = pointer(node + self.at["ps_list.next"])

    def waits_for(self, uth):
        kind = self.waits.get(u32(uth + self.at["uth.wait"] + self.at["uth_wait.kind"]), "something")
        what = pointer(uth + self.at["uth.wait"] + self.at["uth_wait.object"])
        name = {"word": "OpenMP wait on", "team_barrier": "barrier of team",
                "team_end": "members of team"}.get(kind, kind)
        return f"{name} {what:#x}"

    def identity(self, thread):
        member = u8(thread + self.at["psthread.flags"]) & self.at["flag.member"]
        begun = member or pointer(thread + self.at["psthread.uth"])
        local = pointer(thread + self.at["psthread.local"]) if begun else 0  # its argument stands there
        if not self.ort or not local:
            return ""
        team = pointer(local + self.ort["ort_thread.team"])
        number = u32(local + self.ort["ort_thread.id"])
        return f"{number} of {u32(team + self.ort['ort_team.n'])}, level {u32(team + self.ort['ort_team.level'])}"

    def name(self, thread):
        """What psthread_setname was given; it stands on the stack descriptor: a thread that has not begun has none."""
        uth = pointer(thread + self.at["psthread.uth"])
        if not uth or "uth.name" not in self.at:
            return ""
        return read(uth + self.at["uth.name"], NAME_BYTES).split(b"\0")[0].decode(errors="replace")

    def threads(self):
        """Every thread, and lines about what is ready and no thread yet."""
        at, found, notes = self.at, {}, []
        kernel = {t.ptid[1]: t for t in gdb.selected_inferior().threads()}

        def ready(where, queue):
            for kind, item in self.queue(queue):
                if kind == at["kind.team"]:
                    n, taken = u32(item + at["ps_team.n"]), u32(item + at["ps_team.next"])
                    notes.append(f"{where}: team {item:#x}, {max(n - taken, 0)} of its {n} members not begun")
                    continue
                uth = pointer(item + at["psthread.uth"])
                saved = pointer(uth + at["uth.ctx"]) if uth else None
                found[item] = Thread(item, f"ready, {where}", saved=saved)

        for i, vp in self.vps():
            ready(f"queue of vp {i}", vp + at["vp.queue"])
            pinned = pointer(vp + at["vp.pinned"])
            if pinned and pinned != at.get("pinned.offline"):
                uth = pointer(pinned + at["psthread.uth"])
                found[pinned] = Thread(pinned, f"ready, bound to vp {i}", saved=pointer(uth + at["uth.ctx"]))
        if u8(at["&ps_rt"] + at["ps_runtime.has_global"]):
            ready("global queue", at["&ps_rt"] + at["ps_runtime.global"])
        natives = [vp + at["vp.native"] for _, vp in self.vps()]
        for uth in [*natives, *self.stacks()]:
            thread = pointer(uth + at["uth.wait"] + at["uth_wait.thread"])
            if thread and thread not in found and not u32(uth + at["uth.running"]):
                found[thread] = Thread(thread, f"waits: {self.waits_for(uth)}", saved=pointer(uth + at["uth.ctx"]))
        for i, vp in self.vps():
            current = pointer(vp + at["vp.current"])
            tid = u32(vp + at["vp.tid"])
            if u32(vp + at["vp.attached"]) and current:
                found[current] = Thread(current, f"runs on vp {i} (LWP {tid})", kernel=kernel.get(tid))
        for thread in found.values():
            if u8(thread.address + at["psthread.flags"]) & at["flag.root"]:
                thread.state = f"root, {thread.state}"
        return list(found.values()), notes


class Numbers:
    """A thread keeps the number under which it was first listed."""

    def __init__(self):
        self.of = {}

    def number(self, address):
        key = (gdb.selected_inferior().num, address)
        return self.of.setdefault(key, 1 + sum(1 for k in self.of if k[0] == key[0]))


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class SavedContext(gdb.unwinder.Unwinder):
    """While a thread is selected: the caller of the innermost frame is that of cpu_switch in its saved context."""

    def __init__(self):
        super().__init__("psthreads")
        self.selected = None
        self.innermost = None

    def __call__(self, pending):
        if self.selected is None:
            return None
        sp_name, pc_name = stack_registers()
        sp, pc = int(pending.read_register(sp_name)), int(pending.read_register(pc_name))
        if (sp, pc) != tuple(self.innermost[:2]):
            return None
        saved, registers = self.selected.saved, runtime().registers
        info = pending.create_unwind_info(FrameId(gdb.Value(saved), gdb.Value(self.innermost[1])))
        for name, offset in registers.items():
            if name != "cfa":
                info.add_saved_register(name, gdb.Value(pointer(saved + offset)).cast(pending.read_register(name).type))
        sp = gdb.Value(saved + registers["cfa"])
        info.add_saved_register(sp_name, sp.cast(pending.read_register(sp_name).type))
        return info


class HideInnermost:
    """bt: without the kernel thread's own frame 0 while a saved context is shown."""

    def __init__(self):
        self.name, self.priority, self.enabled = "psthreads", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        if context.selected is None:
            return frames
        return (f for f in frames if f.inferior_frame().level() != 0)


def stack_registers():
    return ("rsp", "rip") if "rip" in runtime().registers else ("sp", "pc")


cache = {}
numbers = Numbers()
context = SavedContext()
gdb.unwinder.register_unwinder(None, context, replace=True)
HideInnermost()


def runtime():
    key = gdb.selected_inferior().num, gdb.selected_inferior().pid
    if key not in cache:
        cache[key] = Runtime()
    return cache[key]


def leave():
    if context.selected is not None:
        context.selected = None
        gdb.invalidate_cached_frames()


def enter(thread):
    """Shows the thread; False: there is no stack to show."""
    leave()
    if thread.kernel is not None:
        thread.kernel.switch()
        return True
    if not thread.saved or not runtime().registers:
        return False
    frame = gdb.newest_frame()
    context.innermost = tuple(int(frame.read_register(r)) for r in stack_registers())
    context.selected = thread
    gdb.invalidate_cached_frames()
    older = gdb.newest_frame().older()
    if older is None:
        leave()
        return False
    older.select()
    return True


def function_at(pc):
    text = gdb.execute(f"info symbol {pc:#x}", to_string=True)
    return text.split(" in section")[0].strip() if "in section" in text else f"{pc:#x}"


def whereabouts(thread):
    """The innermost frame outside of the runtime, and the runtime's function that it called."""
    if not enter(thread):
        at = runtime().at
        member = u8(thread.address + at["psthread.flags"]) & at["flag.member"]
        function = pointer(thread.address + at["psthread.member_fn" if member else "psthread.fn"])
        return f"has not begun: {function_at(function)}"
    called, frame = "", gdb.selected_frame()
    while frame is not None and frame.is_valid():
        pc = frame.pc() - (1 if frame.level() else 0)
        if gdb.solib_name(pc) != runtime().library and not (thread.kernel and "libc.so" in str(gdb.solib_name(pc))):
            name = frame.name() or function_at(pc)
            line = frame.find_sal()
            place = f" at {line.symtab.filename.split('/')[-1]}:{line.line}" if line.symtab else ""
            return f"{name[:NAMES]}{place}{called}"
        called = f" in {frame.name()}" if frame.name() else ""
        try:
            frame = frame.older()
        except gdb.error:
            break
    return "the runtime"


def quoted(thread):
    name = runtime().name(thread.address)
    return f' "{name}"' if name else ""


def all_threads():
    threads, notes = runtime().threads()
    for t in threads:
        t.number = numbers.number(t.address)
    return sorted(threads, key=lambda t: t.number), notes


class Kept:
    """What was selected, before and after."""

    def __enter__(self):
        self.thread, self.selected = gdb.selected_thread(), context.selected
        leave()
        self.frame = gdb.selected_frame() if self.thread else None

    def __exit__(self, *_):
        leave()
        if self.thread is not None and self.thread.is_valid():
            self.thread.switch()
        if self.selected is not None:
            enter(self.selected)
        elif self.frame is not None and self.frame.is_valid():
            self.frame.select()


def print_table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        print("  ".join([*(c.ljust(w) for c, w in zip(row, widths)), row[-1]]))


def without_empty(rows, column):
    """The table without that column, where nobody has anything in it."""
    return rows if any(row[column] for row in rows[1:]) else [row[:column] + row[column + 1:] for row in rows]


class InfoPsthreads(gdb.Command):
    """Lists user-level threads: number, address, name, state, OpenMP thread number, team size and level, and where
    each is."""

    def __init__(self):
        super().__init__("info psthreads", gdb.COMMAND_STATUS)

    def invoke(self, _argument, _from_tty):
        marked = context.selected.address if context.selected else None
        with Kept():
            threads, notes = all_threads()
            rows = [("  Id", "Thread", "Name", "State", "OpenMP", "Where")]
            for t in threads:
                mark = "*" if t.address == marked else " "
                rows.append((f"{mark} {t.number}", f"{t.address:#x}", runtime().name(t.address), t.state,
                             runtime().identity(t.address), whereabouts(t)))
            print_table(without_empty(rows, 2))
            for note in notes:
                print(note)
            at = runtime().at
            idle = [str(i) for i, vp in runtime().vps() if u32(vp + at["vp.attached"])
                    and not pointer(vp + at["vp.current"])]
            if idle:
                print("virtual processors without a thread:", ", ".join(idle))


class Psthread(gdb.Command):
    """psthread N: select a user-level thread; psthread off: none; psthread apply N...|all COMMAND: in each of them."""

    def __init__(self):
        super().__init__("psthread", gdb.COMMAND_RUNNING)

    def invoke(self, argument, _from_tty):
        words = argument.split()
        if not words:
            print(f"psthread {context.selected.number} is selected" if context.selected else "no psthread is selected")
        elif words[0] == "off":
            leave()
        elif words[0] == "apply":
            self.apply(words[1:])
        else:
            thread = self.find(words[0])
            if not enter(thread):
                raise gdb.GdbError(f"psthread {thread.number} has no stack to show ({thread.state})")
            print(f"[psthread {thread.number}{quoted(thread)} ({thread.state})]")
            gdb.execute("frame")

    @staticmethod
    def find(word):
        for t in all_threads()[0]:
            if word == str(t.number):
                return t
        raise gdb.GdbError(f"no psthread {word}; info psthreads lists them")

    def apply(self, words):
        chosen = []
        while words and (words[0].isdigit() or words[0] == "all"):
            chosen += all_threads()[0] if words[0] == "all" else [self.find(words[0])]
            words = words[1:]
        if not chosen or not words:
            raise gdb.GdbError("psthread apply: wanted numbers or all, then a command")
        with Kept():
            for t in chosen:
                print(f"\npsthread {t.number}{quoted(t)} ({t.state}) {runtime().identity(t.address)}".rstrip() + ":")
                if enter(t):
                    gdb.execute(" ".join(words))
                else:
                    print("no stack to show")


def forget(_event):
    context.selected = None
    if isinstance(_event, (gdb.ExitedEvent, gdb.NewObjFileEvent)):
        cache.clear()


gdb.events.cont.connect(forget)
gdb.events.exited.connect(forget)
gdb.events.new_objfile.connect(forget)
InfoPsthreads()
Psthread()
