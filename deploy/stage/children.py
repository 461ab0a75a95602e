"""The programs on the stage: started in order, read line by line, and stopped in the opposite order whatever happens."""

import asyncio
import ctypes
import os
import signal
from collections import deque

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class StageError(Exception):
    """What went wrong, in one line for the person before the terminal, with the last lines that the program said."""

    def __init__(self, what, said=()):
        super().__init__(what)
        self.said = list(said)


def end_with_parent():
    """Runs in the child before its program: it is to end even if this process is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Child:
    def __init__(self, name, process, on_output, on_error, may_end):
        self.name = name
        self.process = process
        self.may_end = may_end
        self.said = deque(maxlen=12)  # the last lines of its standard error
        self.life = asyncio.create_task(self.live(on_output, on_error))

    async def live(self, on_output, on_error):
        async def read(stream, *handlers):
            async for line in stream:
                for handle in handlers:
                    handle(line.decode(errors="replace").rstrip("\n"))

        await asyncio.gather(read(self.process.stdout, on_output), read(self.process.stderr, self.said.append, on_error))
        return await self.process.wait()

    async def ended(self):
        """The exit code, once the program has ended and all that it said was handled."""
        return await asyncio.shield(self.life)


class Children:
    """Use as `async with`: at its end every program has ended."""

    def __init__(self, environment, folder):
        self.environment = environment
        self.folder = folder
        self.running = []
        # Done with the first exception: a program ended that has to run, or a line could not be handled.
        self.failure = asyncio.get_running_loop().create_future()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        for child in reversed(self.running):
            await self.stop(child)
        self.failure.cancel() or self.failure.exception()  # whoever waited was told

    async def start(self, name, *command, on_output=lambda line: None, on_error=lambda line: None, given=None, may_end=False):
        """Starts a program in a session of its own, so that Ctrl-C reaches this process alone and the order of the end is kept.

        `given` is written to its standard input. The end of a program that may not end is a failure of the stage.
        """
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE if given else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.environment,
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        child = Child(name, process, on_output, on_error, may_end)
        self.running.append(child)
        if given:
            process.stdin.write(given.encode())
            process.stdin.close()
        child.watch = asyncio.create_task(self.watch(child))
        return child

    async def watch(self, child):
        try:
            code = await child.ended()
            failure = None if child.may_end else StageError(f"{child.name} ended with {describe(code)}", child.said)
        except Exception as error:  # of a handler: it is not lost, and nothing is left running because of it
            failure = error
        if failure and not self.failure.done():
            self.failure.set_exception(failure)

    async def run(self, name, *command, given=None, **handlers):
        """Runs a program to its end, which has to be a good one."""
        child = await self.start(name, *command, given=given, may_end=True, **handlers)
        code = await self.waiting_for(child.ended())
        if code != 0:
            raise StageError(f"{name} failed with {describe(code)}", child.said)

    async def waiting_for(self, awaitable, what=None, seconds=None):
        """Waits for something while every program that has to run runs."""
        task = asyncio.ensure_future(awaitable)
        try:
            await asyncio.wait({task, self.failure}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self.failure.done():
                self.failure.result()
            if not task.done():
                raise StageError(f"{what} did not happen within {seconds} s", [line for child in self.running for line in child.said])
            return task.result()
        finally:
            task.cancel()

    async def stop(self, child):
        child.may_end = True
        if child.process.returncode is None:
            child.process.terminate()
            try:
                await asyncio.wait_for(child.process.wait(), timeout=5)
            except asyncio.TimeoutError:
                os.killpg(child.process.pid, signal.SIGKILL)
        await child.watch


def describe(code):
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
