"""The holdfast program, run with and without a server: what the tests of it share."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BIN = sys.argv[1]  # holds holdfast and holdfastd
START_TIMEOUT_S = 60
ACCEPTED, REFUSED, ERROR = 0, 1, 2


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*arguments, server=None, program="holdfast"):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("HOLDFAST_")}
    if server:
        environment["HOLDFAST_SERVER"] = server
    result = subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True,
                            text=True, timeout=60, check=False, env=environment)
    return result.returncode, result.stdout, result.stderr


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        return path


class WithServer(Folder):
    OPTIONS = ()  # of holdfastd

    def setUp(self):
        super().setUp()
        self.data = self.path("data")
        self.process = None
        self.addCleanup(self.stop)
        self.start()

    def start(self):
        port = free_port()
        self.server = f"127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [os.path.join(BIN, "holdfastd"), "--data", self.data, "--listen", self.server,
             *self.OPTIONS],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                self.assertIsNone(self.process.poll(), "holdfastd ended while starting")
                self.assertLess(time.monotonic(), deadline, "holdfastd does not listen")
                time.sleep(0.02)

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            code = self.process.wait(timeout=START_TIMEOUT_S)
            self.process = None
            self.assertEqual(code, 0, "holdfastd did not stop cleanly")

    def run_ok(self, *arguments):
        code, out, err = run(*arguments, server=self.server)
        self.assertEqual((code, err), (ACCEPTED, ""), (arguments, out))
        return out

    def answer(self, *arguments, code=ACCEPTED):
        got, out, err = run("--json", *arguments, server=self.server)
        self.assertEqual(got, code, (arguments, out, err))
        self.assertEqual(out.count("\n"), 1, out)
        return json.loads(out)
