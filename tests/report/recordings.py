"""Recordings with known contents, by make_recording; the numbers' names are those of src/trace/recording.h."""

import re
import subprocess
from pathlib import Path

HEADER = (Path(__file__).resolve().parents[2] / "src/trace/recording.h").read_text()


def numbers(enum):
    body = re.sub(r"/\*.*?\*/", "", re.search(rf"enum {enum} {{(.*?)}};", HEADER, re.S).group(1), flags=re.S)
    found, following = {}, 0
    for name, number in re.findall(r"(\w+)(?: = (\d+))?,?", body):
        following = int(number) if number else following
        found[name] = following
        following += 1
    return found


N = {**numbers("recording_kind"), **numbers("recording_wait")}


def task(serial, code=0):
    return code << 44 | serial


class Recording:
    """Lines for make_recording. Time is in nanoseconds, from `BEGIN` on."""

    BEGIN = 1000

    def __init__(self, **head):
        self.lines = [f"head {name} {head.pop(name)}" for name in ("tracks", "rings", "events") if name in head]
        self.lines += [f"head begin.ticks {self.BEGIN}", f"head begin.ns {self.BEGIN + 500}", "command ./program a"]
        self.lines += [f"head {name} {number}" for name, number in head.items()]
        self.last = 0

    def add(self, line):
        self.lines.append(line)

    def event(self, track, time, kind, id, other=0, number=0, sub=0, vp=0):
        self.last = max(self.last, time)
        sub = N.get(sub, sub)
        self.add(f"event {track} {time + self.BEGIN} {N['REC_' + kind]} {sub} {vp} {number} {id:x} {other:x}")

    def write(self, maker, path, ended=True):
        end = self.last + self.BEGIN
        lines = [*self.lines, f"head now.ticks {end}", f"head now.ns {end + 500}"]
        if ended:
            lines.append(f"head ended_ticks {end}")
        subprocess.run([maker, path], input="\n".join(lines) + "\n", text=True, check=True)
        return path
