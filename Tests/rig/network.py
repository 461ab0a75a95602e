"""A network in the way of a TCP connection: passes bytes on, late, slowly, or not at all."""

import asyncio

from broker import free_port


class Network:
    def __init__(self, far_port):
        self.port, self.far_port = free_port(), far_port
        self.delay, self.rate, self.is_stalled = 0.0, None, False
        self.connections = set()

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)

    async def serve(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.far_port)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, far_writer)
        self.connections.add(pair)
        await asyncio.gather(self.pass_on(reader, far_writer), self.pass_on(far_reader, writer), return_exceptions=True)
        for end in pair:
            end.transport.abort()
        self.connections.discard(pair)

    async def pass_on(self, reader, writer):
        try:
            while data := await reader.read(1024):
                while self.is_stalled:
                    await asyncio.sleep(0.05)
                await asyncio.sleep(self.delay + (len(data) / self.rate if self.rate else 0))
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()  # the other side learns of every end, of a broken one too

    def cut(self):
        for pair in list(self.connections):
            for end in pair:
                end.transport.abort()

    def calm(self):
        self.delay, self.rate, self.is_stalled = 0.0, None, False
