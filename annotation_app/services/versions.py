"""What "the blind" was made by: hashes of product, lexicon, cleaning and allocation rules; never of a batch's own terms."""

import hashlib
import inspect
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from blinding import allocation, commitment
from blinding.redaction import spans
from blinding.redaction import unicode as cleaning
from blinding.redaction.lexicon import LEXICON_VERSION


@cache
def rules() -> dict[str, str]:
    """Return the hashes by name, as a manifest states them."""
    return {
        "product": product_version(),
        "lexicon": LEXICON_VERSION,
        "cleaning": _source_hash(cleaning),
        "masking": _source_hash(spans),
        "allocation": _source_hash(allocation),
        "commitment": _source_hash(commitment),
    }


@cache
def blind_version() -> str:
    """Return the name under which records state how they were blinded."""
    digest = hashlib.sha256("\n".join(f"{k}={v}" for k, v in sorted(rules().items())).encode()).hexdigest()
    return f"bv-{digest[:24]}"


def product_version() -> str:
    try:
        return version("twinblind")
    except PackageNotFoundError:
        return "0.1.0"


def _source_hash(module: object) -> str:
    return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()  # type: ignore[arg-type]
