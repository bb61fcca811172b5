"""How long a notification takes from its decision to its receivers, each of which gets it once and can read it.

    python3 Tests/SystemTests/notifications.py PHAROS [--events 300] [--mqtt]

The receivers are stand-ins on this machine: a server of a webhook, a relay of mail, a push service with a browser that checks tokens and
decrypts, and with `--mqtt`, for a server that is built with it, a broker. Of each the 99th percentile must be below a second.
"""

import argparse
import datetime
import json
import socketserver
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import Radio, Server, advert, region_site
from webpush import Browser, check_token

LIMIT = 1.0
SENDER = "pharos@example.org"


class Arrivals:
    """When each notification arrived, by the id of its event, and what came with it."""

    def __init__(self, name):
        self.name = name
        self.lock = threading.Condition()
        self.times, self.repeated = {}, []

    def add(self, identifier, at):
        with self.lock:
            if identifier in self.times:
                self.repeated.append(identifier)
            self.times.setdefault(identifier, at)
            self.lock.notify_all()

    def wait(self, count):
        with self.lock:
            while len(self.times) < count:
                assert self.lock.wait(120), f"{self.name}: nothing for two minutes; {len(self.times)} so far"


class Receiver(Arrivals):
    """A server of HTTP; `take(headers, body, at)` sees each request."""

    def __init__(self, name, take):
        super().__init__(name)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                at = time.time()
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()
                take(self.headers, body, at)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"


class Sockets(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class Relay(Arrivals):
    """A relay that takes every mail."""

    def __init__(self):
        super().__init__("mail")
        relay = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self.wfile.write(b"220 relay\r\n")
                for line in self.rfile:
                    command = line.split(b":")[0].strip().upper()
                    if command == b"QUIT":
                        return
                    if command != b"DATA":
                        self.wfile.write(b"250 ok\r\n")
                        continue
                    self.wfile.write(b"354 go on\r\n")
                    mail = list(iter(self.rfile.readline, b".\r\n"))
                    at = time.time()
                    self.wfile.write(b"250 queued\r\n")
                    (line,) = [line for line in mail if line.startswith(b"Message-ID: <")]
                    relay.add(line.split(b"<")[1].split(b"@")[0].decode(), at)

        self.server = Sockets(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Broker(Arrivals):
    """As much of a broker of MQTT 3.1.1 as a publisher needs."""

    def __init__(self):
        super().__init__("MQTT")
        broker = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                while first := self.rfile.read(1):
                    length, shift = 0, 0
                    while True:
                        (byte,) = self.rfile.read(1)
                        length |= (byte & 0x7F) << shift
                        shift += 7
                        if byte < 0x80:
                            break
                    self.answer(first[0], self.rfile.read(length))

            def answer(self, first, body):
                kind, quality = first >> 4, first >> 1 & 3
                if kind == 1:
                    self.wfile.write(b"\x20\x02\x00\x00")
                elif kind == 8:
                    self.wfile.write(b"\x90\x03" + body[:2] + b"\x00")
                elif kind == 12:
                    self.wfile.write(b"\xd0\x00")
                elif kind == 3:
                    (length,) = struct.unpack_from(">H", body)
                    topic, rest = body[2 : 2 + length].decode(), body[2 + length :]
                    if quality:
                        self.wfile.write(b"\x40\x02" + rest[:2])
                        rest = rest[2:]
                    if topic.startswith("pharos/notification/"):
                        broker.add(json.loads(rest)["event"], time.time())

        self.server = Sockets(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def hook():
    """A webhook's receiver."""
    receiver = Receiver("webhook", lambda _, body, at: receiver.add(json.loads(body)["id"], at))
    return receiver


class PushService(Receiver):
    """A push service with one browser; it keeps what it takes, since to read it takes longer than to bring it."""

    def __init__(self):
        self.browser = Browser()
        self.messages = []
        super().__init__("Web Push", self.take)

    def take(self, headers, body, at):
        assert headers["Content-Encoding"] == "aes128gcm" and int(headers["TTL"]) > 0, headers.items()
        self.messages.append((headers["Authorization"], body))
        # A topic takes the place of an earlier message of the same topic: it is the id of the event.
        self.add(headers["Topic"], at)

    def check(self, key):
        """Checks the token of each message, and reads it; returns the texts by the ids of the events."""
        texts = {}
        for authorization, body in self.messages:
            claims = check_token(authorization, key, self.origin, time.time())
            assert claims["sub"] == f"mailto:{SENDER}", claims
            text = json.loads(self.browser.read(body))
            texts[text["id"]] = text
        return texts


def seconds(text):
    """The seconds since 1970 of an RFC 3339 time, whatever its fraction."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    moment = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc)
    return moment.timestamp() + float(f"0.{fraction or 0}")


def report(arrivals, decided):
    """Prints how long it took; the 99th percentile is returned."""
    delays = sorted(at - decided[identifier] for identifier, at in arrivals.times.items())

    def share(part):
        return delays[min(int(len(delays) * part), len(delays) - 1)]

    print(
        f"{arrivals.name}: {len(delays)} notifications, p50 {share(0.5) * 1000:.0f} ms, "
        f"p99 {share(0.99) * 1000:.0f} ms, longest {delays[-1] * 1000:.0f} ms"
    )
    return share(0.99)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--mqtt", action="store_true")
    arguments = parser.parse_args()
    receivers = [hook(), Relay(), PushService()] + ([Broker()] if arguments.mqtt else [])
    webhook, relay, push = receivers[:3]
    outputs = [f'mail: {{ relay: "127.0.0.1:{relay.port}", sender: {SENDER} }}']
    if arguments.mqtt:
        outputs.append(f'mqtt: {{ broker: "mqtt://127.0.0.1:{receivers[3].port}" }}')
    server = Server(arguments.binary, region_site(1) + f"publish: {{ {', '.join(outputs)} }}\n")
    server.start()

    def send(method, path, body):
        status, answer = server.send(method, path, body)
        assert status in (200, 201), answer
        return answer

    _, answer = server.get("/v1/push")
    key = answer["publicKey"]
    filtered = {"filter": {"kinds": ["pharos.notification"]}}
    send("POST", "/v1/webhooks", {"url": f"{webhook.origin}/hook", **filtered})
    send("POST", "/v1/webhooks", {"url": "mailto:ada@example.org"})
    send("POST", "/v1/webhooks", {"url": f"{push.origin}/send/1", "keys": push.browser.keys})
    rule = {"region": "r1", "on": "enter", "title": "Gallery", "text": "Welcome, {name}!"}
    send("PUT", "/v1/applications/gallery/notifications/hello", rule)

    radio = Radio(server)
    # One more than is measured: connections are made for the first.
    for number in range(arguments.events + 1):
        radio.hear(f"visitor-{number}", [advert(1, number)])
        for receiver in receivers:
            receiver.wait(number + 1)
    events = [event for _, event in ((entry["sequence"], entry["event"]) for entry in server.journal())]
    notifications = [event for event in events if event["type"] == "pharos.notification"]
    assert server.stop() == 0
    assert len(notifications) == arguments.events + 1, len(notifications)
    decided = {event["id"]: seconds(event["time"]) for event in notifications}
    first = notifications[0]["id"]
    slow = []
    for receiver in receivers:
        assert set(receiver.times) == set(decided), f"{receiver.name}: not what the journal holds"
        assert not receiver.repeated, f"{receiver.name}: {len(receiver.repeated)} came twice"
        receiver.times.pop(first)
        if report(receiver, decided) > LIMIT:
            slow.append(receiver.name)
    texts = push.check(key)
    assert {text["title"] for text in texts.values()} == {"Gallery"}, texts
    for event in notifications:
        assert texts[event["id"]]["text"] == event["data"]["text"], event
    print(f"{len(texts)} messages of Web Push were read, and the tokens are right")
    assert not slow, f"later than {LIMIT} s: {', '.join(slow)}"


if __name__ == "__main__":
    main()
