"""What was seen and what the lamp was told: whether each toggle was acted on once and in time, and each slide's end reached the lamp.

Times are seconds of one monotonic clock. Nothing here waits or asks; the events come in any order and are judged at the end.
"""

from bisect import bisect_right

# An event expires after three seconds, and the lamp then needs a moment to be read and written.
OLDEST_TOGGLE = 3.5
# What a log line may be behind the message that it tells of.
JITTER = 0.1
# By then the end of a slide has reached a lamp that answers.
SLIDE_DELAY = 1.5
# A lamp knows whole percents.
ROUNDING = 0.6


class Ledger:
    def __init__(self, start=0):
        self.start = start  # what a reader of the problems counts from
        self.toggles = []  # (time, id, published)
        self.ends = []  # (time, value, published)
        self.begins = []  # times at which slides began
        self.levels = []  # (time, value) of slides; 0 is Off for a lamp, and may wait for one that is away
        self.writes = []  # (time, {"on": bool, "brightness": percent})
        self.troubles = []  # (begin, end, kind)

    def toggle(self, time, id, published):
        self.toggles.append((time, id, published))

    def slide(self, time, phase, value, published):
        if phase == "began":
            self.begins.append(time)
        self.levels.append((time, value))
        if phase == "ended":
            self.ends.append((time, value, published))

    def write(self, time, told):
        self.writes.append((time, told))

    def trouble(self, begin, end, kind):
        self.troubles.append((begin, end, kind))

    def is_peace(self, begin, end):
        return all(end < trouble_begin or begin > trouble_end for trouble_begin, trouble_end, _ in self.troubles)

    def place(self, time):
        """For a person: when it was, and after which trouble."""
        kind = max(((begin, kind) for begin, _, kind in self.troubles if begin <= time), default=(0, "start"))[1]
        return f"{time - self.start:.2f} s, after {kind}"

    def judge(self, until):
        """Counts and problems of everything before the time `until`."""
        counts = {"toggles": 0, "acted": 0, "lost in trouble": 0, "slides": 0, "slides judged": 0}
        problems = []
        toggles = sorted(entry for entry in self.toggles if entry[0] < until)
        times = [time for time, _, _ in toggles]
        acted = set()
        told_levels = []  # (time, value) of what the lamp was told on behalf of slides
        for time, told in sorted(self.writes, key=lambda write: write[0]):
            if time >= until:
                break
            if "brightness" in told:
                told_levels.append((time, told["brightness"]))
                continue
            index = bisect_right(times, time + JITTER) - 1
            is_young = index >= 0 and time - times[index] <= OLDEST_TOGGLE
            if not told["on"] and (not is_young or index in acted) and self.slid_to_zero(time):
                told_levels.append((time, 0))
            elif not is_young:
                age = f"{time - times[index]:.1f} s old" if index >= 0 else "not there"
                power = "on" if told["on"] else "off"
                problems.append(f"the lamp was switched {power} at {self.place(time)}, and the latest toggle was {age}: late or replayed")
            elif index in acted:
                problems.append(f"toggle {toggles[index][1]} was acted on again {time - times[index]:.2f} s later, at {self.place(time)}")
            else:
                acted.add(index)
        for index, (time, id, published) in enumerate(toggles):
            counts["toggles"] += 1
            counts["acted"] += index in acted
            if index in acted:
                continue
            if published and self.is_peace(time - JITTER, time + OLDEST_TOGGLE) and time + OLDEST_TOGGLE < until:
                problems.append(f"toggle {id} was not acted on although nothing was wrong, at {self.place(time)}")
            else:
                counts["lost in trouble"] += 1
        for time, value, published in self.ends:
            counts["slides"] += 1
            deadline = time + SLIDE_DELAY
            is_followed = any(time < begin < deadline for begin in self.begins)
            if not published or is_followed or deadline >= until or not self.is_peace(time - JITTER, deadline):
                continue
            counts["slides judged"] += 1
            level = next((told for moment, told in reversed(told_levels) if moment <= deadline), None)
            if level is None or abs(level - value) > ROUNDING:
                problems.append(f"a slide left {value} %, and the lamp was at {level} %, at {self.place(time)}")
        return counts, problems

    def slid_to_zero(self, time):
        """Whether a slide explains an Off: the hand is at 0, or was so lately that the Off may have been on its way until now."""
        latest = None
        for moment, value in self.levels:
            if moment > time + JITTER:
                continue
            if value < 0.5 and time - moment <= OLDEST_TOGGLE:
                return True
            latest = max(latest or (moment, value), (moment, value))
        return latest is not None and latest[1] < 0.5
