"""A holdfastd in a process of its own, for the tests that kill it."""

import pathlib
import re
import selectors
import subprocess
import time

START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 60


class ServerProcess:
    """Started on a free port; `address` is where it listens, `line` what it printed."""

    def __init__(self, bin_dir, data, *options, listen="127.0.0.1:0"):
        self.errors = open(pathlib.Path(data).parent / "holdfastd.err", "ab")
        self.process = subprocess.Popen(
            [str(pathlib.Path(bin_dir) / "holdfastd"), "--data", str(data), "--listen", listen, *options],
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self.line = self._first_line()
        found = re.search(r"listens on (\S+?),", self.line)
        if not found:
            self.kill()
            said = pathlib.Path(self.errors.name).read_text()
            raise AssertionError(f"holdfastd did not start: {said}")
        self.address = found.group(1)

    def _first_line(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(START_TIMEOUT_S):
                return ""
        return self.process.stdout.readline().decode()

    def kill(self):
        self.process.kill()
        self._ended()

    def stop(self):
        self.process.terminate()
        code = self.process.wait(STOP_TIMEOUT_S)
        self._ended()
        return code

    def _ended(self):
        self.process.wait(STOP_TIMEOUT_S)
        self.process.stdout.close()
        self.errors.close()


def run(*command, timeout=300):
    """Runs a program that must succeed; gives what it printed."""
    began = time.monotonic()
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    if result.returncode != 0:
        raise AssertionError(
            f"{' '.join(map(str, command))}: exit {result.returncode} after {time.monotonic() - began:.1f} s\n"
            f"{result.stdout}{result.stderr}"
        )
    return result.stdout
