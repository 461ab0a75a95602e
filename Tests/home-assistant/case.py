"""What the tests have in common: a world of their own, and waiting for what Home Assistant says."""

import asyncio
import unittest

from world import PATIENCE, World, eventually


class Case(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().slow_callback_duration = 10
        self.world = await self.enterAsyncContext(World())

    def ha(self):
        return self.world.ha

    async def known(self, entities):
        async def all_there():
            return entities <= set((await self.ha().entities()).values())

        await eventually(f"Home Assistant knows {sorted(entities)}", all_there)

    async def available(self, *entities):
        async def all_available():
            states = await self.ha().states()
            return all(states.get(entity, {"state": "unavailable"})["state"] != "unavailable" for entity in entities)

        await eventually(f"{entities} are available", all_available)

    async def state_is(self, entity, *, seconds=PATIENCE, **wanted):
        async def is_so():
            state = await self.ha().state(entity)
            facts = state and {"state": state["state"], **state["attributes"]}
            return facts and all(facts.get(key) == value for key, value in wanted.items())

        try:
            await eventually(f"{entity} is {wanted}", is_so, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {await self.ha().state(entity)}") from None

    def no_complaints(self, but=(), about="mqtt|handkit|template|blueprint|lovelace"):
        self.assertEqual([], [line for line in self.ha().complaints(about) if not any(known in line for known in but)])

    async def equal(self, one, other):
        return one == other
