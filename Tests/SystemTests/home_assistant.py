"""A real Home Assistant that shows what Pharos publishes: whether a tag is at home, its room, its distance and its nearest gateway,
while the tag moves and leaves, and after a restart of Home Assistant with a broker that has forgotten everything.

    python3 Tests/SystemTests/home_assistant.py PHAROS [--seconds 600] [--python PYTHON] [--environment FOLDER] [--keep] [--seed N]

PHAROS is built with `--traits MQTT`. It needs mosquitto, and Home Assistant from PyPI: the newest that PYTHON can run, in the
virtual environment FOLDER, which is made where it does not exist. Where one of the two cannot be had, the test prints the
reason and ends without a result (status 0). `--keep` leaves Home Assistant running at the end, to look at its pages.

Two observers hear a tag for SECONDS: the one in its room in two seconds of three at 2 m, the one in the next room always at 12 m.
The room has to be the same all the time, the tracker at home, and the distance must not change between the two. Then the tag moves and leaves.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from harness import MUSEUM, Radio, Server, advert, free_port, seeded
from mqtt import Broker, retained

SITE = """
regions:
  - {{ id: home, subject: beacon, uuid: {uuid} }}
ranging:
  - {{ uuid: {uuid} }}
observers:
  - {{ id: kitchen, name: kitchen gateway }}
  - {{ id: office }}
zones:
  - {{ id: kitchen, name: "Küche <1>", observers: [kitchen] }}
  - {{ id: office, name: Office, observers: [office] }}
beacons:
  - {{ uuid: {uuid}, major: 1, minor: 7, name: Minka }}
publish:
  mqtt: {{ broker: "mqtt://127.0.0.1:{port}"{version} }}
"""

ROOMS = {"kitchen": "Küche <1>", "office": "Office"}

# A component that writes each state to a file, and a token for the REST interface.
PROBE = '''
import json
import os
from homeassistant.core import callback

async def async_setup(hass, config):
    file = open(hass.config.path("states.jsonl"), "a", encoding="utf-8")

    @callback
    def write(event):
        state = event.data["new_state"]
        if state is not None:
            row = {"entity": state.entity_id, "state": state.state, "attributes": dict(state.attributes)}
            file.write(json.dumps(row, default=str) + "\\\\n")
            file.flush()

    hass.bus.async_listen("state_changed", write)
    user = await hass.auth.async_create_system_user("probe", group_ids=["system-admin"])
    token = hass.auth.async_create_access_token(await hass.auth.async_create_refresh_token(user))
    with open(hass.config.path("token.new"), "w", encoding="utf-8") as out:
        out.write(token)
    os.rename(hass.config.path("token.new"), hass.config.path("token"))
    return True
'''.replace("\\\\n", "\\n")


def environment(arguments):
    """The folder of a virtual environment that has Home Assistant; nil, with the reason printed, if there can be none."""
    folder = arguments.environment or os.path.join(tempfile.gettempdir(), "pharos-home-assistant")
    if not os.path.exists(os.path.join(folder, "bin", "hass")):
        for command in (
            [arguments.python, "-m", "venv", folder],
            [os.path.join(folder, "bin", "pip"), "install", "--quiet", "homeassistant"],
        ):
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                reason = done.stdout.strip().splitlines()[-1:] if done.returncode else None
            except OSError as error:
                reason = [str(error)]
            if reason is not None:
                print(f"skipped: Home Assistant cannot be installed: {' '.join(reason)}")
                return None
    return folder


class HomeAssistant:
    """A Home Assistant with an MQTT entry for a broker, in a folder of its own."""

    def __init__(self, environment, broker):
        self.environment = environment
        self.folder = tempfile.mkdtemp(prefix="pharos-hass-")
        self.port = free_port(1)
        self._write(
            "configuration.yaml",
            "homeassistant: { name: Test, latitude: 47.37, longitude: 8.54, time_zone: UTC }\n"
            f"http: {{ server_host: 127.0.0.1, server_port: {self.port} }}\n"
            "recorder: { commit_interval: 1 }\nhistory:\nlogbook:\nprobe:\n"
            "zone: [{ name: Office, latitude: 47.37, longitude: 8.54, radius: 5 }]\n",
        )
        self._write("custom_components/probe/__init__.py", PROBE)
        manifest = {"domain": "probe", "name": "Probe", "version": "1.0.0", "codeowners": [], "requirements": []}
        self._write("custom_components/probe/manifest.json", json.dumps(manifest))
        entry = {
            "entry_id": "4f3c1d2e5b6a79880123456789abcdef", "version": 1, "domain": "mqtt", "title": "MQTT",
            "data": {"broker": "127.0.0.1", "port": broker.port, "discovery": True}, "options": {},
            "pref_disable_new_entities": False, "pref_disable_polling": False, "source": "user",
            "unique_id": None, "disabled_by": None,
        }
        storage = {"version": 1, "minor_version": 1, "key": "core.config_entries", "data": {"entries": [entry]}}
        self._write(".storage/core.config_entries", json.dumps(storage))
        self._run()
        self.version = self.config()["version"]
        sources = glob.glob(os.path.join(environment, "lib/python3*/site-packages/homeassistant/components/mqtt"))
        with open(os.path.join(sources[0], "device_tracker.py"), encoding="utf-8") as file:
            self.reads_zones = "in_zones" in file.read().lower()

    def _run(self):
        token = os.path.join(self.folder, "token")
        if os.path.exists(token):
            os.remove(token)
        binary = os.path.join(self.environment, "bin", "hass")
        log = open(os.path.join(self.folder, "output"), "a", encoding="utf-8")
        self.process = subprocess.Popen([binary, "-c", self.folder], stdout=log, stderr=log)
        # It installs what its integrations need at the first start.
        self._wait(lambda: os.path.exists(os.path.join(self.folder, "token")), 600, "no probe")
        with open(os.path.join(self.folder, "token"), encoding="utf-8") as file:
            self.token = file.read()
        self._wait(lambda: (self.config() or {}).get("state") == "RUNNING", 120, "it does not start")

    def stop(self):
        """Ends it; `start` runs it once more in the same folder, with what its registries hold."""
        self.process.terminate()
        self.process.wait()

    def start(self):
        self._run()

    def _write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _wait(self, condition, seconds, reason):
        end = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None or time.monotonic() > end:
                with open(os.path.join(self.folder, "output"), encoding="utf-8") as file:
                    raise SystemExit(f"Home Assistant: {reason}:\n{file.read()[-3000:]}")
            threading.Event().wait(0.2)

    def get(self, path):
        """The JSON of an answer of the REST interface."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        request.add_header("Authorization", f"Bearer {self.token}")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def config(self):
        """Its configuration; nil while it does not answer."""
        try:
            return self.get("/api/config")
        except urllib.error.HTTPError:
            raise
        except OSError:
            return None

    def rows(self, entity):
        """Every state that an entity has had, in order, with its attributes."""
        with open(os.path.join(self.folder, "states.jsonl"), encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.endswith("\n")]
        return [row for row in rows if row["entity"] == entity]

    def states(self, entity):
        """The states of an entity in order, each once."""
        states = []
        for row in self.rows(entity):
            if not states or states[-1] != row["state"]:
                states.append(row["state"])
        return states

    def complaints(self):
        """The warnings and errors of the log that are about MQTT or the template of an entity."""
        with open(os.path.join(self.folder, "home-assistant.log"), encoding="utf-8") as file:
            lines = [line for line in file if " WARNING " in line or " ERROR " in line]
        return [line for line in lines if "mqtt" in line.lower() or "template" in line.lower()]

    def devices(self):
        """The devices of its registry, by name, as it has stored them."""
        with open(os.path.join(self.folder, ".storage/core.device_registry"), encoding="utf-8") as file:
            rows = json.load(file)["data"]["devices"]
        return {row["name"]: row for row in rows if any(kind == "mqtt" for kind, _ in row["identifiers"])}

    def close(self):
        self.stop()
        shutil.rmtree(self.folder)


class House:
    """Plays the two gateways of the house: once a second, what they hear of the tag."""

    def __init__(self, server, generator):
        self.radio, self.generator = Radio(server), generator
        self.room = "kitchen"
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._play, daemon=True)
        self.thread.start()

    def _play(self):
        second = 0
        begin = time.monotonic()
        while not self.stopping.wait(max(begin + second - time.monotonic(), 0)):
            second += 1
            for observer in ROOMS:
                self.radio.live(observer)
                if self.room is None or observer == self.room and second % 3 == 0:
                    continue
                level = (-65 if observer == self.room else -81) + self.generator.uniform(-0.5, 0.5)
                self.radio.hear(observer, [advert(1, 7, round(level))])

    def close(self):
        self.stopping.set()
        self.thread.join()


def wait_for(home, entity, state, seconds):
    """Waits until an entity has a state."""
    end = time.monotonic() + seconds
    while (rows := home.rows(entity)) == [] or rows[-1]["state"] != state:
        assert time.monotonic() < end, f"{entity} is {rows[-1:]}, and not {state}"
        threading.Event().wait(0.2)


def settings(port, version=None):
    version = f', homeAssistant: "{version}"' if version else ""
    return SITE.format(uuid=MUSEUM, port=port, version=version)


def restarts(server, home, broker):
    """Home Assistant ends, the broker loses what it has retained, and Home Assistant starts: its birth brings everything back."""
    home.stop()
    command = ["mosquitto_sub", "-p", str(broker.port), "-t", "#", "--retained-only", "--remove-retained", "-W", "2"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    assert not (left := retained(broker, "pharos/#")), left
    rows = {entity: len(home.rows(entity)) for entity in ("device_tracker.minka", "sensor.minka_room", "sensor.minka_last_room_since")}
    home.start()
    for entity, count in rows.items():
        end = time.monotonic() + 60
        while not [row for row in home.rows(entity)[count:] if row["state"] not in ("unavailable", "unknown")]:
            assert time.monotonic() < end, f"{entity} did not come back: {home.rows(entity)[count:]}"
            threading.Event().wait(0.2)
    wait_for(home, "device_tracker.minka", "home", 30)
    wait_for(home, "sensor.minka_room", ROOMS["office"], 30)
    end = time.monotonic() + 60
    # The registry is stored some seconds after a change.
    while not {"Pharos", "Minka", "kitchen gateway", "office"} <= set(home.devices()):
        assert time.monotonic() < end, home.devices().keys()
        threading.Event().wait(0.5)
    devices = home.devices()
    for name, device in devices.items():
        hub = None if name == "Pharos" else devices["Pharos"]["id"]
        assert device["via_device_id"] == hub, device
        assert device["configuration_url"].startswith(f"http://127.0.0.1:{server.http_port}/"), device
    print(f"after a restart of Home Assistant with an empty broker: {sorted(devices)} with their states")


def shows(arguments, server, home, broker, generator):
    """The tag in a room, in the next one, and away, with the state topic that Home Assistant reads up to 2026.12."""
    last, nearest = "sensor.minka_last_room", "sensor.minka_nearest_gateway"
    server.start()
    house = House(server, generator)
    tracker, room, distance = "device_tracker.minka", "sensor.minka_room", "sensor.minka_distance"
    wait_for(home, room, ROOMS["kitchen"], 60)
    wait_for(home, tracker, "home", 60)
    begin = len(home.rows(distance))
    threading.Event().wait(arguments.seconds)
    assert home.states(tracker)[-1] == "home", home.states(tracker)
    assert home.states(tracker).count("home") == 1, home.states(tracker)
    assert home.states(room)[-1:] == [ROOMS["kitchen"]] and home.states(room).count(ROOMS["kitchen"]) == 1
    values = [row["state"] for row in home.rows(distance)[begin:]]
    assert values and all(0.5 < float(value) < 6 for value in values), values
    assert len(values) <= arguments.seconds + 1
    attributes = home.rows(tracker)[-1]["attributes"]
    assert attributes["in_zones"] == ["zone.home", ROOMS["kitchen"]], attributes
    print(
        f"in a room for {arguments.seconds} s: the room had the states {home.states(room)}, the distance {len(values)} "
        f"values from {min(map(float, values))} to {max(map(float, values))} m, 0 flips"
    )
    wait_for(home, nearest, "kitchen gateway", 30)
    assert -90 < float(home.rows("sensor.minka_rssi")[-1]["state"]) < -50, home.rows("sensor.minka_rssi")[-1]
    house.room = "office"
    wait_for(home, room, ROOMS["office"], 60)
    assert home.states(room)[-2:] == [ROOMS["kitchen"], ROOMS["office"]], home.states(room)
    wait_for(home, nearest, "office", 30)
    restarts(server, home, broker)
    house.room = None
    wait_for(home, tracker, "not_home", 120)
    assert home.states(tracker)[-2:] == ["home", "not_home"], home.states(tracker)
    wait_for(home, distance, "unknown", 60)
    wait_for(home, nearest, "unknown", 60)
    assert home.rows(last)[-1]["state"] == ROOMS["office"], home.rows(last)[-1]
    print(f"after a move and an exit: {home.states(tracker)}, {home.states(room)}, last in {ROOMS['office']}")
    logbook = [row.get("state") or row.get("message") for row in home.get(f"/api/logbook?entity={tracker}")]
    assert not any("{" in (text or "") for text in logbook), logbook
    print(f"logbook of the tracker: {logbook}")
    house.close()
    server.stop()
    wait_for(home, tracker, "unavailable", 30)


def shows_zones(server, home, broker, generator):
    """The tag in a room, as it is announced from 2027.1 on: by zones alone."""
    with open(server.site, "w", encoding="utf-8") as file:
        file.write(settings(broker.port, "2027.1"))
    server.start()
    house = House(server, generator)
    house.room = "office"
    tracker = "device_tracker.minka"
    end = time.monotonic() + 60
    while home.rows(tracker)[-1]["attributes"].get("in_zones") in (None, [], ["zone.home"]):
        assert time.monotonic() < end, home.rows(tracker)[-1]
        threading.Event().wait(0.2)
    if home.reads_zones:
        wait_for(home, tracker, ROOMS["office"], 30)
        print("announced by zones alone: the tracker shows the zone with the name of the room")
    else:
        assert home.rows(tracker)[-1]["attributes"]["in_zones"] == ["zone.home", ROOMS["office"]]
        print(f"announced by zones alone: accepted; Home Assistant {home.version} takes no state from them yet")
    house.close()
    server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--environment")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    generator = seeded(arguments)
    if shutil.which("mosquitto") is None:
        print("skipped: there is no mosquitto")
        return
    if (folder := environment(arguments)) is None:
        return
    broker = Broker()
    home = HomeAssistant(folder, broker)
    server = Server(arguments.binary, settings(broker.port))
    print(f"Home Assistant {home.version}")
    try:
        shows(arguments, server, home, broker, generator)
        shows_zones(server, home, broker, generator)
        assert not home.complaints(), "".join(home.complaints())
        print("no warning of Home Assistant is about MQTT")
        if arguments.keep:
            print(f"http://127.0.0.1:{home.port} with the token in {home.folder}/token; ends with the input")
            sys.stdin.read()
    finally:
        if server.process is not None and server.process.poll() is None:
            server.kill()
        home.close()
        broker.close()


if __name__ == "__main__":
    main()
