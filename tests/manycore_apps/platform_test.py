#!/usr/bin/python3
"""platform_test.py --manycore MANYCORE --host DIR --elves DIR [--long] HAL... - the six applications on the virtual
platform: every form gives the host's checksum, on platforms of several shapes (--long; else two forms on one), and what
does not fit is refused in one line. """

import argparse
import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser()
parser.add_argument("--manycore", required=True)
parser.add_argument("--host", required=True, type=Path)
parser.add_argument("--elves", required=True, type=Path)
parser.add_argument("--long", action="store_true")
parser.add_argument("hals", nargs="+")
A = parser.parse_args()
PROGRAMS = {
    "color": "--width 40 --height 30 --frames 2 --value 60",
    "fast": "--width 64 --height 40 --suppress 1",
    "mahalanobis": "--first 32 --second 48",
    "strassen": "--size 16",
    "ncc": "--width 32 --height 21 --template 5 --x 3 --y 3",
    "shot": "--points 60 --keys 12 --radius 400",
}
FORMS = ["sequential", "flat", "cluster", "nested", "numa", "dynamic", "tasks"] if A.long else ["flat", "numa"]
HALS = (
    A.hals if A.long else [h for h in A.hals if h == "hws"] or A.hals[:1]
)  # whose waiting cores sleep is quick to simulate
SHAPES = [(1, 1), (2, 4), (4, 16)] if A.long else [(2, 4)]


class Platform(unittest.TestCase):
    def run_it(self, clusters, cores, name, hal, *arguments):
        command = [
            A.manycore,
            "--clusters",
            clusters,
            "--set",
            f"platform.cores={cores}",
            A.elves / f"{name}-{hal}.elf",
            *arguments,
        ]
        return subprocess.run([str(c) for c in command], capture_output=True, text=True)

    def test_every_form_gives_the_hosts_result(self):
        for name, options in PROGRAMS.items():
            host = subprocess.run(
                [A.host / f"mc-{name}", "--form", "sequential", *options.split()],
                capture_output=True,
                text=True,
                check=True,
            )
            for hal in HALS:
                for clusters, cores in SHAPES:
                    for form in FORMS:
                        with self.subTest(name=name, hal=hal, shape=(clusters, cores), form=form):
                            done = self.run_it(clusters, cores, name, hal, "--form", form, *options.split())
                            self.assertEqual((done.returncode, done.stderr), (0, ""))
                            self.assertEqual(json.loads(done.stdout)["checksum"], json.loads(host.stdout)["checksum"])

    def test_what_does_not_fit(self):
        for arguments, says in [
            (["--stripe", 4000, "--width", 320], "do not fit into 114688 bytes near a team"),
            (["--image", "x.png"], "there are no files on the platform"),
            (["--save", "x"], "there are no files on the platform"),
        ]:
            done = self.run_it(1, 1, "fast", HALS[0], "--form", "sequential", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
