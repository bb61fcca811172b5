"""Servers for the tests: the mock within this process, and the real one as a process of its own."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from mock_server import Server
from mock_world import World

REPOSITORY = Path(__file__).resolve().parents[2]


class Mock:
    """The mock server on a free port, or on the port that it had before."""

    def __init__(self, port=0, token=None, data=None, **world):
        self.world = World(**world)
        self.server = Server(("127.0.0.1", port), self.world, token, data)
        self.port = self.server.server_address[1]
        self.base = f"http://127.0.0.1:{self.port}/"
        self.threads = [
            threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True),
            threading.Thread(target=self.server.run_world, daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.server.stopping = True
        with self.world.lock:
            self.world.lock.notify_all()
        self.server.shutdown()
        self.server.save()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.server.stopping:
            self.stop()


def pharos_binary():
    """The built server: $PHAROS, or the newest of the usual builds; None without one."""
    given = os.environ.get("PHAROS")
    if given:
        return Path(given) if os.access(given, os.X_OK) else None
    found = [path for kind in ("release", "debug") if (path := REPOSITORY / ".build" / kind / "pharos").is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def serves_http(binary):
    """Whether a build is new enough to have pages."""
    text = subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, timeout=60).stdout
    return "--http" in text and "--data" in text


class Pharos:
    """`pharos serve`, with the demo by default and its journal in a folder that outlives it."""

    def __init__(self, binary, data, port=0, arguments=(), demo=True):
        self.binary, self.data = binary, data
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log", delete=False)
        command = [str(binary), "serve", *(["--demo"] if demo else []), "--http", f"127.0.0.1:{port}"]
        command += ["--data", str(data), *arguments]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)
        self.port = self.wait_until_ready()
        self.base = f"http://127.0.0.1:{self.port}/"

    def wait_until_ready(self, patience=60):
        """The port, once the server says that it is ready."""
        end = time.monotonic() + patience
        pace = threading.Event()
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"pharos ended with {self.process.returncode}:\n{self.output()}")
            found = re.search(r"http://127\.0\.0\.1:(\d+)", self.output())
            if found and self.answers(int(found[1])):
                return int(found[1])
            # No event tells of another process's port: ask again soon.
            pace.wait(0.05)
        self.kill()
        raise AssertionError(f"pharos was not ready after {patience} s:\n{self.output()}")

    def answers(self, port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def udp_port(self):
        """The port that gateways send to."""
        return int(re.search(r"udp 127\.0\.0\.1:(\d+)", self.output())[1])

    def output(self):
        return Path(self.log.name).read_text(errors="replace")

    def get(self, path):
        with urllib.request.urlopen(self.base.rstrip("/") + path, timeout=10) as answer:
            return json.load(answer)

    def stop(self):
        """As an administrator does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)
        return self.process.returncode

    def kill(self):
        """As a power cut does."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        os.unlink(self.log.name)
