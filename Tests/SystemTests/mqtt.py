"""A broker that is killed and restarted while states are published: no decision is lost, and the retained states are right.

    python3 Tests/SystemTests/mqtt.py PHAROS [--restarts 20] [--events 20000] [--kill] [--seed N]
    python3 Tests/SystemTests/mqtt.py PHAROS --speed

PHAROS is built with `--traits MQTT`. It needs mosquitto and mosquitto-clients. The broker is ended in the middle of publishing and
keeps its database, as a service manager's restart does. With `--kill` every other end is a kill -9: mosquitto then loses what it has
acknowledged and neither saved nor passed on, so that the decisions which a slow subscriber misses are counted and not judged; the
retained states must be right all the same. `--speed` measures messages a second, in and out.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from harness import MUSEUM, Radio, Server, free_port, region_site, seeded
from resume import traffic


class Broker:
    """A mosquitto with a database, on a port that it keeps over restarts."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="pharos-broker-")
        os.chmod(self.folder, 0o777)
        self.port = free_port(socket.SOCK_STREAM)
        self.database = os.path.join(self.folder, "mosquitto.db")
        with open(os.path.join(self.folder, "conf"), "w", encoding="utf-8") as file:
            file.write(
                f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
                f"persistence_location {self.folder}/\nautosave_interval 0\nmax_inflight_messages 0\n"
                "max_queued_messages 0\nmax_queued_bytes 0\n"
            )
        self.start()

    def start(self):
        """Starts it and returns once it says that it runs."""
        command = ["mosquitto", "-c", os.path.join(self.folder, "conf")]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = []
        for line in self.process.stderr:
            said.append(line)
            if " running" in line:
                break
        else:
            raise SystemExit("the broker did not start:\n" + "".join(said))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def save(self):
        """Has it write its database."""
        if os.path.exists(self.database):
            os.remove(self.database)
        self.process.send_signal(signal.SIGUSR1)
        poll(lambda: os.path.exists(self.database))

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait()

    def close(self):
        self.end(signal.SIGTERM)
        shutil.rmtree(self.folder)


class Subscriber:
    """A client with a session that survives its connections; keeps each message as (topic, JSON), and the ids of events."""

    def __init__(self, broker, filters):
        self.messages, self.ids = [], set()
        self.ready = threading.Event()
        command = ["stdbuf", "-oL", "mosquitto_sub", "-p", str(broker.port), "-c", "-i", "proof", "-q", "1", "-F", "%t %p"]
        for filter in filters:
            command += ["-t", filter]
        self.process = subprocess.Popen(command + ["-d"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        self.ready.wait()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("Subscribed "):
                self.ready.set()
            elif line.startswith("pharos/"):
                topic, _, payload = line.rstrip("\n").partition(" ")
                assert payload, f"{topic} was removed"
                payload = json.loads(payload)
                self.messages.append((topic, payload))
                self.ids.add(payload.get("event"))

    def close(self):
        self.process.terminate()
        self.process.wait()


def poll(condition, pause=0.02):
    """Returns once a condition holds that only a question can tell."""
    gate = threading.Event()
    while not condition():
        gate.wait(pause)


def metric(server, name):
    """The value of a metric."""
    with socket.create_connection(("127.0.0.1", server.http_port), timeout=60) as connection:
        request = f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{server.http_port}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        text = connection.makefile().read()
    for line in text.splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise SystemExit(f"no metric {name}")


def retained(broker, filter):
    """What a broker has retained, by topic."""
    marker = "done/" + os.urandom(4).hex()
    command = ["mosquitto_sub", "-p", str(broker.port), "-t", filter, "-t", marker, "-F", "%t %p"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    found = {}
    publish = ["mosquitto_pub", "-p", str(broker.port), "-t", marker, "-m", "x", "-r"]
    subprocess.run(publish, check=True)
    for line in process.stdout:
        topic, _, payload = line.rstrip("\n").partition(" ")
        if topic == marker:
            break
        found[topic] = payload
    process.terminate()
    process.wait()
    return found


def restarts(arguments, generator):
    broker = Broker()
    site = region_site(20) + f'publish: {{ mqtt: {{ broker: "mqtt://127.0.0.1:{broker.port}" }} }}\n'
    server = Server(arguments.binary, site)
    server.start()
    poll(lambda: metric(server, 'pharos_mqtt_up{direction="out"}') == 1)
    subscriber = Subscriber(broker, ["pharos/region/#", "pharos/observer/#"])
    broker.save()
    first = server.get("/v1/events?limit=1")[1]["events"]
    assert not first, "there are events before the traffic"

    done = threading.Event()
    observers = arguments.events // (8 * 20) + 1
    threading.Thread(target=traffic, args=(Radio(server), observers, 20, done), daemon=True).start()
    every = arguments.events // (arguments.restarts + 1)
    accepted = 'pharos_mqtt_connections_total{direction="out"}'
    before = 0
    for number in range(arguments.restarts):
        poll(lambda: metric(server, accepted) > before)
        poll(lambda: len(subscriber.ids) >= (number + 1) * every)
        before = metric(server, accepted)
        broker.end(signal.SIGKILL if arguments.kill and number % 2 else signal.SIGTERM)
        threading.Event().wait(generator.uniform(0, 0.5))
        broker.start()
    poll(lambda: len(subscriber.ids) >= arguments.events)
    done.set()
    # What was heard last is left within seconds; then nothing further is decided and the broker has everything.
    poll(lambda: len(server_events(server)) == len(server_events(server, 2.5)), 0.5)
    poll(lambda: metric(server, accepted) > before, 0.2)
    poll(lambda: metric(server, 'pharos_mqtt_up{direction="out"}') == 1, 0.2)
    poll(lambda: metric(server, "pharos_mqtt_lag_events") == 0, 0.2)
    connections = int(metric(server, accepted))
    journal = [e for e in server_events(server) if e["type"] in KINDS]
    ids = {e["id"] for e in journal}
    # Behind this message, the subscriber has all that the broker has taken.
    publish = ["mosquitto_pub", "-p", str(broker.port), "-q", "1", "-t", "pharos/observer/end", "-m", '{"event":"end"}']
    subprocess.run(publish, check=True)
    poll(lambda: "end" in subscriber.ids)

    # Each decision arrived, those of a subject in order.
    messages = list(subscriber.messages)
    lost = ids - subscriber.ids
    assert arguments.kill or not lost, f"{len(lost)} of {len(ids)} decisions are lost"
    wanted, got = {}, {}
    for event in journal:
        if event["id"] not in lost:
            wanted.setdefault(event["subject"], []).append(event["id"])
    seen = set()
    for _, payload in messages:
        subject = payload.get("subject") or payload.get("observer")
        if payload.get("event") in ids and payload["event"] not in seen:
            seen.add(payload["event"])
            got.setdefault(subject, []).append(payload["event"])
    assert got == wanted, "the decisions of a subject came out of order"
    # What a subscriber finds that comes now is what was decided last.
    last = {}
    for event in journal:
        if event["type"] == "pharos.region.state":
            last[(event["data"]["region"], event["subject"])] = event["data"]["to"]
    states = {}
    for topic, payload in retained(broker, "pharos/region/#").items():
        state = json.loads(payload)
        states[(state["region"], state["subject"])] = state["state"]
    assert states == last, "a retained state is wrong"
    status = server.stop()
    assert status == 0, f"the server ended with status {status}:\n" + "".join(server.said[-20:])
    assert retained(broker, "pharos/status") == {"pharos/status": "offline"}
    subscriber.close()
    broker.close()
    repeated = len([p for _, p in messages if p.get("event") in ids]) - len(ids - lost)
    print(
        f"{len(ids)} decisions over {arguments.restarts} restarts of the broker ({connections} connections): {len(lost)} lost, "
        f"{repeated} messages repeated, {len(states)} retained states right"
    )


KINDS = ("pharos.region.state", "pharos.observer.online", "pharos.observer.offline")


def server_events(server, after=0.0):
    """The events of the journal, after a moment of traffic."""
    if after:
        threading.Event().wait(after)
    return [dict(entry["event"]) for entry in server.journal()]


def packet(topic, payload):
    """A PUBLISH of MQTT 3.1.1 with QoS 0."""
    body = struct.pack(">H", len(topic)) + topic + payload
    length, size = len(body), b""
    while True:
        length, digit = divmod(length, 128)
        size += bytes([digit | 128 if length else digit])
        if not length:
            return b"\x30" + size + body


def speed(arguments):
    """Messages a second, in from gateways and out to a subscriber."""
    broker = Broker()
    place = f'broker: "mqtt://127.0.0.1:{broker.port}"'
    site = region_site(20, silence="1h") + f"listen: {{ mqtt: {{ {place} }} }}\npublish: {{ mqtt: {{ {place} }} }}\n"
    server = Server(arguments.binary, site)
    server.start()
    poll(lambda: metric(server, 'pharos_mqtt_up{direction="in"}') == 1)
    count = arguments.events
    sender = socket.create_connection(("127.0.0.1", broker.port))
    sender.sendall(b"\x10\x11\x00\x04MQTT\x04\x02\x00\x00\x00\x05speed")
    assert sender.recv(4) == b"\x20\x02\x00\x00"
    uuid = MUSEUM.replace("-", "").lower()
    parts = []
    for number in range(count):
        topic = f"home/gateway-{number % 50}/BTtoMQTT/112233445566".encode()
        payload = json.dumps(
            {"id": f"11:22:33:44:{number >> 8 & 255:02x}:{number & 255:02x}", "mac_type": 1, "rssi": -70, "uuid": uuid,
             "major": 99, "minor": number & 0xFFFF, "txpower": -59}
        ).encode()
        parts.append(packet(topic, payload))
    begin, busy = time.monotonic(), metric(server, "process_cpu_seconds_total")
    for start in range(0, count, 500):
        sender.sendall(b"".join(parts[start:start + 500]))
    read = 'pharos_mqtt_messages_total{outcome="read"}'
    dropped = 'pharos_mqtt_messages_total{outcome="dropped"}'
    previous = -1
    while (now := metric(server, read) + metric(server, dropped)) < count and (now != previous or now < count // 2):
        previous = now
        threading.Event().wait(0.2)
    seconds = time.monotonic() - begin
    cpu = (metric(server, "process_cpu_seconds_total") - busy) / count * 1e6
    print(
        f"in:  {int(metric(server, read))} of {count} messages read in {seconds:.2f} s = {metric(server, read) / seconds:.0f} "
        f"a second; {int(metric(server, dropped))} dropped by the feed; {cpu:.0f} µs of processor time each"
    )

    # Out: the broker is away while decisions pile up in the journal; they are published once it is back.
    broker.end(signal.SIGTERM)
    radio, pairs = Radio(server), count // 2
    rows = {}
    for number in range(pairs):
        rows.setdefault(f"handset-{number // 20}", []).append(number % 20 + 1)
    pause = threading.Event()
    from harness import advert

    for index, (observer, majors) in enumerate(rows.items()):
        radio.hear(observer, [advert(major, 1) for major in majors])
        if index % 20 == 19:
            pause.wait(0.01)
    poll(lambda: lag_is_steady(server), 0.5)
    waiting = metric(server, "pharos_mqtt_lag_events")
    before = metric(server, "pharos_mqtt_published_total")
    broker.start()
    poll(lambda: metric(server, 'pharos_mqtt_up{direction="out"}') == 1, 0.005)
    begin, busy = time.monotonic(), metric(server, "process_cpu_seconds_total")
    poll(lambda: metric(server, "pharos_mqtt_lag_events") == 0, 0.5)
    seconds = time.monotonic() - begin
    cpu = metric(server, "process_cpu_seconds_total") - busy
    messages = metric(server, "pharos_mqtt_published_total") - before
    print(f"out: {int(messages)} messages acknowledged in {seconds:.2f} s = {messages / seconds:.0f} a second "
          f"({int(waiting)} events waited; {cpu / messages * 1e6:.0f} µs of processor time each)")
    server.stop()
    broker.close()


def lag_is_steady(server):
    """Whether nothing more is decided."""
    before = metric(server, "pharos_mqtt_lag_events")
    threading.Event().wait(1)
    return before > 0 and metric(server, "pharos_mqtt_lag_events") == before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    if arguments.speed:
        speed(arguments)
    else:
        restarts(arguments, seeded(arguments))


if __name__ == "__main__":
    main()
