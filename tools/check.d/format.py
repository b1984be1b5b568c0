"""clang-format: format.py ROOT. The style is ROOT/.clang-format."""

import os
import re
import subprocess
import sys

from sources import cpp_files, report


def main(root):
    paths = cpp_files(root)
    if not paths:
        return 0
    run = subprocess.run(
        ["clang-format", "--dry-run", "--style=file", *paths],
        cwd=root, stderr=subprocess.PIPE, text=True, check=False)
    lines = re.findall(r"^(\S+):(\d+):\d+: warning: ", run.stderr, re.MULTILINE)
    for path, line in dict.fromkeys(lines):
        report(path, line, "format", f"not in format; clang-format -i {path}")
    if not lines and run.returncode != 0:
        print(run.stderr, file=sys.stderr)
    return 1 if lines or run.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
