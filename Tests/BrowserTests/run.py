#!/usr/bin/env python3
"""Runs the browser tests: Tests/BrowserTests/run [names of tests]

Without Playwright or Chromium all are skipped, with the reason, and the command succeeds. $CHROMIUM and $PHAROS name a
browser and a built server other than the usual ones; without a server that has pages, the tests against it are skipped.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import browser  # noqa: E402
import support  # noqa: E402


def main():
    reason = browser.missing()
    if reason:
        print(f"skipped: the browser tests, since {reason}")
        return 0
    loader = unittest.TestLoader()
    names = sys.argv[1:]
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(Path(__file__).parent))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    support.close_browser()
    for test, why in result.skipped:
        print(f"skipped: {test}, since {why}")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
