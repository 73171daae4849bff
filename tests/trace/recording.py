"""Reads recordings (src/trace/recording.h) for the tests of the recorder."""

import collections
import pathlib
import re
import struct

HEADER = pathlib.Path(__file__).resolve().parents[2] / "src/trace/recording.h"
TEXT = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)


def _enum(name):
    """{constant without REC_: value} of an enum of the header."""
    body = re.search(rf"enum {name} {{(.*?)}}", TEXT, re.S).group(1)
    value, found = -1, {}
    for item in filter(None, (x.strip() for x in body.split(","))):
        word, _, given = (x.strip() for x in item.partition("="))
        value = int(given) if given else value + 1
        found[word.removeprefix("REC_")] = value
    return found


KIND = _enum("recording_kind")
WAIT = {name.removeprefix("WAIT_"): value for name, value in _enum("recording_wait").items()}
STATE = _enum("recording_state")
STATES, SIZES, DISTANCES = STATE["STATES"], 64, 16
CODES = int(re.search(r"REC_MAX_CODES (\d+)", TEXT).group(1))

Event = collections.namedtuple("Event", "time kind sub vp number id other")
NAME = {value: name for name, value in KIND.items()}
HEAD = (("magic", "Q"), ("version", "I"), ("header_bytes", "I"), ("file_bytes", "Q"), ("pid", "I"), ("parent_pid", "I"),
        ("rank", "i"), ("num_tracks", "I"), ("num_vps", "I"), ("num_processors", "I"), ("keeps_events", "I"),
        ("nested_off", "I"), ("begin_ticks", "Q"), ("begin_ns", "Q"), ("now_ticks", "Q"), ("now_ns", "Q"),
        ("ended_ticks", "Q"), ("mpi_init_ns", "Q"), ("segments_refused", "Q"), ("segments_failed", "Q"),
        ("limit_bytes", "Q"), ("segment_events", "Q"), ("max_segments", "Q"), ("codes_at", "Q"), ("texts_at", "Q"),
        ("texts_bytes", "Q"), ("tracks_at", "Q"), ("segments_at", "Q"), ("num_codes", "Q"), ("codes_refused", "Q"),
        ("texts_used", "Q"), ("command_at", "Q"), ("runtime", "64s"))
SUMS = ("regions threads inner serialized wall useful longest created tasks task_ticks loops iterations locks "
        "lock_waits lock_ticks lock_held").split()
SUMS_BYTES = 8 * (STATES + len(SUMS))


class Track:
    def __init__(self, recording, number, at):
        data = recording.data
        self.number = number
        (self.written, self.capacity, self.last, self.state, self.code, self.tid, self.is_spare, self.thread) = \
            struct.unpack_from("<QQQIIIIQ", data, at)
        at += 64
        self.parks, self.spares = struct.unpack_from("<QQ", data, at)
        self.steals = struct.unpack_from(f"<{DISTANCES}Q", data, at + 16)
        self.task_sizes = struct.unpack_from(f"<{SIZES}Q", data, at + 16 + 8 * DISTANCES)
        at += 16 + 8 * (DISTANCES + SIZES)
        self.sums = {}
        for code in range(CODES):
            words = struct.unpack_from(f"<{STATES + len(SUMS)}Q", data, at + code * SUMS_BYTES)
            if any(words):
                self.sums[code] = dict(zip(SUMS, words[STATES:]), state=words[:STATES])
        self.lost = max(0, self.written - self.capacity)
        self.segments = {}
        self.recording = recording

    def events(self):
        per = self.recording.segment_events
        for n in range(self.lost, self.written if self.capacity else self.lost):
            slot = n % self.capacity
            yield Event(*struct.unpack_from("<QBBHIQQ", self.recording.data,
                                            self.segments[slot // per] + slot % per * 32))


class Recording:
    def __init__(self, path):
        self.data = data = pathlib.Path(path).read_bytes()
        for (name, _), value in zip(HEAD, struct.unpack_from("<" + "".join(f for _, f in HEAD), data)):
            setattr(self, name, value)
        assert self.magic == 0x3243455253485450, hex(self.magic)
        assert self.header_bytes == struct.calcsize("<" + "".join(f for _, f in HEAD)), self.header_bytes
        offsets = struct.unpack_from(f"<{self.num_tracks}Q", data, self.tracks_at)
        self.tracks = {n: Track(self, n, at) for n, at in enumerate(offsets) if at}
        for i in range(self.max_segments):
            at, track, index = struct.unpack_from("<QII", data, self.segments_at + 16 * i)
            if at:
                self.tracks[track].segments[index] = at

    def text(self, at):
        at += self.texts_at
        return self.data[at:self.data.index(b"\0", at)].decode()

    @property
    def command(self):
        return self.text(self.command_at)

    def code(self, index):
        """(address, path, offset in the object, build id)."""
        address, path, offset, n, build_id = struct.unpack_from("<QQQI20s", self.data, self.codes_at + 64 * index)
        return address, self.text(path), offset, build_id[:n].hex()

    def events(self, *kinds):
        """Of all tracks, one after the other; (track's number, event)."""
        wanted = {KIND[k] for k in kinds}
        for track in self.tracks.values():
            for e in track.events():
                if not kinds or e.kind in wanted:
                    yield track.number, e

    def count(self, kind, sub=None):
        return sum(sub is None or e.sub == sub for _, e in self.events(kind))

    def sum(self, name):
        return sum(s[name] for t in self.tracks.values() for s in t.sums.values())

    def state(self, name):
        return sum(s["state"][STATE[name]] for t in self.tracks.values() for s in t.sums.values())

    @property
    def lost(self):
        return sum(t.lost for t in self.tracks.values())

    @property
    def ns_per_tick(self):
        return (self.now_ns - self.begin_ns) / (self.now_ticks - self.begin_ticks)
