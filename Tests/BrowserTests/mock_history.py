"""The stored past of the made-up place: summaries of the last day, the same for the same minute."""

import math
import time

import mock_venue
from mock_http import Refusal
from mock_world import ZONES, kind_of, rfc3339

MINUTE = 60
# What is stored: a day, but for a quarter of an hour in which the server was stopped.
STORED = 24 * 60
STOPPED = range(300, 315)
STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440]


class Span:
    """The range of a query and its steps, as the server divides it."""

    def __init__(self, query, hours, points):
        end = parse(query.get("to")) or time.time()
        start = parse(query.get("from")) or end - hours * 3600
        first, last, points = int(start // MINUTE), int(end // MINUTE), int(query.get("points", points))
        self.length = next((step for step in STEPS if last // step - first // step < points), STEPS[-1])
        self.first = first // self.length * self.length
        self.last = last // self.length * self.length + self.length - 1
        self.now = int(time.time() // MINUTE)

    def head(self):
        return {
            "from": rfc3339(self.first * MINUTE),
            "to": rfc3339((self.last + 1) * MINUTE),
            "step": self.length * MINUTE,
        }

    def steps(self):
        """The stored minutes of each step; none where nothing is stored."""
        for start in range(self.first, self.last + 1, self.length):
            minutes = [minute for minute in range(start, start + self.length) if self.is_stored(minute)]
            yield start, minutes

    def is_stored(self, minute):
        age = self.now - minute
        return 0 < age <= STORED and age not in STOPPED


def parse(text):
    from datetime import datetime

    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else None


class History:
    """What was, computed from the minute: tags go from room to room, and an observer fails every six hours."""

    def __init__(self, world):
        self.world = world

    def subjects(self):
        handsets = [] if self.world.empty else [f"handset-{n}" for n in range(1, 6)]
        walkers = list(self.world.fix) if self.world.fix_rate else []
        return sorted({*self.world.zone_of, *handsets, *walkers})

    def minute(self, subject, minute):
        seed = sum(subject.encode())
        stay = 20 + seed % 37
        index = (minute // stay + seed) % len(ZONES)
        isTag = kind_of(subject) == "beacon"
        summary = {
            "zone": ZONES[index][0] if isTag else None,
            "state": "unmonitored" if self.is_down(3, minute) and index == 3 else ["inside", "inside", "outside"][
                (minute // (3 * stay) + seed) % 3
            ],
            "nearest": self.world.observers[index % len(self.world.observers)] if isTag else f"{next(iter(self.world.zone_of), 'x')}",
            "rssi": round(-66 + 12 * math.sin(minute / 17 + seed) + 5 * math.sin(minute * 1.7 + seed)),
        }
        if subject in self.world.fix:
            x = 30 + 28 * math.sin(minute / 40 + seed)
            y = 12 + 10 * math.cos(minute / 23 + seed)
            fix = mock_venue.fix(x, y, [0, 0, 1, -1][seed % 4], 0)
            names = ("venue", "building", "level", "latitude", "longitude", "horizontalAccuracy")
            summary |= {name: fix[name] for name in names if name in fix}
        return {key: value for key, value in summary.items() if value is not None}

    @staticmethod
    def is_down(observer, minute):
        # By its age, so that the outages of the last day are as many at every time of day, and none meets the stop.
        return observer == 3 and 60 <= (int(time.time() // MINUTE) - minute) % 360 < 85

    def name(self, subject):
        return next((row["name"] for row in self.world.tag_rows() if row["beacon"] == subject and row["name"]), None)

    def head(self, subject):
        head = {"subject": subject, "subjectKind": kind_of(subject), "name": self.name(subject)}
        return {key: value for key, value in head.items() if value}

    # Answers.

    def listed(self, query, wanted):
        span = Span(query, 1, 100)
        rows = []
        for subject in self.subjects():
            if wanted and subject not in wanted:
                continue
            steps = [[self.minute(subject, minute) for minute in minutes] for _, minutes in span.steps()]
            rows.append(
                self.head(subject)
                | {
                    "first": rfc3339((span.now - STORED) * MINUTE),
                    "last": rfc3339((span.now - 1) * MINUTE),
                    "rssi": [sum(m["rssi"] for m in step) / len(step) if step else None for step in steps],
                    "zones": [step[-1].get("zone", "") if step else "" for step in steps],
                }
            )
        limit = int(query.get("limit", 100))
        start = int(query.get("cursor", "c00")[1:], 16)
        rest = rows[start + limit :]
        following = f"c{start + limit:04x}" if rest else None
        return span.head() | {"subjects": rows[start : start + limit], "next": following}

    def subject(self, subject, query):
        if subject not in self.subjects():
            raise Refusal(404, "Not found", f"Nothing is stored of {subject}.")
        span = Span(query, 24, 300)
        points = []
        for start, minutes in span.steps():
            if not minutes:
                continue
            levels = [self.minute(subject, minute)["rssi"] for minute in minutes]
            extent = {"rssi": sum(levels) / len(levels), "rssiLowest": min(levels), "rssiHighest": max(levels)}
            points.append(
                {"time": rfc3339(start * MINUTE), "minutes": len(minutes)} | self.minute(subject, minutes[-1]) | extent
            )
        return self.head(subject) | span.head() | {"points": points, "transitions": self.transitions(subject, span)}

    def transitions(self, subject, span):
        found = []
        for number, event in self.world.events:
            kind = event["type"].removeprefix("pharos.")
            if event["subject"] != subject or kind not in ("region.enter", "region.exit", "zone.enter", "zone.exit"):
                continue
            names = {name: event["data"][name] for name in ("application", "region", "zone") if name in event["data"]}
            found.append({"sequence": number, "time": event["time"], "type": event["type"], **names})
        return found[-500:]

    def observer(self, observer, query):
        if observer not in self.world.observers:
            raise Refusal(404, "Not found", f"Nothing is stored of {observer}.")
        index = self.world.observers.index(observer)
        span = Span(query, 24, 300)
        points, outages = [], []
        for start, minutes in span.steps():
            down = [minute for minute in minutes if self.is_down(index, minute)]
            for minute in down:
                if outages and outages[-1][1] == minute:
                    outages[-1][1] = minute + 1
                else:
                    outages.append([minute, minute + 1])
            if minutes:
                share = 1 - len(down) / len(minutes)
                rate = (40 + 9 * math.sin(start / 50 + index)) * share
                points.append(
                    {
                        "time": rfc3339(start * MINUTE),
                        "minutes": len(minutes),
                        "advertsPerSecond": round(rate, 2),
                        "up": share,
                    }
                )
        name = next((row.get("name") for row in self.world.observer_rows() if row["id"] == observer), None)
        spans = [{"from": rfc3339(first * MINUTE), "to": rfc3339(last * MINUTE)} for first, last in outages]
        head = {"observer": observer} | ({"name": name} if name else {})
        return head | span.head() | {"points": points, "outages": spans, "transitions": []}

    def places(self):
        zones = [] if self.world.empty else [{"zone": zone, "name": name} for zone, name, _, _ in ZONES]
        regions = [
            {"application": name, "region": region}
            for name, application in self.world.applications.items()
            for region in application["regions"]
        ]
        return zones + regions

    @staticmethod
    def inside(place, minute):
        seed = sum(str(sorted(place.values())).encode())
        return max(0, round(4 + 4 * math.sin(minute / 60 + seed) + 2 * math.sin(minute / 7 + seed)))

    def occupancy(self, query):
        span = Span(query, 1, 100)
        places = []
        for place in self.places():
            steps = [[self.inside(place, minute) for minute in minutes] for _, minutes in span.steps()]
            places.append(place | {"inside": [sum(step) / len(step) if step else None for step in steps]})
        return span.head() | {"places": places}

    def place(self, wanted, query):
        place = next((place for place in self.places() if wanted.items() <= place.items()), None)
        if not place:
            raise Refusal(404, "Not found", "Nothing is stored of this room.")
        span = Span(query, 24, 300)
        points = []
        for start, minutes in span.steps():
            counts = [self.inside(place, minute) for minute in minutes]
            if counts:
                points.append(
                    {
                        "time": rfc3339(start * MINUTE),
                        "minutes": len(minutes),
                        "inside": sum(counts) / len(counts),
                        "insideMaximum": max(counts),
                        "unmonitored": 0,
                    }
                )
        return place | span.head() | {"points": points}

    def positions(self, query):
        minute = int(parse(query["at"]) // MINUTE)
        isStored = Span({}, 1, 60).is_stored(minute)
        rows = [self.head(subject) | self.minute(subject, minute) for subject in self.subjects() if isStored]
        return {"frames": [{"time": rfc3339(minute * MINUTE), "subjects": rows}], "next": None}
