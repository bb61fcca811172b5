"""What the mock server answers under /v1, by the first part of the path."""

import csv
import io
import re
import time
import urllib.parse

import mock_venue
from mock_history import History
from mock_http import Answers, Refusal
from mock_world import ZONES, rfc3339


class Handler(Answers):
    """The API of the real server, as far as the pages use it."""

    def do_status(self):
        self.answer(self.world.status())

    def do_site(self):
        self.answer(self.world.site.encode(), kind="application/yaml")

    def do_observers(self, identity=None, verb=None):
        if verb == "accept":
            self.world.accepted.add(identity)
            return self.answer({}, 202)
        if verb == "displayOn":
            return self.answer({}, 202)
        if self.command == "PUT":
            self.world.named[identity] = self.body
            return self.answer({"id": identity, **self.body}, 201)
        if self.command == "DELETE":
            if self.world.named.pop(identity, None) is None:
                raise Refusal(404, "Not found", f"Observer {identity} was neither named nor accepted over HTTP.")
            return self.answer(b"", 204)
        rows = self.world.observer_rows()
        if identity is None:
            return self.answer({"observers": rows})
        row = next((row for row in rows if row["id"] == identity), None)
        if not row:
            raise Refusal(404, "Not found", f"No observer is called {identity}.")
        return self.answer(row)

    def do_push(self):
        return self.answer({"publicKey": "the-public-key"})

    def do_quarantine(self):
        self.answer({"observers": self.world.quarantine_rows()})

    def do_heard(self):
        self.answer({"beacons": self.world.heard_rows(self.query.get("unregistered") == "true")})

    def do_comparisons(self, identity=None):
        made = self.world.comparisons
        if self.command == "POST":
            if not self.body.startswith(b"\x0a\x0d\x0d\x0a"):
                raise Refusal(422, "The capture cannot be compared", f"{self.query['name']}: not a capture.")
            return self.compared(self.query["name"], self.query["timeout"])
        if self.command == "DELETE":
            self.world.comparisons = [entry for entry in made if entry["id"] != identity]
            return self.answer({}, 204)
        return self.answer({"comparisons": made})

    def do_recordings(self, identity=None, verb=None):
        made = self.world.recordings
        found = next((entry for entry in made if entry["id"] == identity), None)
        if identity and not found:
            raise Refusal(404, "Not found", "There is no such recording.")
        if self.command == "GET":
            return self.answer(found or {"recordings": made})
        if self.command == "DELETE":
            made.remove(found)
            return self.answer(b"", 204)
        if verb == "end":
            self.world.end_recording(found)
            return self.answer(found)
        if verb == "comparison":
            site = self.body.get("site")
            if site and "zones" not in site:
                raise Refusal(422, "The capture cannot be compared", "the edited site:1: no zones")
            return self.compared(f"recording of {found['startedAt']}", self.body["timeout"], site)
        if any("endsAt" in entry for entry in made):
            raise Refusal(409, "Conflict", "A recording is under way.")
        now = time.time()
        made.insert(
            0,
            {
                "id": f"{int(now * 1000)}",
                "startedAt": rfc3339(now),
                "endsAt": rfc3339(now + self.body["seconds"]),
                "bytes": 2_500_000,
                "maximumBytes": 268_435_456,
            },
        )
        return self.answer(made[0], 201)

    def compared(self, name, timeout, site=None):
        """Answers with a comparison, as if it had just been made."""
        edited = " Pharos, site edited: 2 exits." if site else ""
        made = self.world.comparisons
        made.insert(
            0,
            {
                "id": f"{len(made):032x}",
                "name": name,
                "madeAt": rfc3339(time.time()),
                "headline": f"Your {timeout} s rule: 12 exits, 6 taken back within ten minutes. Pharos: 4 exits.{edited}",
            },
        )
        return self.answer(made[0], 201)

    @staticmethod
    def without_id(zone):
        return {key: value for key, value in zone.items() if key != "id"}

    def do_zones(self, identity=None):
        if self.command == "PUT":
            self.world.made_zones[identity] = self.without_id(self.body)
            return self.answer({"id": identity, **self.body}, 201)
        if self.command == "POST":
            for key in self.body["removed"]:
                self.world.made_zones.pop(key)
            for zone in self.body["zones"]:
                self.world.made_zones[zone["id"]] = self.without_id(zone)
            return self.answer(b"", 204)
        if self.command == "DELETE":
            self.world.made_zones.pop(identity)
            return self.answer(b"", 204)
        zones = (
            [{"id": key, "adjacent": [], "occupants": 0, **zone} for key, zone in self.world.made_zones.items()]
            if self.world.empty
            else [
                {
                    "id": name,
                    "name": title,
                    "floor": floor,
                    "observers": [self.world.observers[index]],
                    "adjacent": adjacent,
                    "occupants": 0,
                }
                for index, (name, title, floor, adjacent) in enumerate(ZONES)
            ]
        )
        self.answer({"zones": zones})

    def do_beacons(self, identity=None):
        rows = self.world.beacon_rows()
        if self.command == "PUT":
            self.world.beacon_names[identity] = self.body.get("name")
            return self.answer({"id": identity, **self.body}, 201)
        if self.command == "DELETE":
            self.world.beacon_names[identity] = None
            return self.answer(b"", 204)
        if identity is None:
            return self.answer({"beacons": rows, "next": None})
        own = [row for row in rows if row["id"] == identity]
        if not own:
            raise Refusal(404, "Not found", f"There is no beacon {identity}.")
        return self.answer(own[0])

    def do_subjects(self, subject, kind, viewer=None):
        given = self.world.shares.setdefault(subject, {})
        if kind == "looks":
            return self.answer({"looks": self.world.looks.get(subject, [])})
        if viewer is None:
            return self.answer({"given": list(given.values()), "received": []})
        if self.command == "DELETE":
            given.pop(viewer, None)
            return self.answer(b"", 204)
        since = {"subject": subject, "viewer": viewer, "since": rfc3339(time.time())}
        given[viewer] = {"accuracy": "full", **self.body, **since}
        return self.answer(given[viewer])

    def do_tags(self):
        self.answer({"tags": self.world.tag_rows(), "next": None})

    def do_fixes(self):
        self.answer({"fixes": self.world.fix_rows(), "next": None})

    def do_visits(self):
        self.answer({"visits": self.world.visits, "next": None})

    def do_guidance(self):
        self.answer({"guidance": [], "next": None})

    def do_venues(self, venue=None, _=None, building=None, level=None, part=None):
        if venue is None:
            return self.answer({"venues": [mock_venue.venue()] if self.world.fix_rate else []})
        if part == "plan":
            return self.answer(mock_venue.plan(), kind="image/png")
        if _ == "places":
            places = [place for floor in mock_venue.visitor_data()["floors"] for place in floor["places"]]
            return self.answer({"places": places})
        if level is None:
            return self.answer(mock_venue.venue())
        return self.answer(mock_venue.outlines(int(level)), kind="application/geo+json")

    def do_history(self, kind, first=None, _=None, second=None):
        history = History(self.world)
        named = urllib.parse.parse_qs(self.path.partition("?")[2]).get("subject", [])
        body = {
            "subjects": lambda: history.subject(first, self.query) if first else history.listed(self.query, named),
            "observers": lambda: history.observer(first, self.query),
            "zones": lambda: history.place({"zone": first}, self.query),
            "applications": lambda: history.place({"application": first, "region": second}, self.query),
            "occupancy": lambda: history.occupancy(self.query),
            "positions": lambda: history.positions(self.query),
        }[kind]()
        if self.headers.get("accept") != "text/csv":
            return self.answer(body)
        table = io.StringIO()
        writer = csv.DictWriter(table, sorted({name for point in body["points"] for name in point}))
        writer.writeheader()
        writer.writerows(body["points"])
        return self.answer(table.getvalue().encode(), kind="text/csv; charset=utf-8")

    def do_ranging(self):
        self.answer({"ranging": []})

    def do_tracks(self):
        now = time.time()
        self.answer(
            {
                "tracks": [
                    {
                        "observer": self.query.get("observer"),
                        "beacon": f"{beacon}",
                        "lastHeard": rfc3339(now - 0.2),
                        "samples": 812,
                        "level": -67.2,
                        "levelDeviation": 2.4,
                        "interval": 0.352,
                        "receptionShare": 0.82,
                        "regions": [{"application": "lost-property", "region": "trolleys", "state": "inside"}],
                    }
                    for beacon in list(self.world.zone_of)[:8]
                ],
                "next": None,
            }
        )

    def do_applications(self, name=None, kind=None, identity=None):
        world = self.world
        if name is None:
            return self.answer(
                {
                    "applications": [
                        {
                            "id": key,
                            "source": value["source"],
                            "regions": len(value["regions"]),
                            "ranging": 0,
                            "regionLimit": value["regionLimit"],
                            "purpose": value["purpose"],
                        }
                        for key, value in world.applications.items()
                    ]
                }
            )
        if kind is None and self.command == "PUT":
            isNew = name not in world.applications
            world.applications.setdefault(
                name, {"source": "http", "regions": {}, "regionLimit": 20, "purpose": ""}
            ).update(self.body or {})
            self.server.save()
            return self.answer({"id": name}, 201 if isNew else 200)
        if kind == "regions" and self.command == "PUT":
            world.applications.setdefault(name, {"source": "http", "regions": {}, "regionLimit": 20, "purpose": ""})
        if name not in world.applications:
            raise Refusal(404, "Not found", f"There is no application {name}.")
        application = world.applications[name]
        if kind == "states":
            return self.answer({"states": world.state_rows(name), "next": None})
        if kind == "diagnostics":
            return self.answer({"diagnostics": world.diagnostics.get(name, [])})
        if kind == "notifications":
            return self.notifications(name, identity)
        if kind == "ranging":
            return self.answer({"ranging": world.ranging.get(name, [])})
        if kind == "authorisations":
            if self.command == "PUT":
                world.authorisations.setdefault(name, {})[identity] = self.body["state"]
                return self.answer({"subject": identity, "state": self.body["state"]})
            return self.answer(
                {
                    "authorisations": [
                        {"subject": subject, "state": state, "since": rfc3339(world.started)}
                        for subject, state in world.authorisations.get(name, {}).items()
                    ]
                }
            )
        if kind == "regions" and identity is None:
            return self.answer(
                {
                    "regions": [
                        {"id": key, **value, "states": {"inside": 3, "outside": 1, "unmonitored": 1}}
                        for key, value in application["regions"].items()
                    ]
                }
            )
        if kind == "regions":
            return self.region(name, application, identity)
        raise Refusal(404, "Not found", "There is no such page.")

    def notifications(self, name, identity):
        rules = self.world.notifications.setdefault(name, {})
        if self.command == "PUT":
            rules[identity] = {"id": identity, "application": name, **self.body}
            return self.answer(rules[identity], 201)
        if self.command == "DELETE":
            rules.pop(identity, None)
            return self.answer(b"", 204)
        return self.answer({"notifications": list(rules.values())})

    def region(self, name, application, identity):
        regions = application["regions"]
        if self.command == "DELETE":
            regions.pop(identity, None)
            self.server.save()
            return self.answer(b"", 204)
        if self.command == "PUT":
            if identity not in regions and len(regions) >= application["regionLimit"]:
                raise Refusal(
                    409,
                    "Region limit exceeded",
                    f"{name} has all {application['regionLimit']} regions that it may have.",
                )
            uuid = (self.body or {}).get("uuid", "")
            if "uuid" in self.body and not re.fullmatch(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", uuid):
                raise Refusal(
                    400,
                    "Not a region",
                    "The document has a mistake.",
                    [{"field": "uuid", "message": f'uuid is "{uuid}"', "expected": "32 hexadecimal digits"}],
                )
            isNew = identity not in regions
            regions[identity] = {**self.body, "source": "http"}
            self.server.save()
            self.world.emit(
                "region.enter",
                "handset-1",
                {
                    "application": name,
                    "region": identity,
                    "from": "unknown",
                    "to": "inside",
                    "evidence": {"rule": "samples", "samples": 2, "counted": 2, "window": 3.0, "spread": 0.2},
                },
            )
            return self.answer({"id": identity, **regions[identity]}, 201 if isNew else 200)
        return self.answer({"id": identity, **regions[identity]})

    def do_webhooks(self, identity=None, verb=None, again=None):
        world = self.world
        if identity is None:
            if self.command == "POST":
                key = f"w{len(world.webhooks) + 1}"
                world.webhooks[key] = {
                    "url": self.body["url"],
                    "summary": self.body.get("summary", ""),
                    "dead": 0,
                    "state": "active",
                    "keys": self.body.get("keys"),
                }
                return self.answer({"id": key, "secret": "whsec_bW9jayBzZWNyZXQgb2YgdGhlIG1vY2sgc2VydmVy"}, 201)
            return self.answer({"webhooks": [self.hook(key, value) for key, value in world.webhooks.items()]})
        if self.command == "DELETE":
            world.webhooks.pop(identity, None)
            return self.answer(b"", 204)
        if verb == "test":
            return self.answer({"id": "x", "delivered": True, "milliseconds": 12.5})
        if verb == "dead" and again:
            world.webhooks[identity]["dead"] = 0
            return self.answer({"replaying": 2})
        if verb == "dead":
            letters = world.events[-world.webhooks[identity]["dead"] :] if world.webhooks[identity]["dead"] else []
            return self.answer(
                {
                    "dead": [
                        {
                            "sequence": number,
                            "diedAt": rfc3339(time.time() - 60),
                            "attempts": 14,
                            "reason": "status 503",
                            "replaying": False,
                            "event": event,
                        }
                        for number, event in letters
                    ]
                }
            )
        return self.answer(self.hook(identity, world.webhooks[identity]))

    def hook(self, key, value):
        failing = value["state"] == "failing"
        return {
            "id": key,
            "url": value["url"],
            "summary": value["summary"],
            "filter": {
                "kinds": ["pharos.region.enter", "pharos.region.exit"] if failing else None,
                "regions": None,
                "subjects": None,
                "observers": None,
            },
            "concurrency": 4,
            "enabled": True,
            "createdAt": rfc3339(self.world.started),
            "state": value["state"],
            "cursor": 10,
            "lag": 31 if failing else 0,
            "delivered": 412,
            "failures": 9 if failing else 0,
            "missed": 0,
            "inFlight": 1,
            "subjectsBehind": 2 if failing else 0,
            "dead": value["dead"],
            **(
                {
                    "failingSince": rfc3339(self.world.started),
                    "lastFailureReason": "status 503",
                    "nextAttempt": rfc3339(time.time() + 40),
                }
                if failing
                else {"lastDelivery": rfc3339(time.time() - 3)}
            ),
        }

    def do_tokens(self, identity=None):
        world = self.world
        if self.command == "POST":
            key = f"t{len(world.tokens) + 1}"
            world.tokens[key] = {"name": self.body["name"], "application": self.body.get("application")}
            return self.answer({"id": key, "secret": "pht_bW9jayB0b2tlbiBvZiB0aGUgbW9jayBzZXJ2ZXIuLi4"}, 201)
        if self.command == "DELETE":
            world.tokens.pop(identity, None)
            return self.answer(b"", 204)
        return self.answer(
            {
                "tokens": [
                    {
                        "id": key,
                        "role": "application" if value["application"] else "operator",
                        "createdAt": rfc3339(world.started),
                        **{k: v for k, v in value.items() if v},
                    }
                    for key, value in world.tokens.items()
                ]
            }
        )
