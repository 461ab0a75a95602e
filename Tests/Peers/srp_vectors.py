#!/usr/bin/env python3
"""Writes SRP-6a vectors (3072 bits, SHA-512) as HAP-python's server computes them, an implementation independent of ours.

The first is the published example of Apple's HAP specification (user alice). The others are found by trying secrets in a fixed order
until A, B, S or K begins with a zero byte, and a plain one each.

    .handkit/peers/bin/python Tests/Peers/srp_vectors.py > Tests/CryptographyTests/Vectors/srp.json
"""

import hashlib
import itertools
import json

from pyhap.hsrp import Server
from pyhap.params import get_srp_context
from pyhap.util import long_to_bytes

CONTEXT = get_srp_context(3072, hashlib.sha512)
PRIME, GENERATOR = CONTEXT["N"], CONTEXT["g"]


def secret(label, number):
    return hashlib.sha256(f"{label} {number}".encode()).digest()


def exchange(name, user, password, salt, a, b):
    server = Server(CONTEXT, user.encode(), password.encode(), s=salt, b=int.from_bytes(b, "big"))
    client_key = pow(GENERATOR, int.from_bytes(a, "big"), PRIME).to_bytes(384, "big")
    server.set_A(client_key)
    return {
        "name": name, "username": user, "password": password, "salt": salt.hex(), "a": a.hex(), "b": b.hex(),
        "A": client_key.hex(), "B": server.Bb.hex(), "S": server.S.to_bytes(384, "big").hex(),
        "K": server._digest(server.Sb).hex(), "M1": server.M.hex(), "M2": server.HAMK.hex(),
    }


def starts_with_zero(vector):
    return {key for key in "ASK" if vector[key].startswith("00")}


def main():
    vectors = [
        exchange(
            "published", "alice", "password123", bytes.fromhex("beb25379d1a8581eb5a727673a2441ee"),
            bytes.fromhex("60975527035cf2ad1989806f0407210bc81edc04e2762a56afd529ddda2d4393"),
            bytes.fromhex("e487cb59d31ac550471e81f00f6928e01dda08e974a004f49e61f5d105284d20"))
    ]
    user, password, salt = "Pair-Setup", "031-45-154", hashlib.sha256(b"salt").digest()[:16]
    server_secret = secret("b", 0)
    wanted = {"plain": set(), "A": {"A"}, "S": {"S"}, "K": {"K"}}
    for name, zeros in wanted.items():
        for number in itertools.count():
            vector = exchange(name, user, password, salt, secret("a", number), server_secret)
            if starts_with_zero(vector) == zeros:
                vectors.append(vector)
                break
    for number in itertools.count(1):
        vector = exchange("B", user, password, salt, secret("a", 0), secret("b", number))
        if len(vector["B"]) < 768:
            vectors.append(vector)
            break
    vectors.append(exchange("salt of zeros", user, password, bytes(16), secret("a", 1), server_secret))
    print(json.dumps(vectors, indent=1))


if __name__ == "__main__":
    main()
