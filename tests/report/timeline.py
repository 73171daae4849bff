"""A timeline as Perfetto's own definitions read it (PyPI: perfetto), checked on the way: names and places are told
before they are used, each track's time rises, slices nest, arrows have both ends."""

import collections

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

CLEARED, NEEDS = 1, 2


class Event:
    """A slice (with an end) or an instant. `notes` are its annotations, `place` is (file, line, function)."""

    def __init__(self, track, event, time, name, category, notes, place):
        self.track, self.start, self.end = track, time, None
        self.name, self.category, self.notes, self.place = name, category, notes, place
        self.flows, self.ends = list(event.flow_ids), list(event.terminating_flow_ids)
        self.depth = 0

    def __repr__(self):
        return f"{self.name} on {self.track} from {self.start} to {self.end}"


class Sequence:
    def __init__(self):
        self.words = collections.defaultdict(dict)
        self.track, self.clock, self.time, self.open = None, None, 0, []


def value_of(note):
    kind = note.WhichOneof("value")
    return getattr(note, kind)


class Timeline:
    def __init__(self, path):
        trace = Trace()
        trace.ParseFromString(path.read_bytes())
        self.slices, self.instants, self.tracks, self.problems = [], [], {}, []
        self.process, self.packets = None, len(trace.packet)
        self.sequences = collections.defaultdict(Sequence)
        for packet in trace.packet:
            self.take(packet)
        for sequence in self.sequences.values():
            if sequence.open:
                self.problems.append(f"never ended: {sequence.open}")
        self.check_flows()

    def take(self, packet):
        s = self.sequences[packet.trusted_packet_sequence_id]
        if packet.HasField("trace_packet_defaults"):
            if not packet.sequence_flags & CLEARED:
                self.problems.append("defaults without a cleared state")
            s.clock = packet.trace_packet_defaults.timestamp_clock_id
            s.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if s.clock != 3:
            self.problems.append(f"clock {s.clock}")
        if packet.timestamp < s.time:
            self.problems.append(f"time falls from {s.time} to {packet.timestamp}")
        s.time = packet.timestamp
        for kind in ("event_names", "event_categories", "debug_annotation_names", "source_locations"):
            for word in getattr(packet.interned_data, kind):
                if word.iid in s.words[kind]:
                    self.problems.append(f"{kind} {word.iid} is told twice")
                s.words[kind][word.iid] = word
        if packet.HasField("track_descriptor"):
            self.take_track(packet.track_descriptor)
        if packet.HasField("track_event"):
            self.take_event(s, packet.timestamp, packet.track_event)

    def take_track(self, t):
        if t.HasField("process"):
            self.process = t
        else:
            if t.parent_uuid != self.process.uuid or t.thread.pid != self.process.process.pid:
                self.problems.append(f"track {t.name} is not the process's")
            self.tracks[t.uuid] = t.name

    def take_event(self, s, time, event):
        track = self.tracks.get(event.track_uuid or s.track, "process")
        if event.type == TrackEvent.TYPE_SLICE_END:
            if not s.open:
                self.problems.append(f"an end at {time} on {track} without a begin")
                return
            last = s.open.pop()
            last.end = time
            last.flows += event.flow_ids
            return
        names = s.words["debug_annotation_names"]
        notes = {names[n.name_iid].name: value_of(n) for n in event.debug_annotations}
        place = s.words["source_locations"].get(event.source_location_iid)
        if event.source_location_iid and place is None:
            self.problems.append(f"place {event.source_location_iid} is not told")
        made = Event(track, event, time, s.words["event_names"][event.name_iid].name,
                     s.words["event_categories"][event.category_iids[0]].name, notes,
                     place and (place.file_name, place.line_number, place.function_name))
        if event.type == TrackEvent.TYPE_INSTANT:
            self.instants.append(made)
            return
        made.depth = len(s.open)
        if "resumed" in notes and (made.flows or made.ends):
            self.problems.append(f"an arrow at {made}, which was resumed")
        s.open.append(made)
        self.slices.append(made)

    def check_flows(self):
        begins = collections.Counter(f for e in self.slices + self.instants for f in e.flows)
        ends = collections.Counter(f for e in self.slices + self.instants for f in e.ends)
        if begins != ends or any(n != 1 for n in begins.values()):
            self.problems.append(f"arrows with one end: {begins - ends}, {ends - begins}")
        self.arrows = {}
        for e in self.slices + self.instants:
            for flow in e.flows:
                self.arrows[flow] = [e, None]
        for e in self.slices:
            for flow in e.ends:
                if flow in self.arrows:
                    self.arrows[flow][1] = e

    def of(self, category, resumed=False):
        return [s for s in self.slices if s.category == category and (resumed or "resumed" not in s.notes)]

    def facts(self):
        return next(i.notes for i in self.instants if i.name == "recording")
