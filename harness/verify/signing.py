"""Sign published runs and leagues, and check their signatures.

A signature covers every file in the folder, except for the logs of what bots printed: run.json, all records and the
notes of bots; of a league its journal, the runs of all eras and the stored bots.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import msgspec

from harness.core.errors import StoreError, UsageError
from harness.core.files import Folder, cannot_read, cannot_write, write_whole
from harness.plugins.discovery import shown
from harness.runs.reader import GAMES, UNREADABLE
from harness.runs.store import (
    LOCK,
    LOGS,
    MAX_LOCK_BYTES,
    NOTES,
    RUN,
    SIGNATURE,
    RunFolder,
    digest_of_file,
    lock,
    now,
    refuse_era,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND = "ed25519:"
"""Prefix of a public key in text form, so that it is not mistaken for other base64 data."""
KEY_SIZE = 32
NEEDED = "Signatures need a library that is not installed: pip install 'arena-harness[sign]'."

RECORDS = "records"
REWRITABLE = ("deals", "limits", "times", "versions", "notes")
"""Parts of an unsigned run that cannot be checked by replaying its matches or asking its bots again."""
_OTHER = "not what was signed; if you have continued it yourself, sign it again"

SignatureState = Literal["unsigned", "good", "bad", "other key", "not checked"]


class Signature(msgspec.Struct, frozen=True):
    """The content of signature.json."""

    key: str
    """The public key of the signer: KIND and base64."""
    signed: str
    """The time of the signature."""
    signature: str
    """The signature of the bytes that `signed_text` returns, in base64."""
    parts: dict[str, str]
    """The signed data: the digest of all records, and the digest of each file by its path."""


@dataclass(frozen=True, slots=True)
class Signable:
    """A folder that can be signed."""

    files: Folder
    kind: str
    """What it holds: a run or a league. It is signed, too: the signature of one kind is not valid for the other."""
    required: tuple[str, ...]
    """Parts that every valid signature has."""
    digests: Callable[[], dict[str, str]]
    """Returns the digests of all parts that are signed, as they are now."""
    aside: tuple[str, ...] = ()
    """Folders that the signature does not cover."""


@dataclass(frozen=True, slots=True)
class SignatureFinding:
    """The result of checking the signature of a run or a league."""

    state: SignatureState
    key: str = ""
    signed: str = ""
    why: str = ""
    added: tuple[str, ...] = ()
    """Files that were added to the folder after it was signed."""
    aside: tuple[str, ...] = ()
    """Folders that signatures never cover."""

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Parts of a valid run that could have been rewritten unnoticed, by recomputing all digests."""
        return (*self.added, *self.aside) if self.state == "good" else REWRITABLE

    def is_fine(self, required: bool) -> bool:
        """Return whether nothing is wrong with the signature; `required`: there is one, and it covers all files."""
        if required:
            return self.state == "good" and not self.added
        return self.state in ("good", "unsigned", "not checked")

    def __str__(self) -> str:
        match self.state:
            case "unsigned":
                return "Unsigned."
            case "good":
                return f"Signed by {self.key}, and good."
            case "bad":
                return f"Signed by {self.key or 'an unknown key'}, but BAD: {self.why}."
            case "other key":
                return f"Signed by {self.key}, which is not a key that you trust."
            case "not checked":
                return f"Signed by {self.key}; not checked. {self.why}"


def default_key() -> Path:
    """Return the default path of the user's private key."""
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(config).expanduser() / "arena" / "signing-key.pem"


def new_key(path: Path) -> str:
    """Create a private key that only this user can read; return the public key.

    Raise UsageError if the file exists.
    """
    private, serialization = _private_keys()
    key = private.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )  # fmt: skip
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # O_EXCL never replaces a key, and the mode applies from the start: no other user can open the file in between.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} already exists, and a lost key cannot be restored: move it away first.") from None
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise cannot_write(path, error) from error
    return _public_text(key)


def public_key(path: Path) -> str:
    """Return the public key of the private key in this file."""
    return _public_text(_load(path))


def sign_run(run: RunFolder, key_file: str | Path | None = None) -> Signature:
    """Sign a complete run with the private key in this file, by default the user's; write and return the signature.

    The content on disk is signed. Raise UsageError if the run is not complete, and StoreError if its records are not
    those that it was finished with.
    """
    refuse_era(run, "sign")
    with lock(run.files):  # nothing may change between the check of the records and the signature
        if not run.info.finished:
            raise UsageError(f"{run.folder} is not complete; sign it when all its matches are played.")
        for _ in run.records():
            pass  # reading checks every line, and raises an error for one that was changed
        if run.info.records != run.digest():
            raise StoreError(f"{run.folder} does not hold the records it was finished with: arena verify has details.")
        return sign_folder(signable_run(run), key_file)


def sign_folder(what: Signable, key_file: str | Path | None) -> Signature:
    """Sign a folder as `sign_run` does; the caller locks it."""
    key, parts, when = _load(Path(key_file) if key_file else default_key()), what.digests(), now()
    signature = key.sign(signed_text(what.kind, parts, when))
    signed = Signature(_public_text(key), when, b64encode(signature).decode(), parts)
    write_whole(what.files, SIGNATURE, msgspec.json.format(msgspec.json.encode(signed), indent=2) + b"\n")
    return signed


def signed_text(kind: str, parts: Mapping[str, str], when: str) -> bytes:
    """Return the bytes that are signed: the same for the same parts, in any order."""
    # The first line is a prefix with the purpose and the version of the format.
    head = f"arena {kind} signature 2\n".encode()
    return head + msgspec.json.encode({"parts": parts, "signed": when}, order="sorted")


def signable_run(run: RunFolder) -> Signable:
    """Return what a signature of a run covers."""
    aside = (f"{LOGS}/",) if run.files.has_file(LOGS) else ()
    return Signable(run.files, "run", (RECORDS, RUN), partial(_parts, run), aside)


def _parts(run: RunFolder) -> dict[str, str]:
    """Return the digests of everything that a signature covers.

    These are all records, in schedule order, and every other file in the folder and its subfolders, except for the
    folder with the logs of what bots printed.
    """
    if not run.ends_whole():
        raise StoreError(f"{run.folder / GAMES} has data after its last complete line: delete it.")
    # The notes have an entry even if there is no such file: notes that are added later make the signature bad.
    found = {RECORDS: run.digest(), NOTES: digest_of_file(run.files, NOTES)}
    for name, digest in digests_of_files(run.files, [""]):
        if name != GAMES:
            # A file called "records" must not replace the digest of the records.
            found[f"./{name}" if name == RECORDS else name] = digest
    return found


def digests_of_files(folder: Folder, runs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the digest of every file in a folder and its subfolders, except for its signature.

    `runs` are the names of the run folders in it, "" for the folder itself: their logs and lock files are not signed.
    """
    starts = [f"{run}/" if run else "" for run in runs]
    logs, locks = tuple(f"{start}{LOGS}/" for start in starts), {LOCK, *(f"{start}{LOCK}" for start in starts)}
    try:
        for name in folder.all_files():
            if name == SIGNATURE or name.startswith(logs) or (name in locks and _is_lock(folder, name)):
                continue
            yield name, digest_of_file(folder, name)
    except OSError as error:
        raise cannot_read(folder.path, error) from error


def _is_lock(folder: Folder, name: str) -> bool:
    """Return whether this is a real lock file: empty or with a process id, as a process leaves it when it is killed."""
    # Lock files are not signed, so no other content may pass as one.
    try:
        return not (text := folder.read(name, MAX_LOCK_BYTES)) or text.isdigit()
    except OSError:
        return False


def check_run_signature(run: RunFolder, trusted: Iterable[str]) -> SignatureFinding:
    """Check the signature of a run; `trusted` are public keys, or files with them."""
    return check_signature(signable_run(run), trusted_keys(trusted))


def check_signature(what: Signable, trusted: Collection[str] = ()) -> SignatureFinding:
    """Return whether a run or a league is signed, with which key, and whether it has changed since then.

    If `trusted` has keys, a valid signature with any other key has the state "other key".
    """
    path = what.files.path / SIGNATURE
    try:
        found = msgspec.json.decode(what.files.read(SIGNATURE), type=Signature)
    except FileNotFoundError:
        return SignatureFinding("unsigned")
    except OSError as error:
        raise cannot_read(path, error) from error
    except UNREADABLE as error:
        return SignatureFinding("bad", why=f"{path} is not a signature ({error})")
    try:
        [key] = trusted_keys([found.key])
        signature = b64decode(found.signature, validate=True)
    except (UsageError, ValueError):
        return SignatureFinding("bad", why=f"{path} holds no key and signature")
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ModuleNotFoundError:
        return SignatureFinding("not checked", key, found.signed, NEEDED)
    try:
        Ed25519PublicKey.from_public_bytes(b64decode(key.removeprefix(KIND))).verify(
            signature, signed_text(what.kind, found.parts, found.signed)
        )
        now = what.digests()
    except (InvalidSignature, StoreError):
        return SignatureFinding("bad", key, found.signed, f"the {what.kind} is {_OTHER}")
    # Required parts are compared even if the signature does not list them: a signature without them is bad.
    listed = dict.fromkeys((*what.required, *found.parts))
    others = [name for name in listed if name not in found.parts or found.parts[name] != now.get(name)]
    if others:
        verb = "are" if len(others) > 1 or RECORDS in others else "is"
        return SignatureFinding("bad", key, found.signed, f"{', '.join(map(shown, others))} {verb} {_OTHER}")
    added = tuple(map(shown, sorted(now.keys() - found.parts)))
    state: SignatureState = "other key" if trusted and key not in trusted else "good"
    return SignatureFinding(state, key, found.signed, added=added, aside=what.aside)


def trusted_keys(asked: Iterable[str]) -> list[str]:
    """Return public keys, from texts that are either keys or paths of files with a key at the start of each line.

    Raise UsageError for anything else. Empty lines and lines that start with `#` are skipped.
    """
    keys = []
    for text in asked:
        if text.startswith(KIND):
            keys.append(_checked(text))
            continue
        try:
            lines = Path(text).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{text!r} is not a key like {KIND}..., nor a file of keys: {error}.") from None
        found = [line.split()[0] for line in lines if line.strip() and not line.lstrip().startswith("#")]
        if not found:
            raise UsageError(f"There are no keys in {text}.")
        keys += map(_checked, found)
    return keys


def _checked(text: str) -> str:
    try:
        right = text.startswith(KIND) and len(b64decode(text.removeprefix(KIND), validate=True)) == KEY_SIZE
    except ValueError:
        right = False
    if not right:
        raise UsageError(f"{text!r} is not a public key; one looks like {KIND}...", fix="show-key")
    return text


def _load(path: Path) -> Ed25519PrivateKey:
    private, serialization = _private_keys()
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise UsageError(f"Other users can read the key {path}. Make it private with: chmod 600 {path}")
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except FileNotFoundError:
        raise UsageError(f"There is no key {path}.", fix="new-key") from None
    except OSError as error:
        raise UsageError(f"Cannot read the key {path}: {error.strerror or error}.") from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path} holds no key that can be used: {error}") from error
    if not isinstance(key, private):
        raise UsageError(f"{path} holds a key of another kind than Ed25519.", fix="new-key")
    return key


def _private_keys() -> tuple[type[Ed25519PrivateKey], ModuleType]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ModuleNotFoundError as error:
        raise UsageError(NEEDED) from error
    return Ed25519PrivateKey, serialization


def _public_text(key: Ed25519PrivateKey) -> str:
    return KIND + b64encode(key.public_key().public_bytes_raw()).decode()
