"""Which files the checks look at, and how they say what they found."""

import os

FOLDERS = ("ledger", "projections", "api", "tools", "tests", "cmake", "docs", ".ci")
PASSED_OVER = ("__pycache__",)


def files(root):
    """Every text file of the project, as paths from the root with '/'."""
    found = [name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name))]
    for folder in FOLDERS:
        for at, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [f for f in folders if f not in PASSED_OVER]
            found += [os.path.relpath(os.path.join(at, name), root) for name in names]
    return sorted(path.replace(os.sep, "/") for path in found)


def cpp_files(root):
    return [path for path in files(root) if path.endswith((".h", ".cc"))]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def report(path, line, rule, message):
    print(f"{path}:{line}: [{rule}] {message}", flush=True)
