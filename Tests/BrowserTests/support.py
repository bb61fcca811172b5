"""What all browser tests begin with."""

import re
import unittest
from datetime import datetime, timezone
from random import Random

from browser import Browser, Visit, audit, expect, missing
from servers import Mock, Pharos, pharos_binary, serves_http

__all__ = [
    "BrowserTest",
    "Mock",
    "Pharos",
    "Random",
    "Visit",
    "audit",
    "close_browser",
    "expect",
    "matching",
    "now",
    "pharos_binary",
    "serves_http",
]

_browser = None


def matching(pattern):
    """A pattern for expectations."""
    return re.compile(pattern)


def now():
    """The time as the server writes it."""
    return datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")


def close_browser():
    """Closes the browser of the run, if one was opened."""
    global _browser
    if _browser:
        _browser.close()
        _browser = None


class BrowserTest(unittest.TestCase):
    """A test with a browser; skipped with the reason where there is none."""

    @classmethod
    def setUpClass(cls):
        global _browser
        reason = missing()
        if reason:
            raise unittest.SkipTest(reason)
        if _browser is None:
            _browser = Browser()
        cls.browser = _browser


class MockTest(BrowserTest):
    """A test on one page against a mock server of its own; nothing may go wrong on the page."""

    # The arguments of the mock server, and the width of the page.
    mocked = {}
    width = 1280

    def setUp(self):
        self.mock = Mock(**self.mocked)
        self.addCleanup(self.mock.stop)
        self.world = self.mock.world
        self.visit = Visit(self.browser, width=self.width)
        self.addCleanup(self.visit.close)
        self.page = self.visit.page

    def tearDown(self):
        self.assertEqual(self.visit.errors, [])

    def open(self, route):
        self.page.goto(f"{self.mock.base}#/{route}")


class ModuleTest(BrowserTest):
    """A test of functions of the pages, called with values."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mock = Mock(empty=True)
        cls.visit = Visit(cls.browser)
        cls.visit.page.goto(cls.mock.base)

    @classmethod
    def tearDownClass(cls):
        cls.visit.close()
        cls.mock.stop()

    def run_in(self, module, body, argument=None):
        return self.visit.page.evaluate(
            f"async (given) => {{ const it = await import('/assets/{module}'); {body} }}", argument
        )
