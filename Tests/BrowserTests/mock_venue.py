"""A made-up museum with three floors, as the server describes venues: outlines as GeoJSON, and a plan of one of them."""

import math
import struct
import zlib

PLACE = (59.3293, 18.0686)
WIDTH, HEIGHT = 60.0, 24.0
FLOORS = [(-1, "Basement"), (0, "Ground floor"), (1, "Upper floor")]
NORTH = 111_412.2
EAST = 111_412.84 * math.cos(math.radians(PLACE[0])) - 93.5 * math.cos(3 * math.radians(PLACE[0]))
ROOMS = [
    ("Lobby", 0, 0, 14, 10),
    ("Museum shop", 0, 14, 14, 24),
    ("Great hall", 18, 0, 40, 24),
    ("East wing", 44, 0, 60, 10),
    ("West wing", 44, 14, 60, 24),
]


def degrees(x, y):
    """Longitude and latitude of metres east and north of the museum's south-western corner."""
    return [round(PLACE[1] + x / EAST, 8), round(PLACE[0] + y / NORTH, 8)]


def ring(left, bottom, right, top):
    corners = [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)]
    return [degrees(x, y) for x, y in corners]


def feature(kind, geometry, coordinates, **properties):
    return {
        "type": "Feature",
        "geometry": {"type": geometry, "coordinates": coordinates},
        "properties": {"kind": kind, **properties},
    }


def rooms(level):
    """The rooms that a floor has."""
    return ROOMS[: 5 if level == 0 else 3]


def outlines(level):
    """What is drawn of a floor."""
    features = [feature("walkable", "Polygon", [ring(0, 0, WIDTH, HEIGHT), ring(27, 10, 31, 14)[::-1]])]
    walls = []
    for name, left, bottom, right, top in rooms(level):
        features.append(feature("walkable", "Polygon", [ring(left, bottom, right, top)], name=name))
        walls += [[degrees(left, top), degrees(right, top)], [degrees(right, bottom), degrees(right, top - 3)]]
    features.append(feature("obstacle", "Polygon", [ring(34, 4, 36, 6)]))
    features.append(feature("wall", "MultiLineString", walls, attenuation=6))
    if level == 0:
        features.append(feature("entrance", "Point", degrees(0, 12), id="main door"))
        features.append(feature("observer", "Point", degrees(2, 12), id="ac:23:3f:a0:00:01"))
    features.append(feature("lift", "Point", degrees(42, 12), id="lift A"))
    features.append(feature("stairs", "Point", degrees(16, 12), id="stairs A"))
    return {"type": "FeatureCollection", "features": features}


def venue():
    """The museum, as a list of venues holds it."""
    floors = []
    for level, name in FLOORS:
        west, south = degrees(0, 0)
        east, north = degrees(WIDTH, HEIGHT)
        path = f"/v1/venues/museum/floors/main/{level}"
        floor = {
            "id": f"main/{level}",
            "level": level,
            "name": name,
            "origin": {"latitude": PLACE[0], "longitude": PLACE[1]},
            "bounds": [west, south, east, north],
            "outlines": path,
        }
        if level == 1:
            corners = [degrees(0, HEIGHT), degrees(WIDTH, HEIGHT), degrees(WIDTH, 0), degrees(0, 0)]
            plan = {"image": f"{path}/plan", "width": 600, "height": 240, "metersPerPixel": 0.1, "corners": corners}
            floor["plan"] = plan
        floors.append(floor)
    return {"id": "museum", "name": "The museum", "buildings": [{"id": "main", "name": "Main building", "floors": floors}]}


def plan():
    """A picture of the upper floor: pale squares of two metres."""
    width, height = 600, 240
    rows = b"".join(
        b"\0" + bytes(250 if (x // 20 + y // 20) % 2 else 225 for x in range(width)) for y in range(height)
    )

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def fix(x, y, level, course):
    """The data of a fix at a place of a floor; outdoors where there is no level."""
    longitude, latitude = degrees(x, y)
    data = {
        "venue": "museum",
        "latitude": latitude,
        "longitude": longitude,
        "horizontalAccuracy": 2.4 if level is not None else 6.0,
        "speed": 1.4,
        "course": round(math.degrees(course) % 360, 1),
        "sources": ["wifi", "motion"] if level is not None else ["outside"],
        "age": 0.4,
        "satellites": "notNeeded" if level is not None else "needed",
        "altitude": 12.5 + 4 * (level or 0),
        "ellipsoidalAltitude": 36.75 + 4 * (level or 0),
        "verticalAccuracy": 1.5,
        "speedAccuracy": 0.25,
        "courseAccuracy": 20,
        "sourceInformation": ["simulatedBySoftware"],
    }
    if level is None:
        return data
    data["floorCertainty"] = 0.98
    name = dict(FLOORS).get(level, "")
    around = [room for room, left, bottom, right, top in rooms(level) if left <= x <= right and bottom <= y <= top]
    data |= {"room": around[0]} if around else {}
    return {"building": "main", "level": level, "floorName": name, "x": round(x, 2), "y": round(y, 2)} | data


def visitor_place(name, level, x, y, category, **words):
    """A place as the page for visitors gets it."""
    longitude, latitude = degrees(x, y)
    return {
        "id": name.lower(),
        "name": name,
        "category": category,
        "floor": f"main/{level}",
        "level": level,
        "location": [longitude, latitude],
        "accessible": level == 0,
        **words,
    }


def visitor_data():
    """What the page for visitors shows of the museum."""
    words = {
        "title": "Café under the roof",
        "description": "Soup and cake.\nCash only.",
        "link": "https://example.org/cafe",
        "properties": {"phone": "+46 8 123"},
    }
    places = {
        0: [visitor_place("Desk", 0, 5, 5, "information"), visitor_place("Toilets", 0, 20, 5, "restroom")],
        1: [visitor_place("Café", 1, 10, 8, "foodservice", **words)],
    }
    floors = [
        {
            "id": f"main/{floor['level']}",
            "building": "Main building",
            "level": floor["level"],
            "name": floor["name"],
            "entrances": [{"id": "main door"}] if floor["level"] == 0 else [],
            "outlines": outlines(floor["level"]),
            "places": places.get(floor["level"], []),
        }
        for floor in venue()["buildings"][0]["floors"]
    ]
    near = "https://example.org/app"
    return {"id": "museum", "name": "The museum", "address": "Harbour 1\nStockholm", "nearMe": near, "floors": floors}


def visitor_route(query):
    """A way with its sentences in the language that was asked for."""
    last = {"en": "You have arrived", "de": "Sie sind da", "fr": "Vous êtes arrivé"}[query["language"]]
    line = {"type": "LineString", "coordinates": [list(degrees(2, 2)), list(degrees(20, 5))]}
    steps = [
        {"instruction": f"{query['from']} → {query['to']}", "level": 0, "geometry": line},
        {"instruction": last, "level": 0, "geometry": {"type": "LineString", "coordinates": [list(degrees(20, 5))]}},
    ]
    route = {"distance": 18.2, "duration": 21.0, "legs": [{"steps": steps}]}
    return {"code": "Ok", "routes": [route], "waypoints": []}
