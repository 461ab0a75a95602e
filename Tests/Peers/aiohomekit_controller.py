#!/usr/bin/env python3
"""aiohomekit 4.0.1 as another controller that shares pairing files with ours, and as what ours is measured against.

  pair   finds a lamp over mDNS, pairs, and adds the pairing to a file
  set    switches a lamp whose pairing is in a file
  bench  measures pair-setup, pair-verify, PUT round trips, and what 30 writes a second cost; prints one JSON object
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from pathlib import Path

from aiohomekit.characteristic_cache import CharacteristicCacheMemory
from aiohomekit.controller.ip.controller import IpController
from aiohomekit.exceptions import AuthenticationError
from aiohomekit.model.characteristics import CharacteristicsTypes
from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf

PATIENCE = 60


class Controllers:
    """A controller on the loopback, which it searches as long as it is open."""

    async def __aenter__(self):
        self.zeroconf = AsyncZeroconf(interfaces=["127.0.0.1"])
        self.browser = AsyncServiceBrowser(self.zeroconf.zeroconf, ["_hap._tcp.local."], handlers=[lambda **_: None])
        self.controller = IpController(char_cache=CharacteristicCacheMemory(), zeroconf_instance=self.zeroconf)
        await self.controller.async_start()
        return self.controller

    async def __aexit__(self, *_):
        await self.controller.async_stop()
        await self.browser.async_cancel()
        await self.zeroconf.async_close()


def kept(path):
    return json.loads(Path(path).read_text()) if os.path.exists(path) else {}


async def find(pairing):
    """The ids of On and Brightness."""
    ids = {}
    for accessory in await pairing.list_accessories_and_characteristics():
        for service in accessory["services"]:
            for characteristic in service["characteristics"]:
                ids.setdefault(characteristic["type"], (accessory["aid"], characteristic["iid"]))
    return ids[CharacteristicsTypes.ON], ids[CharacteristicsTypes.BRIGHTNESS]


async def pair(options):
    async with Controllers() as controller:
        discovery = await controller.async_find(options.id, timeout=PATIENCE)
        finish = await discovery.async_start_pairing(options.alias)
        pairing = await finish(options.code)
        Path(options.pairings).write_text(json.dumps({**kept(options.pairings), options.alias: pairing.pairing_data}))
        await pairing.close()


async def switch(options):
    async with Controllers() as controller:
        pairing = controller.load_pairing(options.alias, kept(options.pairings)[options.alias])
        on, _ = await find(pairing)
        failed = await pairing.put_characteristics([(*on, options.on)])
        await pairing.close()
        if failed:
            raise SystemExit(f"refused: {failed}")


def spread(seconds):
    ordered = sorted(seconds)
    return {"median": statistics.median(ordered) * 1000, "p95": ordered[int(0.95 * (len(ordered) - 1))] * 1000}


def processor():
    times = os.times()
    return times.user + times.system


def resident():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0


async def timed(call):
    start = time.perf_counter()
    result = await call
    return time.perf_counter() - start, result


async def bench(options):
    told = {}
    async with Controllers() as controller:
        setups = []
        while len(setups) < options.setups:
            discovery = await controller.async_find(options.id, timeout=PATIENCE)
            start = time.perf_counter()
            try:
                finish = await discovery.async_start_pairing("lamp")
                pairing = await finish(options.code)
            except AuthenticationError:
                # Numbers with a leading zero: about one pairing in eighty between these two.
                continue
            setups.append(time.perf_counter() - start)
            if len(setups) < options.setups:
                await pairing.remove_pairing(pairing.pairing_data["iOSPairingId"])
                # aiohomekit keeps what the lamp announced; wait until it says again that it can be paired.
                for _ in range(PATIENCE * 10):
                    found = await controller.async_find(options.id, timeout=PATIENCE)
                    if not found.paired:
                        break
                    await asyncio.sleep(0.1)
        told["setup"] = spread(setups)

        verifies = []
        for _ in range(options.verifies):
            await pairing.connection.close()
            pairing.connection.closing = pairing.connection.closed = False
            verifies.append((await timed(pairing._ensure_connected()))[0])
        told["verify"] = spread(verifies)

        _, brightness = await find(pairing)
        puts = [(await timed(pairing.put_characteristics([(*brightness, count % 100 + 1)])))[0] for count in range(options.writes)]
        told["put"] = spread(puts)

        before, start = processor(), time.perf_counter()
        for count in range(options.paced):
            await pairing.put_characteristics([(*brightness, count % 100 + 1)])
            await asyncio.sleep(max(0, start + (count + 1) / 30 - time.perf_counter()))
        told["cpu"] = 100 * (processor() - before) / (time.perf_counter() - start)
        told["memory"] = resident()
        await pairing.remove_pairing(pairing.pairing_data["iOSPairingId"])
    print(json.dumps(told))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, run in (("pair", pair), ("set", switch), ("bench", bench)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if name != "bench":
            command.add_argument("--pairings", required=True)
            command.add_argument("--alias", required=True)
        if name != "set":
            command.add_argument("--id", required=True)
            command.add_argument("--code", required=True)
        if name == "set":
            command.add_argument("--on", action="store_true")
        if name == "bench":
            for option, count in (("setups", 10), ("verifies", 50), ("writes", 1000), ("paced", 300)):
                command.add_argument(f"--{option}", type=int, default=count)
    options = parser.parse_args()
    asyncio.run(options.run(options))


if __name__ == "__main__":
    main()
