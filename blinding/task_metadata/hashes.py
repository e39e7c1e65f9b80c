"""The hash of a folder of a task package, and whether the metadata name it.

It is what `sha256sum` prints for the files in the order of their paths, hashed once more:
    cd materials && find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from blinding.task_metadata.findings import Hit
from blinding.task_metadata.package import MATERIALS, Package
from blinding.task_metadata.values import at

_ESCAPED = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})


def hash_files(files: Mapping[str, bytes], root: str, paths: Iterable[str]) -> str:
    """Return `sha256:` and 64 hex digits over names and contents of `paths`, given relative to `root`."""
    whole = hashlib.sha256()
    for path in sorted(paths, key=_encoded):
        whole.update(_line(path, hashlib.sha256(files[f"{root}/{path}"]).hexdigest()))
    return f"sha256:{whole.hexdigest()}"


def _line(path: str, digest: str) -> bytes:
    """As sha256sum does: a name with a backslash or line break is escaped, which a backslash before tells."""
    name = path.translate(_ESCAPED)
    mark = "" if name == path else "\\"
    return f"{mark}{digest}  ".encode() + _encoded(name) + b"\n"


def _encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def check_hashes(package: Package, tree: dict[str, Any], files: Mapping[str, bytes]) -> Iterator[Hit]:
    """Yield hits of the declared hashes, each where its files are in the package."""
    places = (
        (MATERIALS, "materials", ("materials_sha256",)),
        (package.verifier, "verifier", ("verifier", "sha256")),
    )
    for subfolder, kind, keys in places:
        if subfolder not in package.subfolders:
            continue
        declared = at(tree, *keys)
        if declared is None:
            if keys[0] not in tree:
                yield Hit(f"{kind}_without_hash", "")
            continue
        found = hash_files(files, f"{package.folder}/{subfolder}", package.subfolders[subfolder])
        if found != declared:
            yield Hit(f"{kind}_hash_mismatch", f"/{'/'.join(keys)}", f"{subfolder}/ has {found}")
