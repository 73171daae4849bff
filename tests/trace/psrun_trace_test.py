#!/usr/bin/env python3
"""psrun_trace_test.py BUILD WORK PROGRAM - psrun as the parent of a program that it traces: where files go, what is
said, signals, the terminal, what cannot be written."""

import json
import os
import pathlib
import pty
import resource
import select
import signal
import subprocess
import sys

from place import Place
from recording import Recording

BUILD, WORK, PROGRAM = sys.argv[1:4]
place = Place(BUILD, WORK)
OWN_TOOL = """
struct result { int (*initialize)(void *, int, void *); void (*finalize)(void *); long data; };
static int begin(void *lookup, int device, void *data) { return 1; }
static void end(void *data) {}
struct result *ompt_start_tool(unsigned version, const char *runtime)
{ static struct result r = {begin, end}; return &r; }
int main(void) {
#pragma omp parallel
__asm__(""); return 0; }
"""


def lines(ran):
    return ran.stderr.splitlines()


def names():
    ran = place.run("--trace", "out.pftrace", PROGRAM, "forks", 2)
    assert ran.returncode == 0, ran
    children = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("child")]
    there = {path.name for path in place.folder.iterdir()}
    assert there == {"out.pftrace", *(f"out-{pid}.pftrace" for pid in children)}, there
    events = sum(1 for _ in Recording(place.folder / "out.pftrace").events())
    assert f"psrun: trace of {events} events in {place.folder}/out.pftrace; open it in ui.perfetto.dev" in lines(ran)
    assert len(lines(ran)) == 3
    # A file that is there already stays.
    before = (place.folder / "out.pftrace").read_bytes()
    ran = subprocess.run([place.psrun, "--trace", "out.pftrace", PROGRAM, "regions", "2"], cwd=place.folder, text=True,
                         capture_output=True, check=True)
    assert lines(ran)[0] == f"psrun: out.pftrace is there already: the trace goes to {place.folder}/out-2.pftrace", ran
    assert (place.folder / "out.pftrace").read_bytes() == before and (place.folder / "out-2.pftrace").exists()


def ranks():
    ran = place.run("--trace", "out.pftrace", PROGRAM, "regions", 2, variables={"OMPI_COMM_WORLD_RANK": "3"})
    assert [path.name for path in place.folder.iterdir()] == ["out-rank3.pftrace"], ran
    assert Recording(place.folder / "out-rank3.pftrace").rank == 3
    for rank, wanted in (("0", 1), ("1", 0)):
        ran = place.run("--stats", PROGRAM, "regions", 2, variables={"PMI_RANK": rank})
        assert len(lines(ran)) == wanted, ran


def variables():
    ran = place.run(PROGRAM, "regions", 2, variables={"PSTHREADS_TRACE": "v.rec", "PSTHREADS_TRACE_LIMIT": "1M"})
    assert Recording(place.folder / "v.rec").limit_bytes == 1 << 20, ran
    ran = place.run(PROGRAM, "regions", 2, variables={"PSTHREADS_TRACE": "v.rec", "PSTHREADS_TRACE_LIMIT": "much"})
    said = "psrun: PSTHREADS_TRACE_LIMIT=much: wanted a size such as 64M, of 1024G at most; 256M is used"
    assert lines(ran)[0] == said, ran
    assert Recording(place.folder / "v.rec").limit_bytes == 256 << 20, ran
    for value, said in (("on", "profile: "), ("Yes", "profile: "), ("off", None), ("0", None), ("false", None),
                        ("p.json", "psrun: profile in ")):
        ran = place.run(PROGRAM, "regions", 2, variables={"PSTHREADS_STATS": value})
        assert ran.returncode == 0 and (lines(ran)[-1].startswith(said) if said else ran.stderr == ""), ran
    # What the program starts is traced by the same psrun.
    ran = place.run("--trace", "o.rec", "sh", "-c", f"{place.psrun} {PROGRAM} regions 2; {PROGRAM} regions 2")
    assert len([line for line in lines(ran) if "psrun: trace of" in line]) == 2 and len(lines(ran)) == 2, ran
    for limit in ("0", "x", "1X", "-1", "1025G", "99999999999999999999G"):
        ran = place.run("--trace", "o.rec", "--trace-limit", limit, PROGRAM, "regions", 2)
        said = f"psrun: --trace-limit {limit}: wanted a size such as 64M, of 1024G at most\n"
        assert ran.returncode == 125 and ran.stderr == said, ran
    ran = place.run("--trace-limit", "1M", "true")
    assert ran.returncode == 0 and ran.stderr == "psrun: --trace-limit without --trace has no effect\n", ran
    ran = place.run("--stats", "dump", "x")
    assert lines(ran)[0] == "psrun: dump: --trace and --stats have no effect", ran


def profiles():
    ran = place.run("--stats", PROGRAM, "regions", 2)
    words = ran.stderr.split()
    assert ran.stdout == "" and words[0] == "profile:" and len(words) == 2, ran
    assert not os.path.exists(words[1]), "the recording has gone"
    ran = place.run("--stats=p.json", PROGRAM, "forks", 2)
    assert json.loads((place.folder / "p.json").read_text()) == {}
    assert len(lines(ran)[0].split()) == 3 + 3 and lines(ran)[1] == f"psrun: profile in {place.folder}/p.json", ran
    assert [path.name for path in place.folder.iterdir()] == ["p.json"]


def place_of(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}")


def of_a_running_program():
    with subprocess.Popen([place.psrun, "--stats", PROGRAM, "waits", "2"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "begun\n"
        (pid,) = (place_of(running.pid) / "children").read_text().split()
        ran = place.run("stats", pid)
        assert ran.returncode == 0 and ran.stdout.startswith("profile: --live ") and f".{pid}.0.recording" in ran.stdout
        ran = place.run("stats", running.pid)  # psrun's own number means the program
        assert ran.returncode == 0 and f".{pid}.0.recording" in ran.stdout, ran
        running.communicate("on\n")
        assert running.returncode == 0
    ran = place.run("stats", os.getpid())
    assert ran.returncode == 1 and "it does not record: start it with psrun --stats" in ran.stderr, ran
    ran = place.run("stats", "x")
    assert ran.returncode == 125 and ran.stderr == "psrun: stats x: wanted a process's number\n", ran
    ran = place.run("report", "a.pftrace", "-o", "b.html")
    assert ran.stdout == "page: a.pftrace -o b.html\n", ran


def runs_on():
    with subprocess.Popen([place.psrun, "--stats", PROGRAM, "background", "2"], stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        said, pid = running.stderr.read(), running.stdout.read().split()[1]
        assert f"psrun: process {pid} still runs: what it does from here on is not shown\n" in said, said


def what_cannot_be():
    for name, why in (("/nowhere/t", "No such file or directory"), (".", "Is a directory"), ("x/", "")):
        ran = place.run("--trace", name, PROGRAM, "regions", 2, 5)
        assert ran.returncode == 5 and len(lines(ran)) == 1, ran
        assert ran.stderr.startswith(f"psrun: {name} cannot be written: {why}"), ran
        assert ran.stderr.endswith("; the program runs without a trace\n"), ran
    os.mkfifo(place.work / "fifo")
    for name in ("/dev/null", "/dev/stdout", "-", place.work / "fifo"):
        ran = place.run("--trace", name, PROGRAM, "regions", 2, 5)
        assert ran.returncode == 5 and not list(place.folder.iterdir()), ran
        assert ran.stderr == f"psrun: {name} is no regular file; the program runs without a trace\n", ran
    ran = place.run("--trace", "t.rec", "true")
    said = "psrun: no trace: the program opened no parallel region, has a tool of its own (OMPT), or could not record\n"
    assert ran.returncode == 0 and ran.stderr == said, ran
    assert not list(place.folder.iterdir())
    (place.work / "own.c").write_text(OWN_TOOL)
    subprocess.run(["cc", "-fopenmp", "-rdynamic", "-w", "own.c", "-o", "own"], cwd=place.work, check=True)
    ran = place.run("--trace", "t.rec", place.work / "own")
    assert ran.returncode == 0 and ran.stderr == said and not list(place.folder.iterdir()), ran
    ran = place.run("--trace", "t.rec", "./nothing")
    assert ran.returncode == 127 and len(lines(ran)) == 1 and not list(place.folder.iterdir()), ran
    ran = place.run("--trace", "t.rec", PROGRAM, "regions", 2, variables={"OMP_TOOL": "disabled"})
    assert "trace of" in ran.stderr, ran
    hidden = place.report.with_name("hidden")
    place.report.rename(hidden)
    ran = place.run("--trace", "t.rec", PROGRAM, "regions", 2, 4)
    assert ran.returncode == 4 and "psthreads-report" in ran.stderr and len(lines(ran)) == 1, ran
    hidden.rename(place.report)
    # The report fails: what was recorded stays.
    good = place.report.read_text()
    place.report.write_text("#!/bin/sh\nexit 1\n")
    ran = place.run("--trace", "t.rec", PROGRAM, "regions", 2)
    kept = list(place.folder.iterdir())
    assert len(kept) == 1 and ran.stderr == f"psrun: the recording stays in {kept[0]}\n", (ran, kept)
    place.report.write_text(good)


def full_disk():
    if os.geteuid() != 0:
        print("  skipped: not root")
        return
    folder = place.work / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", folder], check=False,
                      capture_output=True).returncode:
        print("  skipped: no mount")
        return
    try:
        place.report.rename(place.report.with_name("hidden"))
        place.report.write_text("#!/bin/sh\nmv $2 $4\n")  # there is no room for a copy
        place.report.chmod(0o755)
        ran = place.run("--trace", folder / "t.rec", PROGRAM, "short_tasks", 100000)
        assert ran.returncode == 0 and ran.stdout == "wrong 0\n", ran
        r = Recording(folder / "t.rec")
        assert r.segments_refused and r.lost and r.sum("tasks") == 100000
        (folder / "t.rec").unlink()
        with open(folder / "filler", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                pass
        ran = place.run("--trace", folder / "t.rec", PROGRAM, "short_tasks", 1000)
        assert ran.returncode == 0 and ran.stdout == "wrong 0\n", ran
        assert "No space left on device; the program runs without a recording" in ran.stderr, ran
        place.report.with_name("hidden").rename(place.report)
    finally:
        subprocess.run(["umount", folder], check=True)


def passing_on():
    """What is sent to psrun alone reaches the program, and psrun ends as the program does."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGALRM, signal.SIGPIPE,
                   signal.SIGRTMIN):
        with subprocess.Popen([place.psrun, "--trace", place.work / f"s{number}", PROGRAM, "waits", "2"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as running:
            assert running.stdout.readline() == "begun\n"
            running.send_signal(number)
            said = running.stderr.read()  # the program's input stays open meanwhile
            assert running.wait() == -number and "psrun: trace of" in said, (running.returncode, said)
    # psrun is killed: the program as well.
    with subprocess.Popen([place.psrun, "--trace", place.work / "killed", PROGRAM, "waits", "2"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "begun\n"
        running.kill()
        assert running.stdout.read() == ""  # ends when the program has ended
    ran = place.run("--trace", "t.rec", PROGRAM, "regions", 2, 42,
                    preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert ran.returncode == 42


def ends_a_report():
    """A signal to psrun ends psthreads-report, and then psrun."""
    good = place.report.read_text()
    place.report.write_text("#!/bin/sh\necho works\nexec sleep 1000\n")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        folder = place.work / f"ends{number}"
        folder.mkdir()
        with subprocess.Popen([place.psrun, "--trace", "t.rec", PROGRAM, "forks", "2"], cwd=folder, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
            assert running.stderr.readline() == "works\n"
            running.send_signal(number)
            said = running.stderr.read()
            kept = list(folder.iterdir())
            assert running.wait() == 0 and len(kept) == 3, (running.returncode, kept)
            assert sorted(said.splitlines()) == sorted(f"psrun: the recording stays in {path}" for path in kept), said
    # `timeout` sends the signal to psrun, then to the whole group.
    place.report.write_text(good.replace("import sys\n", "import os\nimport sys\n\nos.killpg(0, 15)\n"))
    with subprocess.Popen([place.psrun, "--trace", place.work / "group", PROGRAM, "waits", "2"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as running:
        assert running.stdout.readline() == "begun\n"
        running.terminate()
        said = running.stderr.read()
        assert running.wait() == -signal.SIGTERM and "psrun: trace of" in said, (running.returncode, said)
    place.report.write_text(good)


def standard_error():
    """It is closed; nobody reads it."""
    ran = place.run("--trace", "t.rec", PROGRAM, "regions", 2, preexec_fn=lambda: os.close(2))
    assert ran.returncode == 0 and Recording(place.folder / "t.rec").count("REGION_BEGIN") == 8, ran
    assert len(list(place.folder.iterdir())) == 1, list(place.folder.iterdir())
    unread, written = os.pipe()
    os.close(unread)
    folder = place.work / "unread"
    folder.mkdir()
    ran = subprocess.run([place.psrun, "--stats", PROGRAM, "regions", "2", "6"], stderr=written, check=False,
                         env={**os.environ, "TMPDIR": str(folder)})
    os.close(written)
    assert ran.returncode == 6 and not list(folder.iterdir()), (ran, list(folder.iterdir()))


def no_pipe():
    """There is no descriptor for psrun: the program runs without a recorder."""
    limit = (4, 4)
    ran = place.run("--trace", "t.rec", PROGRAM, "regions", 2, 6, preexec_fn=lambda: (
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)))
    assert ran.returncode == 6 and not list(place.folder.iterdir()), (ran, list(place.folder.iterdir()))
    assert ran.stderr == "psrun: no pipe: Too many open files; the program runs without a recording\n", ran


def read_until(fd, text):
    got = ""
    while text not in got:
        select.select([fd], [], [])
        got += os.read(fd, 1000).decode()
    return got


def terminal():
    """The program has the terminal: it reads a line; an interrupt by key ends it, and the trace is made."""
    for typed, wanted in (("hello\n", 0), ("\x03", signal.SIGINT)):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(place.work)
            os.execv(place.psrun, [str(place.psrun), "--trace", f"pty{wanted}", PROGRAM, "waits", "2"])
        read_until(fd, "begun")
        os.write(fd, typed.encode())
        got = read_until(fd, "ui.perfetto.dev")
        assert "read hello" in got if wanted == 0 else "read" not in got, got
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        assert (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0) if wanted == 0 else (
            os.WIFSIGNALED(status) and os.WTERMSIG(status) == wanted), status


def main():
    for test in (names, ranks, variables, profiles, of_a_running_program, runs_on, what_cannot_be, full_disk,
                 passing_on, ends_a_report, standard_error, no_pipe, terminal):
        print(test.__name__, flush=True)
        test()


main()
