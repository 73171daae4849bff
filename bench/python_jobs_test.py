#!/usr/bin/python3
"""What python_jobs.py answers for values whose answer is plain, and that its jobs are python_job.py's."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import python_jobs as j
import verdict as v

USUAL, UNEVEN = j.Row("usual", "title"), j.Row("uneven", "title", most=j.UNEVEN)


def judged(row, late=(), failed=(), processor=None, **seconds):
    """seconds: as_it_is, one, limits, psthreads; the same in three rounds."""
    def of_rounds(values):
        return {(row.name, way.replace("_", " ")): {0: s, 1: s, 2: s} for way, s in values.items()}
    return j.Judged(row, of_rounds(seconds), of_rounds(processor or {}), {(row.name, way) for way in late},
                    {(row.name, way): "exit status 1" for way in failed})


class Verdicts(unittest.TestCase):
    def test_the_best_other_way_counts(self):
        one = judged(USUAL, as_it_is=4.0, one=1.0, limits=2.0, psthreads=1.1)
        self.assertEqual((one.best, one.verdict), (j.ONE, v.MET))
        self.assertAlmostEqual(one.ratio[0], 1.1)
        self.assertEqual(judged(USUAL, as_it_is=4.0, one=1.0, psthreads=1.2).verdict, v.MISSED)

    def test_uneven_jobs_have_another_goal(self):
        self.assertEqual(judged(UNEVEN, as_it_is=1.0, one=1.0, psthreads=0.8).verdict, v.MISSED)
        self.assertEqual(judged(UNEVEN, as_it_is=1.0, one=1.0, psthreads=0.7).verdict, v.MET)

    def test_what_is_late_is_not_the_best(self):
        one = judged(USUAL, late=[j.ONE], as_it_is=20.0, one=15.0, psthreads=20.0)
        self.assertEqual((one.best, one.verdict), (j.AS_IT_IS, v.MET))
        self.assertEqual(judged(USUAL, late=[j.AS_IT_IS, j.OURS], as_it_is=9.0, psthreads=9.0).verdict, v.ABSENT)

    def test_what_failed_or_was_not_measured(self):
        self.assertEqual(judged(USUAL, failed=[j.OURS], one=1.0).verdict, v.MISSED)
        self.assertEqual(judged(USUAL, psthreads=1.0).verdict, v.ABSENT)

    def test_the_least_ratio(self):
        one = judged(USUAL, as_it_is=4.0, one=2.0, psthreads=2.0,
                     processor={"as_it_is": 8.0, "one": 2.0, "psthreads": 3.0})
        self.assertAlmostEqual(one.least, 1 / j.PROCESSORS)


class Documents(unittest.TestCase):
    def kept(self, text):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "d.md"
            document.write_text(text)
            j.keep(document, "table\n")
            return document.read_text()

    def test_the_section_s_block_is_replaced(self):
        before = f"```\nshell\n```\n\n{j.SECTION}\n\nText.\n\n```\n"
        after = "```\n\n## Next\n\n```\nother\n```\n"
        self.assertEqual(self.kept(before + "old\n" + after), before + "table\n" + after)

    def test_no_other_section_s_block_is(self):
        with self.assertRaises(SystemExit):
            self.kept(f"{j.SECTION}\n\nText.\n\n## Next\n\n```\nother\n```\n")


class Jobs(unittest.TestCase):
    def test_names_differ(self):
        self.assertEqual(len({row.name for row in j.ROWS}), len(j.ROWS))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_rows_are_jobs(self):
        import python_job
        wanted = {row.job or row.name for row in j.ROWS} - {"fftw-threads"}
        self.assertEqual(wanted, set(python_job.JOBS))
        self.assertEqual({row.name for row in j.ROWS if not row.pool}, {"fftw-threads", *python_job.UNLIMITED})


if __name__ == "__main__":
    unittest.main()
