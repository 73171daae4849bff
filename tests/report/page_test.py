#!/usr/bin/python3
"""page_test.py REPORT PROTOC PROTO WORK - the page that psthreads-report makes of traces (page_traces.py).

Its data have the trace's numbers, however long the trace is; names cannot break out of it; wrong input is one line.
Then Chromium shows it in three windows: nothing is said on its console or asked of a network, nothing is wider than the
window, tables are sorted by a click, and keys and mouse move the timeline. Where Chromium is missing that part is
skipped, with a line."""

import json
import os
import re
import shutil
import subprocess
import sys

import browser
import page_traces
from page_traces import MS, US

failures = []
report, protoc, proto, work = sys.argv[1:5]
MARK = '<script type="application/json" id="data">\n'


def expect(true, what, more=""):
    if not true:
        failures.append(what)
        print(f"wrong: {what} {more}")


def path(name):
    return os.path.join(work, name)


def write(trace, name):
    return trace.write(protoc, proto, path(name))


def make(*traces, out, status=0):
    done = subprocess.run([report, "page", *traces, "-o", path(out)], capture_output=True, text=True)
    expect(done.returncode == status, f"{out}: exit status {done.returncode}", done.stderr)
    return done.stderr


def data_of(name):
    with open(path(name), encoding="utf-8") as f:
        text = f.read()
    expect(text.count("<script") == text.count("</script>") == 3, f"{name}: another script than its three")
    return json.loads(text[text.index(MARK) + len(MARK):].split("</script>")[0])


def place(data, label):
    found = [p for p in data["places"] if p["label"] == label]
    expect(len(found) == 1, f"{len(found)} places {label}")
    return found[0] if found else {}


def bin_sums(track, width):
    """Time by state, as far as letters tell."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    num = len(track["states"])
    return [sum(letters.index(c) for c in track["bins"][s::num]) * width / 63 for s in range(num)]


def check_numbers():
    trace = page_traces.solver()
    write(trace, "run.pftrace")
    said = make(path("run.pftrace"), out="run.html")
    expect(said == "", "something is said of a good trace", said)
    data = data_of("run.html")
    (process,) = data["processes"]
    expect(process["command"] == "./solver --size 2000 input.dat", "command", process["command"])
    expect([t["name"] for t in process["tracks"]] == ["vp 0 (main)", "vp 1", "vp 2", "vp 3"], "the rows' names",
           process["tracks"])
    tasks = place(data, "tree.c:71")
    expect(tasks["tasks"] == 1200 == sum(tasks["sizes"]), "number of tasks", tasks)
    expect(tasks["useful"] == trace.task_ns, "work of tasks", f"{tasks['useful']}, not {trace.task_ns}")
    region = place(data, "assemble.c:118")
    expect(region["regions"] == 3 and region["threads"] == 12, "number of regions", region)
    expect(region["wall"] == 3 * (int(5.6 * MS) + 45 * US), "time of regions", region["wall"])
    expect([lock["name"] for lock in data["locks"]] ==
           ["lock 0x55d0c0ffee41", "lock 0x55d0c0ffee42", "critical 0x55d0c0ffee40"], "locks", data["locks"])
    expect(sum(lock["waits"] for lock in data["locks"]) == 3 * 4 * 12, "waits for locks", data["locks"])
    expect([t["stalls"] for t in process["tracks"]] == [0, 0, 0, 1], "a stall stands at its vp")
    expect(sum(t["steals"] for t in process["tracks"]) == sum(data["distances"]) > 0, "steals", data["distances"])
    for track in process["tracks"]:
        leaves = track["leaves"]
        expect(track["dropped"] == 0 and min(leaves[0::3]) >= 0, "slices of a row are apart and all there")
        expect(sum(leaves[1::3]) == sum(track["states"]), "slices have the row's time")
        for state, (exact, binned) in enumerate(zip(track["states"], bin_sums(track, process["bin"]))):
            expect(abs(exact - binned) <= 0.05 * exact + 40 * process["bin"], f"bins of state {state}",
                   f"{binned}, not {exact}")


def check_parts():
    """A task that goes on elsewhere is one task; a program that was killed has its slices up to the end."""
    trace = page_traces.Trace("parts", 2)
    at = ("/p/parts.c", 9, "work")
    trace.begin(0, trace.start, "task parts.c:9", "task", at, id=5)
    trace.begin(0, trace.start + 100, "taskwait", "wait", id=5)
    trace.end(0, trace.start + 150)
    trace.end(0, trace.start + 150)
    trace.begin(1, trace.start + 400, "task parts.c:9", "task", at, id=5, resumed=True)
    trace.begin(1, trace.start + 400, "taskwait", "wait", id=5, resumed=True)
    trace.end(1, trace.start + 500)
    trace.end(1, trace.start + 2500)
    trace.begin(1, trace.start + 3000, "task parts.c:9", "task", at, id=6)
    trace.event(0, trace.start + 3300, "TYPE_INSTANT", "root home", "sched")
    write(trace, "parts.pftrace")
    make(path("parts.pftrace"), out="parts.html")
    tasks = place(data_of("parts.html"), "parts.c:9")
    expect(tasks["tasks"] == 2 and tasks["useful"] == 2100 + 300, "a task in two parts, and one without an end",
           tasks)
    expect(tasks["short"] == 1 and tasks["sizes"][8] == tasks["sizes"][11] == 1, "sizes of both", tasks["sizes"])


def check_lock():
    """A wait for a lock goes on while its thread is on no vp; it may be over when the thread is back."""
    trace = page_traces.Trace("lock", 2)
    for vp, begin, waits, end in ((0, 0, (10, 50), 50), (1, 100, (100, 110), 110), (0, 1000, (2000, 2100), 2500),
                                  (1, 9000, None, 9900)):
        resumed = {"resumed": True} if begin else {}
        trace.begin(vp, trace.start + begin, "lock.c:5 [0/2]", "member", ("/p/lock.c", 5, "f"), id=5, **resumed)
        if waits:
            first, last = (trace.start + time for time in waits)
            trace.slice(vp, first, last, "lock", "wait", None, id=5, lock=64, **(resumed if vp else {}))
        trace.end(vp, trace.start + end)
    write(trace, "lock.pftrace")
    make(path("lock.pftrace"), out="lock.html")
    lock, = data_of("lock.html")["locks"]
    expect((lock["waits"], lock["ns"], lock["longest"]) == (2, 990 + 100, 990), "two waits, one in parts", lock)


def check_capacity():
    """Threads of a region have no more time than the vps."""
    trace = page_traces.Trace("wide", 2)
    page_traces.loop_region(trace, trace.start, 50, [2 * MS, 2 * MS], ("/p/wide.c", 5, "wide"), threads=8)
    write(trace, "wide.pftrace")
    make(path("wide.pftrace"), out="wide.html")
    region = place(data_of("wide.html"), "wide.c:5")
    expect(region["threads"] == 8 and region["capacity"] == 2 * region["wall"], "time of more threads than vps", region)


def check_names():
    bad = "</script><b>&\"'\\\x01\x02 \u00fc"
    trace = page_traces.Trace(bad, 1)
    trace.slice(0, trace.start, trace.start + 1000, bad, "task", ("/x/</script>.c", 3, bad), id=1)
    write(trace, "names.pftrace")
    with open(path("names.pftrace"), "r+b") as f:
        content = f.read().replace(b"\x01\x02 ", b"\x01\xff ") # this is no UTF-8
        f.seek(0)
        f.write(content)
    make(path("names.pftrace"), out="names.html")
    data = data_of("names.html")
    expect(data["processes"][0]["command"] == bad.replace("\x02", "\ufffd"), "a command of special characters",
           data["processes"][0]["command"])


def check_long():
    """More than is shown one by one: the page stays small, and sums stay exact."""
    trace = page_traces.solver(vps=8, steps=3, tasks=30000)
    write(trace, "long.pftrace")
    make(path("long.pftrace"), out="long.html")
    data = data_of("long.html")
    (process,) = data["processes"]
    kept = sum(len(t["leaves"]) + len(t["outer"]) for t in process["tracks"]) // 3
    expect(10000 < kept <= 100000 and sum(t["dropped"] for t in process["tracks"]) > 50000, f"{kept} slices are kept")
    expect(os.path.getsize(path("long.html")) < 3_000_000, "the page is small")
    expect(place(data, "tree.c:71")["useful"] == trace.task_ns, "work of all tasks")
    for track in process["tracks"]:
        expect(all(length >= data["shortest"] for length in track["leaves"][1::3]), "a short slice is kept")
        useful, binned = track["states"][0], bin_sums(track, process["bin"])[0]
        expect(abs(useful - binned) <= 0.05 * useful, "useful work in the bins", f"{binned}, not {useful}")


def check_ranks():
    files = []
    for rank in range(3):
        begin = 10**9 * (5 + rank)
        files.append(write(page_traces.solver(rank=rank, start=begin, mpi_init_ns=begin + rank * MS, pid=100 + rank),
                           f"rank{rank}.pftrace"))
    make(*files, out="ranks.html")
    data = data_of("ranks.html")
    starts = [p["from"] for p in data["processes"]]
    expect(data["joined_by_mpi"] and starts == [starts[0] - rank * MS for rank in range(3)], "ranks are joined", starts)
    make(path("run.pftrace"), files[1], out="both.html")
    both = data_of("both.html")
    expect(not both["joined_by_mpi"] and both["processes"][1]["from"] - both["processes"][0]["from"] == 5 * 10**9,
           "processes of one machine share its clock")


def one_line(said, *words):
    expect(said.count("\n") == 1 and all(word in said for word in words), f"a line with {words}", said)


def check_arguments():
    """Nothing is lost by a slip, and each is one line."""
    trace, link, pipe = path("run.pftrace"), path("link.pftrace"), path("pipe")
    for name in (link, pipe):
        if os.path.lexists(name):
            os.remove(name)
    os.symlink("run.pftrace", link)
    os.mkfifo(pipe)
    with open(trace, "rb") as f:
        before = f.read()
    for status, words, arguments in (
            (125, "no trace", ["-o", path("none.html")]), (125, "no name", [trace]), (125, "no name", [trace, "-o"]),
            (125, "no name", [trace, "-o", ""]), (125, "unknown option --foo", [trace, "--foo", "-o", "x"]),
            (125, "unknown option -x", [trace, "-x"]), (125, "would replace the trace", [trace, "-o", trace]),
            (125, "would replace the trace", [trace, "-o", link]), (1, "pipe: no trace", [pipe, "-o", "x"])):
        done = subprocess.run([report, "page", *arguments], capture_output=True, text=True)
        expect(done.returncode == status and done.stdout == "", f"{arguments}: {done.returncode}")
        one_line(done.stderr, "psrun: report: ", words)
    done = subprocess.run([report, "page", "--help"], capture_output=True, text=True)
    expect(done.returncode == 0 and "TRACE... -o" in done.stdout and not done.stderr, "--help", done)
    with open(trace, "rb") as f:
        expect(f.read() == before, "the trace is as it was")


def check_wrong_input():
    whole = open(path("run.pftrace"), "rb").read()
    with open(path("cut.pftrace"), "wb") as f:
        f.write(whole[:len(whole) // 2])
    one_line(make(path("cut.pftrace"), out="cut.html"), "cut.pftrace", "damaged at byte")
    expect(sum(t["states"][0] for t in data_of("cut.html")["processes"][0]["tracks"]) > 0, "the good part is shown")
    for name, content in (("empty", b""), ("text", b"this is no trace\n")):
        with open(path(name), "wb") as f:
            f.write(content)
        one_line(make(path(name), out="none.html", status=1), name, "no trace")
    one_line(make(path("absent"), out="none.html", status=1), "absent", "No such file")
    one_line(make(path("run.pftrace"), out="absent/none.html", status=1), "none.html", "No such file")
    check_arguments()
    expect(not os.path.exists(path("none.html")), "no page of wrong input")
    for seed in range(0, len(whole), max(1, len(whole) // 100)): # no crash, whatever stands there
        damaged = bytearray(whole)
        damaged[seed] ^= 0xff
        with open(path("damaged.pftrace"), "wb") as f:
            f.write(damaged)
        done = subprocess.run([report, "page", path("damaged.pftrace"), "-o", path("damaged.html")],
                              capture_output=True, text=True)
        expect(done.returncode in (0, 1), f"byte {seed} damaged", f"{done.returncode} {done.stderr}")


def texts(shown, query):
    return shown.value(f"[...document.querySelectorAll('{query}')].map((e) => e.textContent)")


def check_window(shown, name, width, height, dark):
    where = f"{name} at {width}x{height}"
    shown.open(path(name), width, height, dark)
    expect(shown.value("document.documentElement.scrollWidth <= innerWidth"), f"{where} is wider than the window")
    expect(len(texts(shown, "#legend li")) == 8, f"{where}: legend", texts(shown, "#legend li"))
    for table in ("regions", "tasks", "locks", "vps"):
        expect(len(texts(shown, f"#{table}-table tbody tr")) > 0, f"{where}: the table of {table}")
    # The canvas of the rows has the colour of useful work, and the plots are drawn.
    for canvas in ("rows", "overview", "tasks-plot", "vps-plot"):
        drawn = shown.value(f"""(() => {{
            const canvas = document.getElementById("{canvas}");
            const colour = document.createElement("canvas").getContext("2d");
            colour.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--useful");
            colour.fillRect(0, 0, 1, 1);
            const wanted = colour.getImageData(0, 0, 1, 1).data;
            const at = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            let n = 0;
            for (let i = 0; i < at.length; i += 4)
                n += at[i] === wanted[0] && at[i + 1] === wanted[1] && at[i + 2] === wanted[2];
            return n / (at.length / 4);
        }})()""")
        expect(drawn > 0.02, f"{where}: {canvas} is not drawn", drawn)
    expect(shown.said() == [], f"{where}: the console", shown.said())


def check_keys(shown):
    shown.open(path("run.html"), 1000, 700)
    shown.value("document.getElementById('rows').focus()")
    whole = shown.value("document.getElementById('range').textContent")
    shown.press("+", "+")
    near = shown.value("document.getElementById('range').textContent")
    shown.press("ArrowRight")
    right = shown.value("document.getElementById('range').textContent")
    expect(len({whole, near, right}) == 3, "keys zoom and move", (whole, near, right))
    shown.press("Home")
    expect(shown.value("document.getElementById('range').textContent") == whole, "Home shows the whole trace")
    shown.press("ArrowDown")
    shown.press("ArrowDown")
    shown.press("n", "n")
    details = shown.value("document.getElementById('details').textContent")
    expect("vp 1" in details and "useful work" in details and "tree.c:57" in details, "a slice by keys", details)
    box = shown.value("(() => { const b = document.getElementById('rows').getBoundingClientRect();"
                      " return [b.left, b.top, b.width]; })()")
    shown.mouse("mouseMoved", box[0] + 130, box[1] + 30)
    tip = shown.value("document.getElementById('tip').textContent")
    expect("loop" in tip and "assemble" in tip, "the slice under the mouse", tip)
    shown.mouse("mouseWheel", box[0] + 130, box[1] + 30, deltaX=0, deltaY=-200, modifiers=2)
    expect(shown.value("document.getElementById('range').textContent") != whole, "the wheel zooms")


def check_sorting(shown):
    def column():
        return texts(shown, "#regions-table tbody td:first-child span")
    first = column()
    shown.value("document.querySelector('#regions-table th button').click()")
    expect(column() == sorted(first), "sorted by name", column())
    shown.value("document.querySelector('#regions-table th button').click()")
    expect(column() == sorted(first, reverse=True), "sorted the other way", column())
    order = shown.value("document.querySelector('#regions-table th').getAttribute('aria-sort')")
    expect(order == "descending", "the order is told", order)
    expect(shown.said() == [], "the console after keys and clicks", shown.said())


def check_narrowing(shown):
    """A window that becomes narrow, as on a telephone that is turned."""
    shown.open(path("run.html"), 1400, 900)
    shown.size(360, 640)
    shown.settle()
    expect(shown.value("document.documentElement.scrollWidth <= innerWidth"), "wider than the narrowed window")
    rows = shown.value("document.getElementById('rows').width")
    expect(250 < rows <= 360, "the rows follow the window's width", rows)


def check_shown(program):
    shown = browser.Browser(program)
    try:
        for name, width, height, dark in (("run.html", 1400, 900, False), ("ranks.html", 800, 600, True),
                                          ("long.html", 360, 640, True)):
            check_window(shown, name, width, height, dark)
        shown.open(path("names.html"), 360, 640)
        expect(shown.said() == [] and "<b>&" in shown.value("document.title"), "names of special characters are shown",
               shown.said())
        check_keys(shown)
        check_sorting(shown)
        check_narrowing(shown)
    finally:
        shown.close()


def main():
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    check_numbers()
    check_parts()
    check_lock()
    check_capacity()
    check_names()
    check_long()
    check_ranks()
    check_wrong_input()
    program = browser.find()
    if program:
        check_shown(program)
    else:
        print("skipped: there is no Chromium to show pages in")
    print(f"page: {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
