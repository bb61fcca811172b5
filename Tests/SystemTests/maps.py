"""Bundles and directions as an operator makes them: the commands, the tables as sqlite3 sees them, and no network.

    maps.py PHAROS
"""

import pathlib
import sqlite3
import subprocess
import sys
import tempfile

VENUE = """id: hall
name: The hall
origin: { latitude: 52.52, longitude: 13.405 }
buildings:
  - id: main
    floors:
      - level: 0
        name: Ground floor
        map: [{ file: ground.geojson, as: walkable }]
        walls: [{ from: [20, 0], to: [20, WALL], attenuation: 6 }]
        entrances: [{ id: street, at: [1, 1] }]
        places: [{ id: cafe, name: Café, category: foodservice, at: [55, 5] }]
      - level: 1
        name: Upper floor
        map: [{ file: ground.geojson, as: walkable }]
        places: [{ id: wc, name: Toilets, category: restroom, at: [5, 35] }]
connectors:
  - { id: lift, kind: lift, stops: [{ level: 0, at: [30, 38] }, { level: 1, at: [30, 38] }] }
"""

GROUND = """{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"hall"},"geometry":{"type":"Polygon",
"coordinates":[[[13.405,52.52],[13.405884,52.52],[13.405884,52.52036],[13.405,52.52036],[13.405,52.52]]]}}]}"""


def main():
    pharos = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def run(*words, status=0, offline=False):
            command = (["unshare", "-rn"] if offline else []) + [str(pharos), *map(str, words)]
            ended = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
            assert ended.returncode == status, f"{words}: {ended.returncode}: {ended.stdout}{ended.stderr}"
            return ended.stdout + ended.stderr

        def bundle(name, wall):
            venue = folder / "venue"
            venue.mkdir(exist_ok=True)
            (venue / "venue.yaml").write_text(VENUE.replace("WALL", str(wall)))
            (venue / "ground.geojson").write_text(GROUND)
            run("venue", "bundle", "venue", "-o", name, "--zoom", "17-20", "--route", "wc:street")
            return folder / name

        old = bundle("old.mbtiles", 30)
        again = bundle("again.mbtiles", 30)
        assert old.read_bytes() == again.read_bytes(), "the same venue gives other bytes"
        new = bundle("new.mbtiles", 31)

        with sqlite3.connect(f"file:{old}?mode=ro", uri=True) as database:
            metadata = dict(database.execute("SELECT name, value FROM metadata"))
            assert metadata["format"] == "png" and metadata["minzoom"] == "17" and metadata["maxzoom"] == "20", metadata
            tiles = database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles").fetchall()
            assert tiles and all(tile[3].startswith(b"\x89PNG") for tile in tiles)
            floors = database.execute("SELECT COUNT(*) FROM floor_tiles WHERE level = 1").fetchone()[0]
            assert floors > 0, "the upper floor has no tiles"
            routes = set(database.execute("SELECT origin, destination FROM routes"))
            assert {("street", "wc"), ("cafe", "wc"), ("wc", "street")} <= routes, routes
            assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"

        run("venue", "delta", "old.mbtiles", "new.mbtiles", "-o", "delta")
        run("venue", "patch", "old.mbtiles", "delta", "-o", "patched.mbtiles")

        def version(path):
            with sqlite3.connect(path) as database:
                return database.execute("SELECT value FROM bundle WHERE key = 'content_version'").fetchone()[0]

        assert version(folder / "patched.mbtiles") == version(new) != version(old)

        at = ["way", "--bundle", "old.mbtiles", "--at", "52.52001,13.40502,0"]
        offline = subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0
        said = run(*at, "--heading", 90, "--to", "Toilets", offline=offline)
        assert "To Toilets: " in said and "lift" in said.lower() and "Start: " in said, said
        print(said, end="")
        assert "Aufzug" in run(*at, "--to", "wc", "--language", "de", offline=offline)
        assert "ascenseur" in run(*at, "--to", "wc", "--language", "fr", "--accessible", offline=offline)

        assert "did you mean" in run(*at, "--to", "Toilet", status=1)
        assert "no level 7" in run("way", "--bundle", "old.mbtiles", "--at", "52.52001,13.40502,7", "--to", "wc", status=1)
        run("way", "--bundle", "old.mbtiles", "--at", "52.5,13.4", "--to", "wc", status=64)
        (folder / "cut").write_bytes(old.read_bytes()[:-5000])
        assert "cut short" in run("way", "--bundle", "cut", "--at", "52.52001,13.40502,0", "--to", "wc", status=1)
        assert "no SQLite file" in run("venue", "patch", "venue/venue.yaml", "delta", "-o", "out", status=1)
        assert "leads from version" in run("venue", "patch", "new.mbtiles", "delta", "-o", "out", status=1)
        run("venue", "bundle", "venue", "-o", "out", "--zoom", "9-2", status=64)
        assert "route cafe:nowhere" in run("venue", "bundle", "venue", "-o", "out", "--route", "cafe:nowhere", status=1)
        assert not (folder / "out").exists()
    print(f"bundles, deltas and directions as expected{'' if offline else ' (unshare is not allowed here)'}")


if __name__ == "__main__":
    main()
