"""The stage of deploy/demo: a private broker, a lamp, the bridge and the recognizer, and what they do in the terminal."""

import argparse
import asyncio
import fcntl
import glob
import json
import os
import signal
import struct
import sys
import tempfile
import time

import verdict
from broker import PATIENCE, Broker, free_port
from children import Children, StageError, describe
from view import View

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIP = os.path.join(REPOSITORY, "deploy/clips/demo.avi")
# Anybody on this machine may know it: the lamp is a play-thing and lives as long as the demo.
SETUP_CODE = "031-45-154"
CAMERA, LAMP = "desk", "demo"


def first_camera():
    """The first device that captures video; machines have others under these names."""
    query_capabilities = 0x80685600  # VIDIOC_QUERYCAP, <linux/videodev2.h>
    for device in sorted(glob.glob("/dev/video*"), key=lambda path: (len(path), path)):
        try:
            with open(device, "rb", buffering=0) as file:
                answer = fcntl.ioctl(file, query_capabilities, bytes(104))
        except OSError:
            continue
        if struct.unpack_from("=I", answer, 88)[0] & 0x1:  # device_caps has V4L2_CAP_VIDEO_CAPTURE
            return device
    return None


def write(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Stage:
    def __init__(self, arguments, folder, view, children):
        self.arguments = arguments
        self.folder = folder
        self.view = view
        self.children = children
        self.broker, self.lamp_port = Broker(children, folder, log_types=("error", "warning")), free_port()
        self.writes = []
        self.clip_start = None
        self.lamp_ready = asyncio.Event()
        self.listening = asyncio.Event()
        self.lamp_available = asyncio.Event()

    def program(self, name):
        return os.path.join(self.arguments.programs, name)

    def on_lamp(self, line):
        record = json.loads(line)
        if record["event"] == "ready":
            self.lamp_ready.set()
        if record["event"] == "set":
            told = {key: record[key] for key in ("on", "brightness") if key in record}
            self.writes.append((record["time"], told))
            self.view.lamp_was_told(told)

    def on_message(self, line):
        topic, _, payload = line.partition(" ")
        if topic == "stage/listening":
            self.listening.set()
            return
        if topic.endswith(f"lamp/{LAMP}/availability") and payload == "online":
            self.lamp_available.set()
        if topic.endswith(f"camera/{CAMERA}/availability") and payload == "online" and self.clip_start is None:
            self.clip_start = time.monotonic()  # the recognizer says so with its first frame
        self.view.message(topic, payload)

    async def start_broker(self):
        await self.broker.start()
        await self.broker.subscribe("handkit/#", "stage/#", on_output=self.on_message, may_end=False)
        await self.broker.publish("stage/listening", "yes", "-r")
        await self.children.waiting_for(self.listening.wait(), "the subscription", PATIENCE)
        self.view.stage(f"broker on 127.0.0.1:{self.broker.port}; from another terminal:")
        self.view.stage(f"  mosquitto_sub -v -h 127.0.0.1 -p {self.broker.port} -t 'handkit/#'")

    async def start_lamp(self):
        place = ("--address", "127.0.0.1", "--port", str(self.lamp_port))
        state = os.path.join(self.folder, "lamp")
        if self.arguments.lamp == "handkit":
            command = (self.program("handkit-lamp"), "run", *place, "--state", state, "--no-mdns", "--code-stdin")
        else:
            python = os.path.join(self.arguments.prefix, "peers/bin/python")
            command = (python, os.path.join(REPOSITORY, "Tests/Peers/hap_lamp.py"), *place, "--state", state, "--code", SETUP_CODE)
        await self.children.start("the lamp", *command, on_output=self.on_lamp, given=SETUP_CODE)
        await self.children.waiting_for(self.lamp_ready.wait(), "the start of the lamp", PATIENCE)
        self.view.stage(f"a HomeKit lamp on 127.0.0.1:{self.lamp_port}")

    async def start_bridge(self, configuration):
        bridge = self.program("handkit-bridge")
        await self.children.run(
            "handkit-bridge pair",
            *(bridge, "pair", LAMP, "--host", f"127.0.0.1:{self.lamp_port}", "--code-stdin", "--config", configuration),
            given=SETUP_CODE,
        )
        self.view.stage("the bridge is paired with the lamp")
        await self.children.start(
            "handkit-bridge", bridge, "run", "--config", configuration, "--log-format", "json", on_error=self.view.service_says
        )
        await self.children.waiting_for(self.lamp_available.wait(), "the bridge's word that the lamp is online", PATIENCE)

    async def recognize(self, configuration, *source, may_end=False):
        return await self.children.start(
            "handkit-recognizer",
            *(self.program("handkit-recognizer"), "run", "--config", configuration, "--log-format", "json", "--source", *source),
            on_error=self.view.service_says,
            may_end=may_end,
        )

    async def play(self):
        """Runs for ever, or with --once until the clip has ended; returns what the lamp did not receive then."""
        clip = self.arguments.clip or CLIP
        labels = os.path.splitext(clip)[0] + ".json"
        if self.arguments.once and not os.path.exists(labels):
            raise StageError(f"{labels} is missing: without labels nobody knows what {os.path.basename(clip)} holds")
        configuration = write(
            os.path.join(self.folder, "handkit.yaml"),
            f"mqtt:\n  host: 127.0.0.1\n  port: {self.broker.port}\n"
            f"camera:\n  id: {CAMERA}\n"
            f"bridge:\n  state: {os.path.join(self.folder, 'state')}\n",
        )
        await self.start_broker()
        await self.start_lamp()
        await self.start_bridge(configuration)
        camera = None if self.arguments.once or self.arguments.clip else first_camera()
        if self.arguments.once:
            self.view.stage(f"the recognizer plays {os.path.relpath(clip)} once")
            recognizer = await self.recognize(configuration, clip, may_end=True)
            code = await self.children.waiting_for(recognizer.ended())
            if code != 0:
                raise StageError(f"handkit-recognizer ended with {describe(code)}", recognizer.said)
            return await self.judge(labels)
        if camera:
            self.view.stage(f"the recognizer looks at {camera}: touch thumb and index finger; point and move sideways. Ctrl-C ends it.")
            await self.recognize(configuration, camera)
        else:
            self.view.stage(f"the recognizer plays {os.path.relpath(clip)} again and again. Ctrl-C ends it.")
            await self.recognize(configuration, clip, "--loop")
        await self.children.waiting_for(asyncio.Event().wait())  # for ever, or until one of them fails

    async def judge(self, labels):
        await asyncio.sleep(verdict.TOGGLE_DELAY)  # what was published last may still be on its way to the lamp
        with open(labels, encoding="utf-8") as file:
            start = self.clip_start or 0
            return verdict.problems(json.load(file), [(moment - start, told) for moment, told in self.writes])


async def main():
    parser = argparse.ArgumentParser(prog="deploy/stage")
    parser.add_argument("--programs", required=True, help="folder of the built programs")
    parser.add_argument("--prefix", required=True, help="folder that deploy/setup made")
    parser.add_argument("--lamp", choices=("handkit", "hap-python"), default="handkit")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--clip")
    arguments = parser.parse_args()

    environment = {key: value for key, value in os.environ.items() if not key.startswith("HANDKIT_")}
    ending = asyncio.get_running_loop().create_future()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, lambda: ending.done() or ending.set_result(None))
    view = View()
    with tempfile.TemporaryDirectory(prefix="handkit-demo-") as folder:
        try:
            async with Children(environment, REPOSITORY) as children:
                play = asyncio.create_task(Stage(arguments, folder, view, children).play())
                await asyncio.wait({play, ending}, return_when=asyncio.FIRST_COMPLETED)
                if not play.done():
                    view.stage("ending")
                    play.cancel()
                    await asyncio.wait({play})
                    return 130 if arguments.once else 0
                problems = play.result()
        except StageError as error:
            for line in error.said:
                print(f"  {line}", file=sys.stderr)
            print(f"deploy/demo: {error}", file=sys.stderr)
            return 1
    for problem in problems:
        view.stage(problem)
    view.stage("the lamp did not receive what the clip holds" if problems else "the lamp received all that the clip holds")
    return 1 if problems else 0


sys.exit(asyncio.run(main()))
