#!/usr/bin/python3
"""workqueue_test.py BIN SCENES FOLDER NAME... - the workqueueing programs: each agrees with its sequential twin,
however it runs.

By libpsthreads with one, two, three and eight threads; by OpenMP tasks under libgomp and under psrun; and what they say
of bad input. --clang FOLDER: those in FOLDER alone, which clang has built, under libomp and under psrun."""

import argparse
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

SMALL = {"queens": [["--size", "8", "--depth", "8"], ["--size", "9", "--depth", "2"]],
         "fft": [["--log2", "10", "--grain", "16"], ["--log2", "12"], ["--log2", "0"]],
         "blocklu": [["--size", "100", "--block", "16"], ["--size", "7", "--block", "8"]],
         "raytrace": []}
BAD_SCENES = {"ball a 1 2 3\n": ":1: 'ball' is not known", "image 10\n": ":1: the height is expected",
              "material a 1 1 1\n\nsphere b 0 0 0 1\n": ":3: there is no material 'b' above",
              "material a 1 1 1\nsphere a 0 0 0 x1\n": ":2: the radius: a number",
              "material a 1 1 1 2\n": ":1: a material has shine and mirror, not '2'",
              "camera 0 0 1 0 0 0 40 9\n": ":1: '9' is too much here",
              "camera 0 5 0 0 0 0 40\n": ":1: the camera may not look straight up or down",
              "material a 1 1 1\nsphere a 0 0 0 1\n": ":2: the file ends without a camera",
              "# nothing\n": ":1: the file ends without a sphere"}
wrong = []


def run(command, environment=None, seconds=120):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          env={**os.environ, **(environment or {})}, timeout=seconds)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def agrees(a, name, options):
    omp, tried = (a.clang or a.bin) / f"wq-{name}-omp", []
    if not a.clang:
        tried.append(([], a.bin / f"wq-{name}"))
    tried += [([], omp), ([a.bin / "psrun"], omp)]
    for n in ("1", "2", "3", "8"):
        for prefix, program in tried:
            code, out, said = run([*prefix, program, "--threads", n, "--samples", "2", *options])
            if code or said or not out.startswith(name):
                command = " ".join(map(str, [*prefix, program, *options]))
                wrong.append(f"{command}, {n} threads: exit status {code}: {said or out}")


def picture_size(path):
    head = path.read_bytes()[:24]
    return struct.unpack(">II", head[16:24]) if head[:8] == b"\x89PNG\r\n\x1a\n" else None


def special_files(command, scene, folder):
    """A pipe and a link stay what they are, and get the picture."""
    pipe, link, pointed = (folder / name for name in ("pipe", "link.png", "pointed.png"))
    for old in (pipe, link):
        old.unlink(missing_ok=True)
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    code = run([*command, "-o", pipe, scene])[0]
    if code or not pipe.is_fifo() or not os.read(end, 65536).startswith(b"\x89PNG"):
        wrong.append(f"to a pipe: exit status {code}")
    os.close(end)
    link.symlink_to(pointed)
    pointed.write_bytes(b"")
    code = run([*command, "-o", link, scene])[0]
    if code or not link.is_symlink() or picture_size(pointed) is None:
        wrong.append(f"to a link: exit status {code}")
    for old in (pipe, link, pointed):
        old.unlink(missing_ok=True)


def pictures_agree(a):
    for scene in ("flake", "room"):
        agrees(a, "raytrace", ["--compare", "--size", "50x37", "--rays", "1", a.scenes / f"{scene}.scene"])


def raytrace(a):
    program, out = a.bin / "wq-raytrace", a.folder / "picture.png"
    pictures_agree(a)
    code, _, said = run([program, "--size", "33x20", "-o", out, a.scenes / "room.scene"])
    if code or said or picture_size(out) != (33, 20):
        wrong.append(f"the picture: exit status {code}: {said}")
    out.unlink(missing_ok=True)
    special_files([program, "--size", "33x20"], a.scenes / "room.scene", a.folder)
    bad = a.folder / "bad.scene"
    for text, expected in BAD_SCENES.items():
        bad.write_text(text)
        code, _, said = run([program, "-o", out, bad])
        if code != 1 or not said.startswith(f"{bad}{expected}") or "\n" in said or out.exists():
            wrong.append(f"{text!r}: exit status {code}: {said}; expected {expected}")
    for options, expected in ((["-o", a.folder / "no" / "such.png", a.scenes / "room.scene"], "No such file"),
                              (["-o", a.folder / "out.jpg", a.scenes / "room.scene"], "ends in .png is expected"),
                              ([a.folder / "none.scene"], "none.scene: No such file"),
                              (["--size", "3", a.scenes / "room.scene"], "WIDTHxHEIGHT is expected"),
                              ([], "one scene is expected")):
        code, _, said = run([program, "--rays", "1", *options])
        if code != 1 or expected not in said:
            wrong.append(f"{options}: exit status {code}: {said}; expected {expected}")
    stopped = subprocess.Popen([program, "--size", "2000x2000", "--rays", "4", "-o", out, a.scenes / "flake.scene"])
    time.sleep(0.3)
    stopped.send_signal(signal.SIGINT)
    if stopped.wait(60) != -signal.SIGINT or list(a.folder.glob("picture*")):
        wrong.append(f"stopped: {stopped.returncode}, left {list(a.folder.glob('picture*'))}")


def progress(program):
    """On a terminal a long job says how far it is, and takes the line back; elsewhere it does not."""
    command = [program, "--log2", "20", "--samples", "3"]
    ours, its = pty.openpty()
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its)
    os.close(its)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the terminal's other side is closed
        pass
    os.close(ours)
    said = done.communicate()[0]
    if done.returncode or not said.startswith(b"fft:"):
        wrong.append(f"on a terminal: exit status {done.returncode}: {said}")
    if not re.search(rb"run [1-8] of 8, about \d+ s to go", shown) or not shown.endswith(b"\r\x1b[K"):
        wrong.append(f"on a terminal: {shown}")
    if (said := run(command)[2]) != "":
        wrong.append(f"not on a terminal: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=Path)
    parser.add_argument("scenes", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clang", type=Path)
    parser.add_argument("names", nargs="+", choices=SMALL)
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    for name in a.names:
        for options in SMALL[name]:
            agrees(a, name, options)
        if a.clang:
            if name == "raytrace":
                pictures_agree(a)
            continue
        if name == "raytrace":
            raytrace(a)
            continue
        for options, expected in ((["--threads", "0"], "a number from 1 to"), (["--samples", "2x"], "'2x': a number"),
                                  (["more"], "'more' is not expected")):
            code, _, said = run([a.bin / f"wq-{name}", *options])
            if code != 1 or expected not in said:
                wrong.append(f"{name} {options}: exit status {code}: {said}; expected {expected}")
        if name == "fft":
            progress(a.bin / "wq-fft")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
