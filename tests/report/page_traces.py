"""Traces of runs that never were, in the format that psthreads-report pftrace writes.

A Trace has text of Perfetto's messages; protoc-c makes the file of it. Each slice has a name of its own, as a timeline
has it, and numbers for names and places are the sequence's."""

import random
import subprocess

MS, US = 1_000_000, 1000


def quoted(text):
    """As protobuf's text format has a string."""
    data = text.encode()
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:03o}" for b in data) + '"'


class Trace:
    def __init__(self, command, vps, start=1_000_000_000, rank=None, mpi_init_ns=0, lost=0, pid=4711):
        self.start, self.vps, self.packets, self.last = start, vps, [], start
        self.numbers, self.task_ns = {}, 0
        self.known = [set() for _ in range(vps + 3)]
        self.process = 100 * pid
        self.track_packet(self.process, f"process {{ pid: {pid} process_name: {quoted(command.split()[0])} }}", 1, True)
        for vp in range(vps):
            name = quoted(f"vp {vp} (main)" if vp == 0 else f"vp {vp}")
            self.track_packet(self.process + 1 + vp, f"name: {name} thread {{ pid: {pid} tid: {pid + vp} }} "
                              f"parent_uuid: {self.process} sibling_order_rank: {vp}", 2 + vp, True)
        self.track_packet(self.process + 1 + vps, f'name: "watchdog" parent_uuid: {self.process} '
                          f"sibling_order_rank: {vps}", 2 + vps, True)
        self.facts = {"command": command, "lost": lost, "vps": vps, "processors": 2, "version": "0.1.0"}
        if rank is not None:
            self.facts |= {"rank": rank, "mpi_init_ns": mpi_init_ns}

    def track_packet(self, uuid, more, sequence, first=False):
        flags = " sequence_flags: 1" if first else ""
        self.packets.append(f"packet {{ trusted_packet_sequence_id: {sequence}{flags} "
                            f"track_descriptor {{ uuid: {uuid} {more} }} }}")

    def number(self, vp, kind, text, made):
        """The number of a text in the track's sequence, and the message that tells it, once."""
        key = (kind, text)
        iid = self.numbers.setdefault(key, len(self.numbers) + 1)
        if key not in self.known[vp + 1]:
            self.known[vp + 1].add(key)
            made.append(f"{kind} {{ iid: {iid} {text} }}")
        return iid

    def event(self, vp, time, event_type, name="", category="", place=None, /, **annotations):
        self.last = max(self.last, time)
        made, parts = [], [f"type: {event_type} track_uuid: {self.process + 1 + vp}"]
        if name:
            parts.append(f"name_iid: {self.number(vp, 'event_names', 'name: ' + quoted(name), made)}")
            parts.append(f"category_iids: {self.number(vp, 'event_categories', f'name: {quoted(category)}', made)}")
        if place:
            file, line, function = place
            text = f"file_name: {quoted(file)} line_number: {line} function_name: {quoted(function)}"
            parts.append(f"source_location_iid: {self.number(vp, 'source_locations', text, made)}")
        for key, value in annotations.items():
            iid = self.number(vp, "debug_annotation_names", f"name: {quoted(key)}", made)
            kind = ("bool_value" if isinstance(value, bool) else "string_value" if isinstance(value, str)
                    else "uint_value")
            value = quoted(value) if isinstance(value, str) else str(value).lower()
            parts.append(f"debug_annotations {{ name_iid: {iid} {kind}: {value} }}")
        data = f"interned_data {{ {' '.join(made)} }} " if made else ""
        self.packets.append(f"packet {{ timestamp: {time} trusted_packet_sequence_id: {vp + 2} sequence_flags: 2 "
                            f"{data}track_event {{ {' '.join(parts)} }} }}")

    def begin(self, vp, time, name, category, place=None, **annotations):
        self.event(vp, time, "TYPE_SLICE_BEGIN", name, category, place, **annotations)

    def end(self, vp, time):
        self.event(vp, time, "TYPE_SLICE_END")

    def slice(self, vp, begin, end, name, category, place=None, **annotations):
        self.begin(vp, begin, name, category, place, **annotations)
        self.end(vp, end)

    def mark(self, vp, time, name, /, **annotations):
        self.event(vp, time, "TYPE_INSTANT", name, "sched", None, **annotations)

    def write(self, protoc, proto, file):
        self.event(-1, self.last, "TYPE_INSTANT", "recording", "recording", None, events=len(self.packets),
                   wall_ns=self.last - self.start, **self.facts)
        with open(file, "wb") as out:
            subprocess.run([protoc, f"--proto_path={proto}", "--encode=perfetto.Trace", "perfetto.proto"],
                           input="\n".join(self.packets).encode(), stdout=out, check=True)
        return file


def loop_region(trace, time, region, lengths, place, threads=None):
    """A region with a loop of unequal parts: the others wait at its end. The time behind it."""
    end, label = time + max(lengths) + 40 * US, f"{place[0].split('/')[-1]}:{place[1]}"
    trace.begin(0, time, f"parallel {label}", "region", place, id=region, threads=threads or len(lengths))
    for vp, length in enumerate(lengths):
        begin = time + (10 + 8 * vp) * US
        trace.begin(vp, begin, f"{label} [{vp}/{len(lengths)}]", "member", place, id=region + vp + 1)
        trace.slice(vp, begin + 5 * US, begin + length - 10 * US, "loop", "loop", place, iterations=1000)
        trace.slice(vp, begin + length - 5 * US, end - US, "implicit barrier", "wait")
        trace.end(vp, end)
    trace.end(0, end + 5 * US)
    return end + 5 * US


def task_region(trace, time, region, sizes, place, task_place, seed=1):
    """One member makes tasks, all run them; it waits for them at the end. The time behind it."""
    rnd, clock = random.Random(seed), [time + 20 * US] * trace.vps
    label = f"{place[0].split('/')[-1]}:{place[1]}"
    task = f"task {task_place[0].split('/')[-1]}:{task_place[1]}"
    trace.begin(0, time, f"parallel {label}", "region", place, id=region, threads=trace.vps)
    for vp in range(trace.vps):
        trace.begin(vp, time + 10 * US, f"{label} [{vp}/{trace.vps}]", "member", place, id=region + vp + 1)
    for number, size in enumerate(sizes):
        vp = min(range(trace.vps), key=clock.__getitem__)
        if vp and rnd.random() < 0.1:
            trace.mark(vp, clock[vp], "steal", victim=0, distance=rnd.randrange(3))
        begin = clock[vp] + rnd.randrange(100, 400)
        trace.slice(vp, begin, begin + size, task, "task", task_place, id=region + 1000 + number)
        clock[vp] = begin + size
        trace.task_ns += size
    end = max(clock) + 20 * US
    for vp in range(trace.vps):
        trace.slice(vp, clock[vp] + 1000, end - 1000, "taskwait" if vp == 0 else "barrier", "wait")
        trace.end(vp, end)
    trace.end(0, end + 5 * US)
    return end + 5 * US


def lock_region(trace, time, region, rounds, place):
    """Members that take one lock in turn."""
    label = f"{place[0].split('/')[-1]}:{place[1]}"
    trace.begin(0, time, f"parallel {label}", "region", place, id=region, threads=trace.vps)
    for vp in range(trace.vps):
        trace.begin(vp, time + 10 * US, f"{label} [{vp}/{trace.vps}]", "member", place, id=region + vp + 1)
    now = time + 20 * US
    held = 60 * US
    for vp in range(trace.vps):
        at = time + 20 * US
        for turn in range(rounds):
            mine = now + (turn * trace.vps + vp) * held
            trace.slice(vp, at, mine, "lock" if turn % 3 else "critical", "wait", id=region + vp + 1,
                        lock=0x55d0c0ffee40 + turn % 3)
            at = mine + held
    end = now + rounds * trace.vps * held + 30 * US
    for vp in range(trace.vps):
        trace.end(vp, end)
    trace.end(0, end + 5 * US)
    return end + 5 * US


def solver(vps=4, steps=3, rank=None, start=1_000_000_000, tasks=400, **more):
    """A run with something of each kind."""
    trace = Trace("./solver --size 2000 input.dat", vps, start, rank, **more)
    rnd, now = random.Random(vps + (rank or 0)), start + 3 * MS
    for step in range(steps):
        region = (step + 1) * 1_000_000
        now = loop_region(trace, now, region, [int((1 + 0.6 * vp) * 2 * MS) for vp in range(vps)],
                          ("/home/user/solver/assemble.c", 118, "assemble"))
        now += 300 * US
        sizes = [int(rnd.lognormvariate(10, 1.2)) for _ in range(tasks)]
        now = task_region(trace, now, region + 100_000, sizes, ("/home/user/solver/tree.c", 57, "build_tree"),
                          ("/home/user/solver/tree.c", 71, "build_subtree"), step)
        now += 200 * US
        now = lock_region(trace, now, region + 200_000, 12, ("/home/user/solver/sum.c", 33, "add_up"))
        if rank is not None:
            trace.slice(0, now, now + 2 * MS, "MPI", "wait", None)
        for vp in range(1, vps):
            trace.slice(vp, now + 100 * US, now + 3 * MS, "parked", "sched")
        now += 3 * MS + 100 * US
    trace.mark(vps, now - 6 * MS, "stall", vp=vps - 1)
    return trace
