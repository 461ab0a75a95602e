"""Reads what mosquitto_sub wrote of a compose project, and judges whether the lamp followed the camera.

usage: watch.py FILE TOGGLES [SECONDS]

Waits until the file holds that many toggles of the camera and the lamp has done what each means; fails after so many seconds. Lines are
"TOPIC PAYLOAD", retained messages begin with "retained ".
"""

import json
import sys
import time


def judge(lines):
    """The number of toggles that the lamp has followed, and what is wrong: None, or a sentence."""
    lamp, pending, followed, level = None, [], 0, None
    for line in lines:
        retained = line.startswith("retained ")
        topic, _, payload = line.removeprefix("retained ").partition(" ")
        leaf = topic.rsplit("/", 1)[-1]
        if topic.startswith("handkit/camera/") and leaf in ("toggle", "brightness") and retained:
            return followed, "an event was retained"
        if topic.startswith("handkit/camera/") and leaf == "toggle":
            level = None
            if lamp is not None:
                pending.append("OFF" if (pending[-1] if pending else lamp) == "ON" else "ON")
        elif topic.startswith("handkit/camera/") and leaf == "brightness":
            level = round(json.loads(payload)["value"])
        elif topic.startswith("handkit/lamp/") and leaf == "state" and payload:
            state = json.loads(payload)["state"]
            if pending and state == pending[0]:
                pending.pop(0)
                followed += 1
            elif lamp and not retained and state != lamp and level is None:
                # A slide switches too: on where it goes up, off at 0.
                return followed, f"the lamp went {state} without a reason"
            lamp = state
    return followed, f"the lamp has still to go {pending[0]}" if pending else None


def main(path, wanted, seconds="120"):
    end = time.monotonic() + float(seconds)
    while True:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")[:-1]
        followed, wrong = judge(lines)
        if followed >= int(wanted) and not wrong:
            print(f"the lamp followed {followed} toggles")
            return 0
        if time.monotonic() > end:
            print("\n".join(lines[-30:]))
            print(f"the lamp followed {followed} toggles of {wanted}; {wrong or 'there were no more'}")
            return 1
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
