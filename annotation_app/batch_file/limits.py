"""How much an upload may hold; the settings can lower or raise each figure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one upload: `text` and `label` in code points, sizes in bytes."""

    text: int = 1_000_000
    label: int = 500
    errors_listed: int = 1_000
    unpacked_ratio: int = 100
    unpacked: int = 10_000_000
    line: int = 16 * 1024 * 1024
    task_file: int = 64 * 1024 * 1024
    zip_directory: int = 16_000_000


DEFAULT_LIMITS = Limits()
