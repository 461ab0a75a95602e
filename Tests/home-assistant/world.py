"""A broker, lamps, bridges, recognizers and a Home Assistant on this machine, each of them the real program."""

import asyncio
import json
import os
import pwd
import socket
import sys
import tempfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "deploy/stage"))

from children import Children  # noqa: E402
from home_assistant import HomeAssistant  # noqa: E402

PROGRAMS = os.environ.get("PROGRAMS", os.path.join(REPOSITORY, ".build/debug"))
PREFIX = os.environ.get("HANDKIT_PREFIX", os.path.join(REPOSITORY, ".handkit"))
SETUP_CODE = "031-45-154"
PATIENCE = 60
# This machine's address in a network that is nobody else's; empty where there is none.
HOUSE = os.environ.get("HANDKIT_TEST_HOUSE", "")


def clip(name):
    return os.path.join(REPOSITORY, "Tests/Clips", f"{name}.avi")


def labels(name):
    with open(os.path.join(REPOSITORY, "Tests/Clips", f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def eventually(what, condition, seconds=PATIENCE):
    """Waits until an awaitable condition gives something true, and returns that."""
    end = asyncio.get_running_loop().time() + seconds
    while True:
        if value := await condition():
            return value
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(f"within {seconds} s it never happened that {what}")
        await asyncio.sleep(0.1)


class Lamp:
    """A HAP-python lamp on 127.0.0.1, and what it was told."""

    def __init__(self, world, name):
        self.world, self.name, self.port = world, name, free_port()
        self.told, self.happened, self.identified = [], [], 0
        self.ready = asyncio.Event()

    def command(self):
        return (
            os.path.join(PREFIX, "peers/bin/python"), os.path.join(REPOSITORY, "Tests/Peers/hap_lamp.py"), "--address", "127.0.0.1",
            "--port", str(self.port), "--state", self.world.path(f"{self.name}.lamp"))

    def on_line(self, line):
        record = json.loads(line)
        self.happened.append(record["event"])
        if record["event"] == "ready":
            self.facts = record
            self.ready.set()
        elif record["event"] == "set":
            self.told.append({key: record[key] for key in ("on", "brightness") if key in record})
        elif record["event"] == "identify":
            self.identified += 1

    async def start(self):
        self.ready.clear()
        self.process = await self.world.children.start(f"lamp {self.name}", *self.command(), on_output=self.on_line)
        await self.world.children.waiting_for(self.ready.wait(), "the start of a lamp", PATIENCE)


class HandKitLamp(Lamp):
    """A handkit-lamp at all addresses of this machine, on another port at each start."""

    def __init__(self, world, name):
        super().__init__(world, name)
        self.code = world.write(f"{self.port}.code", SETUP_CODE)

    def command(self):
        return (
            os.path.join(PROGRAMS, "handkit-lamp"), "run", "--state", self.world.path(f"{self.port}.lamp"), "--name", self.name,
            "--code-file", self.code)


class World:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="handkit-ha-")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HANDKIT_")}
        self.children = Children(environment, REPOSITORY)
        self.broker_port = free_port()
        self.said = []
        self.broker = None
        self.lamps = {}

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    async def __aenter__(self):
        await self.children.__aenter__()
        await self.start_broker()
        os.mkdir(self.path("ha"))
        self.ha = HomeAssistant(self.children, self.path("ha"), free_port(), REPOSITORY)
        return self

    async def __aexit__(self, *error):
        await self.children.__aexit__(*error)
        if self.ha.session:
            await self.ha.session.close()
        self.folder.cleanup()

    async def start_home_assistant(self, automations="[]", more="", with_broker=True):
        """`more` is put into its configuration."""
        await self.ha.prepare(automations, more)
        await self.ha.start()
        if with_broker:
            await self.ha.add_broker(self.broker_port)

    # Broker: it keeps nothing, so that whatever is there after its restart was published anew.

    async def start_broker(self):
        configuration = self.write(
            "mosquitto.conf",
            f"listener {self.broker_port} 127.0.0.1\nallow_anonymous true\npersistence false\n"
            f"user {pwd.getpwuid(os.getuid()).pw_name}\nlog_dest stderr\nlog_type error\n")
        self.broker = await self.children.start("mosquitto", "/usr/sbin/mosquitto", "-c", configuration)

        async def accepts():
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.broker_port)
                writer.close()
                return True
            except OSError:
                return False

        await eventually("the broker accepts", accepts)

    async def publish(self, topic, payload, *options):
        await self.children.run(
            "mosquitto_pub", "mosquitto_pub", "-h", "127.0.0.1", "-p", str(self.broker_port), "-V", "mqttv5", "-q", "1", "-t", topic,
            *(("-m", payload) if payload else ("-n",)), *options)

    async def retained(self, topic):
        """The payload that the broker keeps; None where it keeps none."""
        reader = await asyncio.create_subprocess_exec(
            "mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.broker_port), "-t", topic, "-C", "1", "-W", "1", "--retained-only",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
        output, _ = await reader.communicate()
        return output.decode().rstrip("\n") or None

    # HandKit

    def configure(self, name, camera=None, bridge=None, lamps=None, more=""):
        text = f"mqtt:\n  host: 127.0.0.1\n  port: {self.broker_port}\n"
        text += f"camera:\n  id: {camera or 'camera'}\n"
        text += f"bridge:\n  id: {bridge or 'bridge'}\n  state: {self.path(name + '.state')}\n"
        if lamps:
            text += "lamps:\n" + "".join(f"  {lamp}:\n    host: 127.0.0.1:{self.lamps[lamp].port}\n" for lamp in lamps)
        return self.write(f"{name}.yaml", text + more)

    async def start_lamp(self, name, kind=Lamp):
        self.lamps[name] = kind(self, name)
        await self.lamps[name].start()
        return self.lamps[name]

    async def pair(self, configuration, lamp):
        await self.children.run(
            "handkit-bridge pair", os.path.join(PROGRAMS, "handkit-bridge"), "pair", lamp, "--host", f"127.0.0.1:{self.lamps[lamp].port}",
            "--code-stdin", "--config", configuration, given=SETUP_CODE)

    async def start_bridge(self, configuration):
        return await self.children.start(
            "handkit-bridge", os.path.join(PROGRAMS, "handkit-bridge"), "run", "--config", configuration, "--log-format", "text",
            on_error=self.said.append)

    async def start_recognizer(self, configuration, source="empty_room", loops=True):
        loop = ("--loop",) if loops else ()
        return await self.children.start(
            "handkit-recognizer", os.path.join(PROGRAMS, "handkit-recognizer"), "run", "--config", configuration, "--log-format", "text",
            "--source", clip(source), *loop, on_error=self.said.append, may_end=not loops)
