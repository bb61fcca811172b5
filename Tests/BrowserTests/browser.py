"""A headless Chromium for the tests, or the reason why there is none."""

import os
import shutil
from pathlib import Path

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    sync_playwright = None
    expect = None

CANDIDATES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


def chromium():
    """The path of a browser: $CHROMIUM, or the first that is installed; None without one."""
    given = os.environ.get("CHROMIUM")
    if given:
        return given if os.access(given, os.X_OK) else None
    return next((path for path in map(shutil.which, CANDIDATES) if path), None)


def missing():
    """Why no browser test can run, or None."""
    if sync_playwright is None:
        return "Playwright for Python is not installed (pip install playwright)"
    if not chromium():
        return "no Chromium was found (apt-get install chromium, or set CHROMIUM to its path)"
    return None


AUDITS = (Path(__file__).parent / "audits.js").read_text()


def audit(call):
    """A script that calls a function of audits.js; a value that is handed over is called `given`."""
    return f"(given) => {{ {AUDITS}\nreturn {call}; }}"


class Browser:
    """One browser for all tests of a run."""

    def __init__(self):
        self.playwright = sync_playwright().start()
        # A container's user has no sandbox to enter; the pages are our own.
        self.chromium = self.playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        expect.set_options(timeout=15000)

    def close(self):
        self.chromium.close()
        self.playwright.stop()


class Visit:
    """A page in a context of its own, and all that went wrong in it."""

    def __init__(self, browser, width=1280, theme="light", height=900):
        self.context = browser.chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        self.context.set_default_timeout(15000)
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("console", self.note)
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))

    def note(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def forgive(self, *parts):
        """Forgets messages with one of these texts: those that a test brings about on purpose."""
        self.errors = [error for error in self.errors if not any(part in error for part in parts)]

    def close(self):
        self.context.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
