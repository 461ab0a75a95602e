"""A real Home Assistant in a folder of its own, and the questions that tests ask it over WebSocket and REST."""

import asyncio
import contextlib
import itertools
import json
import os
import re
import shutil
import sys

import aiohttp

CONFIGURATION = """\
homeassistant:
  name: Test
  country: DE
http:
  server_host: 127.0.0.1
  server_port: {port}
api:
websocket_api:
config:
{more}input_boolean:
  witness:
automation: !include automations.yaml
lovelace:
  dashboards:
    hand-kit:
      mode: yaml
      title: HandKit
      filename: dashboard.yaml
logger:
  default: info
"""
ONBOARDED = {
    "version": 4, "minor_version": 1, "key": "onboarding", "data": {"done": ["user", "core_config", "analytics", "integration"]}
}
CLIENT = "http://handkit.test/"


class HomeAssistant:
    """Keeps its registries in `folder` over restarts."""

    def __init__(self, children, folder, port, repository):
        self.children, self.folder, self.port, self.repository = children, folder, port, repository
        self.url = f"http://127.0.0.1:{port}"
        self.log = []
        self.process = self.session = self.socket = self.reader = None
        self.numbers = itertools.count(1)
        self.answers, self.listeners, self.early = {}, {}, {}

    # Life

    async def prepare(self, automations, more=""):
        """Writes a configuration and a user, so that nobody has to click through the onboarding."""
        storage = os.path.join(self.folder, ".storage")
        os.makedirs(storage)
        with open(os.path.join(storage, "onboarding"), "w", encoding="utf-8") as file:
            json.dump(ONBOARDED, file)
        for name, text in (("configuration.yaml", CONFIGURATION.format(port=self.port, more=more)), ("automations.yaml", automations)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        shipped = os.path.join(self.repository, "deploy/homeassistant")
        shutil.copytree(os.path.join(shipped, "blueprints"), os.path.join(self.folder, "blueprints"))
        shutil.copy(os.path.join(shipped, "dashboard.yaml"), self.folder)
        await self.children.run("hass --script auth", *self.program("--script", "auth", "-c", self.folder, "add", "admin", "secret"))

    @staticmethod
    def program(*arguments):
        return (sys.executable, "-m", "homeassistant", *arguments)

    async def start(self):
        def log(line):
            self.log.append(re.sub(r"\x1b\[[0-9;]*m", "", line))

        command = self.program("-c", self.folder, "--skip-pip")
        self.process = await self.children.start("Home Assistant", *command, on_error=log, on_output=log)
        self.session = aiohttp.ClientSession()
        await self.children.waiting_for(self._log_in(), "the start of Home Assistant", 120)

    async def _log_in(self):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                flow = await self._post("/auth/login_flow", {"client_id": CLIENT, "handler": ["homeassistant", None], "redirect_uri": CLIENT})
                break
            await asyncio.sleep(0.2)
        step = await self._post(f"/auth/login_flow/{flow['flow_id']}", {"client_id": CLIENT, "username": "admin", "password": "secret"})
        form = {"client_id": CLIENT, "grant_type": "authorization_code", "code": step["result"]}
        async with self.session.post(f"{self.url}/auth/token", data=form) as answer:
            self.tokens = await answer.json()
        self.token = self.tokens["access_token"]
        self.socket = await self.session.ws_connect(f"{self.url}/api/websocket", max_msg_size=0)
        await self.socket.receive_json()
        await self.socket.send_json({"type": "auth", "access_token": self.token})
        assert (await self.socket.receive_json())["type"] == "auth_ok"
        self.reader = asyncio.create_task(self._read())
        while (await self.get("/api/config"))["state"] != "RUNNING":
            await asyncio.sleep(0.2)

    async def stop(self):
        self.reader.cancel()
        await self.socket.close()
        await self.session.close()
        # It writes its registries at the end, and takes its time.
        self.process.may_end = True
        self.process.process.terminate()
        await asyncio.wait_for(self.process.ended(), 60)
        self.listeners.clear()

    async def restart(self):
        await self.stop()
        await self.start()

    # Questions

    async def _post(self, path, payload):
        headers = {"Authorization": f"Bearer {self.token}"} if getattr(self, "token", None) else {}
        async with self.session.post(self.url + path, json=payload, headers=headers) as answer:
            return await answer.json()

    async def get(self, path):
        async with self.session.get(self.url + path, headers={"Authorization": f"Bearer {self.token}"}) as answer:
            return await answer.json() if answer.status == 200 else None

    async def _read(self):
        async for message in self.socket:
            data = json.loads(message.data)
            if data["type"] == "event":
                listener = self.listeners.get(data["id"])
                if listener:
                    listener(data["event"])
                else:
                    self.early.setdefault(data["id"], []).append(data["event"])
            elif data["id"] in self.answers:
                self.answers.pop(data["id"]).set_result(data)

    async def ask(self, kind, **payload):
        number = next(self.numbers)
        self.answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send_json({"id": number, "type": kind, **payload})
        answer = await asyncio.wait_for(self.answers[number] if number in self.answers else asyncio.sleep(0), 30)
        assert answer["success"], answer
        return number, answer["result"]

    async def result(self, kind, **payload):
        return (await self.ask(kind, **payload))[1]

    async def listen(self, kind, handler, **payload):
        number, _ = await self.ask(kind, **payload)
        for event in self.early.pop(number, []):
            handler(event)
        self.listeners[number] = handler

    async def add_broker(self, port):
        """What a person does once: the MQTT integration, with nothing but host and port."""
        flow = await self._post("/api/config/config_entries/flow", {"handler": "mqtt"})
        done = await self.go_on(flow["flow_id"], broker="127.0.0.1", port=port)
        assert done["type"] == "create_entry", done

    async def discovered(self, handler):
        """What it has found by itself and offers to set up."""
        return [flow for flow in await self.result("config_entries/flow/progress") if flow["handler"] == handler]

    async def go_on(self, flow, **given):
        """One page of a dialogue filled in and sent: what it says then."""
        return await self._post(f"/api/config/config_entries/flow/{flow}", given)

    async def remove(self, entry):
        """Takes an integration's device out, as a person does in the settings."""
        url, headers = f"{self.url}/api/config/config_entries/entry/{entry}", {"Authorization": f"Bearer {self.token}"}
        async with self.session.delete(url, headers=headers) as answer:
            assert answer.status == 200, answer.status

    async def state(self, entity):
        return await self.get(f"/api/states/{entity}")

    async def states(self):
        return {state["entity_id"]: state for state in await self.get("/api/states")}

    async def call(self, service, **data):
        domain, name = service.split(".")
        await self._post(f"/api/services/{domain}/{name}", data)

    async def entities(self, platform="mqtt"):
        """Unique id → entity id of everything that came by MQTT, or by another integration."""
        registry = await self.result("config/entity_registry/list")
        return {entry["unique_id"]: entry["entity_id"] for entry in registry if entry["platform"] == platform}

    async def devices(self):
        """Identifier → device, of what came by MQTT."""
        registry = await self.result("config/device_registry/list")
        return {key: device for device in registry for domain, key in device["identifiers"] if domain == "mqtt"}

    def complaints(self, about):
        """What it had to say against something; `about` is a pattern."""
        return [line for line in self.log if re.search(f" (WARNING|ERROR) .*({about})", line, re.IGNORECASE)]
