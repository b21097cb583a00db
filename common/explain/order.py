"""The order of blocks and threads that the environment asks of CPU mode, as runtime/order.h takes it."""

from __future__ import annotations

import os
import re

ORDER = re.compile(r"|forward|reversed|random(:\d+)?", re.ASCII)


def mistake_in_order() -> str | None:
    """A sentence if there is no such order."""
    order = os.environ.get("CUDA_CPU_ORDER", "")
    if ORDER.fullmatch(order):
        return None
    return (f"{order} is no order; write forward, reversed, random or random:SEED, as ORDER= with make, otherwise as "
            "CUDA_CPU_ORDER")
