"""Three nodes of one site and three servers of NATS decide alike, whatever is killed, stopped or cut off.

    python3 Tests/ClusterTests/cluster.py .build-nats/release/pharos [--quick] [--rounds 200] [--seed N]

Handsets are heard by datagrams to nodes at random. Some are near a beacon all the time and must never exit. A receiver of
webhooks must get every event. In each round something is killed or stopped and comes back. At the end the journals of all nodes
must be equal.
"""

import argparse
import http.server
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "SystemTests"))
from harness import Radio, Server, Stream, advert, free_port, region_site, seeded, until  # noqa: E402

STAYING = 10
GUESTS = 40


class Broker:
    """Three servers of NATS with JetStream on this machine."""

    def __init__(self, count=3):
        self.folder = tempfile.mkdtemp(prefix="pharos-nats-")
        self.ports = [free_port(socket.SOCK_STREAM) for _ in range(count)]
        self.routes = [free_port(socket.SOCK_STREAM) for _ in range(count)]
        self.processes = [None] * count
        for index in range(count):
            self.start(index)

    def start(self, index):
        path = os.path.join(self.folder, f"n{index}.conf")
        routes = ", ".join(f"nats://127.0.0.1:{port}" for place, port in enumerate(self.routes) if place != index)
        cluster = f"cluster {{ name: test, listen: 127.0.0.1:{self.routes[index]}, routes: [{routes}] }}\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f"server_name: n{index}\nlisten: 127.0.0.1:{self.ports[index]}\n"
                f"jetstream {{ store_dir: {self.folder}/s{index}, max_file_store: 8GB }}\n"
                + (cluster if len(self.ports) > 1 else "")
            )
        log = open(os.path.join(self.folder, f"n{index}.log"), "a", encoding="utf-8")
        self.processes[index] = subprocess.Popen(["nats-server", "-c", path], stdout=log, stderr=log)

    def stop(self):
        for process in self.processes:
            process.kill()

    @property
    def address(self):
        return ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)


class Receiver:
    """Receives webhooks, and notes which sequences came and when."""

    def __init__(self):
        self.received = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                event = json.loads(body)
                outer.received.setdefault(event["id"], time.monotonic())
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Threaded(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        self.server = Threaded(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}/in"


def ready(node):
    """Whether a node says that it is ready."""
    try:
        return node.get("/readyz")[0] == 200
    except OSError:
        return False


def traffic(radios, generator, done):
    """Those that stay are heard ten times a second; guests come near a region for a while, and then only live."""
    visits = {guest: (1, 0) for guest in range(GUESTS)}
    number = 0
    while not done.wait(0.01):
        number += 1
        for observer in range(STAYING):
            if (number + observer) % 10 == 0:
                # Gateways send to all nodes, or to any: half of these do the one, half the other.
                chosen = radios if observer % 2 else [generator.choice(radios)]
                for radio in chosen:
                    radio.hear(f"staying-{observer}", [advert(1, observer)])
        for guest, (region, left) in visits.items():
            if (number + guest) % 20:
                continue
            radio = generator.choice(radios)
            if left > 0:
                radio.hear(f"guest-{guest}", [advert(region, guest)])
            else:
                radio.live(f"guest-{guest}")
            if left < -25:
                region, left = generator.randrange(2, 9), generator.randrange(1, 8)
            visits[guest] = (region, left - 1)


class Reader(threading.Thread):
    """A client of the stream that moves from node to node with the last id that it has seen."""

    def __init__(self, nodes, generator):
        super().__init__(daemon=True)
        self.nodes, self.generator = nodes, generator
        self.sequences, self.moves, self.isDone, self.stream = [], 0, False, None

    def run(self):
        while not self.isDone:
            try:
                last = self.sequences[-1] if self.sequences else 0
                self.stream = Stream(self.generator.choice(self.nodes), after=last)
                left = self.generator.randrange(1, 12)
                for identifier, _, _ in self.stream:
                    if identifier is None:
                        continue
                    self.sequences.append(identifier)
                    left -= 1
                    if left == 0 or self.isDone:
                        break
                self.stream.close()
                self.moves += 1
            except OSError:
                # The node is killed or stopped: another one answers.
                threading.Event().wait(0.02)

    def end(self):
        self.isDone = True
        if self.stream:
            self.stream.close()


def position(node):
    """How many events a node has."""
    try:
        status, page = node.get("/v1/events?limit=1")
        return page["head"] if status == 200 else -1
    except (OSError, ValueError):
        return -1


def disturb(generator, broker, nodes):
    """Kills, stops or pauses something; returns its name and what brings it back."""
    kind = generator.choice(["node", "node", "broker", "pause node", "pause broker", "restart node"])
    index = generator.randrange(3)
    if kind == "node":
        nodes[index].kill()
        return f"kill -9 of node {index}", nodes[index].start
    if kind == "restart node":
        nodes[index].stop()
        return f"stop of node {index}", nodes[index].start
    if kind == "broker":
        broker.processes[index].kill()
        broker.processes[index].wait()
        return f"kill -9 of NATS {index}", lambda: broker.start(index)
    process = nodes[index].process if kind == "pause node" else broker.processes[index]
    process.send_signal(signal.SIGSTOP)
    return f"SIGSTOP of {kind[6:]} {index}", lambda: process.send_signal(signal.SIGCONT)


def compare(nodes):
    """The first difference between the journals of nodes, or None."""
    journals = [[(event["sequence"], event["event"] if "event" in event else event) for event in node.journal()] for node in nodes]
    for place, events in enumerate(zip(*journals)):
        if any(event != events[0] for event in events):
            return f"event {place}: {events}"
    counts = {len(journal) for journal in journals}
    return None if len(counts) == 1 else f"journals of {sorted(counts)} events"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    rounds = arguments.rounds or (6 if arguments.quick else 200)
    generator = seeded(arguments)
    broker = Broker()
    receiver = Receiver()
    nodes = [Server(arguments.binary, region_site(8), ["--cluster", broker.address]) for _ in range(3)]
    done = threading.Event()
    try:
        for process in (0, 1, 2):
            until(lambda: reachable(broker.ports[process]), 30)
        for node in nodes:
            node.start()
        until(lambda: all(ready(node) for node in nodes), 60)
        hook = {"url": receiver.address, "filter": {"kinds": ["region.enter", "region.exit"]}}
        status, answer = nodes[0].send("POST", "/v1/webhooks", hook)
        assert status == 201, (status, answer)
        until(lambda: all(len(node.get("/v1/webhooks")[1]["webhooks"]) == 1 for node in nodes), 10)
        visitors = generator.__class__(generator.random())
        radios = [Radio(node) for node in nodes]
        threading.Thread(target=traffic, args=(radios, visitors, done), daemon=True).start()
        until(lambda: position(nodes[0]) > STAYING, 30)
        reader = Reader(nodes, generator.__class__(generator.random()))
        reader.start()
        for number in range(rounds):
            name, back = disturb(generator, broker, nodes)
            threading.Event().wait(generator.choice([0.5, 2, 6]))
            back()
            began = time.monotonic()
            assert until(lambda: all(ready(node) for node in nodes), 120, failing=False), explained(name, nodes)
            print(f"round {number + 1}: {name}; all ready after {time.monotonic() - began:.1f} s, {position(nodes[0])} events")
        done.set()
        # The last handsets have left after the silence of their regions, on all nodes alike.
        heads = []

        def settled():
            heads.append(tuple(position(node) for node in nodes))
            return len(heads) > 60 and len(set(heads[-60:])) == 1 and len(set(heads[-1])) == 1

        pause = threading.Event()
        end = time.monotonic() + 60
        while not settled():
            assert time.monotonic() < end, f"the nodes do not come to rest: {heads[-1]}"
            pause.wait(0.1)
        difference = compare(nodes)
        assert difference is None, difference
        events = list(nodes[0].journal())
        wanted = {event["id"] for event in map(inner, events) if event["type"].endswith((".region.enter", ".region.exit"))}
        assert wanted, "nothing was decided"
        until(lambda: wanted <= set(receiver.received), 60, failing=False)
        missing = wanted - set(receiver.received)
        assert not missing, f"{len(missing)} of {len(wanted)} webhooks were skipped"
        last = events[-1]["sequence"]
        until(lambda: reader.sequences and reader.sequences[-1] == last, 30, failing=False)
        reader.end()
        assert reader.sequences == list(range(1, last + 1)), broken(reader.sequences)
        print(f"a client moved {reader.moves} times between the nodes, without a gap and without a repeat")
        print(f"3 journals of {len(events)} events are equal after {rounds} rounds; {len(wanted)} webhooks, none skipped")
        print("passed")
    finally:
        done.set()
        for node in nodes:
            if node.process:
                node.process.kill()
        broker.stop()


def explained(name, nodes):
    """What the nodes say of themselves that are not ready behind a disturbance."""
    lines = [f"not ready 120 s behind {name}"]
    for index, node in enumerate(nodes):
        try:
            lines.append(f"node {index}: {node.get('/readyz')}")
        except (OSError, ValueError) as error:
            lines.append(f"node {index}: {error}, process {node.process.poll()}")
        lines += ["    " + line.strip() for line in node.said[-8:]]
    return "\n".join(lines)


def broken(sequences):
    """Where the sequences of a client are not what they should be."""
    for place, (first, second) in enumerate(zip(sequences, sequences[1:])):
        if second != first + 1:
            return f"the client got {second} behind {first}, in place {place}"
    return f"the client got {sequences[:1]} to {sequences[-1:]}"


def inner(event):
    """The event of a page's entry."""
    return event["event"] if "event" in event else event


def reachable(port):
    """Whether something listens at a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


if __name__ == "__main__":
    main()
