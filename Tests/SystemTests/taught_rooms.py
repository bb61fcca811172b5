#!/usr/bin/env python3
"""Rooms of public labelled traces, taught by one half and asked on the other, beside those that were not taught.

taught_rooms.py PHAROS

Each set is split into two halves in several ways. `pharos rooms learn` is given the stays of one half and `pharos rooms
score` those of the other, both ways round; the same seconds are scored with the site file as it was. The walls of the hall
are open: its four zones are its quarters, each with three receivers.

The traces lie beside the repository; without them nothing is measured. Nothing is judged.
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from glob import glob

from traces import TRACES

LATEST = 1.0  # seconds that a position of the truth may be old before the room is not known


def load(name, path):
    """A scorer's module."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(TRACES, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stays(truth, room):
    """(tag, room, from, to) of each stretch in one room; a gap of the truth ends a stretch."""
    found, last = [], {}
    for entry in truth:
        tag, where, time = entry["tag"], room(entry), entry["t"]
        stay = last.get(tag)
        if stay and stay[1] == where and time - stay[3] <= 3:
            stay[3] = time
        else:
            if stay and time - stay[3] <= LATEST:
                stay[3] = time
            last[tag] = [tag, where, time, time]
            found.append(last[tag])
    return [tuple(stay) for stay in found if stay[1] not in (None, "?") and stay[3] > stay[2]]


def halved(stretches):
    """The stretches before the middle of all of them and those behind it; one that lies across is cut."""
    middle = (min(stay[2] for stay in stretches) + max(stay[3] for stay in stretches)) / 2
    early = [(tag, room, a, min(b, middle)) for tag, room, a, b in stretches if a < middle]
    late = [(tag, room, max(a, middle), b) for tag, room, a, b in stretches if b > middle]
    return early, late


def alternating(stretches):
    """Every other stretch of each room; long ones are cut into parts of a minute first."""
    parts = [
        (tag, room, a + k * 60, min(a + (k + 1) * 60, b))
        for tag, room, a, b in stretches
        for k in range(int((b - a) / 60) + 1)
        if a + k * 60 < b
    ]
    halves, count = ([], []), {}
    for part in parts:
        halves[count.get(part[1], 0) % 2].append(part)
        count[part[1]] = count.get(part[1], 0) + 1
    return halves


def pharos(*arguments):
    """What the command writes."""
    run = subprocess.run([PHAROS, *arguments], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"taught rooms: {' '.join(arguments)}: {run.stderr[-600:]}")
    return run.stdout


class Set:
    """Captures, a site and stays in a folder of their own."""

    def __init__(self, name, site, folder):
        self.name, self.site, self.folder, self.captures, self.stays = name, site, folder, [], []
        self.subjects = {}

    def add(self, adverts, observers, tags, stretches):
        path = os.path.join(self.folder, f"{len(self.captures)}.pcap")
        lib.to_pcap(adverts, observers, tags, path)
        self.captures.append(path)
        for tag, (_, major, minor) in tags.items():
            self.subjects[tag] = f"{lib.UUID}/{major}/{minor}"
        self.stays.append(stretches)

    def written(self, stretches, name):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write("transmitter,zone,from,to\n")
            for tag, room, a, b in stretches:
                file.write(f"{self.subjects[tag]},{room},{a:.3f},{b:.3f}\n")
        return path

    def score(self, site, asked):
        answer = pharos("rooms", "score", *self.captures, "--site", site, "--stays", asked, "--format", "json")
        return json.loads(answer)

    def compare(self, what, taught, asked):
        """Prints the wrong seconds of one half, not taught and taught by the other."""
        known, asked = self.written(taught, "known.csv"), self.written(asked, "asked.csv")
        # Beside the site file, as its venues are found from there.
        site = os.path.join(os.path.dirname(self.site), "taught.yaml")
        pharos("rooms", "learn", *self.captures, "--site", self.site, "--stays", known, "-o", site)
        before, after = self.score(self.site, asked), self.score(site, asked)
        os.remove(site)
        wrong = [answer["seconds"] - answer["rightSeconds"] for answer in (before, after)]
        factor = wrong[0] / wrong[1] if wrong[1] else float("inf")
        print(
            f"{self.name}, {what}: of {before['seconds']:.0f} s wrong: {wrong[0]:.1f} s not taught,"
            f" {wrong[1]:.1f} s taught, a factor of {factor:.2f}"
        )
        return wrong

    def both(self, what, first, second):
        """Both ways round, and together."""
        one = self.compare(f"{what}, A teaches B", first, second)
        other = self.compare(f"{what}, B teaches A", second, first)
        before, after = one[0] + other[0], one[1] + other[1]
        print(f"{self.name}, {what}, together: {before:.1f} s, {after:.1f} s, a factor of {before / max(after, 1e-9):.2f}")


def copied(site, folder, zones=""):
    """A copy of a site file without its venues, which decide no rooms."""
    path = os.path.join(folder, "site.yaml")
    with open(site) as original, open(path, "w") as copy:
        copy.writelines(line for line in original if not line.startswith("venues:"))
        copy.write(zones)
    return path


def flat(folder):
    """The two runs of the flat."""
    scorer = load("flat", "flat/score.py")
    runs = Set("flat", copied(os.path.join(TRACES, "flat/site.yaml"), folder), folder)
    for path in sorted(glob(os.path.join(TRACES, "flat/data/*.csv.gz"))):
        truth = [json.loads(line) for line in open(path[:-7] + ".truth.jsonl")]
        runs.add(list(lib.read_adverts(path)), scorer.OBS, scorer.TAGS, stays(truth, lambda entry: entry["room"]))
    halves = [halved(stretches) for stretches in runs.stays]
    runs.both("halves of each run", *[sum(parts, []) for parts in zip(*halves)])
    runs.both("every other stay", *alternating(sum(runs.stays, [])))


def hall(folder):
    """The quarters of the hall: tags at rest, and a tag that is carried."""
    scorer = load("hall", "hall/score.py")
    names = {1: "southwest", 2: "northwest", 3: "northeast", 4: "southeast"}
    middle = [(scorer.REC["sensor10"][i] + scorer.REC["sensor30"][i]) / 2 for i in (0, 1)]

    def quarter(entry):
        west, south = entry["x"] < middle[0], entry["y"] < middle[1]
        return ("south" if south else "north") + ("west" if west else "east")

    zones = "zones:\n"
    for number, name in names.items():
        own = ", ".join(f'"{scorer.OBS[sensor]}"' for sensor in sorted(scorer.REC) if sensor[6] == str(number))
        zones += f"  - {{ id: {name}, observers: [{own}] }}\n"
    runs = Set("hall", copied(os.path.join(TRACES, "hall/site.yaml"), folder, zones), folder)
    # Tags at rest: each stands at one place all the time.
    path = os.path.join(TRACES, "hall/still/still.csv.gz")
    adverts = list(lib.read_adverts(path))
    truth = [json.loads(line) for line in open(path[:-7] + ".truth.jsonl")]
    resting = [(entry["tag"], quarter(entry), adverts[0][0], adverts[-1][0]) for entry in truth]
    walks = []
    for walk in sorted(glob(os.path.join(TRACES, "hall/data/*.csv.gz"))):
        name = os.path.basename(walk)[:-7]
        truth = [json.loads(line) for line in open(walk[:-7] + ".truth.jsonl")]
        stretches = [(name, *stay[1:]) for stay in stays(truth, quarter)]
        walks.append(([(t, o, name, r) for t, o, _, r in lib.read_adverts(walk)], name, stretches))
    parts = [(adverts, None, resting)] + walks
    known = scorer.tags({tag for part in parts for tag in {advert[2] for advert in part[0]}})
    for adverts, _, stretches in sorted(parts, key=lambda part: part[0][0][0]):
        runs.add(adverts, scorer.OBS, known, stretches)
    carried = [stretches for _, _, stretches in walks]
    runs.both("every other tag at rest", resting[::2], resting[1::2])
    runs.both("every other walk", sum(carried[::2], []), sum(carried[1::2], []))
    runs.both("tags at rest, and walks", resting, sum(carried, []))


if __name__ == "__main__":
    if not os.path.isdir(TRACES):
        print("taught rooms: left out, as the folder shared/data/traces is not beside the repository")
        sys.exit(0)
    PHAROS = os.path.abspath(sys.argv[1])
    os.environ["PHAROS"] = PHAROS
    lib = load("lib", "lib.py")
    for measure in (flat, hall):
        with tempfile.TemporaryDirectory() as folder:
            measure(folder)
