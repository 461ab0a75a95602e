"""Home Assistant as the controller of a handkit-lamp, by its integration for HomeKit devices: no broker and no bridge between them."""

import os
import signal
import unittest

from case import Case
from world import HOUSE, SETUP_CODE, HandKitLamp, eventually

INTEGRATION = "homekit_controller"


@unittest.skipUnless(HOUSE, "needs a network of its own, where mDNS reaches nobody else; Tests/home-assistant/run makes one where it may")
class HomeKitControllerTests(Case):
    async def offer(self, lamp):
        """The dialogue that Home Assistant opened because it saw the lamp on the network."""

        async def found():
            flows = await self.ha().discovered(INTEGRATION)
            return next((flow for flow in flows if flow["context"].get("unique_id") == lamp.facts["mac"].lower()), None)

        return await eventually("Home Assistant sees a lamp that it may pair with", found)

    async def pair(self, flow, code):
        """What Home Assistant says to a setup code, which it asks for once more when the lamp has begun to pair."""
        page = await self.ha().go_on(flow["flow_id"], pairing_code=code)
        if page["type"] == "form" and not page["errors"]:
            page = await self.ha().go_on(flow["flow_id"], pairing_code=code)
        return page

    async def entity(self, domain):
        async def known():
            entities = (await self.ha().entities(INTEGRATION)).values()
            return next((entity for entity in entities if entity.startswith(f"{domain}.")), None)

        return await eventually(f"there is a {domain}", known)

    async def told(self, lamp, **wanted):
        await eventually(f"the lamp was told {wanted}", lambda: self.equal(lamp.told[-1:], [wanted]))

    async def by_hand(self, lamp, light, *states):
        """A hand on the lamp again and again. Home Assistant says nothing of when it has subscribed, and asks once a minute; after that
        events are sooner."""
        for number, state in enumerate(states):
            lamp.process.process.send_signal(signal.SIGUSR1)
            await self.state_is(light, state=state, seconds=20 if number else 180)

    async def test_a_lamp_is_found_paired_switched_dimmed_and_removed(self):
        await self.world.start_home_assistant(more="zeroconf:\n", with_broker=False)
        lamp = await self.world.start_lamp("Tür “2.0” 💡", HandKitLamp)
        flow = await self.offer(lamp)
        refusal = await self.pair(flow, "111-22-334")
        self.assertEqual({"pairing_code": "authentication_error"}, refusal["errors"])
        self.assertEqual(["ready", "wrong-code"], lamp.happened)
        done = await self.pair(flow, SETUP_CODE)
        self.assertEqual("create_entry", done["type"], done)
        self.assertIn("paired", lamp.happened)

        light = await self.entity("light")
        await self.state_is(light, state="off", supported_color_modes=["brightness"])
        await self.ha().call("light.turn_on", entity_id=light, brightness_pct=40)
        await self.told(lamp, on=True, brightness=40)
        await self.state_is(light, state="on", brightness=102)
        await self.ha().call("light.turn_on", entity_id=light, brightness_pct=80)
        await self.state_is(light, state="on", brightness=204)
        self.assertEqual(80, lamp.told[-1]["brightness"])
        await self.ha().call("light.turn_off", entity_id=light)
        await self.told(lamp, on=False)
        await self.state_is(light, state="off")
        await self.by_hand(lamp, light, "on", "off", "on")
        await self.ha().call("button.press", entity_id=await self.entity("button"))
        await eventually("the lamp shows itself", lambda: self.equal(lamp.identified, 1))

        # It comes back at another port, and off: it keeps who it is and whom it knows, and nothing else.
        await self.world.children.stop(lamp.process)
        await lamp.start()
        self.assertTrue(lamp.facts["paired"])
        await self.state_is(light, state="off", seconds=180)
        await self.ha().call("light.turn_on", entity_id=light, brightness_pct=60)
        await self.told(lamp, on=True, brightness=60)
        await self.by_hand(lamp, light, "off", "on")

        await self.ha().remove(done["result"]["entry_id"])
        await eventually("the lamp is nobody's", lambda: self.equal(lamp.happened[-1], "unpaired"))
        self.assertEqual({}, await self.ha().entities(INTEGRATION))
        await self.offer(lamp)
        self.no_complaints(about="homekit|aiohomekit")


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    unittest.main()
