"""A made-up place for the dashboard to show: applications, zones, observers, tags that wander, and their events.

It answers with the shapes of the real server and decides nothing as the real one does: what is tested against it is the
pages, not the engine.
"""

import math
import random
import threading
import time
from datetime import datetime, timezone

import mock_venue

PLACES = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
TAGS = "7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21"

ZONES = [
    ("lobby", "Lobby", 0, ["hall", "shop"]),
    ("hall", "Great hall", 0, ["lobby", "east", "west", "stairs"]),
    ("shop", "Museum shop", 0, ["lobby"]),
    ("east", "East wing", 0, ["hall"]),
    ("west", "West wing", 0, ["hall"]),
    ("stairs", "Stairs", 0, ["hall", "gallery"]),
    ("gallery", "Gallery", 1, ["stairs", "archive", "cafe"]),
    ("archive", "Archive", 1, ["gallery"]),
    ("cafe", "Café", 1, ["gallery", "terrace"]),
    ("terrace", "Terrace", 1, ["cafe"]),
]


def kind_of(subject):
    return "beacon" if subject.startswith(TAGS) else "observer"


def rfc3339(at):
    text = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text[:-3] + "Z"


class World:
    """Everything that the mock server knows; one lock guards it all."""

    def __init__(self, tags=24, empty=False, moves=1.0, fixes=0.0, walks=True, seed=1):
        self.lock = threading.Condition()
        self.random = random.Random(seed)
        self.started = time.time()
        self.events = []
        self.live = []
        self.sequence = 0
        self.empty = empty
        self.moves = moves
        self.fix_rate = fixes
        self.walks = walks
        self.applications = {}
        self.diagnostics = {}
        self.webhooks = {}
        self.tokens = {}
        self.authorisations = {}
        self.accepted = set()
        self.notifications = {}
        self.ranging = {}
        self.shares, self.looks = {}, {}
        self.named = {}
        self.beacon_names = {}
        self.site_beacons = set()
        self.made_zones = {}
        self.comparisons = []
        self.recordings = []
        self.visits = []
        self.site = "applications: []\n"
        self.udp = "127.0.0.1:50001"
        self.checks = [{"name": "ingest", "ok": True}, {"name": "journal", "ok": True}]
        self.observers = [] if empty else [f"ac:23:3f:a0:00:{n + 1:02x}" for n in range(len(ZONES))]
        self.zone_of = {}
        self.since = {}
        self.fix = {}
        if not empty:
            self.make_place(tags)

    def end_recording(self, recording):
        """Ends a recording, as the server does when its time is over."""
        for member in ("endsAt", "maximumBytes"):
            recording.pop(member, None)
        recording["endedAt"] = rfc3339(time.time())

    def make_place(self, tags):
        for number in range(tags):
            beacon = f"{TAGS}/40/{number + 1}"
            self.zone_of[beacon] = self.random.choice(ZONES)[0] if number % 11 else None
            self.since[beacon] = self.started - self.random.uniform(10, 4000)
        for number in range(tags):
            self.fix[self.walker(number)] = self.place(number)
        self.applications["gallery"] = {
            "source": "site",
            "purpose": "Tells visitors about the exhibit before them.",
            "regionLimit": 20,
            "regions": {
                "entrance": {"uuid": PLACES, "major": 1, "minor": 7, "subject": "observer", "source": "site"},
                "museum": {"uuid": PLACES, "subject": "observer", "source": "site"},
            },
        }
        self.applications["lost-property"] = {
            "source": "http",
            "purpose": "",
            "regionLimit": 20,
            "regions": {"trolleys": {"uuid": TAGS, "major": 40, "subject": "beacon", "source": "http"}},
        }
        self.authorisations = {"gallery": {"handset-7": "whenInUse", "handset-9": "denied"}, "lost-property": {}}
        self.webhooks["w1"] = {
            "url": "https://till.example.org/hooks/pharos",
            "summary": "the till",
            "dead": 2,
            "state": "failing",
        }
        self.webhooks["w2"] = {"url": "https://display.example.org/pharos", "summary": "", "dead": 0, "state": "active"}
        self.tokens["t1"] = {"name": "wall display", "application": "gallery"}
        self.tokens["t2"] = {"name": "administration", "application": None}
        for _ in range(40):
            self.step()
        self.outage()

    def walker(self, number):
        """Who is located: handsets, and every third a tag."""
        return f"{TAGS}/40/{number + 1}" if number % 3 == 2 else f"visitor-{number + 1}"

    def place(self, number):
        """Returns where a subject begins: x, y, course and floor; every eleventh outdoors, west of the door."""
        x, y = self.random.uniform(0, mock_venue.WIDTH), self.random.uniform(0, mock_venue.HEIGHT)
        level = self.random.choice([0, 0, 0, 1, 1, -1])
        if number % 11 == 10:
            x, level = -self.random.uniform(5, 25), None
        return [x, y, self.random.uniform(0, 6.28), level]

    # Events.

    def emit(self, kind, subject, data, subject_kind="observer", at=None, sequence=True):
        at = at or time.time()
        with self.lock:
            if sequence:
                self.sequence += 1
            number = self.sequence if sequence else None
            event = {
                "specversion": "1.0",
                "id": f"{len(self.events):032x}",
                "source": "/pharos/mock",
                "type": f"pharos.{kind}",
                "subject": subject,
                "time": rfc3339(at),
                "datacontenttype": "application/json",
                "data": {**data, "decidedAt": rfc3339(at + 0.05), "subjectKind": subject_kind},
            }
            self.live.append((number, event))
            del self.live[:-20000]
            if sequence:
                self.events.append((number, event))
                del self.events[:-50000]
            self.lock.notify_all()
            return number

    def step(self):
        """One tag moves to a neighbouring zone, or a handset enters or leaves."""
        if self.empty:
            return
        if self.random.random() < 0.3:
            self.handset()
            return
        beacon = self.random.choice(list(self.zone_of))
        self.move(beacon)

    def move(self, beacon):
        before = self.zone_of[beacon]
        choices = next((adjacent for name, _, _, adjacent in ZONES if name == before), None) or [ZONES[0][0]]
        after = self.random.choice(choices)
        self.zone_of[beacon] = after
        self.since[beacon] = time.time()
        detail = {
            "from": before,
            "to": after,
            "margin": 4.2,
            "dwell": 3.0,
            "reason": "louder",
            "probability": 0.94,
            "runnerUp": {"zone": before or "hall", "probability": 0.05},
            "hearings": [{"observer": self.observers[0], "level": -61.5, "offset": 1.2}],
        }
        if before:
            self.emit("zone.exit", beacon, {"zone": before, **detail}, "beacon")
        self.emit("zone.enter", beacon, {"zone": after, **detail}, "beacon")

    def handset(self):
        subject = f"handset-{self.random.randint(1, 9)}"
        now = time.time()
        if self.random.random() < 0.5:
            self.emit(
                "region.enter",
                subject,
                {
                    "application": "gallery",
                    "region": "entrance",
                    "from": "outside",
                    "to": "inside",
                    "refinement": f"{PLACES}/1/7",
                    "evidence": {
                        "rule": "samples",
                        "samples": 2,
                        "counted": 2,
                        "window": 3.0,
                        "spread": 0.352,
                        "level": -63.2,
                        "lastHeard": rfc3339(now),
                    },
                },
            )
        else:
            self.emit(
                "region.exit",
                subject,
                {
                    "application": "gallery",
                    "region": "entrance",
                    "from": "inside",
                    "to": "outside",
                    "refinement": f"{PLACES}/1/7",
                    "enteredAt": rfc3339(now - 93),
                    "duration": 93.0,
                    "evidence": {
                        "rule": "adaptiveSilence",
                        "gap": 6.2,
                        "allowedGap": 6.2,
                        "interval": 0.35,
                        "receptionShare": 0.71,
                        "lossRun": 1.6,
                        "level": -84.5,
                        "levelDeviation": 2.1,
                        "margin": 0.0,
                        "lastHeard": rfc3339(now - 6.2),
                        "fixedRuleAt": rfc3339(now + 23.8),
                        "waitedForProof": 0.4,
                    },
                },
            )

    def outage(self):
        self.emit("observer.offline", self.observers[3], {"lastHeard": rfc3339(time.time() - 20), "allowedGap": 12.0})

    def words(self, event):
        kind = event["type"]
        data = event["data"]
        if kind == "pharos.region.exit":
            return (
                "The handset left entrance: nothing was heard of it for 6.2 s. It advertises every 350 ms and 71 % of "
                "that arrives, so that such a silence while it is still here happens less than once in 100 days.\n\n"
                "The observer proved 0.4 s later that it lives. A fixed rule of 30 s would have said so 23.8 s later."
            )
        if kind == "pharos.region.enter":
            return (
                f"Two adverts within 352 ms are enough to be inside {data.get('region')}: the rule asks for 2 in 3 s."
            )
        return f"{event['subject']}: {kind.removeprefix('pharos.')}."

    # Lists.

    def observer_rows(self):
        rows = []
        for index, identity in enumerate(self.observers):
            now = time.time()
            rows.append(
                {
                    "id": identity,
                    "name": f"{ZONES[index][1]} gateway" if index % 3 else None,
                    "listed": True,
                    "isUp": index != 3,
                    "firstHeard": rfc3339(self.started - 7200),
                    "lastHeard": rfc3339(now - (95 if index == 3 else 0.2 * index)),
                    "adverts": 120345 + index * 7,
                    "advertsPerSecond": 0.0 if index == 3 else 40.0 + index,
                    "lostDatagrams": index * 3,
                    "datagrams": 9000,
                    "late": index,
                    "lag": 0.5,
                    "clockOffset": 0.012 * index if index % 2 else None,
                    "bootId": 12 + index,
                    "scanState": "on",
                    "allowedGap": 4.5,
                    "tracks": 21,
                    "source": f"10.0.0.{index + 5}:50100",
                    "format": "pharos",
                    "battery": None,
                }
            )
        return [{key: value for key, value in row.items() if value is not None} for row in rows]

    def quarantine_rows(self):
        if self.empty or "ac:23:3f:ff:00:99" in self.accepted:
            return []
        return [
            {
                "id": "ac:23:3f:ff:00:99",
                "firstHeard": rfc3339(self.started - 60),
                "lastHeard": rfc3339(time.time()),
                "reports": 731,
                "source": "10.0.0.77:50222",
            }
        ]

    def state_rows(self, name):
        application = self.applications[name]
        rows = []
        now = time.time()
        for region, document in application["regions"].items():
            if document.get("subject") == "beacon":
                subjects = [(beacon, "beacon") for beacon in list(self.zone_of)[:9]]
            else:
                subjects = [(f"handset-{n}", "observer") for n in range(1, 6)]
            for index, (subject, kind) in enumerate(subjects):
                distance = 1.2 + index * 1.7 + math.sin(now / 3 + index)
                inside = index % 4 != 3
                row = {
                    "region": region,
                    "subject": subject,
                    "subjectKind": kind,
                    "since": rfc3339(now - 60 * (index + 1)),
                    "state": "inside" if inside else ("unmonitored" if index == 3 else "outside"),
                }
                if inside:
                    row |= {
                        "enteredAt": rfc3339(now - 60 * (index + 1)),
                        "nearest": {
                            "observer": self.observers[0] if self.observers else "none",
                            "beacon": f"{PLACES}/1/{index + 1}",
                            "rssi": -58 - index * 5,
                            "distance": max(0.2, distance),
                            "deviation": 0.6,
                            "proximity": "near" if distance < 3 else "far",
                            "lastHeard": rfc3339(now - 0.3),
                        },
                    }
                rows.append(row)
        return rows

    def heard_rows(self, unregistered):
        if self.empty:
            return []
        now = rfc3339(time.time() - 0.4)
        rows = [
            {
                "observer": self.observers[0],
                "address": "f4:12:9a:00:10:01",
                "identities": ["0018B4CC-1937-4981-B893-9D7191B22E35/3/14"],
                "rssi": -61,
                "advertsPerSecond": 2.9,
                "lastHeard": now,
                "registered": False,
            },
            {
                "observer": self.observers[1],
                "address": "f4:12:9a:00:10:01",
                "identities": ["0018B4CC-1937-4981-B893-9D7191B22E35/3/14"],
                "rssi": -77,
                "advertsPerSecond": 2.1,
                "lastHeard": now,
                "registered": False,
            },
            {
                "observer": self.observers[1],
                "address": "f4:12:9a:00:10:02",
                "identities": ["eddystone:00010203040506070809/aabbccddeeff"],
                "name": "Door 3",
                "rssi": -70,
                "advertsPerSecond": 1.0,
                "lastHeard": now,
                "registered": False,
            },
            {
                "observer": self.observers[2],
                "address": "f4:12:9a:00:10:03",
                "identities": [],
                "name": "Thermometer",
                "rssi": -80,
                "advertsPerSecond": 0.2,
                "lastHeard": now,
                "registered": False,
            },
            {
                "observer": self.observers[2],
                "address": "f4:12:9a:00:10:04",
                "identities": [f"{PLACES}/1/7"],
                "rssi": -55,
                "advertsPerSecond": 4.8,
                "lastHeard": now,
                "registered": True,
            },
        ]
        return [row for row in rows if not (unregistered and row["registered"])]

    def tag_rows(self):
        return [
            {
                "beacon": beacon,
                "name": self.name_of_tag(index, beacon),
                "zone": zone,
                "since": rfc3339(self.since[beacon]),
                "probability": 0.93 if zone else None,
                "hearings": [],
            }
            for index, (beacon, zone) in enumerate(self.zone_of.items())
        ]

    def name_of_tag(self, index, beacon):
        return self.beacon_names.get(beacon, f"Trolley {index + 1}" if index % 2 else None)

    def beacon_rows(self):
        rows = []
        for index, beacon in enumerate(self.zone_of):
            name = self.name_of_tag(index, beacon)
            row = {"id": beacon, "regions": [], "battery": {"millivolts": 2930, "time": rfc3339(self.started)}}
            source = "site" if beacon in self.site_beacons else "http"
            rows.append(row | ({"name": name, "source": source} if name else {}))
        return rows

    def fix_rows(self):
        if not self.fix_rate:
            return []
        now = rfc3339(time.time())
        return [
            {"subject": subject, "subjectKind": kind_of(subject), "time": now, "decidedAt": now}
            | mock_venue.fix(x, y, level, course)
            for subject, (x, y, course, level) in list(self.fix.items())
        ]

    def walk(self, span):
        """All who are located go on for so many seconds, or stand where they are, and say where that is."""
        for subject, place in self.fix.items():
            if self.walks:
                self.wander(place, span)
            self.locate(subject)

    def wander(self, place, span):
        place[2] += self.random.uniform(-0.3, 0.3)
        place[0] += math.sin(place[2]) * 1.4 * span
        place[1] += math.cos(place[2]) * 1.4 * span
        left, right = (-30.0, -3.0) if place[3] is None else (0.0, mock_venue.WIDTH)
        if not (left < place[0] < right and 0 < place[1] < mock_venue.HEIGHT):
            place[0] = min(max(place[0], left), right)
            place[1] = min(max(place[1], 0.0), mock_venue.HEIGHT)
            place[2] += 2.4

    def locate(self, subject, **changes):
        """Sends a fix of a subject; `x`, `y` and `level` move it."""
        place = self.fix[subject]
        for index, name in enumerate(("x", "y", "course", "level")):
            place[index] = changes.get(name, place[index])
        x, y, course, level = place
        self.emit("fix", subject, mock_venue.fix(x, y, level, course), kind_of(subject), sequence=False)

    def status(self):
        return {
            "version": "0.5.0",
            "uptime": time.time() - self.started,
            "time": rfc3339(time.time()),
            "listeners": [{"address": self.udp, "loop": 0, "receiveBuffer": 4194304}],
            "formats": ["raddec", "pharos", "json", "ingics"],
            "ingest": {
                "datagrams": 0 if self.empty else 1234567,
                "bytes": 98765432,
                "reports": 4567890,
                "truncated": 0,
                "kernelDrops": 0,
                "queueWaits": 3,
                "refused": [
                    {"format": "raddec", "reason": "checksum", "count": 12},
                    {"format": "pharos", "reason": "cut short", "count": 2},
                ],
                "refusedSources": []
                if self.empty
                else [{"source": "10.0.0.91", "count": 14, "lastRefused": rfc3339(time.time() - 40)}],
                "monitoring": {
                    "adverts": 4500000,
                    "matched": 4100000,
                    "unmatched": 400000,
                    "late": 12,
                    "joined": 900123,
                    "trackEvictions": 0,
                },
            },
            "journal": {
                "events": self.sequence,
                "bytes": 1234567,
                "commits": 4321,
                "lastCommitDuration": 0.0021,
                "failures": 0,
            },
            "feeds": {"clients": 1, "dropped": 0, "sent": 8123},
            "webhooks": {"delivered": 412, "failed": 9, "dead": 2},
        }
