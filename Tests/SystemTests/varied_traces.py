#!/usr/bin/env python3
"""Rooms of the public labelled traces under variations of them, in two halves: what the traces themselves no longer show.

varied_traces.py PHAROS [--rules]

Constants that were chosen while looking at a few walks fit those walks. Each variation keeps the radio and the truth of a
walk and changes what chance could have changed: it is played backwards (`back`), its observers are louder or fainter by
constants drawn with 2 dB (`offset`), both (`back, offset`), or one advert in three is heard (`thinned`). Traces in odd and
even places of a set are the two halves, A to build on and B to look at; both must agree within chance. With --rules a
median with hysteresis decides instead of Pharos.

The traces lie beside the repository; without them nothing is measured. Nothing is judged: traces.py does that.
"""
import glob
import importlib.util
import json
import os
import random
import sys
import tempfile
from collections import defaultdict

from traces import TRACES

# The number of draws of each kind of variation.
KINDS = {"as it was": 1, "back": 1, "offset": 10, "back, offset": 10, "thinned": 5}
OFFSET_DEVIATION = 2.0  # dB; gateways of one model differ by 2 to 3
HEARD = 1 / 3
# The sets whose rooms are scored, and the window of the simple rule, in seconds.
WINDOWS = {"door": 2.0, "flat": 5.0}


def load(name, path):
    """A scorer's module."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(TRACES, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def walks(folder):
    """(name, adverts, true rooms) of each walk of a set, in the order of names."""
    for path in sorted(glob.glob(os.path.join(TRACES, folder, "data", "*.csv.gz"))):
        name = os.path.basename(path)[:-7]
        truth = [json.loads(line) for line in open(path[:-7] + ".truth.jsonl")]
        yield name, list(lib.read_adverts(path)), steps(truth)


def steps(truth):
    """The room from which time on; `?` where the truth has a gap, as the scorers have it."""
    if "zone" in truth[0]:
        return [(entry["t"], entry["zone"]) for entry in truth]
    rooms, last = [], None
    for entry, following in zip(truth, truth[1:] + [None]):
        if entry["room"] != last:
            last = entry["room"]
            rooms.append((entry["t"], last))
        if following and following["t"] - entry["t"] > 3:
            last = "?"
            rooms.append((entry["t"] + 1, last))
    return rooms + [(truth[-1]["t"], "end")]


def backwards(adverts, rooms):
    """A walk played backwards, in the same span of time."""
    ends = adverts[0][0] + adverts[-1][0]
    turned = [(ends - until, room) for (_, room), (until, _) in zip(rooms, rooms[1:])]
    turned.reverse()
    return sorted((ends - advert[0], *advert[1:]) for advert in adverts), turned + [(ends - rooms[0][0], "end")]


def varied(kind, adverts, rooms, chance):
    """A variation of a walk: adverts and true rooms."""
    if "back" in kind:
        adverts, rooms = backwards(adverts, rooms)
    if "offset" in kind:
        offsets = {o: chance.gauss(0, OFFSET_DEVIATION) for o in sorted({advert[1] for advert in adverts})}
        adverts = [(t, o, tag, max(-110, round(level + offsets[o]))) for t, o, tag, level in adverts]
    if kind == "thinned":
        adverts = [advert for advert in adverts if chance.random() < HEARD]
    return adverts, rooms


def decided(scorer, folder, adverts):
    """The rooms that Pharos decides, each with the time of the decision."""
    with tempfile.TemporaryDirectory() as work:
        capture = os.path.join(work, "walk.pcap")
        lib.to_pcap(adverts, scorer.OBS, scorer.TAGS, capture)
        events = lib.events(capture, os.path.join(TRACES, folder, "site.yaml"))
    rooms = {"pharos.zone.enter": lambda event: event["data"]["zone"], "pharos.zone.exit": lambda event: None}
    return [(lib.decided(event), rooms[event["type"]](event)) for event in events if event["type"] in rooms]


def measure(folder, with_rules):
    """Prints the scores of a set by kind of variation and half."""
    scorer = load(folder, os.path.join(folder, "score.py"))
    truths, decisions = defaultdict(dict), defaultdict(dict)
    for place, (name, adverts, rooms) in enumerate(walks(folder)):
        for kind, count in KINDS.items():
            for number in range(count):
                run = f"{name}, {kind} {number}"
                heard, true = varied(kind, adverts, rooms, random.Random(run))
                if with_rules:
                    (found,) = lib.median_hysteresis(heard, scorer.ZONE, window=WINDOWS[folder]).values()
                else:
                    found = decided(scorer, folder, heard)
                for group in {kind, "as it was" if kind == "as it was" else "all variations"}:
                    truths[group, "AB"[place % 2]][run] = true
                    decisions[group, "AB"[place % 2]][run] = found
    for group in [*KINDS, "all variations"]:
        for half in "AB":
            true = truths[group, half]
            print(lib.line(f"{folder}, {group}, {half} ({len(true)})", lib.score_rooms(true, decisions[group, half])))


if __name__ == "__main__":
    if not os.path.isdir(TRACES):
        print("varied traces: left out, as the folder shared/data/traces is not beside the repository")
        sys.exit(0)
    lib = load("lib", "lib.py")
    plain = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    os.environ["PHAROS"] = os.path.abspath(plain[0])
    for name in WINDOWS:
        measure(name, "--rules" in sys.argv)
