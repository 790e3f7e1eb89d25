"""Machines on a wire of their own: network namespaces with addresses that nobody else has, joined by a bridge."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from typing import Any

NETWORK = "10.77.0"
"""Seen by nobody but the namespaces themselves."""


class Machines:
    """A hub and so many other machines, each with an address. Used as a context manager; nothing of it is left."""

    def __init__(self, count: int) -> None:
        self.count, self._mark = count, f"arena-{secrets.token_hex(4)}"
        self.hub = f"{NETWORK}.1"

    def __enter__(self) -> Machines:
        try:
            self._ip("netns", "add", self._space(0))
            self._within(0, "link", "add", "bridge", "type", "bridge")
            self._within(0, "addr", "add", f"{self.hub}/24", "dev", "bridge")
            self._within(0, "link", "set", "bridge", "up")
            self._within(0, "link", "set", "lo", "up")
            for number in range(1, self.count + 1):
                self._add(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: Any) -> None:
        for number in range(self.count + 1):
            subprocess.run([_ip_command(), "netns", "del", self._space(number)], capture_output=True, check=False)

    def address(self, number: int) -> str:
        """Of one of the machines, from 1."""
        return f"{NETWORK}.{10 + number}"

    def prefix(self, number: int = 0) -> list[str]:
        """What stands before a command that runs there; 0 is the hub."""
        return [_ip_command(), "netns", "exec", self._space(number)]

    def cut(self, number: int) -> None:
        """Nothing gets to or from this machine any more; it does not learn why."""
        self._within(0, "link", "set", f"port{number}", "down")

    def heal(self, number: int) -> None:
        """The wire is whole again."""
        self._within(0, "link", "set", f"port{number}", "up")

    def _add(self, number: int) -> None:
        space = self._space(number)
        self._ip("netns", "add", space)
        self._within(0, "link", "add", f"port{number}", "type", "veth", "peer", "name", "wire", "netns", space)
        self._within(0, "link", "set", f"port{number}", "master", "bridge", "up")
        self._within(number, "addr", "add", f"{self.address(number)}/24", "dev", "wire")
        self._within(number, "link", "set", "wire", "up")
        self._within(number, "link", "set", "lo", "up")

    def _space(self, number: int) -> str:
        return f"{self._mark}-{number}"

    def _within(self, number: int, *args: str) -> None:
        self._ip("-n", self._space(number), *args)

    def _ip(self, *args: str) -> None:
        subprocess.run([_ip_command(), *args], capture_output=True, check=True)


def why_not() -> str:
    """Why there can be no such machines here; empty if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip"):
        return "network namespaces need the command ip"
    try:
        with Machines(1) as machines:
            subprocess.run([*machines.prefix(1), "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces here: {error}"
    return ""


def _ip_command() -> str:
    return shutil.which("ip") or "ip"
