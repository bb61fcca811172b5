"""Makes the pictures of the README and of the day in the mall: pages of `serve --demo`, and what `explain` draws of a capture.

Usage: Tests/BrowserTests/run pictures
"""

import subprocess
import sys
import tempfile

from browser import Browser, Visit, expect, missing
from servers import REPOSITORY, Pharos, pharos_binary

DASHBOARD = REPOSITORY / "Sources/Model/PharosDashboard/PharosDashboard.docc/Resources/dashboard.png"
DAY = REPOSITORY / "Sources/Lab/PharosSimulation/PharosSimulation.docc/Resources/day-in-the-mall.png"
EXPLAIN = REPOSITORY / "Sources/Lab/PharosLab/PharosLab.docc/Resources/explain.svg"
SCENE = REPOSITORY / "Captures/noisy-doorway"


def draw_demo(binary):
    """Takes the overview once the demo has had some visits, and the notifications once both rules of its day have sent one."""
    with tempfile.TemporaryDirectory() as data, Pharos(binary, data) as server:
        browser = Browser()
        with Visit(browser, width=1280, height=720) as visit:
            visit.page.goto(server.base)
            expect(visit.page.get_by_role("link", name=" left ").nth(2)).to_be_visible(timeout=120_000)
            visit.page.wait_for_timeout(1_000)
            visit.page.screenshot(path=DASHBOARD)
            visit.page.goto(server.base + "#/notifications")
            for text in ("A sea chart of 1655: Drawn", "Leave now for Toy Chest: The"):
                expect(visit.page.get_by_text(text)).to_be_visible(timeout=480_000)
            visit.page.screenshot(path=DAY, full_page=True)
        browser.close()


def draw_explain(binary):
    """Draws the decisions of a tag in a doorway."""
    subprocess.run(
        [binary, "explain", SCENE / "capture.pcapng", "--site", SCENE / "site.yaml", "--svg", EXPLAIN],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main():
    reason = missing() or (None if pharos_binary() else "pharos is not built")
    if reason:
        sys.exit(f"no pictures: {reason}")
    for picture in (DASHBOARD, DAY, EXPLAIN):
        picture.parent.mkdir(parents=True, exist_ok=True)
    draw_demo(pharos_binary())
    draw_explain(pharos_binary())


main()
