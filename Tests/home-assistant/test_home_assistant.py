"""What somebody with a Home Assistant sees of HandKit. `Tests/home-assistant/run` starts it."""

import asyncio
import json
import os
import re
import signal
import unittest

from case import Case
from world import REPOSITORY, eventually, labels

CAMERA_ENTITIES = {
    "event.handkit_camera_toggle", "sensor.handkit_camera_brightness", "binary_sensor.handkit_camera_hand", "sensor.handkit_camera_fingers",
    "switch.handkit_camera_enabled", "select.handkit_camera_profile", "sensor.handkit_camera_last_crash", "sensor.handkit_camera_frame_rate",
    "sensor.handkit_camera_frame_age",
}
LAMP_ENTITIES = {"light.desk", "sensor.desk_status", "button.desk_identify"}
BRIDGE_ENTITIES = {
    "sensor.handkit_bridge_lamps_available", "sensor.handkit_bridge_events_accepted", "sensor.handkit_bridge_events_rejected",
    "button.handkit_bridge_refresh", "sensor.handkit_bridge_last_crash",
}
ALL = CAMERA_ENTITIES | LAMP_ENTITIES | BRIDGE_ENTITIES

AUTOMATIONS = """\
- id: pinch
  alias: Pinch
  use_blueprint:
    path: handkit/pinch.yaml
    input:
      toggle: event.handkit_camera_toggle
      actions:
        - action: input_boolean.toggle
          target:
            entity_id: input_boolean.witness
"""


class Fires:
    """The moments at which an event entity has fired; one that only comes back after a restart keeps its moment."""

    def __init__(self, world, entity="event.handkit_camera_toggle"):
        self.world, self.entity = world, entity
        self.moments, self.known = [], {"unavailable", "unknown"}

    async def follow(self):
        state = await self.world.ha.state(self.entity)
        if state:
            self.known.add(state["state"])

        def changed(event):
            data = event["data"]
            if data["entity_id"] == self.entity and data["new_state"] and data["new_state"]["state"] not in self.known:
                self.known.add(data["new_state"]["state"])
                self.moments.append(data["new_state"])

        await self.world.ha.listen("subscribe_events", changed, event_type="state_changed")
        return self

    def __len__(self):
        return len(self.moments)


class HomeAssistantTests(Case):
    async def one_of_each(self, automations="[]", more=""):
        """A camera, a lamp, a bridge and a Home Assistant that knows nothing but the broker."""
        await self.world.start_home_assistant(automations)
        await self.world.start_lamp("desk")
        self.configuration = self.world.configure("handkit", lamps=["desk"], more=more)
        await self.world.pair(self.configuration, "desk")
        self.bridge = await self.world.start_bridge(self.configuration)
        self.recognizer = await self.world.start_recognizer(self.configuration)
        await self.known(ALL)
        await self.available("event.handkit_camera_toggle", "light.desk")

    async def test_everything_appears_without_configuration_and_in_order(self):
        await self.one_of_each(automations=AUTOMATIONS)
        devices = await self.ha().devices()
        self.assertEqual({"handkit_camera_camera", "handkit_bridge_bridge", "handkit_lamp_desk"}, set(devices))
        self.assertEqual(devices["handkit_bridge_bridge"]["id"], devices["handkit_lamp_desk"]["via_device_id"])
        entities = await self.ha().entities()
        self.assertEqual(ALL, set(entities.values()))
        self.assertEqual("light.desk", entities["handkit_lamp_desk_light"])

        registry = {entry["entity_id"]: entry for entry in await self.ha().result("config/entity_registry/list")}
        for entity in ("sensor.handkit_camera_frame_rate", "sensor.handkit_camera_frame_age"):
            self.assertEqual("integration", registry[entity]["disabled_by"])
            self.assertEqual("diagnostic", registry[entity]["entity_category"])
        states = await self.ha().states()
        self.assertEqual("off", states["binary_sensor.handkit_camera_hand"]["state"])
        self.assertEqual("on", states["switch.handkit_camera_enabled"]["state"])
        await self.state_is("sensor.handkit_bridge_lamps_available", state="1")
        await self.state_is("sensor.desk_status", state="ok")

        triggers = await self.ha().result("device_automation/trigger/list", device_id=devices["handkit_camera_camera"]["id"])
        subtypes = {trigger["subtype"] for trigger in triggers if trigger["domain"] == "mqtt"}
        self.assertEqual({"toggle", "slide_began", "slide_ended"}, subtypes)

        blueprints = await self.ha().result("blueprint/list", domain="automation")
        self.assertNotIn("error", blueprints["handkit/pinch.yaml"])
        await self.state_is("automation.pinch", state="on")
        dashboard = await self.ha().result("lovelace/config", url_path="hand-kit")
        named = set(re.findall(r"(?<='entity': ')[a-z_.]+", str(dashboard)))
        self.assertGreater(len(named), 5)
        self.assertLessEqual(named, set(states), "the dashboard names entities that do not exist")
        self.no_complaints()

    async def test_a_clip_fires_once_a_pinch_and_brightness_follows_a_slide(self):
        await self.one_of_each(automations=AUTOMATIONS)
        await self.world.children.stop(self.recognizer)
        await self.state_is("event.handkit_camera_toggle", state="unavailable")
        fires = await Fires(self.world).follow()
        pinches = "pinch_hold_release_pinch"
        clip = await self.world.start_recognizer(self.configuration, pinches, loops=False)
        self.assertEqual(0, await clip.ended())
        wanted = len(labels(pinches)["events"])
        await eventually("every pinch has fired", lambda: self.equal(len(fires), wanted))
        for moment in fires.moments:
            self.assertEqual("toggle", moment["attributes"]["event_type"])
            self.assertIn(moment["attributes"]["hand"], ("left", "right"))
        # The blueprint ran as often: an even number of times leaves the witness off, and the automation counts.
        await self.state_is("input_boolean.witness", state="off")
        levels = []

        def changed(event):
            data = event["data"]
            if data["entity_id"] == "sensor.handkit_camera_brightness" and data["new_state"]["state"].isdigit():
                levels.append(int(data["new_state"]["state"]))

        await self.ha().listen("subscribe_events", changed, event_type="state_changed")
        await self.ha().call("light.turn_on", entity_id="light.desk", brightness_pct=50)
        clip = await self.world.start_recognizer(self.configuration, "slide_return", loops=False)
        self.assertEqual(0, await clip.ended())
        # The picture is not mirrored: a finger that goes right in it goes to the person's left, and darkens; and comes back.
        self.assertLess(min(levels), 40)
        self.assertGreater(levels[-1], min(levels) + 5)
        self.assertEqual(wanted, len(fires), "a slide is no pinch, and nothing fires twice")
        self.no_complaints()

    async def test_the_lamp_both_ways(self):
        await self.one_of_each()
        lamp = self.world.lamps["desk"]

        async def turn(service, wanted, **data):
            lamp.told.clear()
            await self.ha().call(service, entity_id="light.desk", **data)
            await eventually(f"the lamp was told {wanted}", lambda: self.equal(lamp.told[-1:], [wanted]))

        await turn("light.turn_on", {"on": True, "brightness": 30}, brightness_pct=30)
        await self.state_is("light.desk", state="on", brightness=round(30 * 2.55))
        await turn("light.turn_on", {"brightness": 80}, brightness_pct=80)
        await self.state_is("light.desk", state="on", brightness=204)
        await turn("light.turn_off", {"on": False})
        await self.state_is("light.desk", state="off")
        await turn("light.toggle", {"on": True})
        await self.state_is("light.desk", state="on", brightness=204)
        # Somebody at the lamp: its own event arrives, nothing is polled.
        lamp.process.process.send_signal(signal.SIGUSR1)
        await self.state_is("light.desk", state="off", seconds=5)
        lamp.process.process.send_signal(signal.SIGUSR1)
        await self.state_is("light.desk", state="on", seconds=5)
        await self.ha().call("button.press", entity_id="button.desk_identify")
        await eventually("the lamp shows itself", lambda: self.equal(lamp.identified, 1))
        # A lamp that is gone is unavailable, the bridge is not, and says why.
        await self.world.children.stop(lamp.process)
        await self.state_is("light.desk", state="unavailable")
        await self.state_is("sensor.desk_status", state="unreachable")
        await self.state_is("sensor.handkit_bridge_lamps_available", state="0")
        self.no_complaints()

    async def test_switching_recognition_off_and_arming_from_home_assistant(self):
        await self.one_of_each(more="gestures:\n  arming:\n    mode: command\n")
        await self.known({"switch.handkit_camera_armed"})
        await self.state_is("switch.handkit_camera_armed", state="off")
        await self.ha().call("switch.turn_on", entity_id="switch.handkit_camera_armed")
        await self.state_is("switch.handkit_camera_armed", state="on")
        await self.ha().call("switch.turn_off", entity_id="switch.handkit_camera_enabled")
        await self.state_is("switch.handkit_camera_enabled", state="off")
        await self.ha().call("switch.turn_on", entity_id="switch.handkit_camera_enabled")
        await self.state_is("switch.handkit_camera_enabled", state="on")
        self.no_complaints()

    async def test_a_profile_is_chosen_in_home_assistant(self):
        os.mkdir(self.world.path("profiles"))
        self.world.write("profiles/day.yaml", "pinch:\n  close: 0.2\n")
        self.world.write("profiles/night.yaml", "pinch:\n  close: 0.22\n")
        await self.one_of_each(more=f"gestures:\n  profiles: {self.world.path('profiles')}\n")
        await self.state_is("select.handkit_camera_profile", state="unknown", options=["day", "default", "handkit", "night"])
        await self.ha().call("select.select_option", entity_id="select.handkit_camera_profile", option="night")
        await self.state_is("select.handkit_camera_profile", state="night")
        self.assertEqual("night", await self.world.retained("handkit/camera/camera/profile"))
        await self.world.publish("handkit/camera/camera/profile/set", "absent")
        await self.world.publish("handkit/camera/camera/profile/set", "../night")
        await self.ha().call("select.select_option", entity_id="select.handkit_camera_profile", option="day")
        await self.state_is("select.handkit_camera_profile", state="day")
        self.no_complaints()

    async def test_a_device_trigger_fires_with_a_pinch(self):
        await self.one_of_each()
        camera = (await self.ha().devices())["handkit_camera_camera"]["id"]
        triggers = await self.ha().result("device_automation/trigger/list", device_id=camera)
        trigger = next(item for item in triggers if item.get("subtype") == "toggle")
        fired = []
        await self.ha().listen("subscribe_trigger", fired.append, trigger=trigger)
        await asyncio.sleep(2)  # Home Assistant subscribes a little later, and says nothing about it
        clip = await self.another_run("lost_while_pinched")
        self.assertEqual(0, await clip.ended())
        await eventually("the trigger fired", lambda: self.equal(len(fired), 1))

    async def another_run(self, source):
        await self.world.children.stop(self.recognizer)
        return await self.world.start_recognizer(self.configuration, source, loops=False)

    async def test_restarts_keep_entities_and_ids_and_bring_no_toggle_back(self):
        await self.one_of_each(automations=AUTOMATIONS)
        fires = await Fires(self.world).follow()
        await self.world.publish(
            "handkit/camera/camera/toggle",
            '{"event_type":"toggle","id":"0-1","ts":"2026-01-01T00:00:00.000Z","hand":"right","confidence":0.9,"v":1}')
        await eventually("the event has fired", lambda: self.equal(len(fires), 1))
        await self.state_is("input_boolean.witness", state="on")
        await self.state_is("light.desk", state="on")
        await self.ha().call("light.turn_on", entity_id="light.desk", brightness_pct=42)
        await self.state_is("light.desk", brightness=107)
        before = await self.ha().entities()
        lamp = self.world.lamps["desk"]
        lamp.told.clear()

        async def all_is_as_before(what):
            await self.available("event.handkit_camera_toggle", "sensor.handkit_camera_brightness", "light.desk")
            await self.state_is("light.desk", state="on", brightness=107)
            self.assertEqual(before, await self.ha().entities(), f"after {what}")
            self.assertEqual(1, len(fires), f"{what} fired the event")
            self.assertEqual([], lamp.told, f"{what} moved the lamp")

        await self.ha().restart()
        witness = await self.ha().state("input_boolean.witness")
        again = Fires(self.world)
        again.known |= fires.known  # what comes back with its old moment
        await again.follow()
        await all_is_as_before("a restart of Home Assistant")
        self.assertEqual(witness["last_changed"], (await self.ha().state("input_boolean.witness"))["last_changed"])

        self.world.broker.may_end = True
        self.world.broker.process.send_signal(signal.SIGKILL)
        await self.world.broker.ended()
        await self.state_is("light.desk", state="unavailable")
        await self.world.start_broker()
        await all_is_as_before("a restart of the broker")

        await self.world.children.stop(self.recognizer)
        await self.state_is("event.handkit_camera_toggle", state="unavailable")
        self.recognizer = await self.world.start_recognizer(self.configuration)
        await all_is_as_before("a restart of the recognizer")

        self.bridge.may_end = True
        self.bridge.process.send_signal(signal.SIGKILL)
        await self.bridge.ended()
        await self.state_is("light.desk", state="unavailable")
        await self.world.start_bridge(self.configuration)
        await all_is_as_before("a crash of the bridge")
        self.assertEqual(0, len(again))
        self.assertEqual(witness["last_changed"], (await self.ha().state("input_boolean.witness"))["last_changed"])
        self.no_complaints(but=("connection was lost", "not currently connected"))

    async def test_what_is_gone_is_taken_back(self):
        await self.one_of_each(more="gestures:\n  arming:\n    mode: command\n")
        await self.world.start_lamp("hall")
        await self.world.pair(self.configuration, "hall")
        await self.world.children.stop(self.bridge)
        both = self.world.configure("handkit", lamps=["desk", "hall"])
        self.bridge = await self.world.start_bridge(both)
        await self.known({"light.hall", "switch.handkit_camera_armed"})

        await self.world.children.stop(self.bridge)
        await self.world.children.stop(self.recognizer)
        # A stranger's announcement is not theirs to clear.
        stranger = {
            "device": {"identifiers": ["stranger"], "name": "Stranger"}, "origin": {"name": "HandKit"},
            "availability": [{"topic": "handkit/bridge/attic/availability"}],
            "components": {"a": {"platform": "sensor", "unique_id": "stranger_a", "name": "A", "state_topic": "stranger/a"}},
        }
        await self.world.publish("homeassistant/device/handkit_lamp_attic/config", json.dumps(stranger), "-r")
        less = self.world.configure("handkit", lamps=["desk"])
        self.bridge = await self.world.start_bridge(less)
        self.recognizer = await self.world.start_recognizer(less)

        async def gone():
            entities = set((await self.ha().entities()).values())
            return not entities & {"light.hall", "sensor.hall_status", "switch.handkit_camera_armed"}

        await eventually("lamp and switch are gone", gone)
        self.assertNotIn("handkit_lamp_hall", await self.ha().devices())
        self.assertLessEqual(ALL | {"sensor.stranger_a"}, set((await self.ha().entities()).values()))
        self.assertIsNone(await self.world.retained("homeassistant/device/handkit_lamp_hall/config"))

        await self.world.children.stop(self.bridge)
        await self.world.children.stop(self.recognizer)
        off = self.world.configure("handkit", lamps=["desk"], more="homeassistant:\n  enabled: false\n")
        await self.world.start_bridge(off)
        await self.world.start_recognizer(off)

        async def all_gone():
            return set((await self.ha().devices())) == {"stranger"}

        await eventually("everything is gone but the stranger", all_gone)

    async def test_two_of_each_on_one_broker_do_not_clash(self):
        await self.world.start_home_assistant()
        configurations = {}
        for side in ("left", "right"):
            await self.world.start_lamp(side)
            configurations[side] = self.world.configure(side, camera=side, bridge=side, lamps=[side])
            await self.world.pair(configurations[side], side)
            await self.world.start_bridge(configurations[side])
            await self.world.start_recognizer(configurations[side])
        await self.known({f"event.handkit_camera_{side}_toggle" for side in ("left", "right")} | {"light.left", "light.right"})
        await self.available("event.handkit_camera_left_toggle", "event.handkit_camera_right_toggle", "light.left", "light.right")
        self.assertEqual(
            {f"handkit_{kind}_{side}" for kind in ("camera", "bridge", "lamp") for side in ("left", "right")},
            set(await self.ha().devices()))
        left, right = [await Fires(self.world, f"event.handkit_camera_{side}_toggle").follow() for side in ("left", "right")]
        await self.world.publish(
            "handkit/camera/left/toggle",
            '{"event_type":"toggle","id":"0-1","ts":"2026-01-01T00:00:00.000Z","hand":"left","confidence":0.9,"v":1}')
        await eventually("the left one has fired", lambda: self.equal(len(left), 1))
        await self.ha().call("light.turn_on", entity_id="light.right", brightness_pct=20)
        await eventually("the right lamp was told", lambda: self.equal(self.world.lamps["right"].told, [{"on": True, "brightness": 20}]))
        await self.state_is("light.right", state="on", brightness=51)
        self.assertEqual(0, len(right))
        self.assertNotIn({"on": True, "brightness": 20}, self.world.lamps["left"].told)
        for side in ("left", "right"):
            self.assertEqual("online", await self.world.retained(f"handkit/bridge/{side}/availability"))
        self.no_complaints()


if __name__ == "__main__":
    os.chdir(REPOSITORY)
    unittest.main()
