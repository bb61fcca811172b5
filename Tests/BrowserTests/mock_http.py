"""How the mock server answers: files of the dashboard, problems, pages of events and the live stream."""

import json
import re
import urllib.parse
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import mock_venue

SOURCES = Path(__file__).resolve().parents[2] / "Sources"
ASSETS = SOURCES / "Model/PharosDashboard/Assets"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


def description():
    """As much of the description of the interface as pages read: kinds of events, members of a fix."""
    source = (SOURCES / "Model/PharosModel/Events/EventKind.swift").read_text()
    kinds = [kind for kind in re.findall(r': \("(pharos\.[\w.]+)", ', source) if kind not in ("pharos.ranging", "pharos.fix")]
    kept = {"filter": {"properties": {"kinds": {"items": {"enum": kinds}}}}}
    source = (SOURCES / "Model/PharosModel/Events/FixDetail.swift").read_text()
    member = r'coder\.(?:member|part)\(\s*"(\w+)",\s*&\w+(?:,\s*decimals: \d+)?,?\s*(?:MemberNote\()?\s*(?:"([^"]*)")?'
    members = re.findall(member, source)
    fix = {name: {"description": words} if words else {} for name, words in members}
    return {"components": {"schemas": {"WebhookDocument": {"properties": kept}, "Fix": {"properties": fix}}}}


class Refusal(Exception):
    """What is answered as a problem document."""

    def __init__(self, status, title, detail, errors=()):
        super().__init__(detail)
        self.status, self.title, self.detail, self.errors = status, title, detail, list(errors)


class Answers(BaseHTTPRequestHandler):
    """One connection; what stands under /v1 is for a class below this one to say."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def world(self):
        return self.server.world

    def answer(self, body, status=200, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("content-security-policy", POLICY)
        self.send_header("cache-control", "no-cache")
        if self.path == "/assets/visitor-worker.js":
            self.send_header("service-worker-allowed", "/venues/")
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        if self.server.stopping:
            # A connection that was kept alive ends with the server, as a process's would.
            self.close_connection = True
            return None
        path, _, query = self.path.partition("?")
        self.query = {key: values[-1] for key, values in urllib.parse.parse_qs(query, keep_blank_values=True).items()}
        self.parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
        length = int(self.headers.get("content-length") or 0)
        sent = self.rfile.read(length) if length else b""
        is_binary = self.headers.get("content-type") == "application/octet-stream"
        self.body = sent if is_binary else json.loads(sent or b"null")
        try:
            if path == "/readyz":
                isReady = all(check["ok"] for check in self.world.checks)
                body = {"status": "ready" if isReady else "notReady", "checks": self.world.checks}
                return self.answer(body, 200 if isReady else 503)
            if self.parts[0] == "venues":
                return self.visitor(*self.parts[1:])
            if not path.startswith("/v1/"):
                return self.asset(path)
            wanted = self.server.token
            if wanted and self.headers.get("authorization") != f"Bearer {wanted}":
                raise Refusal(401, "Not authorised", "This server asks for a token.")
            return self.route()
        except Refusal as error:
            return self.answer(
                {
                    "type": "about:blank",
                    "title": error.title,
                    "status": error.status,
                    "detail": error.detail,
                    "errors": error.errors,
                },
                error.status,
                "application/problem+json",
            )
        except (BrokenPipeError, ConnectionResetError):
            return None

    do_GET = do_PUT = do_POST = do_DELETE = handle_any

    def asset(self, path):
        if path == "/openapi.json":
            return self.answer(description())
        name = "index.html" if path == "/" else path.removeprefix("/assets/")
        file = ASSETS / name
        if "/" in name or not file.is_file():
            return self.answer({"title": "Not found", "status": 404, "detail": f"There is no {path}."}, 404)
        return self.answer(file.read_bytes(), kind=TYPES[file.suffix])

    def visitor(self, venue, part=None):
        """The page of the museum for its visitors, and what it reads."""
        if venue != "museum":
            raise Refusal(404, "Not found", f"There is no page for visitors of a venue {venue}.")
        if part == "data":
            return self.answer(mock_venue.visitor_data())
        if part == "routes":
            return self.answer(mock_venue.visitor_route(self.query))
        return self.asset("/assets/visitor.html")

    def route(self):
        name = self.parts[1]
        method = getattr(self, f"do_{name}", None)
        if not method:
            raise Refusal(404, "Not found", f"There is no /v1/{name}.")
        return method(*self.parts[2:])

    def do_events(self, sequence=None):
        world = self.world
        if sequence:
            found = next(((number, event) for number, event in world.events if number == int(sequence)), None)
            if not found:
                raise Refusal(404, "Not found", f"Event #{sequence} is not in the journal.")
            return self.answer({"sequence": found[0], "event": found[1], "words": world.words(found[1])})
        kinds = {f"pharos.{kind.removeprefix('pharos.')}" for kind in self.query.get("kind", "").split(",") if kind}

        def fits(event):
            named = all(self.query.get(key) in (None, event["data"].get(key)) for key in ("application", "region"))
            return named and (not kinds or event["type"] in kinds)

        if self.headers.get("accept") == "text/event-stream":
            return self.stream(fits)
        limit = int(self.query.get("limit", 100))
        before = int(self.query.get("before", 2**53))
        rows = [(number, event) for number, event in reversed(world.events) if number < before and fits(event)][:limit]
        return self.answer({"events": [{"sequence": number, "event": event} for number, event in rows], "next": None})

    def stream(self, fits):
        world = self.world
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-store")
        self.send_header("connection", "close")
        self.end_headers()
        after = self.headers.get("last-event-id")
        with world.lock:
            todo = [(number, event) for number, event in world.events if after is not None and number > int(after)]
            seen = world.live[-1][1] if world.live else None
        while not self.server.stopping:
            text = "".join(self.message(number, event) for number, event in todo if fits(event))
            self.wfile.write((text or ": alive\n\n").encode())
            self.wfile.flush()
            with world.lock:
                if not world.live or world.live[-1][1] is seen:
                    world.lock.wait(5)
                todo = []
                for number, event in reversed(world.live):
                    if event is seen:
                        break
                    todo.append((number, event))
                todo.reverse()
                seen = world.live[-1][1] if world.live else None
            self.close_connection = True

    def message(self, number, event):
        head = f"id: {number}\n" if number else ""
        return f"{head}event: {event['type']}\ndata: {json.dumps(event)}\n\n"
