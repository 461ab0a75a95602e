"""Everything between a hand and a lamp, on this machine: each part can be killed, and comes back as it was."""

import asyncio
import json
import os
import re
import signal
import time

from broker import PATIENCE, Broker, free_port
from ledger import Ledger
from network import Network

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Seconds, the least that libmosquitto takes: a broker calls a silent client gone after one and a half times as long.
KEEPALIVE = 5
SETTLED = 0.5
SETUP_CODE = "031-45-154"
CAMERA, BRIDGE, LAMP = "handkit/camera/desk/availability", "handkit/bridge/bridge/availability", "handkit/lamp/desk/availability"


class Clock:
    """The wall clock of one program, which alone sees it step."""

    def __init__(self, library, folder, name):
        self.library, self.path = library, os.path.join(folder, f"{name}.clock")
        self.step(0)

    def step(self, seconds):
        with open(f"{self.path}.new", "w", encoding="utf-8") as file:
            file.write(f"{seconds:+d}")
        os.rename(f"{self.path}.new", self.path)

    def command(self):
        # The library sets a variable as it is loaded first, and Swift's runtime, which finds a program's arguments beside its environment,
        # would miss them: so it is loaded by another program first.
        return (
            "env", f"LD_PRELOAD={self.library}", f"FAKETIME_TIMESTAMP_FILE={self.path}", "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "env")


class House:
    def __init__(self, arguments, folder, children, source, clock_library=None, broker=None):
        self.arguments, self.folder, self.children, self.source = arguments, folder, children, source
        self.ledger = Ledger(time.monotonic())
        self.broker, self.lamp_port = broker or Broker(children, folder), free_port()
        self.events, self.commands = Network(self.broker.port), Network(self.lamp_port)
        self.truths, self.truth_changed, self.last_change = {}, asyncio.Event(), 0
        self.lamp_ready = None
        self.state = os.path.join(folder, "state")
        os.mkdir(self.state, 0o700)
        names = ("recognizer", "bridge")
        self.clocks = {name: Clock(clock_library, folder, name) for name in names} if clock_library else {}
        self.configuration = os.path.join(folder, "handkit.yaml")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(
                f"mqtt:\n  host: 127.0.0.1\n  port: {self.events.port}\n  keepalive: {KEEPALIVE}\ncamera:\n  id: desk\n"
                f"bridge:\n  state: {self.state}\n  discovery: false\nlamps:\n  desk:\nlog:\n  level: debug\n  format: text\n")

    # What the programs say

    def on_lamp(self, line):
        record = json.loads(line)
        if record["event"] == "ready":
            self.lamp_ready.set()
        elif record["event"] == "set":
            self.ledger.write(record["time"], {key: record[key] for key in ("on", "brightness") if key in record})

    def on_recognizer(self, line):
        if match := re.search(r"\btoggle\b.*\bid=(\S+).*\bpublished=(true|false)", line):
            self.ledger.toggle(time.monotonic(), match[1], match[2] == "true")
        elif match := re.search(r"\bbrightness\b.*\bvalue=(\S+).*\bphase=(\S+).*\bpublished=(true|false)", line):
            self.ledger.slide(time.monotonic(), match[2], float(match[1]), match[3] == "true")

    def on_truth(self, line):
        topic, _, payload = line.partition(" ")
        self.truths[topic], self.last_change = payload, time.monotonic()
        self.truth_changed.set()

    async def truth(self, topic, payload):
        """Waits until the broker keeps this payload, and returns how many seconds that took."""
        begin = time.monotonic()

        async def told():
            while self.truths.get(topic) != payload:
                self.truth_changed.clear()
                await self.truth_changed.wait()

        await self.children.waiting_for(told(), f"{topic} {payload}", PATIENCE)
        return time.monotonic() - begin

    # The programs

    async def start(self):
        await self.events.start()
        await self.commands.start()
        await self.start_broker()
        await self.start_lamp()
        await self.children.run(
            "handkit-bridge pair", self.program("bridge"), "pair", "desk", "--host", f"127.0.0.1:{self.commands.port}", "--code-stdin",
            "--config", self.configuration, given=SETUP_CODE)
        await self.start_bridge()
        await self.truth(LAMP, "online")
        # In the middle, where the slides of a clip do not reach an end.
        await self.broker.publish("handkit/lamp/desk/set", '{"state":"ON","brightness":60}')
        await self.start_recognizer()
        await self.truth(CAMERA, "online")

    def program(self, name):
        return os.path.join(self.arguments.programs, f"handkit-{name}")

    def service(self, name):
        return (*(self.clocks[name].command() if name in self.clocks else ()), self.program(name), "run", "--config", self.configuration)

    async def start_broker(self):
        self.truths.clear()
        await self.broker.start()
        await self.broker.subscribe("handkit/+/+/availability", on_output=self.on_truth)

    async def start_lamp(self):
        self.lamp_ready = asyncio.Event()
        self.lamp = await self.children.start(
            "handkit-lamp", self.program("lamp"), "run", "--address", "127.0.0.1", "--port", str(self.lamp_port), "--state",
            os.path.join(self.folder, "lamp"), "--no-mdns", "--code-stdin", on_output=self.on_lamp, given=SETUP_CODE)
        await self.children.waiting_for(self.lamp_ready.wait(), "the start of the lamp", PATIENCE)

    async def start_bridge(self):
        self.bridge = await self.children.start("handkit-bridge", *self.service("bridge"))

    async def start_recognizer(self):
        self.recognizer = await self.children.start(
            "handkit-recognizer", *self.service("recognizer"), *self.source, on_error=self.on_recognizer)

    async def kill(self, child):
        child.may_end = True
        child.process.send_signal(signal.SIGKILL)
        await child.ended()

    async def stop(self):
        """Ends both services in good order; returns what was wrong with that."""
        problems = []
        for child in (self.recognizer, self.bridge):
            child.may_end = True
            child.process.terminate()
            try:
                if code := await asyncio.wait_for(child.ended(), PATIENCE):
                    problems.append(f"{child.name} ended with exit code {code}")
            except asyncio.TimeoutError:
                problems.append(f"{child.name} does not end")
        return problems

    async def everything_up(self):
        """Waits until everything is online and stays so, and returns how many seconds it took to come back."""
        begin = time.monotonic()
        while True:
            for topic in (CAMERA, BRIDGE, LAMP):
                await self.truth(topic, "online")
            back = time.monotonic()
            # What was cut off just now is declared offline a moment later.
            await asyncio.sleep(SETTLED)
            if all(self.truths.get(topic) == "online" for topic in (CAMERA, BRIDGE, LAMP)) and self.last_change < back:
                return back - begin
