"""The live feed when the server goes away and comes back, against the mock server."""

import tempfile
from pathlib import Path

import support


class Resume(support.BrowserTest):
    """Nothing is missing, nothing twice, and the page says what happened."""

    def test_a_restart_is_told_and_what_was_missed_is_caught_up(self):
        data = Path(tempfile.mkdtemp()) / "world.json"
        mock = support.Mock(moves=0, data=str(data))
        self.addCleanup(lambda: None if mock.server.stopping else mock.stop())
        with support.Visit(self.browser) as visit:
            page = visit.page
            page.goto(f"{mock.base}#/events?kind=region.enter,region.exit")
            support.expect(page.locator("#live")).to_contain_text("Live")
            before = self.enter(mock, "before-the-restart")
            support.expect(page.get_by_text("before-the-restart entered")).to_be_visible()
            mock.stop()
            support.expect(page.locator("#live")).to_contain_text("Disconnected")
            support.expect(page.locator(".gap").first).to_contain_text(f"Connection lost after #{before}")
            again = support.Mock(port=mock.port, moves=0, data=str(data))
            try:
                missed = [self.enter(again, f"missed-{number}") for number in range(5)]
                support.expect(page.locator("#live")).to_contain_text("Live")
                for number in range(5):
                    support.expect(page.get_by_text(f"missed-{number} entered")).to_have_count(1)
                support.expect(page.get_by_text("before-the-restart entered")).to_have_count(1)
                support.expect(page.locator(".gap", has_text="Resumed")).to_be_visible()
                shown = page.locator(".feed .sequence").all_text_contents()
                self.assertEqual(len(shown), len(set(shown)), "an event is shown twice")
                self.assertLessEqual({f"#{number}" for number in missed}, set(shown))
            finally:
                again.stop()
            visit.forgive("ERR_", "Failed to load resource")
            self.assertEqual(visit.errors, [])

    @staticmethod
    def enter(mock, subject):
        return mock.world.emit(
            "region.enter",
            subject,
            {
                "application": "gallery",
                "region": "entrance",
                "from": "outside",
                "to": "inside",
                "evidence": {"rule": "samples"},
            },
        )

    def test_what_the_server_dropped_or_no_longer_keeps_is_told(self):
        with support.Mock(moves=0) as mock, support.Visit(self.browser) as visit:
            page = visit.page
            handler = mock.server.RequestHandlerClass
            publish = handler.message
            self.addCleanup(setattr, handler, "message", publish)
            notes = (
                'id: 9000\nevent: pharos.feed.gap\ndata: {"from":100,"to":9000}\n\n'
                'event: pharos.feed.dropped\ndata: {"count":17}\n\n'
            )

            def message(own, number, event):
                return publish(own, number, event) + (notes if event["subject"] == "trigger" else "")

            handler.message = message
            page.goto(f"{mock.base}#/events")
            support.expect(page.locator("#live")).to_contain_text("Live")
            self.enter(mock, "trigger")
            support.expect(page.get_by_text("Events #100 to #9000 are no longer kept")).to_be_visible()
            support.expect(page.get_by_text("left out 17 events")).to_be_visible()
            self.assertEqual(visit.errors, [])
