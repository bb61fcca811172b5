"""How fast three replicas are, and what they cost beside one server: ratios of one run.

    python3 Tests/ClusterTests/speed.py .build-nats/release/pharos [--rate 6000] [--seconds 15]

The busy hall of Captures is replayed, each observer as many, first to one server and then to one of the three nodes of a cluster. Prints the
adverts a second that were decided, the processor time of a replica for an advert beside that of the one server, and the time from a
datagram to its event on a stream.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "SystemTests"))
from cluster import Broker, reachable, ready  # noqa: E402
from harness import Radio, Server, Stream, advert, region_site, until  # noqa: E402

CAPTURE = os.path.join(os.path.dirname(__file__), "..", "..", "Captures", "busy-hall", "capture.pcapng")
PER_DATAGRAM = 12930 / 1981


def adverts(node):
    """The adverts that a node has decided."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", node.http_port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return sum(
        float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("pharos_monitoring_adverts_total")
    )


def processor(node):
    """The seconds of processor time that a process has used."""
    with open(f"/proc/{node.process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def play(binary, nodes, rate, seconds):
    """Replays to nodes for a while; the adverts a second that the first one decides, and what an advert costs on each."""
    # To one node: another one would take the copies for repeats, which they are.
    before = [(adverts(node), processor(node)) for node in nodes]
    began = time.monotonic()
    command = [
        binary, "replay", CAPTURE, "--to", f"127.0.0.1:{nodes[0].udp_port}", "--rate", str(rate), "--clone", "100",
        "--loop", "1000",
    ]
    player = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    threading.Event().wait(seconds)
    player.kill()
    last = 0
    while True:
        count = adverts(nodes[0])
        if count == last:
            break
        last = count
        threading.Event().wait(0.5)
    spent = time.monotonic() - began
    costs = []
    for node, (count, time_used) in zip(nodes, before):
        costs.append((processor(node) - time_used) / max(1, adverts(node) - count) * 1e6)
    return (last - before[0][0]) / seconds, spent, costs


def latency(nodes):
    """The times from datagrams to one node to their events on the stream of another, in ms, sorted."""
    stream = Stream(nodes[-1])
    sent, took = {}, []
    done = threading.Event()

    def read():
        for _, kind, data in stream:
            event = json.loads(data)
            subject = event.get("subject") or event.get("data", {}).get("subject", "")
            name = next((name for name in sent if str(subject).endswith(name)), None)
            if name:
                took.append((time.monotonic() - sent.pop(name)) * 1000)
            if done.is_set():
                return

    threading.Thread(target=read, daemon=True).start()
    radio = Radio(nodes[0])
    threading.Event().wait(0.5)
    for number in range(300):
        name = f"probe-{number}"
        sent[name] = time.monotonic()
        radio.hear(name, [advert(1, number)])
        threading.Event().wait(0.02)
    until(lambda: len(took) >= 295, 20, failing=False)
    done.set()
    stream.close()
    return sorted(took)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--rate", type=int, default=6000, help="datagrams a second, in all")
    parser.add_argument("--seconds", type=int, default=15)
    arguments = parser.parse_args()
    site = region_site(8)
    alone = Server(arguments.binary, site)
    alone.start()
    try:
        rate, _, costs = play(arguments.binary, [alone], arguments.rate, arguments.seconds)
        print(f"one server: {rate:,.0f} adverts/s, {costs[0]:.2f} us of processor time an advert")
    finally:
        alone.process.kill()
    broker = Broker()
    nodes = [Server(arguments.binary, site, ["--cluster", broker.address]) for _ in range(3)]
    try:
        until(lambda: all(reachable(port) for port in broker.ports), 30)
        for node in nodes:
            node.start()
        until(lambda: all(ready(node) for node in nodes), 60)
        took = latency(nodes)
        print(f"datagram to event on another node's stream: p50 {took[len(took) // 2]:.0f} ms, p99 {took[len(took) * 99 // 100]:.0f} ms of {len(took)}")
        many, spent, each = play(arguments.binary, nodes, arguments.rate, arguments.seconds)
        ratios = ", ".join(f"{cost / costs[0]:.2f}" for cost in each)
        print(f"three nodes: {many:,.0f} adverts/s, decided {spent - arguments.seconds:.1f} s behind the last; {ratios} x an advert's cost")
    finally:
        for node in nodes:
            if node.process:
                node.process.kill()
        broker.stop()


if __name__ == "__main__":
    main()
