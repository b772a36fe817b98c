"""Pages in a real browser, with all that they do besides being shown. The fixture `browser` is in `conftest.py`."""

import shutil

from needs import BROWSERS, imported, need


def chromium():
    """A running Chromium: Playwright's own, or the one in PATH. Skips where there is none."""
    playwright = imported("playwright", "playwright.sync_api")
    need("chromium")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
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
