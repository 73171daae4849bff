#!/usr/bin/python3
"""cli_test.py FACEDETECT PSRUN [OTHER...] - facedetect as a person runs it: faces found, the same by any number of
threads under libgomp and psrun (and by other builds, where given), bad input, drawing, streams. Only the
standard library is used."""

import os
import pty
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "astronaut.jpg"
FACE = (130, 60, 180, 115)  # in the picture: the middle of a found face lies here


def run(arguments, data=None, environment=None):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "PSTHREADS_"))}
    source = {"input": data} if data is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run([str(a) for a in arguments],
                          capture_output=True,
                          env={
                              **clean,
                              **(environment or {})
                          },
                          **source)


def check(condition, what):
    if not condition:
        raise SystemExit(f"cli_test.py: {what}")


def good(done):
    check(done.returncode == 0 and not done.stderr,
          f"{done.args}: exit status {done.returncode}, {done.stderr.decode()!r}")
    return done.stdout.decode()


def refused(done, *words):
    """Exit status 1, one line that has the words, and nothing printed."""
    said = done.stderr.decode()
    check(
        done.returncode == 1 and said.count("\n") == 1 and said.endswith("\n") and all(w in said for w in words)
        and not done.stdout,
        f"{done.args}: exit status {done.returncode}, {said!r}, {done.stdout!r}; wanted 1 and a line with {words}")


def numbers(text):
    return [[float(v) for v in line.split(": ")[-1].split()] for line in text.splitlines()]


def has_face(faces):
    return any(FACE[0] < x + w / 2 < FACE[2] and FACE[1] < y + h / 2 < FACE[3] for x, y, w, h, _, _ in faces)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, rows, channels=1):
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(
        b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows), 1)) + chunk(b"IEND", b"")


def png_rows(data):
    """(width, height, rows of RGB) of a PNG of eight bits."""
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    check(depth == 8 and colour == 2, "a drawn PNG has eight bits of RGB")
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    flat, stride, rows, above = zlib.decompress(packed), 3 * width, [], bytes(3 * width)
    for y in range(height):
        kind, row = flat[y * (stride + 1)], bytearray(flat[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left, up, corner = row[x - 3] if x >= 3 else 0, above[x], above[x - 3] if x >= 3 else 0
            if kind == 4:
                p = left + up - corner
                near = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
            else:
                near = (0, left, up, (left + up) // 2)[kind]
            row[x] = (row[x] + near) & 255
        rows.append(bytes(row))
        above = row
    return width, height, rows


def test_faces(program, psrun, others):
    found = good(run([program, "--threads", 1, PICTURE]))
    check(len(numbers(found)) == 1 and has_face(numbers(found)), f"one face in {PICTURE.name}: {found!r}")
    all_found = good(run([program, "--threads", 1, "--score", 0.5, PICTURE]))
    check(len(numbers(all_found)) >= 1, "faces with a low score")
    for prefix in ([], [psrun], [psrun, "--ee", "pthreads"]):
        for levels in (1, 2):
            for threads in (1, 2, 3, 8):
                got = good(run([*prefix, program, "--threads", threads, "--levels", levels, "--score", 0.5, PICTURE]))
                check(got == all_found,
                      f"{prefix} {threads} threads, {levels} levels: {got!r}, by one thread {all_found!r}")
    got = good(run([psrun, program, "--levels", 2, "--score", 0.5, PICTURE], environment={"OMP_NUM_THREADS": "4"}))
    check(got == all_found, f"OMP_NUM_THREADS=4: {got!r}")
    for other in others:
        for prefix in ([], [psrun]):
            got = numbers(good(run([*prefix, other, "--threads", 3, "--levels", 2, PICTURE])))
            near = len(got) == 1 and all(abs(a - b) < 0.2 for a, b in zip(got[0], numbers(found)[0]))
            check(near, f"{other}: {got}, {program}: {found!r}")


def test_inputs(program, folder):
    whole, again = folder / "whole.png", folder / "again.png"
    good(run([program, "--score", 1000000, "--draw", whole, PICTURE]))
    width, height, rows = png_rows(whole.read_bytes())
    check((width, height) == (355, 237), "a drawing's size")
    got, wanted = good(run([program, whole])), good(run([program, PICTURE]))
    check(got == wanted, f"as PNG {got!r}, as JPEG {wanted!r}")
    good(run([program, "--draw", again, whole]))
    changed = [(x, y) for y, (a, b) in enumerate(zip(rows,
                                                     png_rows(again.read_bytes())[2])) if a != b for x in range(width)
               if a[3 * x:3 * x + 3] != b[3 * x:3 * x + 3]]
    x, y, w, h = numbers(wanted)[0][:4]
    inside = all(min(abs(px - x), abs(px - x - w)) < 3 or min(abs(py - y), abs(py - y - h)) < 3 for px, py in changed)
    check(len(changed) > w and inside, f"a frame is drawn: {len(changed)} pixels")
    again.unlink()
    pipe, link = folder / "pipe", folder / "link.png"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen([program, "--draw", pipe, PICTURE], stdout=subprocess.DEVNULL) as draws:
        data = b""
        while draws.poll() is None:
            time.sleep(0.01)
            try:
                data += os.read(end, 1 << 20)
            except BlockingIOError: # nothing there yet
                pass
    os.close(end)
    kept = pipe.is_fifo() and data.startswith(b"\x89PNG")
    check(draws.returncode == 0 and kept, "a pipe stays one, and gets a drawing")
    link.symlink_to(again)
    again.write_bytes(b"")
    good(run([program, "--draw", link, PICTURE]))
    kept = link.is_symlink() and again.read_bytes().startswith(b"\x89PNG")
    check(kept, "a link stays one, and its file is the drawing")
    for old in (pipe, link, again):
        old.unlink()
    for name in ("drawn.jpg", "drawn.JPEG"):
        drawn = folder / name
        good(run([program, "--score", 1000000, "--draw", drawn, PICTURE]))
        check(drawn.read_bytes().startswith(b"\xff\xd8") and has_face(numbers(good(run([program, drawn])))),
              f"{name} is a JPEG that shows the picture")
        drawn.unlink()
    grey = folder / "a grey.PNG"
    grey.write_bytes(png(width, height, [r[::3] for r in rows]))
    got = good(run([program, folder]))
    names = [line.split(": ")[0] for line in got.splitlines()]
    check(names == [str(folder / name) for name in ("a grey.PNG", "whole.png")], f"a folder's images by name: {got!r}")
    small = folder / "small.png"
    small.write_bytes(png(31, 200, [bytes(31)] * 200))
    check(good(run([program, small])) =="", "no face in an image that is smaller than the window")
    small.write_bytes(png(1, 1, [b"x"]))
    check(good(run([program, "--threads", 2, "--levels", 2, small])) =="", "no face in a pixel")
    return width, height, rows


def test_bad_inputs(program, folder):
    jpeg, bad, out = PICTURE.read_bytes(), folder / "bad", folder / "out.png"
    whole = png(300, 200, [bytes(random.Random(y).randbytes(300)) for y in range(200)])
    empty_jpeg = bytearray(jpeg)
    frame = next(k for k in range(len(jpeg)) if jpeg[k:k + 2] in (b"\xff\xc0", b"\xff\xc2"))
    empty_jpeg[frame + 5:frame + 9] = bytes(4)
    out.write_bytes(b"as it was")
    for data, word in ((jpeg[:len(jpeg) // 2], "JPEG"), (jpeg[:3], "JPEG"), (jpeg[:-300], "JPEG"),
                       (whole[:len(whole) // 2], "PNG"), (whole[:20], "PNG"), (whole[:5000] + b"\0" * 40 + whole[5040:],
                                                                               "PNG"),
                       (b"no image\n", "PNG nor a JPEG"), (b"", "empty"), (png(0, 0, []), "PNG"),
                       (png(0, 7, []), "PNG"), (bytes(empty_jpeg), "JPEG"), (png(60000, 60000, []), "million")):
        bad.write_bytes(data)
        refused(run([program, "--draw", out, bad]), str(bad), word)
        check(out.read_bytes() == b"as it was", f"{word}: the drawing is left as it was")
    refused(run([program, folder / "missing.png"]), "missing.png", "No such file")
    (folder / "nothing").mkdir()
    refused(run([program, folder / "nothing"]), "nothing", "no PNG or JPEG")
    bad.write_bytes(b"")
    done = run([program, bad, PICTURE])
    check(done.returncode == 1 and has_face(numbers(done.stdout.decode())),
          "after a bad image the next one is looked at")
    refused_draw = run([program, "--draw", folder / "no folder" / "x.png", PICTURE])
    check(refused_draw.returncode == 1 and b"No such file" in refused_draw.stderr, "a drawing that cannot be written")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([program, str(PICTURE)], stdout=full, stderr=subprocess.PIPE)
        check(done.returncode == 1 and done.stderr.count(b"\n") == 1, "standard output that is full")
    weights = folder / "weights.txt"
    text = (HERE.parent / "weights.txt").read_text()
    weights.write_text(text)
    check(
        good(run([program, "--weights", weights, PICTURE])) == good(run([program, PICTURE])),
        "the built-in weights are the file's")
    weights.write_text("# x\n1 2\n3 4x 5\n")
    refused(run([program, "--weights", weights, PICTURE]), "weights.txt:3", "'4x'")
    weights.write_text("1 2 3\n")
    refused(run([program, "--weights", weights, PICTURE]), "weights.txt:1", "951")
    weights.write_text(text + "7\n")
    refused(run([program, "--weights", weights, PICTURE]), f"weights.txt:{len(text.splitlines()) + 1}", "more than 951")
    for arguments in (["--threads", "0",
                       PICTURE], ["--levels", "3", PICTURE], ["--draw"], ["--what", PICTURE], [], ["--draw", out, "-"]):
        done = run([program, *arguments])
        check(done.returncode == 2 and done.stderr.count(b"\n") == 1,
              f"{arguments}: {done.returncode}, {done.stderr!r}")
    for name in ("out.gif", "out", "outpng"):
        done = run([program, "--draw", folder / name, PICTURE])
        check(done.returncode == 2 and done.stderr.count(b"\n") == 1 and b".png, .jpg or .jpeg" in done.stderr
              and not (folder / name).exists(), f"--draw {name}: {done}")
    check({p.name
           for p in folder.iterdir() if p.name.startswith("out.png")} == {"out.png"}, "nothing half written is left")


def test_interrupt(program, folder):
    """Ended while it writes: nothing half written is there."""
    source, out = folder / "noise.png", folder / "interrupted.png"
    noise = random.Random(1)
    source.write_bytes(png(3 * 700, 1000, [bytes(120 + b % 8 for b in noise.randbytes(2100)) for _ in range(1000)]))
    for number in (signal.SIGINT, signal.SIGTERM):
        for _ in range(5):
            with subprocess.Popen([program, "--draw", out, source], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL) as process:
                while process.poll() is None and not list(folder.glob("interrupted.png.*")):
                    time.sleep(0.0005)
                process.send_signal(number)
            if process.returncode == -number:
                break
            out.unlink(missing_ok=True)
        check(process.returncode == -number, f"it ends by {number}: {process.returncode}")
        left = list(folder.glob("interrupted.png.*"))
        check(not left, f"nothing half written is left: {left}")
        if out.exists():  # the signal came just behind the end
            good(run([program, out]))


def test_streams(program, psrun, width, height, rows):
    luma = b"".join(bytes(16 + v * 219 // 255 for v in r[::3]) for r in rows)
    chroma = bytes([128]) * (2 * ((width + 1) // 2) * ((height + 1) // 2))
    header = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg\n".encode()
    y4m = header + (b"FRAME\n" + luma + chroma) * 3
    still = numbers(good(run([program, PICTURE])))[0]
    for name, data in (("Y4M", y4m), ("MJPEG", PICTURE.read_bytes() * 3),
                       ("mono", header.replace(b"C420jpeg", b"Cmono") + (b"FRAME x\n" + luma) * 3)):
        done = run([psrun, program, "--rate", 0, "--threads", 2, "--levels", 2, "-"], data)
        faces, lines = numbers(done.stdout.decode()), done.stdout.decode().splitlines()
        check(done.returncode == 0 and done.stderr.startswith(b"facedetect: 3 frames, 0 dropped, "), f"{name}: {done}")
        check([line.split(": ")[0] for line in lines] == ["frame 1", "frame 2", "frame 3"], f"{name}: {lines}")
        check(all(abs(a - b) < 3 for face in faces for a, b in zip(face[:4], still[:4])),
              f"{name}: {faces}, still {still}")
    test_odd_streams(program, header, luma, chroma)
    done = run([program, "--rate", 1000000, "-"], PICTURE.read_bytes() * 40)
    said = done.stderr.decode().split()
    looked = len({line.split(":")[0] for line in done.stdout.decode().splitlines()})
    check(done.returncode == 0 and said[1:3] == ["40", "frames,"], f"{done.stderr}")
    check(int(said[3]) > 0 and looked + int(said[3]) == 40, f"{looked} frames with a face, {done.stderr}")
    for data, *words in ((b"", "nothing there"), (b"text\n", "neither a Y4M nor an MJPEG"),
                         (b"YUV4MPEG3 W1\n", "header"), (b"YUV4MPEG2 W0 H5 F25:1\n",
                                                         "width"), (b"YUV4MPEG2 W9 H5 C420p10\nFRAME\n", "420p10")):
        refused(run([program, "-"], data), "standard input", *words)
    for data, *words in ((y4m[:-5], "frame 3", "ends inside"), (header + b"FRAMES\n", "frame 1", "FRAME is expected"),
                         (PICTURE.read_bytes() + PICTURE.read_bytes()[:5000], "frame 2", "ends inside"),
                         (PICTURE.read_bytes() + b"text", "frame 2", "JPEG"), (b"\xff\xd8\xff\xd9", "frame 1", "JPEG")):
        done = run([program, "--rate", 0, "-"], data)
        lines = done.stderr.decode().splitlines()
        check(done.returncode == 1 and len(lines) == 2 and all(w in lines[0] for w in words),
              f"{words}: {done.returncode}, {lines}")


def test_odd_streams(program, header, luma, chroma):
    """What programs and cameras write that is no mistake."""
    size = len(luma)
    width, height = (int(word[1:]) for word in header.split()[1:3])
    half, quarter = (width + 1) // 2, (width + 3) // 4
    planes = {b"422": 2 * half * height, b"411": 2 * quarter * height, b"444": 2 * size, b"444alpha": 3 * size,
              b"420": len(chroma), b"420mpeg2": len(chroma), b"420paldv": len(chroma), b"mono": 0}
    streams = {f"Y4M {kind.decode()}": header.replace(b"C420jpeg", b"It XYSCSS=x C" + kind) +
               (b"FRAME Ip\n" + luma + bytes(other)) * 2 for kind, other in planes.items()}
    frames = (b"FRAME\n" + luma + chroma) * 2
    streams["no kind"] = header.replace(b" C420jpeg", b"") + frames
    for rate in b"F0:0", b"F1:0", b"Fx", b"F1e300:1e-300", b"F-25:1":
        streams[f"rate {rate.decode()}"] = header.replace(b"F25:1", rate) + frames
    picture = PICTURE.read_bytes()
    streams["zeros between images"] = picture + bytes(9) + picture + bytes(3)
    for name, data in streams.items():
        done = run([program, "--rate", 0, "-"], data)
        said = done.stdout.decode().splitlines()
        check(done.returncode == 0 and done.stderr.startswith(b"facedetect: 2 frames, 0 dropped, "), f"{name}: {done}")
        check([line.split(": ")[0] for line in said] == ["frame 1", "frame 2"], f"{name}: {said}")
    refused(run([program, "-"], header.replace(b"C420jpeg", b"C\x1b[31m\xff")), "'?[31m?'")


def on_terminal(command, data=b""):
    """What the program writes on standard error, where that is a terminal; standard output is a file."""
    ours, its = pty.openpty()
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=its) as process:
        os.close(its)
        feeder = threading.Thread(target=lambda: (process.stdin.write(data), process.stdin.close()))
        feeder.start()
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the terminal's other side is closed
            pass
        feeder.join()
    os.close(ours)
    check(process.returncode == 0, f"{command}: exit status {process.returncode}, {shown}")
    return shown


def test_progress(program, folder):
    """A folder and a stream say how far they are, from the first image on, and take the line back."""
    for k in range(12):
        (folder / f"{k:02}.jpg").write_bytes(PICTURE.read_bytes())
    shown = on_terminal([program, "--threads", 1, folder])
    check(shown.startswith(b"\r\x1b[K0 of 12 images\r") and shown.endswith(b"\r\x1b[K"), f"a folder: {shown}")
    good(run([program, folder]))  # and nothing on standard error where that is no terminal
    shown = on_terminal([program, "--threads", 1, "--rate", 0, "-"], PICTURE.read_bytes() * 12)
    begin, end = shown.startswith(b"\r\x1b[K0 frames, 0 dropped"), b"\r\x1b[Kfacedetect: 12 frames" in shown
    check(begin and end, f"a stream: {shown}")
    shown = on_terminal([program, PICTURE])
    check(shown == b"", f"one image: {shown}")


def main():
    program, psrun, others = sys.argv[1], sys.argv[2], sys.argv[3:]
    test_faces(program, psrun, others)
    with tempfile.TemporaryDirectory(prefix="facedetect-") as folder:
        folder = Path(folder)
        frame = test_inputs(program, folder)
    with tempfile.TemporaryDirectory(prefix="facedetect-") as folder:
        test_bad_inputs(program, Path(folder))
        test_interrupt(program, Path(folder))
    with tempfile.TemporaryDirectory(prefix="facedetect-") as folder:
        test_progress(program, Path(folder))
    test_streams(program, psrun, *frame)
    row = good(run([psrun, program, "--bench", "--threads", 2, "--levels", 2, "--samples", 2, PICTURE]))
    check('"levels": 2, "threads": 2' in row and '"speedup": ' in row, row)


if __name__ == "__main__":
    main()
