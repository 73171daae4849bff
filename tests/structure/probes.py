#!/usr/bin/python3
"""probes.py ROOT LIBRARY - the static probes of a drop-in are those that docs/seeing.md lists."""

import re
import subprocess
import sys
from pathlib import Path

root, library = Path(sys.argv[1]), sys.argv[2]
notes = subprocess.run(["readelf", "--notes", "--wide", library], check=True, capture_output=True, text=True).stdout
built = set(re.findall(r"Provider: psthreads\s+Name: (\w+)", notes))
text = (root / "docs" / "seeing.md").read_text()
table = text[text.index("| probe | arguments |"):].split("\n\n")[0]
told = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
if not built:
    print("probes: skipped: built without <sys/sdt.h>")
    sys.exit(77)
for name in sorted(built ^ told):
    print(f"{name}: " + ("docs/seeing.md does not list it" if name in built else "it is not in the library"))
print(f"probes: {len(built)}, {len(built ^ told)} wrong")
sys.exit(1 if built != told else 0)
