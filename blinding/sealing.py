"""What only the study's private key can read: sealed boxes, their padding, and the key under two passphrases.

The private key is stored in layers. The inner one is the admin's half, the outer one, around it, the project
author's. A layer is a blob of version 1, numbers big-endian:

    magic "TBKL" · version u8 · layer u8 (1 inner, 2 outer) · argon2id ops u32, bytes of memory u64 · salt 16
    · slot for the passphrase 72 · slot for the recovery code 72 · content + 40

Each slot holds the layer's own random key, the content is encrypted under that; all three with
XChaCha20-Poly1305, a nonce of 24 bytes before each. So a passphrase or a code opens its own layer only.
Argon2id takes 256 MB: callers hold a lock between processes, one derivation at a time."""

import hmac
import struct
import unicodedata
from base64 import b32decode, b32encode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from nacl.bindings import crypto_box_seal, crypto_box_seal_open, sodium_pad, sodium_unpad
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey
from nacl.pwhash import argon2id
from nacl.secret import Aead

from blinding import entropy
from blinding.commitment import MIN_NONCE, decode_labels, encode_labels

KEY_SIZE = 32
PAD_BLOCK = 256

_MAGIC = b"TBKL\x01"
_INNER, _OUTER = 1, 2
_HEADER = struct.Struct(">5sBIQ16s")
_SLOT = Aead.NONCE_SIZE + KEY_SIZE + Aead.MACBYTES
_CODE_SIZE, _CODE_CHECK = 20, 5
_READABLE = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
_FROM_READABLE = str.maketrans("0123456789ABCDEFGHJKMNPQRSTVWXYZ", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_MISREAD = str.maketrans("OIL", "011", "- \t\r\n")
_LABEL_MAGIC = b"TBL1"


class WrongPassphrase(Exception):
    """The passphrase does not open this layer."""


class WrongRecoveryCode(Exception):
    """The code is mistyped, or is not the one of this layer; the message says which."""


class Damaged(Exception):
    """A blob or a box is not what was written: cut, altered, of an unknown version, or for another key."""


@dataclass(frozen=True, slots=True)
class Strength:
    """What one guess at a passphrase costs: argon2id passes and bytes of memory. Tests pass a cheap one."""

    passes: int
    memory: int


MODERATE = Strength(argon2id.OPSLIMIT_MODERATE, argon2id.MEMLIMIT_MODERATE)


@dataclass(frozen=True, slots=True)
class StudyKeyMaterial:
    """A new study's key: the public part, the inner layer to store, the admin's recovery code to print."""

    public_key: bytes
    inner: bytes
    recovery_sheet: str


@dataclass(frozen=True, slots=True)
class OuterLayer:
    """The outer layer to store in place of the inner one, the project author's recovery code to print."""

    outer: bytes
    recovery_sheet: str


def create_study_key(passphrase: str, strength: Strength = MODERATE) -> StudyKeyMaterial:
    """Return a new X25519 key pair whose private key exists only under `passphrase` and a recovery code."""
    private = PrivateKey(entropy.draw("study key", "", KEY_SIZE))
    inner, sheet = _wrap(_INNER, private.encode(), passphrase, strength)
    return StudyKeyMaterial(private.public_key.encode(), inner, sheet)


def add_outer(inner: bytes, passphrase: str, strength: Strength = MODERATE) -> OuterLayer:
    """Return the outer layer around `inner`, which only `passphrase` or the recovery code takes off again."""
    _parse(inner, _INNER)
    return OuterLayer(*_wrap(_OUTER, inner, passphrase, strength))


def open_outer(outer: bytes, passphrase: str) -> bytes:
    """Return the inner layer; raises WrongPassphrase, or Damaged."""
    return _open(outer, _OUTER, passphrase)


def open_inner(inner: bytes, passphrase: str) -> bytes:
    """Return the private key (32 bytes); raises WrongPassphrase, or Damaged."""
    return _open(inner, _INNER, passphrase)


def change_passphrase(layer: bytes, old: str, new: str, strength: Strength = MODERATE) -> bytes:
    """Return the layer, of either kind, under a new passphrase; its code stays. Raises WrongPassphrase."""
    parts = _parse(layer)
    return _with_passphrase(parts, _key_from_passphrase(parts, old), new, strength)


def rewrap_from_recovery(layer: bytes, code: str, new: str, strength: Strength = MODERATE) -> bytes:
    """Return the layer, of either kind, under a new passphrase, for who has its code, which stays valid.

    Raises WrongRecoveryCode. The code alone opens nothing: it needs the stored layer."""
    parts = _parse(layer)
    try:
        key = Aead(_recovery_key(parts.layer, code)).decrypt(parts.by_code, parts.bound("code"))
    except CryptoError as error:
        raise WrongRecoveryCode("this code belongs to another key, or to the other half") from error
    return _with_passphrase(parts, key, new, strength)


def replace_inner(outer: bytes, passphrase: str, inner: bytes) -> bytes:
    """Return the outer layer around another inner one (with a changed passphrase); all else stays."""
    _parse(inner, _INNER)
    parts = _parse(outer, _OUTER)
    key = _key_from_passphrase(parts, passphrase)
    return parts.head + parts.by_passphrase + parts.by_code + _encrypt(key, inner, parts.bound("content"))


def public_key_of(private: bytes) -> bytes:
    """Return the public key of a private one, to hold against the one that was stored."""
    return PrivateKey(private).public_key.encode()


@dataclass(frozen=True, slots=True)
class _Parts:
    layer: int
    strength: Strength
    salt: bytes
    head: bytes
    by_passphrase: bytes
    by_code: bytes
    content: bytes

    def bound(self, slot: str) -> bytes:
        return _bound(self.layer, slot)


def _bound(layer: int, slot: str) -> bytes:
    return _MAGIC + bytes([layer]) + slot.encode()


def _parse(blob: bytes, layer: int | None = None) -> _Parts:
    start = _HEADER.size + 2 * _SLOT
    if len(blob) < start or not blob.startswith(_MAGIC):
        raise Damaged("not a layer of a study key that this version reads")
    _, found, passes, memory, salt = _HEADER.unpack_from(blob)
    if found not in ((_INNER, _OUTER) if layer is None else (layer,)):
        raise Damaged("this is the other layer of a study key")
    if passes > argon2id.OPSLIMIT_SENSITIVE or memory > argon2id.MEMLIMIT_SENSITIVE:
        raise Damaged("the cost of a guess is beyond what this product writes")
    head, slots = blob[: _HEADER.size], blob[_HEADER.size : start]
    return _Parts(found, Strength(passes, memory), salt, head, slots[:_SLOT], slots[_SLOT:], blob[start:])


def _wrap(layer: int, content: bytes, passphrase: str, strength: Strength) -> tuple[bytes, str]:
    key, code = entropy.draw("layer key", "", KEY_SIZE), entropy.draw("recovery code", "", _CODE_SIZE)
    slot = _encrypt(_stretch(layer, code), key, _bound(layer, "code"))
    sealed = _encrypt(key, content, _bound(layer, "content"))
    return _lock(layer, key, passphrase, strength) + slot + sealed, _spell(layer, code)


def _with_passphrase(parts: _Parts, key: bytes, new: str, strength: Strength) -> bytes:
    return _lock(parts.layer, key, new, strength) + parts.by_code + parts.content


def _lock(layer: int, key: bytes, passphrase: str, strength: Strength) -> bytes:
    salt = entropy.draw("passphrase salt", "", argon2id.SALTBYTES)
    head = _HEADER.pack(_MAGIC, layer, strength.passes, strength.memory, salt)
    return head + _encrypt(_derive(passphrase, salt, strength), key, head)


def _open(blob: bytes, layer: int, passphrase: str) -> bytes:
    parts = _parse(blob, layer)
    key = _key_from_passphrase(parts, passphrase)
    try:
        return Aead(key).decrypt(parts.content, parts.bound("content"))
    except CryptoError as error:
        raise Damaged("the content of this layer was altered") from error


def _key_from_passphrase(parts: _Parts, passphrase: str) -> bytes:
    key = _derive(passphrase, parts.salt, parts.strength)
    try:
        return Aead(key).decrypt(parts.by_passphrase, parts.head)
    except CryptoError as error:
        raise WrongPassphrase("the passphrase does not open this half of the key") from error


def _derive(passphrase: str, salt: bytes, strength: Strength) -> bytes:
    """NFC first: one passphrase is typed in other code points on other keyboards."""
    typed = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    if not typed:
        raise ValueError("a passphrase is not empty")
    return argon2id.kdf(KEY_SIZE, typed, salt, opslimit=strength.passes, memlimit=strength.memory)


def _encrypt(key: bytes, content: bytes, bound: bytes) -> bytes:
    return bytes(Aead(key).encrypt(content, bound, entropy.draw("layer nonce", "", Aead.NONCE_SIZE)))


def _stretch(layer: int, code: bytes) -> bytes:
    return hmac.digest(code, _bound(layer, "recovery"), "sha256")


def _spell(layer: int, code: bytes) -> str:
    """Eight groups of five: 160 bits and a checksum, in letters and digits that are hard to misread."""
    check = sha256(_bound(layer, "checksum") + code).digest()[:_CODE_CHECK]
    text = b32encode(code + check).decode().translate(_READABLE)
    return "-".join(text[start : start + 5] for start in range(0, len(text), 5))


def _recovery_key(layer: int, typed: str) -> bytes:
    text = typed.upper().translate(_MISREAD).translate(_FROM_READABLE)
    try:
        data = b32decode(text)
    except ValueError as error:
        raise WrongRecoveryCode("a recovery code is eight groups of five letters and digits") from error
    code, check = data[:_CODE_SIZE], data[_CODE_SIZE:]
    for other in (_INNER, _OUTER):
        if check == sha256(_bound(other, "checksum") + code).digest()[:_CODE_CHECK]:
            return _stretch(layer, code)
    raise WrongRecoveryCode("the recovery code is mistyped")


class Sealer:
    """Seals for a study's public key; cannot open."""

    def __init__(self, public_key: bytes) -> None:
        if len(public_key) != KEY_SIZE:
            raise ValueError("a public key has 32 bytes")
        self._public = public_key

    def seal(self, data: bytes) -> bytes:
        """Return a NaCl sealed box, 48 bytes longer than `data`."""
        return crypto_box_seal(data, self._public)

    def seal_many(self, boxes: Sequence[bytes], threads: int = 2) -> list[bytes]:
        """Return the sealed boxes in order; libsodium works without the GIL: hand over thousands at once."""
        return _in_threads(self.seal, boxes, threads)


class Opener:
    """Opens what was sealed for the public key of `private`."""

    def __init__(self, private: bytes) -> None:
        self._private, self.public_key = private, public_key_of(private)

    def open(self, box: bytes) -> bytes:
        """Return what was sealed; raises Damaged for an altered box or another study's."""
        try:
            return crypto_box_seal_open(box, self.public_key, self._private)
        except (CryptoError, TypeError) as error:
            raise Damaged("a sealed box was altered, or is for another key") from error

    def open_many(self, boxes: Sequence[bytes], threads: int = 2) -> list[bytes]:
        """Return what was sealed, in order; raises Damaged."""
        return _in_threads(self.open, boxes, threads)


def _in_threads(act: Callable[[bytes], bytes], boxes: Sequence[bytes], threads: int) -> list[bytes]:
    if threads < 2 or len(boxes) < 2 * threads:
        return [act(box) for box in boxes]
    size = -(-len(boxes) // threads)
    chunks = [boxes[start : start + size] for start in range(0, len(boxes), size)]
    with ThreadPoolExecutor(threads) as pool:
        return [box for done in pool.map(lambda chunk: [act(box) for box in chunk], chunks) for box in done]


def padded_size(longest: int) -> int:
    """Return the one size for a batch whose longest label box has `longest` bytes, a multiple of 256."""
    return (longest // PAD_BLOCK + 1) * PAD_BLOCK


def pad_to(data: bytes, size: int) -> bytes:
    """Return `data` padded to exactly `size` bytes (ISO/IEC 7816-4); ValueError unless it is shorter."""
    if len(data) >= size:
        raise ValueError("no room to pad")
    return sodium_pad(data, size)


def pad_to_multiple(data: bytes, block: int = PAD_BLOCK) -> bytes:
    """Return `data` padded to the next multiple of `block` bytes (ISO/IEC 7816-4), at least one byte more."""
    return sodium_pad(data, block)


def unpad(padded: bytes) -> bytes:
    """Return what `pad_to` or `pad_to_multiple` was given; raises Damaged where there is no such padding."""
    try:
        return sodium_unpad(padded, max(len(padded), 1))
    except CryptoError as error:
        raise Damaged("a box has no padding") from error


@dataclass(frozen=True, slots=True)
class Labels:
    """What a label box held. `labels` are the committed bytes: fields and raw line, without the nonce."""

    fields: dict[str, Any]
    raw_line: bytes
    nonce: bytes
    labels: bytes


def label_box(fields: Mapping[str, Any], raw_line: bytes, nonce: bytes) -> bytes:
    """Return the plain content of a label box, to be padded to the batch's size and sealed.

    `fields` are JSON values (ids, labels), kept as they are, integers of any size too; `raw_line` is kept
    byte for byte; `nonce` (16 to 255 bytes) salts the record's sealed parts."""
    if not MIN_NONCE <= len(nonce) <= 255:
        raise ValueError("a nonce has at least 128 bits")
    return _LABEL_MAGIC + bytes([len(nonce)]) + nonce + encode_labels(fields, raw_line)


def open_label_box(padded: bytes) -> Labels:
    """Return what `label_box` was given, from its content once opened, still padded; raises Damaged."""
    data = unpad(padded)
    start = len(_LABEL_MAGIC) + 1
    if not data.startswith(_LABEL_MAGIC) or len(data) < start + MIN_NONCE:
        raise Damaged("not a label box that this version reads")
    end = start + data[start - 1]
    try:
        fields, raw_line = decode_labels(data[end:])
    except ValueError as error:
        raise Damaged("a label box was written by something else") from error
    return Labels(fields, raw_line, data[start:end], data[end:])


def text_box(raw_text: str) -> bytes:
    """Return the plain content of a text box, padded to a multiple of 256."""
    return pad_to_multiple(raw_text.encode("utf-8", "surrogatepass"))


def open_text_box(padded: bytes) -> str:
    """Return the raw text from a text box's content once opened; raises Damaged."""
    return unpad(padded).decode("utf-8", "surrogatepass")


def seal_for(public_key: bytes, study_private: bytes, request: str) -> bytes:
    """Return the study's private key sealed for one job and one unblinding request.

    The caller reads `public_key` from where only the job writes: whoever can swap it gets the key."""
    return crypto_box_seal(study_private + request.encode(), public_key)


class HandOver:
    """A job's side of handing over the study key: a key pair that dies with the job and is never stored."""

    def __init__(self) -> None:
        self._opener = Opener(entropy.draw("hand-over", "", KEY_SIZE))
        self.public_key = self._opener.public_key

    def open(self, sealed: bytes, request: str) -> bytes:
        """Return the study's private key; raises Damaged if it was sealed for another job or request."""
        content = self._opener.open(sealed)
        if content[KEY_SIZE:] != request.encode():
            raise Damaged("this key was handed over for another request")
        return content[:KEY_SIZE]


def duplicate_key(study_secret: bytes, output_id: str) -> bytes:
    """Return the HMAC under which a study remembers that an output id was imported.

    Stored as rows (batch, HMAC), inserted sorted by HMAC, without a word of which output it is, so that
    discarding a batch frees its ids; `study_secret` is random per study."""
    return hmac.digest(study_secret, output_id.encode("utf-8", "surrogatepass"), "sha256")
