"""A Mosquitto that is killed and comes back on the same port."""

import asyncio
import os
import pwd
import signal
import time

from children import StageError
from network import free_port

PATIENCE = 60


class Broker:
    def __init__(self, children, folder):
        self.children, self.port = children, free_port()
        self.path = os.path.join(folder, "mosquitto.conf")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(
                f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n"
                f"user {pwd.getpwuid(os.getuid()).pw_name}\nlog_dest stderr\nlog_type error\n")

    async def start(self):
        self.child = await self.children.start("the broker", "/usr/sbin/mosquitto", "-c", self.path)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.05)
        raise StageError("the broker does not start")

    async def kill(self):
        self.child.may_end = True
        self.child.process.send_signal(signal.SIGKILL)
        await self.child.ended()

    async def publish(self, topic, payload):
        await self.children.run(
            "mosquitto_pub", "mosquitto_pub", "-h", "127.0.0.1", "-p", str(self.port), "-q", "1", "-t", topic, "-m", payload)

    async def subscribe(self, topic, on_output):
        """Passes on "<topic> <payload>" of each message, until the broker is gone or the child is stopped."""
        return await self.children.start(
            "mosquitto_sub", "mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.port), "-v", "-t", topic, on_output=on_output,
            may_end=True)
