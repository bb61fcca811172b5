"""Floors and walks of a small building, in the form in which surveyors' phones write them.

The same building as SurveyFixtures of the Swift tests: 40 m by 20 m, twelve access points along the long sides.
"""

import json
import math
import random
from pathlib import Path

WEST, SOUTH, EAST, NORTH = 11.0, 48.0, 11.00054, 48.00018
OUTLINE = [[WEST, SOUTH], [EAST, SOUTH], [EAST, NORTH], [WEST, NORTH], [WEST, SOUTH]]
SHOP = [[11.00035, 48.00012], [EAST, 48.00012], [EAST, NORTH], [11.00035, NORTH], [11.00035, 48.00012]]
# The first bytes of a PNG of 400 by 200 pixels: what tells its size.
IMAGE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000190000000c80806000000")
POINTS = [(2 + index // 2 * 7.2, 19 if index % 2 else 1) for index in range(12)]


def write_floors(folder):
    """One floor under folder/house/F1."""
    place = Path(folder, "house", "F1")
    place.mkdir(parents=True)

    def feature(ring, properties):
        return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": [ring]}}

    features = [feature(OUTLINE, {}), feature(SHOP, {"name": "shop"})]
    (place / "geojson_map.json").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    (place / "floor_info.json").write_text(json.dumps({"map_info": {"height": 20, "width": 40}}))
    (place / "floor_image.png").write_bytes(IMAGE)


def write_walk(path, seed, corners):
    """A walk at 1.2 m/s from corner to corner, with motion, a Wi-Fi scan every two seconds and surveyed corners."""
    noise = random.Random(seed)
    start = 1_574_559_000_000
    lines = [f"#\tstartTime:{start}", "#\tSiteID:5d\tSiteName:The house\tFloorId:5e\tFloorName:F1"]
    state = {"time": start + 100, "tick": 0, "heading": 0.0}

    def tick(x, y, turning, walking):
        time, heading = state["time"], state["heading"]
        bounce = 9.8 + 2.4 * math.sin(2 * math.pi * 1.8 * (state["tick"] if walking else 0) / 50)
        lines.append(f"{time}\tTYPE_ACCELEROMETER\t0.1\t0.2\t{bounce}\t3")
        lines.append(f"{time}\tTYPE_MAGNETIC_FIELD\t{-22 * math.sin(heading)}\t{22 * math.cos(heading)}\t-40.0\t3")
        lines.append(f"{time}\tTYPE_GYROSCOPE\t0.001\t0.001\t{0.001 - turning}\t3")
        half = math.atan2(math.sin(heading), math.cos(heading)) / 2
        lines.append(f"{time}\tTYPE_ROTATION_VECTOR\t0.0\t0.0\t{-math.sin(half)}\t3")
        if state["tick"] % 100 == 0:
            for index, (px, py) in enumerate(POINTS):
                distance = max(1.0, math.sqrt((x - px) ** 2 + (y - py) ** 2 + 4))
                level = round(-35 - 25 * math.log10(distance) + noise.gauss(0, 3))
                lines.append(f"{time}\tTYPE_WIFI\t\t02:00:5e:00:00:{index:02x}\t{level}\t2437\t{time - 40}")
        state["time"] += 20
        state["tick"] += 1

    lines.append(f"{state['time']}\tTYPE_WAYPOINT\t{corners[0][0]}\t{corners[0][1]}")
    for index, ((x0, y0), (x1, y1)) in enumerate(zip(corners, corners[1:])):
        dx, dy = x1 - x0, y1 - y0
        turn = math.remainder(math.atan2(dx, dy) - state["heading"], 2 * math.pi)
        if index == 0:
            state["heading"], turn = math.atan2(dx, dy), 0.0
        for _ in range(50):
            state["heading"] += turn / 50
            tick(x0, y0, turn, False)
        ticks = round(math.hypot(dx, dy) / 1.2 * 50)
        for step in range(ticks):
            tick(x0 + dx * step / ticks, y0 + dy * step / ticks, 0.0, True)
        lines.append(f"{state['time']}\tTYPE_WAYPOINT\t{x1}\t{y1}")
    lines.append(f"#\tendTime:{state['time']}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def write(folder):
    """floors/, walks/ and others/ in a folder."""
    outer = [(3, 4), (33, 4), (33, 9), (5, 9), (3, 4)]
    inner = [(5, 6.5), (36, 6.5), (36, 2), (8, 2), (5, 6.5)]
    write_floors(Path(folder, "floors"))
    for seed, way in enumerate([outer, outer[::-1], inner, inner[::-1]]):
        write_walk(Path(folder, "walks", "house", "F1", f"walk-{seed}.txt"), seed, way)
    write_walk(Path(folder, "others", "house", "F1", "other.txt"), 9, outer)
