"""clang-tidy, in parallel: tidy.py ROOT BUILD. The list of checks is ROOT/.clang-tidy.

The tests are left out: they are half of what there is to read. What BUILD compiles together
(CMAKE_UNITY_BUILD) is linted together: most of the time goes into the headers of libraries.

What passed is remembered in BUILD/.tidy under a digest of everything of ours that it is compiled
from, and passed over until any of it changes.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys


def from_root(root, build, target):
    for folder in (root, os.path.join(build, "generated")):
        path = os.path.join(folder, target)
        if os.path.isfile(path):
            return path
    return None


@functools.lru_cache(maxsize=None)
def content(path):
    with open(path, "rb") as file:
        return file.read()


def compiled_from(root, build, path):
    """The file and all of ours that it includes, themselves or through others."""
    reached, left = set(), [path]
    while left:
        at = left.pop()
        if at in reached:
            continue
        reached.add(at)
        targets = re.findall(rb'^\s*#\s*include\s*"([^"]+)"', content(at), re.MULTILINE)
        left += filter(None, (from_root(root, build, t.decode()) for t in targets))
    return sorted(reached)


def digest(root, build, entry, version):
    sha = hashlib.sha256(version.encode())
    sha.update(entry.get("command", "").encode())
    for path in [os.path.join(root, ".clang-tidy"), *compiled_from(root, build, entry["file"])]:
        sha.update(path.encode() + b"\0" + content(path))
    return sha.hexdigest()


def is_linted(root, build, path):
    folders = ("tests/", os.path.relpath(build, root) + "/tests/",
               os.path.relpath(build, root) + "/generated/")
    return path.startswith(root + os.sep) and not os.path.relpath(path, root).startswith(folders)


def lint(root, build, path):
    """What clang-tidy says about the file, empty when it passes."""
    # Some options of ours only g++ knows.
    run = subprocess.run(["clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option", "-p", build,
                          path], cwd=root,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode == 0:
        return ""
    return run.stdout.replace(root + os.sep, "") or run.stderr


def main(root, build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = [entry for entry in json.load(file) if is_linted(root, build, entry["file"])]
    version = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    passed = os.path.join(build, ".tidy")
    os.makedirs(passed, exist_ok=True)
    digests = {entry["file"]: digest(root, build, entry, version) for entry in entries}
    for stale in set(os.listdir(passed)) - set(digests.values()):
        os.remove(os.path.join(passed, stale))

    changed = sorted((f for f in digests if not os.path.exists(os.path.join(passed, digests[f]))),
                     key=lambda f: -len(compiled_from(root, build, f)))  # the longest first
    if changed:
        print(f"clang-tidy: {len(changed)} of {len(digests)} units", flush=True)
    failed = False
    said = set()  # a header's findings come with every file that includes it
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, output in zip(changed, pool.map(functools.partial(lint, root, build), changed)):
            if not output:
                with open(os.path.join(passed, digests[path]), "w", encoding="utf-8"):
                    pass
            failed = failed or bool(output)
            if output not in said:
                said.add(output)
                print(output, end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
