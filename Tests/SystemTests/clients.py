"""Clients that others wrote, unchanged, against a server of their own: maps, routes, and clients generated from openapi.json.

    python3 Tests/SystemTests/clients.py PHAROS [--environment FOLDER] [--python PYTHON]

routingpy (PyPI) asks for routes and tables as it asks OSRM. MapLibre Native (mapli, PyPI) draws the style from its address. A
Python client (openapi-python-client) and a TypeScript client (openapi-generator with a Java runtime; tsc 4.8 or newer) are
generated, compiled and used. A program in JavaScript asks for a route in the request form of Leaflet Routing Machine, and opens
a live stream with a ticket. If npm has a registry, osrm-text-instructions says the steps of that route.

The packages are installed into the virtual environment FOLDER. A client that cannot be had is skipped with the reason; a client
that is there and fails ends the test with status 1. The last line counts both.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import urllib.request
import zlib

import maps
from harness import Server

# The hall of the other test of maps, without the wall, behind which a straight way would bend.
VENUE = re.sub(r" *walls:.*\n", "", maps.VENUE)

START, GOAL = [13.40505, 52.52002], [13.4058, 52.5203]

ROUTES = """
import json, sys
from routingpy import OSRM
from routingpy.exceptions import RouterApiError

address, points, token = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
client = OSRM(base_url=address, headers={"Authorization": "Bearer " + token})
for geometries in ("polyline", "polyline6", "geojson"):
    route = client.directions(points, profile="foot", steps=True, overview="full", geometries=geometries,
                              radiuses=[10, 10], bearings=[[40, 180], [40, 180]], continue_straight=False, annotations=True)
    assert 50 < route.distance < 90, route.distance
    ends = [route.geometry[0], route.geometry[-1]]
    for found, point in zip(ends, points):
        assert all(abs(a - b) < 2e-5 for a, b in zip(found[:2], point)), (geometries, found, point)
several = client.directions(points, profile="driving", alternatives=2)
assert len(several) >= 1 and several[0].duration > 30, several
lift = client.directions(points, profile="foot", levels="0;1", steps=True)
kinds = [step["maneuver"]["kind"] for step in lift.raw["routes"][0]["legs"][0]["steps"]]
assert "take lift" in kinds, kinds
matrix = client.matrix(points + [points[0]], profile="foot", sources=[0, 1], destinations=[1, 2])
assert len(matrix.durations) == 2 and len(matrix.durations[0]) == 2 and matrix.distances[0][1] == 0, matrix.raw
try:
    client.directions([points[0], [13.5, 52.6]], profile="foot")
    raise SystemExit("a coordinate far away has a route")
except RouterApiError as error:
    assert "NoSegment" in str(error), error
print(f"{route.distance} m, {len(several)} routes")
"""

PYTHON_CLIENT = """
import sys
from pharos_client import AuthenticatedClient
from pharos_client.api.venues import list_venues, route_as_osrm, get_tile_json, get_map_style
from pharos_client.api.regions import put_region
from pharos_client.api.applications import put_application
from pharos_client.models import RegionDocument, RegionKind, ApplicationDocument

address, token = sys.argv[1], sys.argv[2]
with AuthenticatedClient(base_url=address, token=token) as client:
    venues = list_venues.sync(client=client)
    assert [venue.id for venue in venues.venues] == ["hall"], venues
    route = route_as_osrm.sync("foot", sys.argv[3], client=client, steps=True)
    assert route.code == "Ok" and route.routes[0].distance > 50 and route.routes[0].legs[0].steps, route
    assert get_tile_json.sync("hall", client=client).tiles
    assert get_map_style.sync("hall", client=client).layers
    assert put_application.sync_detailed("shop", client=client, body=ApplicationDocument()).status_code == 201
    ring = [[13.405, 52.52], [13.4055, 52.52], [13.4055, 52.5203], [13.405, 52.52]]
    area = RegionDocument(kind=RegionKind.POLYGON, coordinates=ring)
    made = put_region.sync_detailed("shop", "yard", client=client, body=area)
    assert made.status_code == 201, made
    # The server answers with a list of rings, without their first corner again.
    assert made.parsed.coordinates == [ring[:-1]], made.parsed
print(f"{route.routes[0].distance} m, a region of {len(ring)} corners")
"""

TYPESCRIPT_CLIENT = """
import { Configuration, VenuesApi, RegionsApi } from "./client";

const [address, token, coordinates] = process.argv.slice(2);
const configuration = new Configuration({ basePath: address, accessToken: token });

async function main() {
  const venues = new VenuesApi(configuration);
  const list = await venues.listVenues({});
  if (list.venues[0].id !== "hall") throw new Error(JSON.stringify(list));
  const route = await venues.routeAsOSRM({ profile: "foot", coordinates, steps: true });
  const distance: number = route.routes[0].distance;
  if (!(distance > 50) || route.routes[0].legs[0].steps.length < 2) throw new Error(JSON.stringify(route));
  const tiles = await venues.getTileJSON({ id: "hall" });
  if (!tiles.tiles[0].includes("{z}")) throw new Error(JSON.stringify(tiles));
  const ring = [[13.405, 52.52], [13.4055, 52.52], [13.4055, 52.5203], [13.405, 52.52]];
  const region = await new RegionsApi(configuration).putRegion({
    app: "shop", id: "court", regionDocument: { kind: "polygon", coordinates: ring },
  });
  if (JSON.stringify(region.coordinates) !== JSON.stringify([ring.slice(0, -1)])) throw new Error(JSON.stringify(region));
  console.log(`${distance} m, ${ring.length} corners`);
}

main().catch((error) => { console.error(error); process.exit(1); });
"""

# The requests of Leaflet Routing Machine's OSRMv1 router and its decoder of polylines; a stream as EventSource opens it.
JAVASCRIPT_CLIENT = """
const [address, token, start, goal, instructions] = process.argv.slice(2);
const headers = { Authorization: "Bearer " + token };

function decode(text, precision) {
  const points = [];
  let index = 0, latitude = 0, longitude = 0;
  const next = () => {
    let result = 0, shift = 0, byte;
    do { byte = text.charCodeAt(index++) - 63; result |= (byte & 31) << shift; shift += 5; } while (byte >= 32);
    return result & 1 ? ~(result >> 1) : result >> 1;
  };
  while (index < text.length) {
    latitude += next(); longitude += next();
    points.push([latitude / 10 ** precision, longitude / 10 ** precision]);
  }
  return points;
}

async function main() {
  const form = "overview=false&alternatives=true&steps=true&hints=;";
  let answer = await (await fetch(`${address}/route/v1/driving/${start};${goal}?${form}`, { headers })).json();
  if (answer.code !== "Ok") throw new Error(JSON.stringify(answer));
  const hints = answer.waypoints.map((waypoint) => waypoint.hint).join(";");
  answer = await (await fetch(`${address}/route/v1/driving/${start}@0;${goal}@1?${form}&overview=full&hints=${hints}`
    .replace("overview=false&", "").replace("hints=;&", ""), { headers })).json();
  if (answer.code !== "Ok") throw new Error(JSON.stringify(answer));
  const points = decode(answer.routes[0].geometry, 5);
  if (Math.abs(points[0][0] - start.split(",")[1]) > 1e-4) throw new Error("the line begins elsewhere: " + points[0]);
  for (const step of answer.routes[0].legs[0].steps) {
    if (!step.maneuver.type || !step.intersections.length) throw new Error(JSON.stringify(step));
    const isEnd = ["depart", "arrive"].includes(step.maneuver.type);
    if (!isEnd && !step.maneuver.modifier) throw new Error("no modifier in " + JSON.stringify(step.maneuver));
    if (instructions) {
      const text = require(instructions)("v5").compile("en", step);
      if (!text || text.includes("undefined")) throw new Error("no text for " + JSON.stringify(step.maneuver));
    }
  }
  const { ticket } = await (await fetch(address + "/v1/tickets", { method: "POST", headers })).json();
  const open = () => fetch(address + "/v1/events?ticket=" + ticket, { headers: { Accept: "text/event-stream" } });
  const stream = await open();
  const { value } = await stream.body.getReader().read();
  if (stream.status !== 200 || !value.length) throw new Error("no stream: " + stream.status);
  const again = await open();
  if (again.status !== 401) throw new Error("a ticket was used twice");
  console.log(`${answer.routes[0].distance} m, ${points.length} points, a stream`);
  process.exit(0);
}

main().catch((error) => { console.error(error); process.exit(1); });
"""


class Skipped(Exception):
    """The reason why a client is not there."""


class Proof:
    def __init__(self, arguments, server, token, folder):
        self.server, self.token, self.folder = server, token, folder
        self.address = f"http://127.0.0.1:{server.http_port}"
        self.environment = pathlib.Path(arguments.environment or folder / "environment")
        if not (self.environment / "bin" / "python").exists():
            self.run([arguments.python, "-m", "venv", str(self.environment)])
        self.python = str(self.environment / "bin" / "python")
        self.coordinates = ";".join(",".join(map(str, point)) for point in (START, GOAL))

    def run(self, command, **options):
        path = f"{self.environment / 'bin'}:{os.environ['PATH']}"
        # MapLibre Native draws without a display by Mesa's software renderer.
        headless = {"EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1"}
        ended = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **headless, "PATH": path}, timeout=900, **options
        )
        said = (ended.stdout + ended.stderr).strip()
        assert ended.returncode == 0, f"{' '.join(map(str, command))[:200]}: status {ended.returncode}\n{said[-3000:]}"
        return said

    def install(self, package):
        """Installs a package from PyPI, unless it is there; skips what needs it if it cannot be had."""
        name = re.split("[=<>]", package)[0]
        if subprocess.run([self.python, "-m", "pip", "show", "-q", name], capture_output=True).returncode == 0:
            return
        ended = subprocess.run([self.python, "-m", "pip", "install", "-q", package], capture_output=True, text=True)
        if ended.returncode != 0:
            raise Skipped(f"{package} cannot be installed: {(ended.stderr.strip().splitlines() or ['no reason'])[-1]}")

    @staticmethod
    def need(*programs):
        for program in programs:
            if shutil.which(program) is None:
                raise Skipped(f"there is no {program}")

    def routingpy(self):
        self.install("routingpy")
        return self.run([self.python, "-c", ROUTES, self.address, json.dumps([START, GOAL]), self.token])

    def maplibre(self):
        self.install("mapli")
        # MapLibre Native sends no header, so that it asks the server that needs no token.
        code = textwrap.dedent(
            """
            import sys, mapli
            pool = mapli.RenderPool()
            for level in (0, 1):
                pool.register_style(str(level), url=f"{sys.argv[1]}/v1/venues/hall/style.json?level={level}")
                png = pool.render(str(level), lon=13.40544, lat=52.52018, zoom=17, width=256, height=256)
                open(f"{sys.argv[2]}/{level}.png", "wb").write(png)
            """
        )
        try:
            self.run([self.python, "-c", code, self.open_address, str(self.folder)])
        except AssertionError as error:
            if "GraphicsUnavailableError" in str(error):
                raise Skipped("MapLibre Native has no graphics here") from error
            raise
        pictures = [(self.folder / f"{level}.png").read_bytes() for level in (0, 1)]
        colours = [len(set(pixels(picture))) for picture in pictures]
        assert all(count >= 3 for count in colours), f"the pictures show nothing: {colours} colours"
        assert pictures[0] != pictures[1], "both levels are drawn alike"
        return f"two levels drawn in {colours} colours"

    def generated_python(self):
        self.install("openapi-python-client")
        target = self.folder / "pharos_client"
        said = self.run(
            [str(self.environment / "bin" / "openapi-python-client"), "generate", "--path", str(self.description),
             "--meta", "none", "--output-path", str(target)]
        )
        assert "warning" not in said.lower(), f"the generator left something out:\n{said[-3000:]}"
        self.run([self.python, "-m", "compileall", "-q", str(target)])
        return self.run(
            [self.python, "-c", PYTHON_CLIENT, self.address, self.token, self.coordinates], cwd=self.folder
        )

    def generated_typescript(self):
        self.need("node", "java", "tsc")
        self.install("openapi-generator-cli")
        source = self.folder / "typescript"
        self.run(
            [str(self.environment / "bin" / "openapi-generator-cli"), "generate", "-i", str(self.description),
             "-g", "typescript-fetch", "-o", str(source / "client")]
        )
        (source / "main.ts").write_text(TYPESCRIPT_CLIENT)
        (source / "node.d.ts").write_text("declare const process: { argv: string[]; exit(status: number): void };\n")
        # Before 4.9 the compiler does not know a member after `in`, so that the generator's own readers need `any`.
        self.run(
            ["tsc", "--strict", "--noImplicitAny", "false", "--target", "es2020", "--lib", "es2020,dom", "--module",
             "commonjs", "--moduleResolution", "node", "--outDir", str(source / "out"), str(source / "main.ts"),
             str(source / "node.d.ts")]
        )
        return self.run(["node", str(source / "out" / "main.js"), self.address, self.token, self.coordinates])

    def javascript(self):
        self.need("node")
        instructions = self.text_instructions()
        script = self.folder / "client.js"
        script.write_text(JAVASCRIPT_CLIENT)
        ends = [",".join(map(str, point)) for point in (START, GOAL)]
        said = self.run(["node", str(script), self.address, self.token, *ends] + ([instructions] if instructions else []))
        return said + ("" if instructions else " (without osrm-text-instructions: npm has no registry here)")

    def text_instructions(self):
        """The path of osrm-text-instructions; nil where npm cannot bring it."""
        if shutil.which("npm") is None:
            return None
        ended = subprocess.run(
            ["npm", "install", "--silent", "--prefix", str(self.folder / "npm"), "osrm-text-instructions"],
            capture_output=True, timeout=120,
        )
        path = self.folder / "npm" / "node_modules" / "osrm-text-instructions"
        return str(path) if ended.returncode == 0 and path.exists() else None


def pixels(png):
    """The pixels of a PNG of 8 bits with three or four channels, without interlacing."""
    assert png.startswith(b"\x89PNG"), "no PNG"
    place, packed, width, channels = 8, b"", 0, 0
    while place < len(png):
        size, name = int.from_bytes(png[place:place + 4], "big"), png[place + 4:place + 8]
        body = png[place + 8:place + 8 + size]
        if name == b"IHDR":
            width, channels = int.from_bytes(body[:4], "big"), {2: 3, 6: 4}[body[9]]
        if name == b"IDAT":
            packed += body
        place += size + 12
    rows, stride = zlib.decompress(packed), width * channels
    above = bytearray(stride)
    for start in range(0, len(rows), stride + 1):
        row = bytearray(rows[start + 1:start + 1 + stride])
        for index in range(stride):
            left = row[index - channels] if index >= channels else 0
            corner = above[index - channels] if index >= channels else 0
            match rows[start]:
                case 1: row[index] = (row[index] + left) & 255
                case 2: row[index] = (row[index] + above[index]) & 255
                case 3: row[index] = (row[index] + (left + above[index]) // 2) & 255
                case 4:
                    guess = left + above[index] - corner
                    near = min((abs(guess - left), 0, left), (abs(guess - above[index]), 1, above[index]),
                               (abs(guess - corner), 2, corner))
                    row[index] = (row[index] + near[2]) & 255
        above = row
        for index in range(0, stride, channels):
            yield bytes(row[index:index + channels])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pharos")
    parser.add_argument("--environment")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    pharos = str(pathlib.Path(arguments.pharos).resolve())
    failed = skipped = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "venue").mkdir()
        (folder / "venue" / "venue.yaml").write_text(VENUE)
        (folder / "venue" / "ground.geojson").write_text(maps.GROUND)
        site = f"venues: ['{folder / 'venue'}']\n"
        guarded, unguarded = Server(pharos, site, ["--require-token"]), Server(pharos, site)
        token = subprocess.run(
            [pharos, "token", "create", "--operator", "--data", os.path.join(guarded.folder, "data")],
            capture_output=True, text=True,
        )
        assert token.returncode == 0, token.stderr
        token = re.search(r"pht_[\w-]+", token.stdout).group()
        guarded.start()
        unguarded.start()
        try:
            proof = Proof(arguments, guarded, token, folder)
            proof.open_address = f"http://127.0.0.1:{unguarded.http_port}"
            proof.description = folder / "openapi.json"
            with urllib.request.urlopen(proof.address + "/openapi.json") as answer:
                proof.description.write_bytes(answer.read())
            for name in ("routingpy", "maplibre", "generated_python", "generated_typescript", "javascript"):
                try:
                    print(f"{name}: {getattr(proof, name)()}", flush=True)
                    passed += 1
                except Skipped as reason:
                    print(f"{name}: skipped: {reason}", flush=True)
                    skipped += 1
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    print(f"{name}: failed: {error}", flush=True)
                    failed += 1
        finally:
            guarded.stop()
            unguarded.stop()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
