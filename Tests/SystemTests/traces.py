#!/usr/bin/env python3
"""Rooms and positions of public labelled traces, held against the figures of traces.json.

traces.py PHAROS [--sets door,flat] [--write]

The traces lie beside the repository, each with a scorer of its own; without them nothing is tested. Each figure is one
that is better when it is smaller. It may be worse than its baseline by 2 %, or by 0.05 in its unit, whichever is more;
--write stores the present figures as the baseline.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINE = os.path.join(HERE, "traces.json")
TRACES = os.path.normpath(os.path.join(HERE, "../../../shared/data/traces"))
NUMBER = r"\s+(-?\d+(?:\.\d+)?)"
FIGURES = ["false exits", "wrong", "no room", "extra", "missed", "mean", "median", "p75", "p90"]


def figures(text):
    """The figures of Pharos in a scorer's output, by what they are about."""
    found, subject = {}, ""
    for line in text.splitlines():
        outside = re.match(r"fixes outside the \w+[:,]", line)
        radius = re.match(r"true place within the claimed radius .*, (\w+): (\d+) %", line)
        loses = re.search(r"loses its room by silence (\d+) times, its region (\d+) times", line)
        if outside:
            shares = [float(share) for share in re.findall(r"(\d+(?:\.\d+)?) %", line)]
            found["fixes outside, %"] = max([found.get("fixes outside, %", 0.0)] + shares)
        elif radius:
            found[f"{radius[1]}: share within the radius off 68 %"] = abs(float(radius[2]) - 68)
        elif loses:
            found["rooms lost"], found["regions lost"] = map(float, loses.groups())
        elif line.startswith("Pharos") or (line.startswith("  ") and subject):
            name = re.split(r"\s{2,}|\s+n\s", line.strip())[0]
            if line.startswith("Pharos"):
                subject = name.removeprefix("Pharos").strip(", ")
            place = ", ".join(filter(None, [subject, "" if line.startswith("Pharos") else name]))
            for figure in FIGURES:
                value = re.search(rf"\b{figure}{NUMBER}", line)
                if value:
                    found[f"{place}: {figure}".removeprefix(": ")] = float(value[1])
        else:
            subject = ""
    return found


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    plain = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if not os.path.isdir(TRACES):
        print("traces: left out, as the folder shared/data/traces is not beside the repository")
        return 0
    with open(BASELINE) as file:
        baseline = json.load(file)
    sets = plain[1].split(",") if len(plain) > 1 and "--sets" in options else sorted(baseline)
    worse, better = [], 0
    for name in sets:
        scorer = os.path.join(TRACES, name, "score.py")
        run = subprocess.run(
            [sys.executable, scorer],
            env={**os.environ, "PHAROS": os.path.abspath(plain[0])},
            capture_output=True,
            text=True,
        )
        if run.returncode:
            print(f"traces: {scorer} failed: {(run.stdout + run.stderr)[-800:]}")
            return 1
        now = figures(run.stdout)
        if "--write" in options:
            baseline[name] = now
        for figure, was in baseline.get(name, {}).items():
            if figure not in now:
                worse.append(f"{name}, {figure}: missing, was {was}")
            elif now[figure] > was + max(0.02 * was, 0.05):
                worse.append(f"{name}, {figure}: {now[figure]}, was {was}")
            elif now[figure] < was:
                better += 1
        print(f"traces: {name}: " + ", ".join(f"{figure} {value:g}" for figure, value in now.items()))
    if "--write" in options:
        with open(BASELINE, "w") as file:
            json.dump(baseline, file, indent=1, sort_keys=True)
            file.write("\n")
    for line in worse:
        print(f"traces: WORSE: {line}")
    print(f"traces: {len(worse)} figures worse than their baseline, {better} better")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
