"""Pictures of a report page: its top, and its examples in dark colours. Needs playwright and chromium.

`python docs/making/report_pictures.py FEATURES IMAGES`, e.g. a trained ResNet-20's features of CIFAR-10 (npz) and
`cifar10:cifar-10-batches-py`, prunes 90 % of the rows with weights, writes the report and takes the pictures into docs/images/.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "images"
COLOURS = 160  # of the pictures; all that a page of text and thumbnails needs


def main(features: str, images: str) -> None:
    """Prune, write the report and take its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        run, page = Path(folder, "run"), Path(folder, "report.html")
        _leanset("prune", features, "--fraction", "0.9", "--weights", "--out", str(run))
        _leanset("report", str(run), "--data", features, "--images", images, "--out", str(page))
        take(page)


def take(page: Path) -> None:
    """Take the pictures of a report."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1160, "height": 980})
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-drawn=yes]")
        tab.wait_for_timeout(500)
        _save(tab.screenshot(), "report.png")
        tab.add_style_tag(content="html { scroll-behavior: auto !important }")
        tab.click("#look")
        tab.evaluate("document.getElementById('examples').scrollIntoView()")
        tab.wait_for_timeout(500)
        _save(tab.screenshot(), "report-examples.png")
        browser.close()


def _save(picture: bytes, name: str) -> None:
    path = IMAGES / name
    path.write_bytes(picture)
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _leanset(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "leanset", *arguments, "--quiet"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
