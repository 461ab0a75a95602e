#!/usr/bin/env python3
"""From a clip to a lamp with what Python offers: MediaPipe, paho-mqtt and aiohomekit, in two processes as HandKit has them.

  recognize CLIP  plays a clip at its own pace, again and again, and publishes pinches and slides
  bridge          passes them on to a lamp; on SIGTERM it prints, in milliseconds, how long each took from its arrival to the lamp's answer

The peer of `handkit-bench path`. Needs mediapipe 0.10.21, opencv, paho-mqtt 2 and aiohomekit 4.0.1.
"""

import argparse
import asyncio
import json
import math
import signal
import time

import paho.mqtt.client as mqtt

TOPIC = "handkit/camera/python"
WRIST, THUMB_TIP, INDEX_TIP, MIDDLE_BASE = 0, 4, 8, 9
# Gaps between thumb and index finger in lengths of the palm.
PINCHED_BELOW, OPEN_ABOVE = 0.25, 0.4


def connected(port):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    client.connect("127.0.0.1", port)
    return client


class Gestures:
    """What a hand's points mean: True for a pinch, a number for another brightness, None for nothing."""

    def __init__(self):
        self.is_pinched = False
        self.anchor = None
        self.brightness = self.told = 50.0

    def lost(self):
        self.anchor = None

    def seen(self, points, width):
        gap = math.dist(points[THUMB_TIP], points[INDEX_TIP]) / max(1e-6, math.dist(points[WRIST], points[MIDDLE_BASE]))
        if self.is_pinched:
            self.is_pinched = gap < OPEN_ABOVE
            return None
        if gap < PINCHED_BELOW:
            self.is_pinched, self.anchor = True, None
            return True
        x = points[INDEX_TIP][0] / width
        if self.anchor is None:
            self.anchor = (x, self.told)
        reached = min(100.0, max(0.0, self.anchor[1] + 100 * (self.anchor[0] - x)))
        if abs(reached - self.told) < 1:
            return None
        self.told = reached
        return reached


def recognize(options):
    import cv2
    import mediapipe

    client = connected(options.port)
    client.loop_start()
    tracker = mediapipe.solutions.hands.Hands(static_image_mode=False, max_num_hands=1, model_complexity=1)
    gestures = Gestures()
    while True:
        clip = cv2.VideoCapture(options.clip)
        rate = clip.get(cv2.CAP_PROP_FPS) or 30
        begin, count = time.monotonic(), 0
        while True:
            good, frame = clip.read()
            if not good:
                break
            due = begin + count / rate
            count += 1
            # A camera does not wait either: what comes too late for its frame is left for the next.
            if time.monotonic() > due + 1 / rate:
                continue
            time.sleep(max(0, due - time.monotonic()))
            hands = tracker.process(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)).multi_hand_landmarks
            if not hands:
                gestures.lost()
                continue
            height, width = frame.shape[:2]
            meant = gestures.seen([(point.x * width, point.y * height) for point in hands[0].landmark], width)
            if meant is True:
                client.publish(f"{TOPIC}/toggle", json.dumps({"time": due}), qos=1)
            elif meant is not None:
                client.publish(f"{TOPIC}/brightness", json.dumps({"time": due, "value": round(meant, 1)}))
        clip.release()


async def bridge(options):
    from aiohomekit.characteristic_cache import CharacteristicCacheMemory
    from aiohomekit.controller.ip.controller import IpController
    from aiohomekit.model.characteristics import CharacteristicsTypes
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf

    zeroconf = AsyncZeroconf(interfaces=["127.0.0.1"])
    browser = AsyncServiceBrowser(zeroconf.zeroconf, ["_hap._tcp.local."], handlers=[lambda **_: None])
    controller = IpController(char_cache=CharacteristicCacheMemory(), zeroconf_instance=zeroconf)
    await controller.async_start()
    discovery = await controller.async_find(options.id, timeout=60)
    pairing = await (await discovery.async_start_pairing("lamp"))(options.code)
    ids = {}
    for accessory in await pairing.list_accessories_and_characteristics():
        for service in accessory["services"]:
            for characteristic in service["characteristics"]:
                ids.setdefault(characteristic["type"], (accessory["aid"], characteristic["iid"]))
    power, level = ids[CharacteristicsTypes.ON], ids[CharacteristicsTypes.BRIGHTNESS]

    loop = asyncio.get_running_loop()
    arrived = asyncio.Queue()
    client = connected(options.port)

    def received(_client, _data, message):
        loop.call_soon_threadsafe(arrived.put_nowait, (time.monotonic(), message.topic, message.payload))

    client.on_message = received
    client.subscribe(f"{TOPIC}/#", 1)
    client.loop_start()
    took = []

    async def pass_on():
        while True:
            start, topic, payload = await arrived.get()
            if topic.endswith("toggle"):
                state = await pairing.get_characteristics([power])
                await pairing.put_characteristics([(*power, not state[power]["value"])])
            else:
                await pairing.put_characteristics([(*level, max(1, round(json.loads(payload)["value"])))])
            took.append((start, 1000 * (time.monotonic() - start)))

    work = asyncio.create_task(pass_on())
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    print(json.dumps({"ready": True}), flush=True)
    await stop.wait()
    work.cancel()
    client.loop_stop()
    print(json.dumps({"took": took}), flush=True)
    await browser.async_cancel()
    await zeroconf.async_close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("recognize")
    command.add_argument("clip")
    command.set_defaults(run=recognize)
    command.add_argument("--port", type=int, required=True)
    command = commands.add_parser("bridge")
    command.add_argument("--port", type=int, required=True)
    command.add_argument("--id", required=True)
    command.add_argument("--code", required=True)
    command.set_defaults(run=lambda options: asyncio.run(bridge(options)))
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
