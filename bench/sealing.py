"""How many boxes a second are sealed, and opened, with one and two threads: `python -m bench.sealing`."""

import sys
from time import perf_counter

from nacl.public import PrivateKey

from blinding.sealing import Opener, Sealer

BOXES, SIZE = 20_000, 1024


def main() -> int:
    private = PrivateKey.generate().encode()
    opener = Opener(private)
    sealer = Sealer(opener.public_key)
    plain = [bytes(SIZE)] * BOXES
    for threads in (1, 2):
        start = perf_counter()
        sealed = sealer.seal_many(plain, threads)
        middle = perf_counter()
        opener.open_many(sealed, threads)
        end = perf_counter()
        print(
            f"{threads} thread{'s' * (threads > 1)}: {BOXES / (middle - start):,.0f} boxes/s sealed,"
            f" {BOXES / (end - middle):,.0f} opened ({SIZE} bytes each)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
