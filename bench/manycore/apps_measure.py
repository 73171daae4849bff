"""apps.py's runs: on the simulated platform, and on this machine; the rows that they write."""
import concurrent.futures
import csv
import functools
import json
import statistics
import subprocess
import time

import harness
from apps_jobs import FIELDS, KEY, PROGRAMS, jobs
from harness import say


class Rows:
    """What is measured; the file has a line for each row as soon as it is there."""

    def __init__(self, path, again=()):
        """again: the parts whose rows are not taken from the file."""
        self.path, self.rows = path, {}
        if path.exists():
            with open(path, newline="") as f:
                for row in csv.DictReader(f):
                    if row.get("error") is None:
                        continue  # the line at which a measurement was killed
                    if not row["error"] and row["part"] not in again:
                        self.rows[self.key(row)] = row
        self.write_all()

    @staticmethod
    def key(row):
        return tuple(str(row[k]) for k in KEY)

    def write_all(self):
        part = self.path.with_suffix(".part")
        with open(part, "w", newline="") as f:
            writer = csv.DictWriter(f, FIELDS)
            writer.writeheader()
            writer.writerows(self.rows.values())
        part.rename(self.path)

    def take_missing(self, path):
        """Parts that are not measured here are those of another file."""
        there = {row["part"] for row in self.rows.values()}
        for key, row in (Rows.read(path) if path.exists() else {}).items():
            if row["part"] not in there:
                self.rows[key] = row

    @staticmethod
    def read(path):
        with open(path, newline="") as f:
            return {Rows.key(row): row for row in csv.DictReader(f)}

    def sort(self, wanted):
        """In the order of the jobs, whichever was done first."""
        place = {tuple(str(j[k]) for k in KEY[:-1]): i for i, j in enumerate(wanted)}
        there = sorted(self.rows.items(), key=lambda item: place.get(item[0][:-1], len(place)))
        self.rows = dict(there)
        self.write_all()

    def add(self, row):
        self.rows[self.key(row)] = row = {k: str(row.get(k, "")) for k in FIELDS}
        with open(self.path, "a", newline="") as f:
            csv.DictWriter(f, FIELDS).writerow(row)

    def find(self, **wanted):
        return [r for r in self.rows.values() if not r["error"] and all(r[k] == str(v) for k, v in wanted.items())]

    def one(self, field="time", **wanted):
        found = self.find(**wanted)
        return float(found[0][field]) if found and found[0][field] else None


class Measure:
    def __init__(self, a, rows):
        self.a, self.rows, self.checksums = a, rows, {}
        self.elves = a.elves or a.build / "manycore" / "apps"

    @functools.cached_property
    def peers(self):
        """Of the host alone: the platform's parts want no other library."""
        return harness.Peers(self.a.build, self.a.peer)

    def host(self, name):
        return self.a.build / "bin" / f"mc-{self.program(name)}"

    @staticmethod
    def program(name):
        return "shot" if name == "SHOT" else PROGRAMS[name][0]

    def expected(self, name, options):
        """The host's checksum of the same."""
        words = options.split()
        if "--remote" in words:
            del words[words.index("--remote") :][:2]
        key = (name, " ".join(words))
        if key not in self.checksums:
            out = subprocess.run(
                [self.host(name), "--form", "sequential", "--check", "0", *words],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            self.checksums[key] = json.loads(out)["checksum"]
        return self.checksums[key]

    def platform(self, j):
        elf = self.elves / f"{self.program(j['program'])}-{j['hal']}.elf"
        if not elf.exists():
            return {**j, "error": f"{elf.name} is not built"}
        clusters, cores = (1, 1) if j["form"] == "sequential" else (j["outer"], j["inner"])
        if j["form"] == "cluster":
            clusters = 4
        command = [self.a.build / "bin" / "manycore", "--clusters", clusters, "--set", f"platform.cores={cores}"]
        for setting in j["settings"].split():
            command += ["--set", setting]
        command += [
            elf,
            "--form",
            j["form"],
            "--outer",
            j["outer"],
            "--inner",
            j["inner"],
            "--check",
            0,
            "--warm",
            1,
            *j["options"].split(),
        ]
        try:
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=self.a.seconds)
        except subprocess.TimeoutExpired:
            return {**j, "error": f"not finished in {self.a.seconds} s"}
        lines = done.stdout.strip().splitlines()
        if done.returncode or not lines:
            return {**j, "error": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
        found = json.loads(lines[-1])
        row = {**j, "time": found["time_cycles"], "regions": found["regions"], "checksum": found.get("checksum", "")}
        row.update({k: found.get(f"{k}_cycles", "") for k in ("work_least", "work_most", "work_sum")})
        if "checksum" in found and found["checksum"] != self.expected(j["program"], j["options"]):
            row["error"] = f"checksum {found['checksum']}, the host's is {self.expected(j['program'], j['options'])}"
        return row

    def on_host(self, j):
        """A row for each runtime, run in turns."""
        times = {"sequential": []}
        for _ in range(3 if self.a.quick else 7):
            for peer in [None, *self.peers.list]:
                arguments = [
                    self.host(j["program"]),
                    "--check",
                    0,
                    "--warm",
                    2,
                    "--repeat",
                    9,
                    "--form",
                    "numa" if peer else "sequential",
                    "--outer",
                    j["outer"],
                    "--inner",
                    j["inner"],
                    *j["options"].split(),
                ]
                out, why = (peer or self.peers.list[0]).run(arguments, 60)
                if why:
                    say(f"    {peer.name if peer else 'sequential'}: {why}")
                    continue
                found = json.loads(out)
                wrong = found["checksum"] != self.expected(j["program"], j["options"])
                times.setdefault(peer.name if peer else "sequential", []).append(None if wrong else found["time_us"])
        for runtime, values in times.items():
            bad = None in values or not values
            yield {
                **j,
                "runtime": runtime,
                "time": "" if bad else f"{statistics.median(values):.3f}",
                "error": "a wrong checksum" if None in values else "" if values else "no result",
            }

    def made(self, wanted):
        """(number, rows) of each: platforms several at once, for cycles do not depend on that; the host's in turn."""
        with concurrent.futures.ThreadPoolExecutor(self.a.jobs) as pool:
            runs = {pool.submit(self.platform, j): k for k, j in wanted if j["runtime"] != "*"}
            for run in concurrent.futures.as_completed(runs):
                yield runs[run], [run.result()]
        for k, j in wanted:
            if j["runtime"] == "*":
                yield k, list(self.on_host(j))

    def all(self, parts):
        todo = [j for j in jobs(self.a) if j["part"] in parts]
        start, failed, wanted = time.monotonic(), 0, []
        for k, j in enumerate(todo):
            there = self.rows.find(
                **{x: j[x] for x in KEY if x != "runtime"}, **({} if j["runtime"] == "*" else {"runtime": j["runtime"]})
            )
            if there and (j["runtime"] != "*" or {p.name for p in self.peers.list} <= {r["runtime"] for r in there}):
                continue
            wanted.append((k, j))
        for k, made in self.made(wanted):
            for row in made:
                self.rows.add(row)
                failed += bool(row.get("error"))
                what = " ".join(
                    str(x)
                    for x in (
                        row["part"],
                        row["program"],
                        row["form"],
                        row["hal"],
                        f"{row['outer']}x{row['inner']}",
                        row["settings"],
                        row["runtime"],
                    )
                    if x
                )
                say(
                    f"[{k + 1} of {len(todo)}, {time.monotonic() - start:4.0f} s] {what}:"
                    f" {row.get('error') or row['time']}"
                )
        return failed
