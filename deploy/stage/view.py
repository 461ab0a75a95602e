"""What the terminal shows: three voices, one line each - what is seen, what is published, what is done to the lamp."""

import json
import shutil
import sys
import time

COLOURS = {"seen": "36", "published": "35", "lamp": "33", "stage": "2", "warning": "31"}
# How often a topic is shown that says something many times a second, in seconds.
SHOWN_EVERY = 1.0


class View:
    def __init__(self, out=sys.stdout, clock=time.monotonic):
        self.out = out
        self.clock = clock
        self.start = clock()
        self.is_terminal = out.isatty()
        self.topics = {}
        self.hand = None
        self.lamp = {"on": False, "brightness": 0}

    def line(self, voice, text):
        stamp = f"{self.clock() - self.start:6.2f}"
        name = f"{voice:<9}"
        if self.is_terminal:
            room = shutil.get_terminal_size().columns - len(f"{stamp}  {name}  ")
            text = text if len(text) <= room else text[: room - 1] + "…"
            name = f"\033[{COLOURS[voice]}m{name}\033[0m"
            stamp = f"\033[2m{stamp}\033[0m"
        print(f"{stamp}  {name}  {text}", file=self.out, flush=True)

    def stage(self, text):
        self.line("stage", text)

    def message(self, topic, payload):
        """One message on the broker: in words where it says what was seen, then the message itself, unless it is one of very many."""
        says = members(payload)
        for text in self.meaning(topic, says):
            self.line("seen", text)
        if "/lamp/" in topic and topic.endswith("/state"):
            self.lamp["brightness"] = says.get("brightness", self.lamp["brightness"])
        shown, skipped = self.topics.get(topic, (None, 0))
        now = self.clock()
        one_of_many = topic.endswith(("/state", "/target")) or says.get("phase") == "changed"
        if one_of_many and shown is not None and now - shown < SHOWN_EVERY:
            self.topics[topic] = (shown, skipped + 1)
            return
        self.topics[topic] = (now, 0)
        more = f"(after {skipped} more) " if skipped else ""
        self.line("published", f"{more}{topic} {payload}")

    def meaning(self, topic, says):
        """In words, what a message of the recognizer says about the person."""
        if "/camera/" not in topic:
            return
        if topic.endswith("/toggle"):
            yield f"thumb and index finger of the {says.get('hand')} hand touch"
        elif says.get("phase") == "began":
            yield "the finger starts to move sideways"
        elif says.get("phase") == "ended":
            yield f"the finger stops; it moved {abs(says.get('displacement', 0)):.0%} of the picture"
        elif "hand" in says and says["hand"] != self.hand:
            self.hand = says["hand"]
            yield "a hand" if self.hand else "no hand"

    def lamp_was_told(self, told):
        self.lamp.update(told)
        brightness = self.lamp["brightness"] if self.lamp["on"] else 0
        filled = round(brightness / 5)
        self.line("lamp", f"{'on ' if self.lamp['on'] else 'off'}  {'█' * filled}{'░' * (20 - filled)}  {brightness:3d} %")

    def service_says(self, line):
        """One line of a service's log: shown where it is a warning or an error."""
        record = members(line)
        if record.get("level") in ("warning", "error"):
            fields = "".join(f" {key}={value}" for key, value in record["fields"].items())
            self.line("warning", f"{record['program']}: {record['message']}{fields}")


def members(text):
    """The members of a JSON object; of anything else none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
