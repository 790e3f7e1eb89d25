"""A program that answers with nonsense of every kind: mutated messages, noise, pieces, pauses. argv: seed."""

import json
import random
import sys
import time

rng = random.Random(int(sys.argv[1]))
out = sys.stdout.buffer


def reply(message):
    kind = message["type"]
    if kind == "hello":
        return {
            "type": "hello",
            "protocol": 1,
            "name": "fuzzer",
            "games": [],
            "wants": rng.sample(WANTS, rng.randrange(5)),
        }
    if kind == "choose":
        return {"type": "choice", "id": message["id"], "code": rng.choice(message["legal"])}
    return {"type": "ready", "id": message["id"]}


WANTS = ["actions", "components", "events", "texts"]
ODD = [None, -1, 2**64, 1e308, "x" * 2000, [], {}, [[[[]]]], True, "\x00\u2028", {"type": "choice"}]


def mutated(good):
    line = bytearray(json.dumps(good).encode())
    match rng.randrange(8):
        case 0:
            good[rng.choice(list(good))] = rng.choice(ODD)
            return json.dumps(good).encode()
        case 1:
            good.pop(rng.choice(list(good)))
            return json.dumps(good).encode()
        case 2:
            for _ in range(rng.randrange(1, 8)):
                line[rng.randrange(len(line))] = rng.randrange(256)
            return bytes(line)
        case 3:
            return bytes(line[: rng.randrange(len(line))])
        case 4:
            return rng.randbytes(rng.randrange(200))
        case 5:
            return b"[" * rng.randrange(60_000)
        case 6:
            return bytes(line) + b"\n" + bytes(line)
        case _:
            return b'{"type":"choice","id":1,"code":' + b"9" * rng.randrange(1, 9000) + b"}"


for text in sys.stdin:
    asked = json.loads(text)
    if asked["type"] == "bye":
        break
    answer = reply(asked)
    if asked["type"] == "hello":  # who does not introduce itself is not let in
        out.write(json.dumps(answer).encode() + b"\n")
        out.flush()
        continue
    line = mutated(answer) if rng.random() < 0.1 else json.dumps(answer).encode()
    cut = rng.randrange(len(line) + 1)
    out.write(line[:cut])
    out.flush()
    if rng.random() < 0.05:
        time.sleep(rng.random() / 100)
    end = b"\r\n" if rng.random() < 0.1 else b"\n"
    out.write(line[cut:] + (end if rng.random() > 0.01 else b""))
    out.flush()
    if rng.random() < 0.002:
        break
