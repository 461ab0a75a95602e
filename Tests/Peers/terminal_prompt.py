#!/usr/bin/env python3
"""Runs a program on a terminal of its own, sends it a signal when it has asked for a secret, and prints what became of both as JSON:
whether the terminal showed what is typed before, meanwhile and after, and the signal that ended the program.

usage: terminal_prompt.py SIGNAL PROGRAM [ARGUMENT…]
"""

import json
import os
import pty
import signal
import sys
import termios
import time


def shows(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def main():
    number = getattr(signal, sys.argv[1])
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.argv[2], sys.argv[2:])
    told = {"before": shows(terminal)}
    said = b""
    while b"not shown" not in said:
        said += os.read(terminal, 1024)
    for _ in range(200):
        if not shows(terminal):
            break
        time.sleep(0.05)
    told["meanwhile"] = shows(terminal)
    # The program's end of the terminal would be gone with it, so this one is looked at before that is so.
    keeper = os.open(os.readlink(f"/proc/{child}/fd/0"), os.O_RDWR | os.O_NOCTTY)
    os.kill(child, number)
    _, status = os.waitpid(child, 0)
    told["after"] = shows(keeper)
    told["signal"] = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    print(json.dumps(told))


if __name__ == "__main__":
    main()
