"""The rules of the house: rules.py ROOT.

include   dependencies run one way: domain <- store <- proof <- ledger <- access <- projections <- api
          <- tools, and the domain knows only the standard library, tl::expected and itself
clock     only ledger/clock.cc asks what time it is; everything else is handed an instant
random    only the files named here draw random numbers
length    files under 500 lines, functions under 70
mark      no notes to oneself: what is left to do is an issue
script    scripts can be parsed
quote     what a document quotes from a scenario file stands there, word for word
"""

import ast
import os
import re
import subprocess
import sys

from cpp_text import code_only, functions
from sources import cpp_files, files, read, report

MAX_FILE_LINES = 499
MAY_BE_LONG = {"api/holdfast.capnp": "a contract that clients read from top to bottom"}
MAX_FUNCTION_LINES = 69

# From the bottom up; each may include itself and what stands before it.
LAYERS = ("ledger/domain", "ledger/store", "ledger/proof", "ledger", "ledger/access", "projections",
          "api", "tools", "tests")
# Generated beside their schema but used from a lower layer than their folder.
LAYER_OF_FILE = {"ledger/event.capnp.h": "ledger/store"}
DOMAIN_LIBRARIES = ("tl/expected.hpp", "xxhash.h")

READS_THE_CLOCK = re.compile(
    r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b"
    r"|\b(?:gettimeofday|clock_gettime|timespec_get|ftime|localtime(?:_r)?|mktime)\s*\("
    r"|\btime\s*\(\s*(?:nullptr|NULL|0|&\s*\w+)\s*\)|\bstd::clock\s*\("
    r"|\b(?:NowMicros|NowNanos|GetCurrentTime)\s*\(")
MAY_READ_THE_CLOCK = {
    "ledger/clock.cc": "the clock itself",
    "tools/bench": "measures",
    "tests/": "measure, and wait for servers",
}
WAITS_FOR_TIME = re.compile(r"\b(?:steady|system|high_resolution|deadline)_timer\b")
MAY_WAIT_FOR_TIME = ("api/", "tools/", "tests/")

DRAWS_RANDOM = re.compile(
    r"\brandom_device\b|\bdefault_random_engine\b|\b(?:std::rand|srand|rand|random|drand48)\s*\(\s*\)"
    r"|\b(?:srand|getrandom|getentropy|arc4random\w*|RAND_bytes|RAND_priv_bytes)\s*\(")
MAY_DRAW_RANDOM = {
    "ledger/store/log_recovery.cc": "the id of a new ledger",
    "ledger/fresh_key.cc": "keys of claims that clients leave out",
    "api/client.cc": "jitter between attempts to connect; ids of requests",
    "tools/bench": "fresh keys in every run",
    "tools/cli/token.cc": "tokens",
    "tests/": "random tests, which print their seed",
}

# Written apart, so that this file does not find itself.
MARK = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK")) + r")\b")


def layer_of(path):
    if path in LAYER_OF_FILE:
        return LAYER_OF_FILE[path]
    inside = [layer for layer in LAYERS if path.startswith(layer + "/")]
    return max(inside, key=len) if inside else None


def included(text):
    """(line, opening character, path) of each #include."""
    pattern = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
    for number, line in enumerate(text.splitlines(), 1):
        if match := pattern.match(line):
            yield number, match.group(1), match.group(2)


def check_include(root, path, text):
    own = layer_of(path)
    if own is None:
        return
    for line, opening, target in included(text):
        if opening == '"':
            layer = layer_of(target)
            if layer is None:
                yield line, f'"{target}" is not written from the root; write "folder/{target}"'
            elif LAYERS.index(layer) > LAYERS.index(own):
                yield line, (f"{own} may not include {layer}; dependencies run "
                             + " <- ".join(LAYERS) + ": move what is shared down")
        elif own == "ledger/domain" and not re.fullmatch(r"[a-z_]+", target):
            if target not in DOMAIN_LIBRARIES:
                yield line, (f"the domain may not include <{target}>; only the standard library, "
                             "tl/expected.hpp, xxhash.h and ledger/domain")
        elif layer_of(target):
            yield line, f'<{target}> is ours; write it as "{target}"'


def matches(pattern, text):
    for number, line in enumerate(code_only(text).splitlines(), 1):
        if match := pattern.search(line):
            yield number, match.group(0).rstrip("( ")


def check_clock(root, path, text):
    if not path.startswith(tuple(MAY_READ_THE_CLOCK)):
        for line, what in matches(READS_THE_CLOCK, text):
            yield line, f"{what} reads the clock; take an Instant as an argument"
    if not path.startswith(MAY_WAIT_FOR_TIME):
        for line, what in matches(WAITS_FOR_TIME, text):
            yield line, f"{what} waits for time to pass; only sessions and programs do that"


def check_random(root, path, text):
    if not path.startswith(tuple(MAY_DRAW_RANDOM)):
        for line, what in matches(DRAWS_RANDOM, text):
            yield line, (f"{what} is random; take what was drawn as an argument, or name this file "
                         "and why in tools/check.d/rules.py")


def check_length(root, path, text):
    lines = text.count("\n")
    if lines > MAX_FILE_LINES and path not in MAY_BE_LONG:
        yield lines, f"{lines} lines, at most {MAX_FILE_LINES}; give the file one job and split it"
    found = []
    if path.endswith((".h", ".cc")):
        found = functions(text)
    elif is_script(text, "python"):
        try:
            found = [(node.name, node.lineno, node.end_lineno - node.lineno + 1)
                     for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        except SyntaxError:
            pass  # the rule `script` says so
    for name, line, length in found:
        if length > MAX_FUNCTION_LINES:
            yield line, f"{name} has {length} lines, at most {MAX_FUNCTION_LINES}; split it"


def check_mark(root, path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if match := MARK.search(line):
            yield number, f"{match.group(1)} is left here; do it, or file an issue"


def is_script(text, language):
    return text.startswith("#!") and language in text.split("\n", 1)[0]


def check_script(root, path, text):
    if is_script(text, "bash") or path.endswith(".sh"):
        run = subprocess.run(["bash", "-n", os.path.join(root, path)],
                             stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode != 0:
            at = re.search(r"line (\d+): (.*)", run.stderr)
            yield (int(at.group(1)), at.group(2)) if at else (1, run.stderr.strip())
    elif is_script(text, "python") or path.endswith(".py"):
        try:
            ast.parse(text)
        except SyntaxError as error:
            yield error.lineno or 1, error.msg


QUOTED_FILE = re.compile(r"\]\((tests/scenarios/[^)]+)\):$")


def quotes(text):
    """(line, file, quoted lines) of each indented block behind a paragraph that ends in a link."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not (match := QUOTED_FILE.search(line)):
            continue
        begin = end = number + 2
        while end < len(lines) and (lines[end].startswith("    ") or not lines[end]):
            end += 1
        block = "\n".join(line[4:] for line in lines[begin:end]).rstrip("\n")
        yield begin + 1, match.group(1), block + "\n"


def check_quote(root, path, text):
    for line, file, block in quotes(text):
        if not os.path.exists(os.path.join(root, file)):
            yield line, f"{file} is quoted and is not there"
        elif "\n" + block not in "\n" + read(root, file):
            yield line, f"this does not stand in {file}; quote it again"


def main(root):
    of_cpp = {"include": check_include, "clock": check_clock, "random": check_random}
    of_all = {"length": check_length, "mark": check_mark, "script": check_script}
    of_documents = {"quote": check_quote}
    cpp = set(cpp_files(root))
    failed = False
    for path in files(root):
        text = read(root, path)
        rules = {**of_all, **(of_cpp if path in cpp else {}),
                 **(of_documents if path.endswith(".md") else {})}
        for rule, check in rules.items():
            for line, message in check(root, path, text):
                report(path, line, rule, message)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
