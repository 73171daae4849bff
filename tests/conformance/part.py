"""A part of a suite: each Nth of its tests, from the Kth on. The N parts together are the suite."""

import argparse
import re


def numbers(text):
    """(K, N) of "K/N"; K counts from 0 and may be larger, as the number of a day is: it is taken modulo N."""
    found = re.fullmatch(r"(\d+)/([1-9]\d*)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: K/N is wanted, two numbers")
    k, n = map(int, found.groups())
    return k % n, n


def of(tests, which):
    k, n = which
    return tests[k::n]
