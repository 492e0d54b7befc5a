# SPDX-License-Identifier: BSD-3-Clause
"""The built manual: every public name is in the reference, and pages look as they should.

`make lint` and `make docs` build it in build/docs, with warnings as errors; this looks at it.
"""

from __future__ import annotations

import functools
import http.server
import importlib
import json
import re
import shutil
import subprocess
import threading
from html import unescape
from pathlib import Path
from typing import Any

import pytest

BUILT = Path(__file__).parents[2] / "build" / "docs"
WIDTHS = (400, 1300)
MODULES = ("op2", "mesh", "io", "plot", "fem")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

# Loads one page after the other into a frame, and writes what it measures into the document.
DRIVER = """<!DOCTYPE html><body><script>
const pages = PAGES, widths = WIDTHS, found = [];
const frame = document.createElement("iframe");
frame.style.height = "900px";
document.body.append(frame);
function load(page, width) {
  return new Promise(done => {
    frame.onload = () => setTimeout(done, 50);
    frame.style.width = width + "px";
    frame.src = page;
  });
}
(async () => {
  for (const page of pages) for (const width of widths) {
    await load(page, width);
    const inside = frame.contentDocument, root = inside.documentElement;
    const table = inside.querySelector("table");
    found.push({page, width, title: inside.title, height: root.scrollHeight,
      table: table ? table.getBoundingClientRect().bottom : 0,
      overflow: root.scrollWidth - root.clientWidth,
      missing: [...inside.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)});
  }
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(found);
  document.body.append(result);
})();
</script></body>"""


@pytest.fixture(scope="module")
def built() -> Path:
    if not (BUILT / "index.html").is_file():
        pytest.skip("the manual is not built here; make docs does it")
    return BUILT


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(built: Path, module: str) -> None:
    if module == "fem":
        pytest.importorskip("ufl")
    text = (built / "reference" / f"{module}.html").read_text(encoding="utf-8")
    there = set(re.findall(r'id="(pyop2cxx\.[\w.]+)"', text))
    names = importlib.import_module(f"pyop2cxx.{module}").__all__
    assert [name for name in names if f"pyop2cxx.{module}.{name}" not in there] == []


def pages_of(folder: Path) -> list[str]:
    named = (str(path.relative_to(folder)) for path in sorted(folder.rglob("*.html")))
    return [name for name in named if not name.startswith(("_", "adr/"))]


def measure(folder: Path) -> list[dict[str, Any]]:
    """Look at all pages of a folder in windows of all widths."""
    if CHROMIUM is None:
        pytest.skip("pages are looked at with Chromium, which is not installed")
    pages = pages_of(folder)
    driver = DRIVER.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS))

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/driver":
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(driver.encode())

        def log_message(self, *args: object) -> None:
            pass

    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/driver"
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=600000")
        size = "--window-size=1400,1000"
        done = subprocess.run(
            [CHROMIUM, *options, size, "--dump-dom", address],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        server.shutdown()
    result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert result is not None, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(unescape(result[1]))
    assert len(found) == len(pages) * len(WIDTHS)
    return found


@pytest.fixture(scope="module")
def measured(built: Path) -> list[dict[str, Any]]:
    return measure(built)


def test_what_is_wrong_with_a_page_is_seen(tmp_path: Path) -> None:
    wrong = '<title>t</title><div style="width: 700px; height: 400px">x</div><img src="none.png">'
    (tmp_path / "a.html").write_text(f"<!DOCTYPE html>{wrong}")
    narrow, wide = measure(tmp_path)
    assert narrow["overflow"] > 200
    assert wide["overflow"] == 0
    assert all(page["missing"][0].endswith("/none.png") for page in (narrow, wide))


def test_no_page_is_wider_than_the_window(measured: list[dict[str, Any]]) -> None:
    assert [(p["page"], p["width"], p["overflow"]) for p in measured if p["overflow"] > 1] == []


def test_the_front_page_says_what_this_is_in_one_screen(measured: list[dict[str, Any]]) -> None:
    (front,) = (p for p in measured if p["page"] == "index.html" and p["width"] == WIDTHS[-1])
    assert 0 < front["table"] <= 900


def test_no_picture_is_missing(measured: list[dict[str, Any]]) -> None:
    assert [(p["page"], p["missing"]) for p in measured if p["missing"]] == []


def test_every_page_has_a_title_and_something_in_it(measured: list[dict[str, Any]]) -> None:
    assert [p["page"] for p in measured if not p["title"] or p["height"] < 300] == []
