"""Whether the lamp received what a clip's label file holds. Times are seconds of the clip."""

# By then a toggle has reached the lamp: the pinch has to be held a moment, goes through the broker, and the lamp is read and written.
TOGGLE_DELAY = 1.5
# A toggle may come this much before its label: fingers look as if they touched a frame or two before they do, and a clip's zero is
# only known from when the camera came online.
TOGGLE_LEAD = 0.25
# So long after a slide its last brightness may still be on the way.
SLIDE_DELAY = 0.5
# A slide moves the lamp by at least so many percent.
LEAST_SLIDE = 5


def problems(labels, writes):
    """One sentence for each thing that the clip holds and the lamp did not receive, or received and the clip does not hold.

    `writes` are what the lamp was told, with the times: {"on": bool}, {"brightness": percent}, or both for a slide that turns it on.
    """
    found = []
    toggles = [time for time, write in changes_of_power(writes)]
    for label in labels["events"]:
        match = next((time for time in toggles if label["t"] - TOGGLE_LEAD <= time <= label["t"] + TOGGLE_DELAY), None)
        if match is None:
            found.append(f"missing: the toggle at {label['t']:.1f} s")
        else:
            toggles.remove(match)
    found += [f"not in the clip: a toggle at {time:.1f} s" for time in toggles]

    for label in labels["brightness"]:
        # Labels are in coordinates of the picture. A camera does not mirror, so that right in the picture is the person's left: darker.
        sign, wish = (-1, "darker") if label["dx"] > 0 else (1, "brighter")
        told = [write["brightness"] for time, write in writes if "brightness" in write and time <= label["t_end"] + SLIDE_DELAY]
        earlier = [write["brightness"] for time, write in writes if "brightness" in write and time <= label["t_start"]]
        before, after = (earlier or told[:1] or [0])[-1], (told or [0])[-1]
        if sign * (after - before) < LEAST_SLIDE:
            found.append(f"missing: the slide to {wish} at {label['t_start']:.1f} s; the lamp went from {before} % to {after} %")
    return found


def changes_of_power(writes):
    """The writes of On alone that changed it; a lamp is off at first."""
    is_on = False
    for time, write in writes:
        if "brightness" not in write and write["on"] != is_on:
            yield time, write
        is_on = write.get("on", is_on)
