"""Three nodes of RabbitMQ on this machine, configured as deploy/broker says; each can be killed and comes back.

They run in a Debian 13 of their own, as Debian 12 has none that speaks MQTT 5; it is made the first time. Needs root, and a mount namespace.
"""

import asyncio
import json
import os
import re
import runpy
import signal
import subprocess

from broker import PATIENCE, Broker, free_port
from children import StageError

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIPPED = os.path.join(REPOSITORY, "deploy/broker")
ROOT = os.environ.get("HANDKIT_CLUSTER", "/var/tmp/handkit-cluster")
SERVER = "usr/lib/rabbitmq/bin/rabbitmq-server"
SIZE = 3
# A cluster forms in a quarter of a minute; on a busy machine it takes longer.
FORMING = 300


def prepare():
    """Makes the Debian 13 with RabbitMQ where there is none, and gives it what programs expect; in this process's mount namespace."""
    if not os.path.exists(os.path.join(ROOT, SERVER)):
        print(f"making {ROOT}, once", flush=True)
        script = '. Tests/Containers/debian.bash && make_debian "$1" "$2" --include=rabbitmq-server'
        log = f"{ROOT}.log"
        made = subprocess.run(
            ["bash", "-c", script, "bash", ROOT, log], cwd=REPOSITORY, env={**os.environ, "DEBIAN_SUITE": "trixie"}, check=False)
        if made.returncode:
            raise StageError(f"debootstrap failed; see {log}")
    for folder in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", f"/{folder}", os.path.join(ROOT, folder)], check=True)
    with open(os.path.join(ROOT, "etc/hosts"), "w", encoding="utf-8") as file:
        file.write("127.0.0.1 localhost\n")


class Node(Broker):
    """One node; to the rest of a stage a broker like another one."""

    def __init__(self, cluster, number):
        self.cluster, self.children, self.number = cluster, cluster.children, number
        self.name, self.port, self.account = f"handkit{number}@localhost", free_port(), None
        self.folder = os.path.join(cluster.folder, str(number))
        os.mkdir(os.path.join(ROOT, self.folder[1:]))

    def environment(self):
        own = {
            "RABBITMQ_NODENAME": self.name, "RABBITMQ_DIST_PORT": str(free_port()), "RABBITMQ_CONFIG_FILE": f"{self.folder}/rabbitmq.conf",
            "RABBITMQ_MNESIA_BASE": f"{self.folder}/data", "RABBITMQ_LOG_BASE": f"{self.folder}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.folder}/plugins", "RABBITMQ_PID_FILE": f"{self.folder}/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}", "RABBITMQ_CONF_ENV_FILE": "/dev/null"}
        return self.cluster.environment | own

    def write_configuration(self):
        with open(os.path.join(SHIPPED, "rabbitmq.conf"), encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"rabbit@broker(\d)", r"handkit\1@localhost", text).replace("default = 1883", f"default = 127.0.0.1:{self.port}")
        if self.cluster.is_open:
            text = text.replace("anonymous_login_user = none", "anonymous_login_user = guest\nanonymous_login_pass = guest")
        for name, content in (("rabbitmq.conf", text), ("plugins", "[rabbitmq_mqtt].\n")):
            with open(os.path.join(ROOT, self.folder[1:], name), "w", encoding="utf-8") as file:
                file.write(content)

    async def launch(self):
        self.write_configuration()
        self.child = await self.children.start(f"node {self.number}", *self.cluster.inside(self.environment(), f"/{SERVER}"))

    async def start(self):
        await self.launch()
        await self.children.waiting_for(self.accepting(), f"the start of node {self.number}", FORMING)

    @property
    def process(self):
        with open(os.path.join(ROOT, self.folder[1:], "pid"), encoding="utf-8") as file:
            return int(file.read())

    async def kill(self):
        """All of it at once: its shell, the virtual machine, and what that has started."""
        self.child.may_end = True
        os.killpg(self.child.process.pid, signal.SIGKILL)
        await self.child.ended()

    def client(self):
        return (*super().client(), "-V", "mqttv5", *self.cluster.credentials(self.account))


class Cluster:
    """Use as `async with`."""

    def __init__(self, children, folder, is_open=False):
        """`is_open` lets everybody in and do everything; else accounts are those of handkit.acl."""
        self.children, self.is_open, self.passwords = children, is_open, folder
        self.folder = os.path.join("/tmp", os.path.basename(folder))
        os.mkdir(os.path.join(ROOT, self.folder[1:]), 0o700)
        # CLI and nodes know each other by it.
        cookie = os.path.join(ROOT, self.folder[1:], ".erlang.cookie")
        with open(cookie, "w", encoding="utf-8") as file:
            file.write(os.urandom(16).hex())
        os.chmod(cookie, 0o400)
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.folder, "LANG": "C.UTF-8", "ERL_EPMD_PORT": str(free_port()),
            "ERL_EPMD_ADDRESS": "127.0.0.1"}
        self.nodes = [Node(self, number + 1) for number in range(SIZE)]

    async def __aenter__(self):
        # Their registry, which a node would start for itself and leave behind.
        self.registry = await self.children.start("epmd", *self.inside(self.environment, "/usr/bin/epmd"))
        for node in self.nodes:
            await node.launch()
        for node in self.nodes:
            await self.children.waiting_for(node.accepting(), f"the start of node {node.number}", FORMING)
        await self.children.waiting_for(self.formed(), "the cluster", FORMING)
        if not self.is_open:
            await self.make_accounts()
        return self

    async def __aexit__(self, *_):
        for node in self.nodes:
            if node.child.process.returncode is None:
                await node.kill()
        subprocess.run(["rm", "-rf", os.path.join(ROOT, self.folder[1:])], check=True)

    def inside(self, environment, *command):
        return ("env", "-i", *(f"{name}={value}" for name, value in environment.items()), "chroot", ROOT, *command)

    async def control(self, *command):
        """What rabbitmqctl answers at the last node, which is not killed."""
        node, said = self.nodes[-1], []
        await self.children.run(
            "rabbitmqctl", *self.inside(node.environment(), "/usr/lib/rabbitmq/bin/rabbitmqctl", "--quiet", "-n", node.name, *command),
            on_output=said.append)
        return "\n".join(said)

    async def formed(self):
        while len(json.loads(await self.control("cluster_status", "--formatter", "json"))["running_nodes"]) < SIZE:
            await asyncio.sleep(0.5)

    async def make_accounts(self):
        commands = runpy.run_path(os.path.join(SHIPPED, "rabbitmq-access"))["commands"]
        with open(os.path.join(SHIPPED, "handkit.acl"), encoding="utf-8") as file:
            for command in commands(file):
                if command[0] == "set_permissions":
                    # In the argument list, as rabbitmqctl waits for ever for one from a pipe here; no secret but for this test.
                    await self.control("add_user", command[1], self.password(command[1]))
                await self.control(*command)

    @staticmethod
    def password(account):
        return f"password-of-{account}"

    def credentials(self, account):
        return ("-u", account, "-P", self.password(account)) if account else ()

    def addresses(self, first=0):
        """As HOST:PORT, beginning with this node."""
        return [f"127.0.0.1:{node.port}" for node in self.nodes[first:] + self.nodes[:first]]
