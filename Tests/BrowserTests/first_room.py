#!/usr/bin/env python3
"""Makes the first room on a server that runs, as a person would: Tests/BrowserTests/run first-room URL UDP-PORT"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import browser  # noqa: E402
import support  # noqa: E402
import test_first_run  # noqa: E402


def main():
    base, port = sys.argv[1], int(sys.argv[2])
    reason = browser.missing()
    if reason:
        raise SystemExit(f"first-room: {reason}")
    chromium = browser.Browser()
    begun = time.monotonic()
    with test_first_run.Gateway(port), support.Visit(chromium) as visit:
        visit.page.goto(base)
        heading = visit.page.get_by_role("heading", name=f"Gateway {test_first_run.GATEWAY} found, 3 beacons. Name it?")
        support.expect(heading).to_be_visible(timeout=10_000)
        print(f"gateway found after {time.monotonic() - begun:.1f} s")
        visit.page.get_by_role("button", name="Make the room").click()
        support.expect(visit.page.get_by_text("Room 1 is a room now.")).to_be_visible()
        tags = visit.page.locator(".figure", has_text="Tags in a room")
        support.expect(tags).to_contain_text("3 of 3 tags", timeout=30_000)
        print(f"first room with three tags after {time.monotonic() - begun:.1f} s")
        assert visit.errors == [], visit.errors
    chromium.close()


main()
