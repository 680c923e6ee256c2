"""A real browser without a screen, to look at the pages that the package writes."""

import json
import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--window-size=900,600",
    "--virtual-time-budget=4000",
)


def browser() -> str:
    for name in NAMES:
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium on this machine")


def run(page, tmp_path, *arguments) -> str:
    command = [browser(), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *arguments, page.resolve().as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def screenshot(page, tmp_path):
    """The path of a PNG of the page."""
    picture = tmp_path / f"{page.stem}.png"
    run(page, tmp_path, f"--screenshot={picture}")
    return picture


def evaluate(page, tmp_path, script: str, ready: str = "window.player && window.player.ready"):
    """What a script finds in the page once it is ready; the script is the body of an async function."""
    probe = f"""<script>
      async function probe() {{
        while (!({ready})) await new Promise((done) => setTimeout(done, 20));
        {script}
      }}
      probe().catch((error) => ({{ error: String(error) }})).then((found) => {{
        const result = document.createElement("pre");
        result.id = "result";
        result.textContent = JSON.stringify(found);
        document.body.append(result);
      }});
    </script>"""
    probed = tmp_path / f"probed-{page.name}"
    probed.write_text(page.read_text(encoding="utf-8").replace("</body>", probe + "</body>"), encoding="utf-8")
    written = run(probed, tmp_path, "--dump-dom")
    found = re.search(r'<pre id="result">(.*?)</pre>', written, re.DOTALL)
    assert found, "the page did not finish: " + written[-500:]
    return json.loads(found.group(1))
