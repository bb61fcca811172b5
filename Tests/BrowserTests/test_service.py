"""The pages before the real server: `pharos serve --demo` with a journal, from the first event to a restart."""

import shutil
import signal
import tempfile
import unittest
from pathlib import Path

import support

PLACES = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"


class Service(support.BrowserTest):
    """What an administrator sees of the demo."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.binary = support.pharos_binary()
        if cls.binary is None or not support.serves_http(cls.binary):
            raise unittest.SkipTest(
                "no built pharos with --http and --data was found (swift build, or set PHAROS to its path)"
            )

    def setUp(self):
        self.data = Path(tempfile.mkdtemp(prefix="pharos-browser-"))
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)

    def test_the_demo_a_new_region_and_a_restart(self):
        with support.Visit(self.browser) as visit:
            page = visit.page
            with support.Pharos(self.binary, self.data) as server:
                self.see_the_demo(page, server)
                self.add_a_region(page, server)
                last = self.newest(page)
                self.assertEqual(server.stop(), 0, server.output())
                support.expect(page.locator("#live")).to_contain_text("Disconnected")
            with support.Pharos(self.binary, self.data, port=server.port) as again:
                self.resume(page, again, last)
                self.see_the_past(page, again)
            visit.forgive("ERR_", "Failed to load resource")
            self.assertEqual(visit.errors, [])

    def test_the_demo_has_a_past_at_the_first_look(self):
        with support.Pharos(self.binary, self.data) as server, support.Visit(self.browser, width=1440) as visit:
            page = visit.page
            page.goto(f"{server.base}#/rooms")
            lines = page.get_by_role("table", name="Rooms").get_by_role("img")
            for _ in range(60):
                page.reload()
                support.expect(page.locator("h1")).to_have_text("Rooms")
                page.wait_for_timeout(1000)
                drawn = [line.locator("path:not(.lone)").count() for line in lines.all()]
                if sum(drawn) >= 3:
                    break
            self.assertGreaterEqual(sum(drawn), 3, "no line of several minutes is shown")
            self.assertEqual(visit.errors, [])

    def test_a_kill_loses_nothing_that_was_shown(self):
        with support.Visit(self.browser) as visit:
            page = visit.page
            with support.Pharos(self.binary, self.data) as server:
                page.goto(f"{server.base}#/events")
                support.expect(page.locator(".feed .sequence").nth(3)).to_be_visible(timeout=60000)
                shown = self.shown(page)
                server.kill()
            with support.Pharos(self.binary, self.data, port=server.port) as again:
                support.expect(page.locator("#live")).to_contain_text("Live", timeout=30000)
                kept = {
                    entry["sequence"]: entry["event"]["id"]
                    for entry in again.get("/v1/events?before=9007199254740991&limit=1000")["events"]
                }
                self.assertLessEqual(set(shown), set(kept), "an event that was shown is gone")
                now = page.locator(".feed .sequence").all_text_contents()
                self.assertEqual(len(now), len(set(now)), "an event is shown twice")
            visit.forgive("ERR_", "Failed to load resource")
            self.assertEqual(visit.errors, [])

    def test_a_server_that_hangs_is_shown_as_gone_within_fifteen_seconds(self):
        with support.Pharos(self.binary, self.data) as server, support.Visit(self.browser) as visit:
            page = visit.page
            page.goto(f"{server.base}#/events")
            support.expect(page.locator("#live")).to_contain_text("Live", timeout=30000)
            server.process.send_signal(signal.SIGSTOP)
            try:
                support.expect(page.locator("#live")).not_to_contain_text("Live", timeout=15000)
            finally:
                server.process.send_signal(signal.SIGCONT)
            support.expect(page.locator("#live")).to_contain_text("Live", timeout=30000)
            visit.forgive("ERR_", "Failed to load resource")
            self.assertEqual(visit.errors, [])

    def test_every_page_shows_the_demo_without_complaint(self):
        with (
            support.Pharos(self.binary, self.data) as server,
            support.Visit(self.browser, width=390, theme="dark") as visit,
        ):
            page = visit.page
            for name, text in (
                ("overview", "unknown beacon"),
                ("things", "hand truck"),
                ("things?show=unknown", "Unknown beacon ·"),
                ("rooms", "Cold room"),
                ("gateways", "till"),
                ("regions", "cold-room"),
                ("events", "entered"),
                ("webhooks", "No webhooks"),
                ("access", "No tokens"),
                ("status", "All is well"),
            ):
                page.goto(f"{server.base}#/{name}")
                support.expect(page.locator("main").get_by_text(text).first).to_be_visible(timeout=60000)
                self.assertLessEqual(
                    page.evaluate("document.documentElement.scrollWidth - innerWidth"), 0, f"{name} is too wide"
                )
            self.assertEqual(visit.errors, [])

    # Steps.

    def see_the_demo(self, page, server):
        page.goto(server.base)
        support.expect(page.locator("#live")).to_contain_text("Live")
        support.expect(page.locator(".feed .row").first).to_be_visible(timeout=60000)
        page.goto(f"{server.base}#/events?kind=region.enter,region.exit")
        row = page.locator(".feed .row", has_text="entered").first
        support.expect(row).to_be_visible(timeout=60000)
        row.click()
        support.expect(page.locator(".detail .words p").first).not_to_contain_text("cannot be had")
        support.expect(page.locator(".detail .facts")).to_be_visible()

    def add_a_region(self, page, server):
        page.goto(f"{server.base}#/regions")
        page.get_by_role("button", name="Add region").first.click()
        sheet = page.get_by_role("dialog")
        sheet.get_by_label("Identifier").fill("counter")
        sheet.get_by_label("UUID", exact=True).fill(PLACES)
        sheet.get_by_label("Major").fill("1")
        sheet.get_by_label("Minor").fill("2")
        sheet.get_by_role("button", name="Add region").click()
        support.expect(page.get_by_role("heading", name="counter", exact=True)).to_be_visible()
        # The customer passes the counter every twenty seconds.
        page.goto(f"{server.base}#/events?kind=region.enter,region.exit&region=counter")
        support.expect(page.locator(".feed .row", has_text="entered counter").first).to_be_visible(timeout=60000)

    def resume(self, page, server, last):
        support.expect(page.locator("#live")).to_contain_text("Live", timeout=30000)
        support.expect(page.locator(".gap", has_text="Resumed").first).to_be_visible()
        regions = [region["id"] for region in server.get("/v1/applications/shop/regions")["regions"]]
        self.assertIn("counter", regions, "a region made over HTTP did not survive")
        page.goto(f"{server.base}#/events?kind=region.enter,region.exit")
        page.wait_for_function(support.audit("showsLater(given)"), arg=last, timeout=60000)
        numbers = page.locator(".feed .sequence").all_text_contents()
        self.assertEqual(len(numbers), len(set(numbers)), "an event is shown twice")

    def see_the_past(self, page, server):
        """The running minute is stored at a shutdown, so that there is one after the restart."""
        page.goto(f"{server.base}#/rooms")
        page.get_by_role("link", name="Cold room").click()
        support.expect(page.locator("svg.chart")).to_be_visible()
        page.goto(f"{server.base}#/things")
        page.get_by_role("link", name="pallet").click()
        support.expect(page.locator("svg.chart")).to_be_visible()
        page.get_by_text("The same in words").click()
        support.expect(page.get_by_role("table", name="What stayed the same").get_by_role("row").nth(1)).to_be_visible()
        path = page.evaluate("location.hash").removeprefix("#/things/").partition("?")[0]
        points = server.get(f"/v1/history/subjects/{path}?points=1500")["points"]
        self.assertGreaterEqual(len(points), 1)
        frames = server.get(f"/v1/history/positions?at={points[-1]['time']}")["frames"]
        self.assertGreaterEqual(len(frames[0]["subjects"]), 3)

    @staticmethod
    def shown(page):
        return [int(text[1:]) for text in page.locator(".feed .sequence").all_text_contents() if text.startswith("#")]

    def newest(self, page):
        return max(self.shown(page))
