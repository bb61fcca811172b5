"""The latency of enters while a client does the worst that it is allowed to, and the time that a stop takes then.

    python3 Tests/SystemTests/overload.py .build/release/pharos [--seconds 6] [--observers 500]

A phone enters a region every 40 ms; the latency is that from its datagram to the event on a live stream. Each attack is compared
with the calm before it. Then the server is stopped while clients hold half a head, half a body, half an upload and streams that
nothing reads.
"""

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import threading
import time

from harness import MUSEUM, Radio, Server, Stream, advert, region_site


class Enters:
    """Phones that enter, and when their events came."""

    def __init__(self, server):
        self.server, self.sent, self.delays = server, {}, []
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
                self.delays.append((self.sent[name], time.monotonic() - self.sent[name]))

    def during(self, seconds):
        """The latencies of the enters of the next seconds, those that have not come yet counted as they are old."""
        start = time.monotonic()
        time.sleep(seconds)
        end = time.monotonic()
        time.sleep(0.5)
        came = [delay for sent, delay in list(self.delays) if start <= sent < end]
        missing = sum(1 for sent in list(self.sent.values()) if start <= sent < end) - len(came)
        return sorted(came + [time.monotonic() - start] * missing)


def p95(delays):
    return delays[int(len(delays) * 0.95)] * 1000 if delays else float("nan")


def resident(server):
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def puts(server, ended, rate, body, path):
    """PUTs at a rate over eight connections."""

    def put(lane):
        connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)
        number = 0
        while not ended.wait(8 / rate):
            number += 1
            connection.request("PUT", path.format(lane, number), body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()

    for lane in range(8):
        threading.Thread(target=put, args=(lane,), daemon=True).start()


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


def half(server, text):
    client = socket.create_connection(("127.0.0.1", server.http_port))
    client.sendall(text.replace("HOST", f"127.0.0.1:{server.http_port}").encode())
    return client


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--observers", type=int, default=500)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--only-print", action="store_true", help="measure without judging")
    arguments = parser.parse_args()
    server = Server(arguments.binary, region_site(1, silence="20s"))
    server.start()
    radio = Radio(server)
    for number in range(arguments.observers):
        radio.hear(f"visitor-{number}", [advert(1, number)])
        if number % 50 == 49:
            time.sleep(0.02)
    enters = Enters(server)
    time.sleep(2)
    rows = []

    def attack(name, begin):
        calm, idle = p95(enters.during(arguments.seconds)), resident(server)
        end = begin()
        attacked = p95(enters.during(arguments.seconds))
        rows.append((name, calm, attacked, resident(server) - idle))
        end()

    def itineraries():
        ended = threading.Event()
        body = json.dumps({"waypoints": [{"latitude": 59.0, "longitude": 18.0}, {"latitude": 59.001, "longitude": 18.0}]})
        puts(server, ended, 100, body, "/v1/subjects/visitor-{0}/itinerary")
        return ended.set

    def streams():
        clients = unread(server, arguments.streams)
        return lambda: [client.close() for client in clients]

    attack(f"{arguments.streams} streams that nothing reads", streams)
    time.sleep(2)
    attack("100 itineraries a second", itineraries)
    for name, calm, attacked, grown in rows:
        print(f"{name}: enter p95 {calm:.0f} ms before, {attacked:.0f} ms meanwhile; memory +{grown:.0f} MB")
    held = [
        half(server, "GET /healthz HTTP/1.1\r\nHost: HOST\r\n"),
        half(server, "PUT /v1/zones/a HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"),
        half(server, "POST /v1/comparisons HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\nx"),
    ] + unread(server, 16)
    time.sleep(1)
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
