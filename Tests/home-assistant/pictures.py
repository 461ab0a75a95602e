"""Takes the pictures of the documentation: what Home Assistant's own pages show of HandKit, through a headless Chromium.

Run by hand after a change of what is announced: `Tests/home-assistant/run --pictures FOLDER`.
"""

import asyncio
import base64
import itertools
import json
import os
import sys
import time

import aiohttp

from test_home_assistant import AUTOMATIONS, HomeAssistantTests
from world import World, eventually, free_port


class Browser:
    """A page of a Chromium, spoken to in its DevTools protocol."""

    def __init__(self, children, folder):
        self.children, self.folder, self.port = children, folder, free_port()
        self.numbers = itertools.count(1)

    async def open(self, width, height):
        await self.children.start(
            "chromium", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--lang=en",
            f"--remote-debugging-port={self.port}", f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank")
        self.session = aiohttp.ClientSession()

        async def target():
            try:
                async with self.session.get(f"http://127.0.0.1:{self.port}/json") as answer:
                    return [page for page in await answer.json(content_type=None) if page["type"] == "page"]
            except aiohttp.ClientError:
                return None

        pages = await eventually("Chromium answers", target)
        self.socket = await self.session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
        await self.do("Page.enable")
        await self.do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    async def do(self, method, **parameters):
        number = next(self.numbers)
        await self.socket.send_json({"id": number, "method": method, "params": parameters})
        async for message in self.socket:
            answer = json.loads(message.data)
            if answer.get("id") == number:
                return answer.get("result", {})

    async def picture(self, path):
        result = await self.do("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(result["data"]))

    async def close(self):
        await self.socket.close()
        await self.session.close()


async def main(folder):
    test = HomeAssistantTests()
    async with World() as world:
        test.world = world
        await test.one_of_each(automations=AUTOMATIONS)
        await world.ha.call("light.turn_on", entity_id="light.desk", brightness_pct=57)
        await world.children.stop(test.recognizer)
        await world.start_recognizer(test.configuration, "slide_return")
        await test.state_is("binary_sensor.handkit_camera_hand", state="on")
        tokens = {**world.ha.tokens, "hassUrl": world.ha.url, "clientId": world.ha.url + "/", "expires": (time.time() + 1800) * 1000}
        devices = await world.ha.devices()
        browser = Browser(world.children, world.path("chromium"))
        await browser.open(1000, 640)
        await browser.do(
            "Page.addScriptToEvaluateOnNewDocument",
            source=f"localStorage.setItem('hassTokens', {json.dumps(json.dumps(tokens))}); localStorage.setItem('dockedSidebar', '\"always_hidden\"')")
        pages = {
            "dashboard": "/hand-kit/handkit",
            "camera": f"/config/devices/device/{devices['handkit_camera_camera']['id']}",
            "lamp": f"/config/devices/device/{devices['handkit_lamp_desk']['id']}",
        }
        for name, path in pages.items():
            await browser.do("Page.navigate", url=world.ha.url + path)
            await asyncio.sleep(12)  # the pages say nowhere that they are complete
            await browser.picture(os.path.join(folder, f"{name}.png"))
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
