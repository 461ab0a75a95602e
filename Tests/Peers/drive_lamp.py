#!/usr/bin/env python3
"""Does with a lamp what a home would, as an independent controller: aiohomekit 4.0.1.

Finds the lamp over mDNS, pairs, reads, writes, subscribes, waits for the event of a change that it causes with SIGUSR1, lists the pairings,
identifies, and unpairs. Prints one JSON object with what came of each.
"""

import argparse
import asyncio
import json
import os
import signal

from aiohomekit.characteristic_cache import CharacteristicCacheMemory
from aiohomekit.controller.ip.controller import IpController
from aiohomekit.model.characteristics import CharacteristicsTypes
from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf

PATIENCE = 20


def values(answer):
    return {f"{aid}.{iid}": item.get("value", item.get("status")) for (aid, iid), item in answer.items()}


async def drive(pairing, lamp_process, told):
    wanted = {CharacteristicsTypes.ON: "on", CharacteristicsTypes.BRIGHTNESS: "brightness"}
    ids = {}
    for accessory in await pairing.list_accessories_and_characteristics():
        for service in accessory["services"]:
            for characteristic in service["characteristics"]:
                if characteristic["type"] in wanted:
                    ids[wanted[characteristic["type"]]] = (accessory["aid"], characteristic["iid"])
    on, brightness = ids["on"], ids["brightness"]
    names = {f"{aid}.{iid}": name for name, (aid, iid) in ids.items()}

    async def read(*which):
        return {names.get(key, key): value for key, value in values(await pairing.get_characteristics(which)).items()}

    told["before"] = await read(on, brightness)
    told["write"] = values(await pairing.put_characteristics([(*on, True), (*brightness, 57)]))
    told["after"] = await read(on, brightness)
    told["unknown"] = await read((1, 4242))
    told["refused"] = {names[key]: value for key, value in values(await pairing.put_characteristics([(*brightness, 101)])).items()}

    event = asyncio.get_running_loop().create_future()

    def on_event(changes):
        if changes and not event.done():
            event.set_result({names.get(f"{aid}.{iid}"): item["value"] for (aid, iid), item in changes.items()})

    pairing.dispatcher_connect(on_event)
    await pairing.subscribe([on, brightness])
    os.kill(lamp_process, signal.SIGUSR1)
    told["event"] = await asyncio.wait_for(event, PATIENCE)
    told["pairings"] = [entry["controllerType"] for entry in await pairing.list_pairings()]
    told["identify"] = await pairing.identify()


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--id", required=True, help="the lamp's pairing identifier")
    parser.add_argument("--code", required=True, help="its setup code")
    parser.add_argument("--address", default="127.0.0.1", help="the address of this machine to look for it from")
    parser.add_argument("--process", type=int, required=True, help="the lamp's process")
    options = parser.parse_args()

    told = {}
    zeroconf = AsyncZeroconf(interfaces=[options.address])
    browser = AsyncServiceBrowser(zeroconf.zeroconf, ["_hap._tcp.local."], handlers=[lambda **_: None])
    controller = IpController(char_cache=CharacteristicCacheMemory(), zeroconf_instance=zeroconf)
    await controller.async_start()
    try:
        found = await controller.async_find(options.id, timeout=PATIENCE)
        told["announced"] = {
            "name": found.description.name,
            "model": found.description.model,
            "category": int(found.description.category),
            "unpaired": bool(int(found.description.status_flags) & 1),
        }
        finish = await found.async_start_pairing("lamp")
        pairing = await finish(options.code)
        try:
            await drive(pairing, options.process, told)
        finally:
            told["unpaired"] = await pairing.remove_pairing(pairing.pairing_data["iOSPairingId"])
    finally:
        await controller.async_stop()
        await browser.async_cancel()
        await zeroconf.async_close()
    print(json.dumps(told))


asyncio.run(main())
