"""The list of tests that are known to fail."""

import os
import sys


def expected_failures(path):
    """{name: reason}: a name a line, then blanks, then why; '#' begins a comment. A reason that begins with "now and
    then: " is one of time or of the machine: the test may pass or fail, and neither makes the run fail."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                parts = line.split("#", 1)[0].split(None, 1)
                if len(parts) == 1:
                    sys.exit(f"{path}:{number}: '{parts[0]}' has no reason")
                if parts:
                    found[parts[0]] = parts[1].strip()
    return found


def always(reason):
    return not reason.startswith("now and then: ")
