"""The latency of enters while a client does the worst that it is allowed to, and the time that a stop takes then.

    python3 Tests/SystemTests/overload.py .build/release/pharos [--seconds 6] [--observers 4000] [--only ATTACK]

A phone enters a region every 40 ms; the latency is that from its datagram to the event on a live stream. Each attack is compared
with the calm before it. Then the server is stopped while clients hold half a head, half a body, half an upload, a search, a
comparison and streams that nothing reads.
"""

import argparse
import gzip
import http.client
import json
import math
import os
import pathlib
import socket
import struct
import threading
import time
import zlib

from harness import Radio, Server, Stream, advert, region_site, until
from maps import GROUND

ALIKE = 32
FLOORS = 6
PIXELS = 5_000


def write_venue(folder):
    """A venue of one floor with many places of one name, and plan images of many pixels and few bytes."""
    folder.mkdir()
    places = ", ".join(
        f"{{ id: p{number}, name: Same, category: foodservice, at: [{2 + number % 8 * 6}, {3 + number // 8 * 9}] }}"
        for number in range(ALIKE)
    )
    floors = "".join(
        f"      - level: {level}\n        name: Floor {level}\n        map: [{{ file: ground.geojson, as: walkable }}]\n"
        f"        plan: {{ image: plan.png, anchors: [{{ pixel: [0, 0], latitude: 52.5206, longitude: 13.405 }}, "
        f"{{ pixel: [{PIXELS}, {PIXELS}], latitude: 52.52, longitude: 13.406 }}] }}\n"
        for level in range(FLOORS)
    )
    (folder / "plan.png").write_bytes(blank(PIXELS))
    (folder / "venue.yaml").write_text(
        "id: hall\nname: The hall\norigin: { latitude: 52.52, longitude: 13.405 }\nbuildings:\n  - id: main\n    floors:\n"
        f"{floors}        places: [{places}]\n"
    )
    (folder / "ground.geojson").write_text(GROUND)


class Enters:
    """Phones that enter, and when their events came."""

    def __init__(self, server):
        self.server, self.sent, self.delays = server, {}, {}
        self.number = 0
        self.stream = Stream(server, query="?kind=pharos.region.enter")
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._send, daemon=True).start()

    def _send(self):
        radio = Radio(self.server)
        while not self.ended.wait(0.04):
            self.number += 1
            name = f"phone-{self.number}"
            self.sent[name] = time.monotonic()
            radio.hear(name, [advert(1, self.number & 0xFFFF)])

    def _read(self):
        for _, _, data in self.stream:
            name = json.loads(data).get("subject")
            if name in self.sent:
                self.delays[name] = time.monotonic() - self.sent[name]

    def during(self, seconds):
        """The latencies in ms of the enters sent in the next seconds; one that does not come within 60 s counts as that old."""
        start = time.monotonic()
        self.ended.wait(seconds)
        names = [name for name, sent in list(self.sent.items()) if start <= sent]
        until(lambda: all(name in self.delays for name in names), 60, failing=False)
        now = time.monotonic()
        return sorted(1_000 * self.delays.get(name, now - self.sent[name]) for name in names)


def p95(delays):
    return delays[int(len(delays) * 0.95)] if delays else float("nan")


def resident(server):
    """The memory of the server in MB."""
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Peak:
    """The most memory that the server has since the beginning, looked at every 20 ms."""

    def __init__(self, server):
        self.maximum = resident(server)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(server,), daemon=True)
        self.thread.start()

    def _run(self, server):
        while not self.ended.wait(0.02):
            self.maximum = max(self.maximum, resident(server))

    def stop(self):
        self.ended.set()
        self.thread.join()
        return self.maximum


class Clients:
    """Clients that ask over and over until they are stopped; refusals are part of the attack."""

    def __init__(self, server, lanes, ask, every=0.0):
        self.ended = threading.Event()
        self.statuses = {}
        self.threads = [
            threading.Thread(target=self._run, args=(server, lane, ask, every), daemon=True) for lane in range(lanes)
        ]
        for thread in self.threads:
            thread.start()

    def _run(self, server, lane, ask, every):
        number = 0
        connection = None
        while not self.ended.wait(every):
            number += 1
            try:
                if connection is None:
                    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=90)
                connection.request(*ask(lane, number))
                answer = connection.getresponse()
                answer.read()
                self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
            except (OSError, http.client.HTTPException):
                self.statuses["closed"] = self.statuses.get("closed", 0) + 1
                connection = None

    def stop(self):
        self.ended.set()
        return ", ".join(f"{count} × {status}" for status, count in sorted(self.statuses.items(), key=str))


def put(path, body):
    """PUTs of a document, each for another subject."""
    text = json.dumps(body)
    return lambda lane, number: ("PUT", path.format(lane), text, {"Content-Type": "application/json"})


def matrix(_lane, _number):
    # A name that 32 places have counts 32 times: 50 starts and 50 goals, as many as may be.
    names = ["Same"] + [f"p{number}" for number in range(18)]
    ends = "&".join([f"from={name}" for name in names] + [f"to={name}" for name in names])
    return "GET", f"/v1/venues/hall/matrix?{ends}"


def bomb():
    """A gzip of zeros behind the head of a capture: 200 KB that unpack to 200 MB."""
    head = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    return gzip.compress(head + bytes(200_000_000), 9)


def tile(_lane, number):
    """Tiles in turn of floors whose plans take 100 MB each once they are unpacked."""
    side = 1 << 22
    x = int((13.4054 + 180) / 360 * side) + number % 5
    y = int((1 - math.asinh(math.tan(math.radians(52.5202))) / math.pi) / 2 * side) + number % 3
    return "GET", f"/v1/venues/hall/tiles/main/{number % FLOORS}/22/{x}/{y}.png?size=512"


def blank(side):
    """A white PNG: few bytes, many pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff" * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def unread(server, count):
    """Streams that ask for everything and read nothing."""
    streams = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", server.http_port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(
            f"GET /v1/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{server.http_port}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode()
        )
        streams.append(client)
    return streams


class Unread:
    """Streams that are opened again as soon as the server closes them."""

    def __init__(self, server, count):
        self.server, self.streams, self.opened = server, unread(server, count), count
        self.ended = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while not self.ended.wait(0.2):
            for place, client in enumerate(self.streams):
                try:
                    # The answers stay unread; what is looked at is whether the server has closed.
                    client.send(b"")
                    error = client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                except OSError as found:
                    error = found.errno
                if error:
                    client.close()
                    self.streams[place] = unread(self.server, 1)[0]
                    self.opened += 1

    def stop(self):
        self.ended.set()
        for client in self.streams:
            client.close()
        return f"{self.opened} opened"


def half(server, text):
    client = socket.create_connection(("127.0.0.1", server.http_port))
    client.sendall(text.replace("HOST", f"127.0.0.1:{server.http_port}").encode("latin-1"))
    return client


HALVES = [
    "GET /healthz HTTP/1.1\r\nHost: HOST\r\n",
    "PUT /v1/zones/a HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    "POST /v1/comparisons HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\nx",
    f"GET {matrix(0, 0)[1]} HTTP/1.1\r\nHost: HOST\r\n\r\n",
]


class Halves:
    """Connections with half a head, half a body and half an upload."""

    def __init__(self, server, count):
        self.clients = [half(server, HALVES[number % 3]) for number in range(count)]

    def stop(self):
        for client in self.clients:
            client.close()
        return f"{len(self.clients)} connections"


class Minute:
    """Waits for the turn of a minute, at which history is sampled."""

    def __init__(self, enters):
        enters.ended.wait(max(0.0, 60 - time.time() % 60 - 1))

    def stop(self):
        return "the turn of a minute"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--observers", type=int, default=500)
    parser.add_argument("--streams", type=int, default=60)
    parser.add_argument("--only", help="only attacks whose names contain this")
    parser.add_argument("--only-print", action="store_true", help="measure without judging")
    arguments = parser.parse_args()
    server = Server(arguments.binary, region_site(1, silence="20s"))
    write_venue(pathlib.Path(server.folder, "hall"))
    with open(server.site, "a", encoding="utf-8") as file:
        file.write("venues: [hall]\n")
    server.start()
    Radio(server).hear_visitors(arguments.observers)
    enters = Enters(server)
    until(lambda: len(enters.delays) > 20, 60)
    payload = bomb()
    waypoints = {"waypoints": [{"latitude": 59.0, "longitude": 18.0}, {"latitude": 59.001, "longitude": 18.0}]}
    rows = []

    def attack(name, begin):
        if arguments.only and arguments.only not in name:
            return
        calm, idle = p95(enters.during(arguments.seconds)), resident(server)
        peak = Peak(server)
        running = begin()
        attacked = p95(enters.during(arguments.seconds))
        grown = peak.stop() - idle
        rows.append((name, calm, attacked, grown))
        print(
            f"{name}: enter p95 {calm:.0f} ms before, {attacked:.0f} ms meanwhile; memory {grown:+.0f} MB; {running.stop()}",
            flush=True,
        )

    attack(f"{arguments.streams} unread streams", lambda: Unread(server, arguments.streams))
    attack("100 itineraries a second", lambda: Clients(server, 8, put("/v1/subjects/visitor-{0}/itinerary", waypoints), 0.08))
    attack("100 guidances a second", lambda: Clients(server, 8, put("/v1/subjects/visitor-{0}/guidance", {"destination": "p1"}), 0.08))
    attack("matrices of 50 × 50 ends", lambda: Clients(server, 8, matrix))
    attack("gzip bomb in comparisons", lambda: Clients(server, 2, lambda *_: ("POST", "/v1/comparisons?name=bomb", payload)))
    attack("plan images", lambda: Clients(server, 4, tile))
    attack("half heads, bodies and uploads", lambda: Halves(server, 300))
    attack("history", lambda: Minute(enters))
    held = [half(server, text) for text in HALVES] + unread(server, 16)
    upload = half(server, f"POST /v1/comparisons?name=bomb HTTP/1.1\r\nHost: HOST\r\nContent-Length: {len(payload)}\r\n\r\n")
    upload.sendall(payload)
    held.append(upload)
    start = time.monotonic()
    enters.ended.set()
    status = server.stop()
    stop = time.monotonic() - start
    print(f"SIGTERM to exit with clients in every state: {stop:.1f} s, status {status}, {len(held)} connections")
    if arguments.only_print:
        return
    assert status == 0, f"the server ended with status {status}"
    assert stop <= 5, f"the stop took {stop:.1f} s"
    for name, calm, attacked, grown in rows:
        assert attacked <= calm + 50, f"{name}: {attacked:.0f} ms instead of {calm:.0f} ms"
        assert grown <= 200, f"{name}: memory grew by {grown:.0f} MB"


if __name__ == "__main__":
    main()
