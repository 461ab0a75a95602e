"""The ledger of Tests/kill-matrix: what it takes for a toggle to count as done once and in time."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from ledger import Ledger  # noqa: E402


class LedgerTests(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger()

    def problems(self, until=100):
        return self.ledger.judge(until)[1]

    def test_a_toggle_that_is_acted_on_once_is_right(self):
        self.ledger.toggle(10, "a", True)
        self.ledger.write(10.2, {"on": True})
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.ledger.judge(100)[0]["acted"], 1)

    def test_a_toggle_that_is_acted_on_twice_is_told(self):
        self.ledger.toggle(10, "a", True)
        self.ledger.write(10.2, {"on": True})
        self.ledger.write(11.2, {"on": False})
        self.assertIn("again", self.problems()[0])

    def test_a_toggle_that_is_acted_on_late_is_told(self):
        self.ledger.toggle(10, "a", True)
        self.ledger.trouble(9, 20, "cut")
        self.ledger.write(14, {"on": True})
        self.assertIn("late or replayed", self.problems()[0])

    def test_a_switched_lamp_without_any_toggle_is_told(self):
        self.ledger.write(5, {"on": True})
        self.assertEqual(len(self.problems()), 1)

    def test_a_toggle_may_be_lost_in_trouble_and_not_in_peace(self):
        self.ledger.toggle(10, "a", True)
        self.assertIn("nothing was wrong", self.problems()[0])
        self.ledger.trouble(11, 12, "cut")
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.ledger.judge(100)[0]["lost in trouble"], 1)

    def test_a_toggle_that_found_no_broker_is_no_fault_of_the_bridge(self):
        self.ledger.toggle(10, "a", False)
        self.assertEqual(self.problems(), [])

    def test_the_end_of_a_slide_is_where_the_lamp_is(self):
        self.ledger.slide(10, "ended", 57.3, True)
        self.ledger.write(10.1, {"on": True, "brightness": 57})
        self.assertEqual(self.problems(), [])
        self.ledger.write(10.4, {"brightness": 50})
        self.assertIn("57.3", self.problems()[0])

    def test_the_end_of_a_slide_is_not_judged_in_trouble_nor_when_another_follows_at_once(self):
        self.ledger.slide(10, "ended", 57.3, True)
        self.ledger.slide(10.5, "began", 57.3, True)
        self.assertEqual(self.problems(), [])
        self.ledger.slide(20, "ended", 30, True)
        self.ledger.trouble(21, 22, "cut")
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.ledger.judge(100)[0]["slides judged"], 0)

    def test_a_slide_to_0_switches_the_lamp_off_and_is_no_toggle(self):
        self.ledger.slide(10, "began", 0, True)
        self.ledger.write(10.1, {"on": False})
        self.ledger.slide(11, "ended", 0, True)
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.ledger.judge(100)[0]["slides judged"], 1)

    def test_the_off_of_a_slide_may_be_late_where_the_lamp_is_hard_to_reach_and_no_later(self):
        self.ledger.slide(10, "began", 0, True)
        self.ledger.slide(10.2, "changed", 3, True)
        self.ledger.write(13, {"on": False})
        self.ledger.write(13.1, {"on": True, "brightness": 3})
        self.assertEqual(self.problems(), [])
        self.ledger.write(14, {"on": False})
        self.assertIn("late or replayed", self.problems()[0])

    def test_an_off_that_a_toggle_explains_says_nothing_of_the_level(self):
        self.ledger.slide(8, "began", 0, True)
        self.ledger.slide(9, "ended", 30, True)
        self.ledger.write(9.1, {"on": True, "brightness": 30})
        self.ledger.toggle(9.5, "a", True)
        self.ledger.write(9.6, {"on": False})
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.ledger.judge(100)[0]["slides judged"], 1)

    def test_what_is_still_on_its_way_is_not_judged(self):
        self.ledger.toggle(99, "a", True)
        self.ledger.slide(99, "ended", 30, True)
        self.assertEqual(self.problems(), [])


if __name__ == "__main__":
    unittest.main()
