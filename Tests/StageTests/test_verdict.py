"""The verdict of deploy/demo --once: what it takes for a lamp to have received what the shipped clip holds."""

import json
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "deploy/stage"))

import verdict  # noqa: E402


def on(time, value):
    return (time, {"on": value})


def level(time, value):
    return (time, {"brightness": value})


GOOD = [on(2.8, True), level(5.0, 61), level(5.6, 50), level(6.5, 39), level(7.4, 52), level(8.8, 74), level(9.8, 53), on(10.6, False)]


class Verdict(unittest.TestCase):
    def problems(self, writes):
        with open(os.path.join(ROOT, "deploy/clips/demo.json"), encoding="utf-8") as file:
            return verdict.problems(json.load(file), writes)

    def test_a_lamp_that_received_all_has_no_problems(self):
        self.assertEqual(self.problems(GOOD), [])

    def test_a_lamp_that_received_nothing_misses_each_toggle_and_slide(self):
        self.assertEqual([text.split(":")[0] for text in self.problems([])], ["missing"] * 4)

    def test_a_toggle_that_never_came_is_missing(self):
        self.assertEqual(self.problems(GOOD[:-1]), ["missing: the toggle at 10.3 s"])

    def test_a_toggle_too_late_or_too_early_does_not_count(self):
        for time in (10.0, 12.0):
            self.assertEqual(len(self.problems(GOOD[:-1] + [on(time, False)])), 2)

    def test_a_toggle_seen_a_frame_before_the_fingers_touch_counts(self):
        self.assertEqual(self.problems(GOOD[:-1] + [on(10.3, False)]), [])

    def test_a_toggle_that_the_clip_does_not_hold_is_told(self):
        writes = sorted(GOOD + [on(6.8, False), on(7.0, True)], key=lambda write: write[0])
        self.assertEqual(self.problems(writes), ["not in the clip: a toggle at 6.8 s", "not in the clip: a toggle at 7.0 s"])

    def test_writing_what_is_there_already_is_no_toggle(self):
        self.assertEqual(self.problems(GOOD + [on(11.0, False)]), [])

    def test_a_slide_the_wrong_way_is_missing(self):
        mirrored = [(time, {"brightness": 100 - told["brightness"]} if "brightness" in told else told) for time, told in GOOD]
        self.assertEqual([text.split(";")[0] for text in self.problems(mirrored)],
                         ["missing: the slide to darker at 5.2 s", "missing: the slide to brighter at 7.1 s"])

    def test_a_slide_that_turns_the_lamp_on_is_no_toggle(self):
        writes = [(5.3, {"on": True, "brightness": 60}), *GOOD[2:]]
        self.assertEqual(self.problems(writes), ["missing: the toggle at 2.6 s"])


if __name__ == "__main__":
    unittest.main()
