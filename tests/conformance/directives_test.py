#!/usr/bin/python3
"""What directives.py makes of a test's comments, runner.py of a run's end, and part.py of a suite."""

import argparse
import os
import signal
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import directives  # noqa: E402
import part  # noqa: E402
import runner  # noqa: E402


def plan(text, language="c", option="-O2"):
    target = directives.Target()
    target.triplet = "x86_64-pc-linux-gnu"
    target.facts |= {"yes": True, "no": False}
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write(text)
        f.flush()
        return directives.read(f.name, language, option, target)


class Words(unittest.TestCase):
    def test_lists(self):
        self.assertEqual(directives.words('a {b {c} d} "e f"'), ["a", "b {c} d", "e f"])
        self.assertEqual(directives.words(r'"\\(x\[0-9\])\n"'), ["\\(x[0-9])\n"])
        self.assertEqual(directives.words('""'), [""])


class Directives(unittest.TestCase):
    def test_plain(self):
        p = plan("int main(void) { return 0; }\n")
        self.assertEqual((p.action, p.skip, p.options), ("run", "", None))

    def test_options(self):
        p = plan('/* { dg-do run } */\n/* { dg-options "-O0 -g" } */\n// { dg-additional-options "-std=gnu99" {target '
                 'c } }\n')
        self.assertEqual((p.options, p.additional), (["-O0", "-g"], ["-std=gnu99"]))
        self.assertEqual(plan('// { dg-additional-options "-std=gnu99" {target c } }\n', "c++").additional, [])
        self.assertEqual(plan('// { dg-options "-O1" { target no } }\n').options, None)

    def test_targets(self):
        self.assertEqual(plan("/* { dg-do run { target no } } */\n").action, "run")
        self.assertTrue(plan("/* { dg-do run { target no } } */\n").skip)
        self.assertFalse(plan("/* { dg-do run { target { yes && { ! no } } } } */\n").skip)
        self.assertTrue(plan("/* { dg-do run { target { no || { yes && no } } } } */\n").skip)
        self.assertFalse(plan("/* { dg-do run { target i?86-*-* x86_64-*-* } } */\n").skip)
        self.assertTrue(plan("/* { dg-do run { target { ! *-*-* } } } */\n").skip)
        self.assertTrue(plan("/* { dg-require-effective-target no } */\n").skip)
        self.assertFalse(plan("/* { dg-require-effective-target yes } */\n").skip)

    def test_skip_if(self):
        text = '! { dg-skip-if "" { ! no } { "*" } { "-O0" "-O2" } }\n'
        self.assertTrue(plan(text, "fortran", "-O").skip)
        self.assertFalse(plan(text, "fortran", "-O2").skip)
        self.assertTrue(plan('/* { dg-skip-if "" { *-*-* } } */\n').skip)

    def test_file_name_that_begins_with_target(self):
        self.assertEqual(plan('/* { dg-additional-sources "target-a.c target-b.c" } */\n').sources,
                         ["target-a.c", "target-b.c"])

    def test_environment_and_output(self):
        p = plan('/* { dg-set-target-env-var OMP_PLACES "{6,7}:4:-2,!{2,3}" } */\n/* { dg-shouldfail "" } */\n'
                 '/* { dg-output "one(\\n|\\r)" } */\n/* { dg-output "two" } */\n')
        self.assertEqual(p.environment, {"OMP_PLACES": "{6,7}:4:-2,!{2,3}"})
        self.assertEqual((p.should_fail, p.output), (True, "one(\n|\r)two"))


class Reasons(unittest.TestCase):
    def test_reasons(self):
        lost = "x: symbol lookup error: x: undefined symbol: GOMP_a, version GOMP_1.0\n"
        self.assertEqual(runner.reason_of(127, lost), "missing symbol GOMP_a")
        self.assertEqual(runner.reason_of(1, "x: lib.so: version `GOMP_9' not found (required by x)\n"),
                         "missing version GOMP_9")
        self.assertEqual(runner.reason_of(-signal.SIGSEGV, ""), "SIGSEGV")
        self.assertEqual(runner.reason_of(3, "a\nSTOP 3\n"), "exit code 3: STOP 3")


class Parts(unittest.TestCase):
    def test_parts_together_are_the_whole(self):
        tests = list("abcdefghij")
        found = [test for day in range(20, 24) for test in part.of(tests, part.numbers(f"{day}/4"))]
        self.assertEqual(sorted(found), tests)

    def test_numbers_are_wanted(self):
        for text in ("3", "1/0", "-1/4", "a/b"):
            self.assertRaises(argparse.ArgumentTypeError, part.numbers, text)


if __name__ == "__main__":
    unittest.main()
