"""A Mosquitto of one's own, which can be killed and comes back on the same port."""

import asyncio
import os
import pwd
import signal
import socket

# Generous: the models are compiled on a slow machine.
PATIENCE = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    def __init__(self, children, folder, log_types=("error",)):
        self.children, self.port = children, free_port()
        self.path = os.path.join(folder, "mosquitto.conf")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(
                f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n"
                f"user {pwd.getpwuid(os.getuid()).pw_name}\nlog_dest stderr\n" + "".join(f"log_type {kind}\n" for kind in log_types))

    async def start(self):
        self.child = await self.children.start("the broker", "/usr/sbin/mosquitto", "-c", self.path)
        await self.children.waiting_for(self.accepting(), "the start of the broker", PATIENCE)

    async def accepting(self):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.05)

    async def kill(self):
        self.child.may_end = True
        self.child.process.send_signal(signal.SIGKILL)
        await self.child.ended()

    def client(self):
        return ("-h", "127.0.0.1", "-p", str(self.port))

    async def publish(self, topic, payload, *options):
        await self.children.run("mosquitto_pub", "mosquitto_pub", *self.client(), "-q", "1", *options, "-t", topic, "-m", payload)

    async def subscribe(self, *topics, on_output, may_end=True):
        """Passes on "<topic> <payload>" of each message, until the broker is gone or the child is stopped."""
        filters = [word for topic in topics for word in ("-t", topic)]
        return await self.children.start(
            "mosquitto_sub", "mosquitto_sub", *self.client(), "-v", *filters, on_output=on_output, may_end=may_end)
