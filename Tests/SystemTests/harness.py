"""What the system tests share: a server of their own, traffic for it, and a client of its streams.

Only Python's standard library: whatever these can do, any program can do. No result is waited for by the
clock: every such wait is for a line, a byte, an end or a condition. Only what plays a radio paces itself.
"""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time

MUSEUM = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"


def region_site(regions, silence="2s"):
    """A site file: one application with so many regions, entered by one advert and left after a fixed silence."""
    lines = ["applications:", "  - id: gallery", "    regions:"]
    for number in range(1, regions + 1):
        lines.append(
            f"      - {{ id: r{number}, uuid: {MUSEUM}, major: {number}, "
            f"enter: {{ samples: 1 }}, exit: {{ silence: {silence} }} }}"
        )
    return "\n".join(lines) + "\n"


class Server:
    """A `pharos serve` in a folder of its own, on ports that the system chose and that it keeps over restarts."""

    def __init__(self, binary, site, arguments=()):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="pharos-system-")
        self.site = os.path.join(self.folder, "site.yaml")
        with open(self.site, "w", encoding="utf-8") as file:
            file.write(site)
        self.arguments = list(arguments)
        self.udp_port, self.http_port = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_STREAM)
        self.process = None
        self.starts = 0

    def start(self):
        """Starts it and returns once it says that it listens."""
        self.starts += 1
        command = [
            self.binary, "serve", "--site", self.site, "--data", os.path.join(self.folder, "data"),
            "--udp", f"127.0.0.1:{self.udp_port}", "--http", f"127.0.0.1:{self.http_port}",
        ] + self.arguments
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
        )
        said = []
        for line in self.process.stderr:
            said.append(line)
            if "listening" in line:
                break
        else:
            raise SystemExit("the server did not start:\n" + "".join(said))
        # What it says later is read on and kept, so that it never waits for its reader.
        self.said = said
        threading.Thread(target=self._listen, args=(self.process.stderr, said), daemon=True).start()

    @staticmethod
    def _listen(stream, said):
        for line in stream:
            said.append(line)

    def kill(self):
        """Ends it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it as a service manager does; returns its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()

    def get(self, path, headers=None):
        """The status and the JSON of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=60)
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            body = answer.read()
            return answer.status, json.loads(body) if body else None
        finally:
            connection.close()

    def send(self, method, path, body):
        """The status and the JSON of the answer to a request with a JSON body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=60)
        try:
            connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def journal(self):
        """Every event of the journal, oldest first, page by page."""
        after = 0
        while True:
            status, page = self.get(f"/v1/events?after={after}&limit=1000")
            assert status == 200, page
            if not page["events"]:
                return
            yield from page["events"]
            after = page["events"][-1]["sequence"]


def free_port(kind):
    """Returns a free port."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def advert(major, minor, rssi=-60):
    """One advert of an iBeacon, as JSON datagrams carry it."""
    uuid = MUSEUM.replace("-", "").lower()
    return {
        "address": f"c4:be:{minor >> 8 & 255:02x}:{minor & 255:02x}:{major >> 8 & 255:02x}:{major & 255:02x}",
        "rssi": rssi,
        "data": f"0201061aff4c000215{uuid}{major:04x}{minor:04x}c5",
    }


class Radio:
    """Sends what observers hear."""

    def __init__(self, server):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.address = ("127.0.0.1", server.udp_port)

    def hear(self, observer, adverts):
        """Sends one datagram; without a receiver it is lost, as on any network."""
        try:
            self.socket.sendto(json.dumps({"observer": observer, "adverts": adverts}).encode(), self.address)
        except OSError:
            pass

    def hear_visitors(self, count):
        """Has so many observers hear an advert each, at a pace: more at once than the socket holds would be lost."""
        for number in range(count):
            self.hear(f"visitor-{number}", [advert(1, number & 0xFFFF)])
            if number % 50 == 49:
                threading.Event().wait(0.02)

    def live(self, observer):
        """A sign of life of an observer that hears nothing: without one its silence would prove nothing."""
        try:
            self.socket.sendto(json.dumps({"observer": observer, "heartbeat": True}).encode(), self.address)
        except OSError:
            pass


class Stream:
    """Server-sent events as a browser reads them."""

    def __init__(self, server, after=None, query=""):
        self.socket = socket.create_connection(("127.0.0.1", server.http_port), timeout=120)
        request = f"GET /v1/events{query} HTTP/1.1\r\nHost: 127.0.0.1:{server.http_port}\r\nAccept: text/event-stream\r\n"
        if after is not None:
            request += f"Last-Event-ID: {after}\r\n"
        self.socket.sendall((request + "\r\n").encode())
        self.lines = Chunked(self.socket.makefile("rb"))

    def __iter__(self):
        """Each event as (id, type, data); ends where the connection does."""
        identifier, kind, data = None, None, []
        while True:
            try:
                line = self.lines.readline()
            except (OSError, ValueError):
                return
            if line is None:
                return
            if line == "":
                if data:
                    yield identifier, kind, "\n".join(data)
                identifier, kind, data = None, None, []
                continue
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "id":
                identifier = int(value)
            elif name == "event":
                kind = value
            elif name == "data":
                data.append(value)

    def close(self):
        """Disconnects without a close."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class Chunked:
    """The lines of a chunked HTTP body."""

    def __init__(self, file):
        self.file = file
        status = file.readline().decode()
        if " 200 " not in status:
            raise OSError(f"the stream was refused: {status.strip()}")
        while file.readline().strip():
            pass
        self.rest = b""

    def readline(self):
        """The next line without its end, or None at the end of the body."""
        while b"\n" not in self.rest:
            size = self.file.readline()
            if not size.strip():
                return None
            length = int(size, 16)
            if length == 0:
                return None
            chunk = self.file.read(length)
            self.file.readline()
            if len(chunk) < length:
                return None
            self.rest += chunk
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode().rstrip("\r")


def seeded(arguments):
    """A generator with a seed that is printed, so that a failure can be run again."""
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)


def until(condition, seconds, failing=True):
    """Polls a condition until it holds; returns whether it did, and fails if it has to hold within so many seconds."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        if time.monotonic() > end:
            assert not failing, f"nothing came within {seconds} s"
            return False
        pause.wait(0.002)
    return True
