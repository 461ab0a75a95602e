#!/usr/bin/env python3
"""A real HomeKit light bulb for tests: HAP-python 5.2.0 with On and Brightness, on one address.

Prints one JSON object a line: {"event": "ready", "mac": …, "port": …, "paired": …} once it listens, then "set" for what a
controller wrote ("on", "brightness"), "local" for its own changes, "identify", "paired" and "unpaired"; "time" is seconds of the
monotonic clock. SIGUSR1 toggles it as a hand on the lamp would; SIGTERM ends it, and so does the end of whatever started it.
"""

import argparse
import asyncio
import json
import os
import signal
import time

from pyhap.accessory import Accessory
from pyhap.accessory_driver import AccessoryDriver
from pyhap.const import CATEGORY_LIGHTBULB


def tell(event, **facts):
    print(json.dumps({"event": event, "time": time.monotonic(), **facts}), flush=True)


class Bulb(Accessory):
    category = CATEGORY_LIGHTBULB

    def __init__(self, driver, name):
        super().__init__(driver, name)
        self.set_info_service(manufacturer="HandKit tests", model="Bulb", serial_number="0001", firmware_revision="1.0")
        service = self.add_preload_service("Lightbulb", chars=["On", "Brightness"])
        self.power = service.configure_char("On", value=False)
        self.level = service.configure_char("Brightness", value=40)
        service.setter_callback = self.written
        self.get_service("AccessoryInformation").configure_char("Identify", setter_callback=lambda _: self.identify())

    def written(self, values):
        facts = {}
        if "On" in values:
            facts["on"] = bool(values["On"])
        if "Brightness" in values:
            facts["brightness"] = int(values["Brightness"])
        tell("set", **facts)

    def toggle(self):
        self.power.set_value(not self.power.value)
        tell("local", on=bool(self.power.value))

    def setup_message(self):
        """Nothing but events belongs on standard output."""

    def identify(self):
        tell("identify")


class Driver(AccessoryDriver):
    def pair(self, *args, **kwargs):
        done = super().pair(*args, **kwargs)
        if done:
            tell("paired")
        return done

    def unpair(self, client):
        super().unpair(client)
        tell("unpaired")


async def serve(options):
    loop = asyncio.get_running_loop()
    driver = Driver(
        loop=loop, address=options.address, port=options.port, pincode=options.code.encode(), persist_file=options.state,
        interface_choice=[options.address], advertise=options.mdns)
    bulb = Bulb(driver, options.name)
    driver.add_accessory(bulb)

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGUSR1, bulb.toggle)

    async def watch_parent(parent):
        while os.getppid() == parent:
            await asyncio.sleep(1)
        stop.set()

    watch = loop.create_task(watch_parent(os.getppid()))
    await driver.async_start()
    tell("ready", mac=driver.state.mac, port=options.port, paired=driver.state.paired)
    await stop.wait()
    watch.cancel()
    await driver.async_stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--code", default="031-45-154", help="setup code, ddd-dd-ddd")
    parser.add_argument("--state", required=True, help="file that keeps the lamp's keys and pairings")
    parser.add_argument("--name", default="HandKit bulb")
    parser.add_argument("--mdns", action="store_true", help="announce the lamp on the network of its address")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
