"""What a DejaGnu test says about itself: its `{ dg-... }` comments, read as the host's own compiler and libgomp would
have it.

Only what decides how a test is built and run is looked at: dg-do, dg-options, dg-additional-options,
dg-additional-sources, dg-require-effective-target, dg-set-target-env-var, dg-skip-if, dg-shouldfail, dg-output,
dg-timeout, dg-timeout-factor, dg-add-options. What a compiler alone answers for (warnings, errors, dumps, assembly) is
passed over. The words are Tcl's (braces quote, backslashes escape in quotes); selectors are GCC's `target EXPR` and
`xfail EXPR`."""

import fnmatch
import platform
import re
from dataclasses import dataclass, field

LINE = re.compile(r"\{[ \t]+(dg-[-a-z]+)[ \t]+(.*?)[ \t]*\}[^}\n]*$|\{[ \t]+(dg-[-a-z]+)[ \t]*\}", re.M)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


def words(text):
    """Tcl's list of words."""
    out, i, n = [], 0, len(text)
    while i < n:
        if text[i].isspace():
            i += 1
            continue
        word = []
        if text[i] == "{":
            depth, start = 1, i + 1
            i += 1
            while i < n and depth:
                depth += {"{": 1, "}": -1}.get(text[i], 0)
                i += 1
            out.append(text[start:i - 1] if depth == 0 else text[start:])
            continue
        quoted = text[i] == '"'
        i += quoted
        while i < n and (text[i] != '"' if quoted else not text[i].isspace()):
            if text[i] == "\\" and i + 1 < n:
                i += 1
                word.append(ESCAPES.get(text[i], text[i]))
            else:
                word.append(text[i])
            i += 1
        i += quoted
        out.append("".join(word))
    return out


def cpu_flags():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            found = re.search(r"^flags\s*:(.*)$", f.read(), re.M)
    except OSError:
        return set()
    return set(found.group(1).split()) if found else set()


class Target:
    """Answers GCC's questions about the machine; remembers the ones it had to guess."""

    def __init__(self, machine=""):
        machine = machine or platform.machine()
        x86 = machine == "x86_64"
        self.triplet = f"{machine}-pc-linux-gnu"
        self.unknown = set()
        self.facts = {
            name: True
            for name in ("tls tls_runtime size32plus sync_int_long sync_char_short fpic shared lto lp64 alias"
                                    " fd_truncate cas_int large_long_double").split()}
        self.facts |= {"__float128": x86, "vect_simd_clones": x86, "sse2_runtime": x86,
                       "avx_runtime": x86 and "avx" in cpu_flags()}
        # a 64-bit host without an offloading device, at the suite's usual length
        self.facts |= {name: False
                       for name in ("ia32 ilp32 aarch64_tiny run_expensive_tests skip-all-targets offload_device"
                                                " offload_device_nonshared_as offload_device_shared_as"
                                                " offload_device_nvptx offload_target_nvptx offload_target_amdgcn"
                                                " offload_device_any_intel_mic offload_device_intel_mic").split()}

    def holds(self, expression, language):
        """The value of a selector expression: a list of words with !, &&, ||; bare triplets side by side mean any."""
        parts = words(expression)
        for joiner, join in (("||", any), ("&&", all)):
            if joiner in parts:
                groups, group = [], []
                for part in parts + [joiner]:
                    if part == joiner:
                        groups.append(self.term(group, language))
                        group = []
                    else:
                        group.append(part)
                return join(groups)
        return self.term(parts, language)

    def term(self, parts, language):
        if parts and parts[0] == "!":
            return not self.term(parts[1:], language)
        return any(self.word(part, language) for part in parts)

    def word(self, word, language):
        word = word.strip()
        if " " in word or word.startswith("!"):
            return self.holds(re.sub(r"^!(?=\S)", "! ", word), language)
        if "-*" in word or "*-" in word:
            return fnmatch.fnmatchcase(self.triplet, word)
        if word in ("c", "c++"):
            return word == language
        if word not in self.facts:
            self.unknown.add(word)
        return self.facts.get(word, False)

    def selected(self, args, language):
        """Whether the directive's last word, when it is a `target ...` selector, lets it count."""
        if args:
            selector = re.match(r"\s*target(?=[\s{])(.*)", args[-1], re.S)
            if selector:
                return self.holds(selector.group(1), language)
        return True


@dataclass
class Plan:
    """How one test is built, run and judged."""
    action: str = "run"
    skip: str = ""
    options: list = None
    additional: list = field(default_factory=list)
    sources: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    should_fail: bool = False
    output: str = ""
    timeout_factor: float = 1.0


def read(path, language, default_option, target):
    """The Plan of the test in `path`; default_option is what dg-skip-if's option lists are matched against."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    plan = Plan()
    for match in LINE.finditer(text):
        name, args = match.group(1) or match.group(3), words(match.group(2) or "")
        counts = target.selected(args, language)
        if name == "dg-do":
            plan.action = args[0]
            if not counts:
                plan.skip = f"for other targets: {args[-1]}"
        elif name == "dg-require-effective-target":
            if not target.holds(args[0], language):
                plan.skip = f"needs {args[0]}"
        elif name == "dg-skip-if" and len(args) >= 2 and target.holds(args[1], language):
            included = args[2] if len(args) > 2 else "*"
            excluded = words(args[3]) if len(args) > 3 else []
            if any(fnmatch.fnmatchcase(default_option, pattern) for pattern in words(included)) \
                    and default_option not in excluded:
                plan.skip = args[0] or f"skipped for {args[1]}"
        elif not counts:
            continue
        elif name == "dg-options":
            plan.options = args[0].split()
        elif name == "dg-additional-options":
            plan.additional += args[0].split()
        elif name == "dg-additional-sources":
            plan.sources += args[0].split()
        elif name == "dg-set-target-env-var":
            plan.environment[args[0]] = args[1]
        elif name == "dg-shouldfail":
            plan.should_fail = True
        elif name == "dg-output":
            plan.output += args[0]
        elif name == "dg-timeout-factor":
            plan.timeout_factor = float(args[0])
    return plan
