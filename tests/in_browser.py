"""Pages in a real browser, with all that they do besides being shown. The fixture `browser` is in `conftest.py`."""

import shutil

import pytest


def chromium():
    """A running Chromium: Playwright's own, or the one in PATH. Skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: extra `browser`")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with playwright.sync_playwright() as running:
        try:
            made = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except playwright.Error as problem:
            pytest.skip(f"there is no Chromium: {str(problem).splitlines()[0]}")
        yield made
        made.close()


class Seen:
    """A page that is open: what it asked the network for, what it said."""

    def __init__(self, context, file, address=""):
        self.context, self.page = context, context.new_page()
        self.requests, self.said = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.goto(file.as_uri() + address)
