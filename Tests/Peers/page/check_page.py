"""Checks the recognizer's page in a real headless Chromium, on a recorded clip that is played again and again."""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import browser as chromium

TIP_COLORS = {4: (0x00, 0xE5, 0xFF), 8: (0xFF, 0x4F, 0xA6)}
TOKEN = "page-check-token"

# Centres of the pixels that have the colours of the finger tips, with the time of the picture they are drawn on.
TIPS = """
const canvas = document.getElementById('picture');
const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const found = {};
for (const [name, [r, g, b]] of Object.entries(arguments[0])) {
  let [count, x, y] = [0, 0, 0];
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === r && data[i + 1] === g && data[i + 2] === b) {
      count++; x += (i / 4) % width; y += Math.floor(i / 4 / width);
    }
  }
  if (count > 8) found[name] = [(x / count + 0.5) / width, (y / count + 0.5) / height];
}
return { time: Number(canvas.dataset.time), found };
"""


class Stage:
    """Broker and recognizer on free ports of 127.0.0.1, and what they left behind removed."""

    def __init__(self, programs, clip, folder):
        self.mqtt, self.http = chromium.free_port(), chromium.free_port()
        self.profiles = f"{folder}/profiles"
        config = f"{folder}/handkit.yaml"
        with open(config, "w") as file:
            json.dump({
                "mqtt": {"port": self.mqtt}, "preview": {"port": self.http, "token": TOKEN},
                "gestures": {"profiles": self.profiles},
            }, file)
        with open(f"{folder}/mosquitto.conf", "w") as file:
            file.write(f"listener {self.mqtt} 127.0.0.1\nallow_anonymous true\n")
        self.broker = subprocess.Popen(["mosquitto", "-c", f"{folder}/mosquitto.conf"], stderr=subprocess.DEVNULL)
        self.log = open(f"{folder}/recognizer.log", "w+")
        self.recognizer = subprocess.Popen(
            [f"{programs}/handkit-recognizer", "run", "--config", config, "--source", clip, "--loop"], stderr=self.log)

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.http}{path}"

    def get(self, path):
        request = urllib.request.Request(self.url(path), headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.read().decode()

    def metric(self, name):
        for line in self.get("/metrics").splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[-1])
        raise AssertionError(f"there is no metric {name}")

    def publish(self, topic, payload, retain=False):
        subprocess.run(["mosquitto_pub", "-p", str(self.mqtt), "-t", topic, "-m", payload] + ["-r"] * retain, check=True)

    def wait(self):
        for _ in range(300):
            try:
                if json.loads(self.get("/healthz"))["status"] == "ok":
                    return
            except (OSError, urllib.error.HTTPError):
                time.sleep(0.1)
        self.log.seek(0)
        raise AssertionError("the recognizer is not up: " + self.log.read()[-2000:])

    def close(self):
        for process in (self.recognizer, self.broker):
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait(10)


def replayed(programs, clip):
    """Landmarks of a clip's frames by their time, as the replay command prints them."""
    output = subprocess.run([f"{programs}/handkit-recognizer", "replay", "--landmarks", clip], check=True, capture_output=True)
    lines = [json.loads(line) for line in output.stdout.splitlines()]
    return {line["t"]: line["hands"] for line in lines if "hands" in line}


def check(condition, what):
    if not condition:
        raise AssertionError(what)
    print(f"  ok  {what}", flush=True)


def check_overlay(page, frames, transform, what):
    """The tips on the canvas lie where the replay found them in the picture of that time."""
    compared, worst = 0, 0.0
    end = time.monotonic() + 60
    while compared < 12 and time.monotonic() < end:
        seen = page.run(TIPS, {str(index): color for index, color in TIP_COLORS.items()})
        at = min(frames, key=lambda t: abs(t - seen["time"]))
        hands = frames[at]
        # Where the tips touch one is drawn over the other; there the centre of what is left says nothing.
        if abs(at - seen["time"]) > 0.002 or len(hands) != 1 or len(seen["found"]) < 2:
            time.sleep(0.03)
            continue
        points = [transform(*hands[0]["landmarks"][index][:2]) for index in (4, 8)]
        if max(abs(points[0][0] - points[1][0]), abs(points[0][1] - points[1][1])) < 0.08:
            time.sleep(0.03)
            continue
        for index, (x, y) in zip((4, 8), points):
            u, v = seen["found"][str(index)]
            worst = max(worst, abs(u - x), abs(v - y))
        compared += 1
        time.sleep(0.2)
    check(compared >= 12 and worst < 0.02, f"{what}: tips of {compared} pictures at most {worst:.3f} of the picture from the replay's")


def check_movement(page):
    page.wait("the brightness changes", """
        window.seen ??= new Set(); window.seen.add(document.getElementById('fill').style.width); return window.seen.size > 4""", 60)
    page.wait("a pinch shows", "return document.getElementById('pinch-state').textContent === 'pinched'", 60)
    page.wait("a slide shows", "return document.getElementById('slide-state').textContent === 'sliding'", 60)
    page.wait("a toggle is listed", "return document.getElementById('published').textContent.includes('toggle')", 60)
    check(True, "brightness, pinch, slide and the list of events move with the clip")
    before = page.run("return document.getElementById('plot').toDataURL()")
    page.wait("the plot moves", f"return document.getElementById('plot').toDataURL().length !== {len(before)}")
    check(True, "the plot moves")


def check_tuning(stage, page):
    """A pinch that no fingers can make ends the toggles; what was configured brings them back."""
    toggles = 'handkit_events_total{kind="toggle"}'
    page.wait("the form is there", "return document.getElementById('field-pinch.dwell_ms')")
    set_value = """
        const input = document.getElementById(arguments[0]); input.value = arguments[1]; input.dispatchEvent(new Event('change'));"""
    page.run(set_value, "field-pinch.dwell_ms", "9000")
    page.run(set_value, "field-pinch.doubtful_dwell_ms", "9000")
    page.wait("the server took it", "return document.querySelectorAll('.changed:not(:empty)').length === 2")
    time.sleep(0.5)
    before, start = stage.metric(toggles), stage.metric("handkit_frames_total")
    while stage.metric("handkit_frames_total") - start < 500:
        time.sleep(0.5)
    check(stage.metric(toggles) == before, "with a dwell of 9 s no pinch toggles in 500 frames")
    page.run("document.getElementById('reset').click()")
    end = time.monotonic() + 40
    while stage.metric(toggles) == before and time.monotonic() < end:
        time.sleep(0.3)
    check(stage.metric(toggles) > before, "as configured they toggle again")
    page.run(set_value, "field-pinch.open", "0.1")
    page.wait("the refusal is shown", "return document.getElementById('said').textContent.includes('larger than')")
    check(page.run("return document.getElementById('field-pinch.open').value") != "0.1", "values that do not fit are refused and put back")
    page.run(set_value, "field-pinch.close", "0.22")
    page.run("document.getElementById('name').value = 'anna'; document.getElementById('profile').requestSubmit()")
    page.wait("it is saved", "return document.getElementById('said').textContent === 'Saved as anna'")
    with open(f"{stage.profiles}/anna.yaml") as file:
        check("close: 0.22\n" in file.read(), "a profile is saved with what was tuned")
    page.run("document.getElementById('reset').click()")


def check_pause(stage, page):
    page.run("document.getElementById('pause').click()")
    page.wait("it is paused", "return document.getElementById('state').textContent === 'paused'")
    time.sleep(1)  # what was under way ends
    frames = stage.metric("handkit_frames_total")
    time.sleep(1)
    check(stage.metric("handkit_frames_total") == frames, "paused, no frame is recognised")
    page.run("document.getElementById('pause').click()")
    page.wait("it goes on", "return document.getElementById('state').textContent === 'running'")


def check_slow_watchers(stage):
    """Five that never read change neither the rate nor the memory, and nobody watching costs no picture."""
    def rate(seconds):
        start, clock = stage.metric("handkit_frames_total"), time.monotonic()
        time.sleep(seconds)
        return (stage.metric("handkit_frames_total") - start) / (time.monotonic() - clock)

    time.sleep(2)
    pictures = stage.metric("handkit_preview_pictures_total")
    # Other work on the machine disturbs a rate, watched or not, and rarely three times in a row.
    for attempt in range(3):
        alone = rate(6)
        if attempt == 0:
            check(stage.metric("handkit_preview_pictures_total") == pictures, "with nobody watching no picture is encoded")
        slow = []
        for path in ["/stream.mjpg"] * 5 + ["/events"] * 5:
            watcher = socket.create_connection(("127.0.0.1", stage.http))
            watcher.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            watcher.sendall(f"GET {path}?token={TOKEN} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            slow.append(watcher)
        time.sleep(4)
        memory = stage.metric("process_resident_memory_bytes")
        watched = rate(9)
        growth = stage.metric("process_resident_memory_bytes") - memory
        for watcher in slow:
            watcher.close()
        if watched > 0.9 * alone:
            break
        time.sleep(3)
    check(watched > 0.9 * alone, f"with five slow watchers {watched:.1f} frames/s are recognised, {alone:.1f} without")
    check(growth < 8e6, f"and memory grows by {growth / 1e6:.1f} MB meanwhile")
    check(stage.metric("handkit_preview_pictures_dropped_total") > 20, "they miss pictures instead")


def check_health(stage):
    def reasons():
        try:
            stage.get("/healthz")
            return []
        except urllib.error.HTTPError as error:
            return json.load(error)["reasons"] if error.code == 503 else None

    def eventually(what, condition):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if condition(reasons()):
                return check(True, what)
            time.sleep(0.2)
        raise AssertionError(f"never: {what}")

    eventually("/healthz is fine", lambda found: found == [])
    stage.broker.terminate()
    stage.broker.wait()
    eventually("/healthz fails without the broker and says so", lambda found: any("no broker" in reason for reason in found))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--clip", required=True)
    parser.add_argument("--pictures", required=True, help="folder for the screenshots")
    arguments = parser.parse_args()
    paths = chromium.find()
    if not paths:
        print("page: skipped, as Debian's packages chromium and chromium-driver are not installed")
        return 0
    os.makedirs(arguments.pictures, exist_ok=True)
    frames = replayed(arguments.programs, arguments.clip)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(arguments.programs, arguments.clip, folder)
        page = None
        try:
            stage.wait()
            stage.publish("handkit/camera/camera/target", '{"on":true,"brightness":57}', retain=True)
            page = chromium.Browser(paths, 1280, 860)
            page.open(stage.url(f"/?token={TOKEN}"))
            check(page.run("return location.search") == "", "the token leaves the address bar")
            page.wait("a picture is shown", "return document.getElementById('picture').dataset.time")
            page.wait("the lamp is shown", "return document.getElementById('lamp').textContent.includes('57')")
            check_overlay(page, frames, lambda x, y: (x, y), "as it is")
            page.run("document.getElementById('mirror').click()")
            check_overlay(page, frames, lambda x, y: (1 - x, y), "mirrored")
            page.run("document.getElementById('rotate').click()")
            check_overlay(page, frames, lambda x, y: (y, x), "turned and mirrored")
            page.run("document.getElementById('mirror').click()")
            check_overlay(page, frames, lambda x, y: (1 - y, x), "turned by 90°")
            page.run("document.getElementById('rotate').click()")
            check_overlay(page, frames, lambda x, y: (1 - x, 1 - y), "turned by 180°")
            page.run("for (let i = 0; i < 2; i++) document.getElementById('rotate').click()")
            check_movement(page)
            page.screenshot(f"{arguments.pictures}/desktop.png", whole=True)
            check_tuning(stage, page)
            check_pause(stage, page)
            complaints = [line for line in page.log() if "422" not in line and "willReadFrequently" not in line]
            check(complaints == [], f"the browser has nothing to complain of {complaints or ''}")
            page.close()
            for name, options in {
                "desktop-dark": dict(width=1280, height=860, dark=True), "phone": dict(width=390, height=844, mobile=True),
                "phone-dark": dict(width=390, height=844, mobile=True, dark=True),
            }.items():
                page = chromium.Browser(paths, **options)
                page.open(stage.url(f"/?token={TOKEN}"))
                page.wait("a pinch shows", "return document.getElementById('pinch-state').textContent === 'pinched'", 60)
                width = page.run("return document.documentElement.scrollWidth - innerWidth")
                check(width <= 0, f"{name}: nothing is wider than the screen")
                page.screenshot(f"{arguments.pictures}/{name}.png", whole=True)
                page.close()
            page = None
            check_slow_watchers(stage)
            check_health(stage)
        finally:
            if page:
                page.close()
            stage.close()
    print(f"page: passed; pictures of it are in {arguments.pictures}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as failure:
        sys.exit(f"page: {failure}")
