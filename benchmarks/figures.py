# SPDX-License-Identifier: Apache-2.0
"""The figures: what each is called, where it comes from and what it has to reach."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    id: str
    title: str
    quantity: str  # what the target bounds: "ours" (seconds) or "ratio" (time, ours / first peer)
    at_most: float | None = None  # None: shown for comparison, with no target


@dataclass(frozen=True)
class Group:
    id: str
    title: str
    figures: tuple[Figure, ...]


LAUNCH = Group(
    "launch",
    "Launches and events",
    (
        Figure("enqueue_held", "enqueue an empty launch behind a running one", "ours", 100e-9),
        Figure("million", "10^6 empty launches end to end, each", "ours", 250e-9),
        Figure("round_trip", "launch + wait, warm idle stream", "ours", 0.5e-6),
        Figure("round_trip_idle", "launch + wait after 5 ms of idleness", "ours", 30e-6),
        Figure("record_wait", "enqueue a record and a cross-stream wait", "ours", 0.3e-6),
        Figure("hand_over", "hand-over between two warm streams, in a chain", "ours", 5e-6),
        Figure("hand_over_single", "hand-over between two idle streams, one", "ours", 5e-6),
    ),
)

TRIAD = Group(
    "triad",
    "Parallel triad",
    (
        Figure("triad_helping/tbb", "triad, waiter helping, beside oneTBB", "ratio", 1.03),
        Figure("triad_asleep/tbb", "triad, waiter asleep, beside oneTBB", "ratio", 1.03),
        Figure("triad_noise/tbb", "noise: oneTBB beside itself", "ratio"),
        Figure("triad_helping/omp", "triad, waiter helping, beside OpenMP", "ratio", 1.05),
        Figure("triad_asleep/omp", "triad, waiter asleep, beside OpenMP", "ratio", 1.05),
        Figure("triad_noise/omp", "noise: OpenMP beside itself", "ratio"),
    ),
)

BABELSTREAM = Group(
    "babelstream",
    "BabelStream",
    tuple(
        Figure(f"babelstream_{kernel}", f"BabelStream {kernel}", "ratio")
        for kernel in ("Copy", "Mul", "Add", "Triad", "Dot")
    ),
)

# 0.95 of the bandwidth is 1 / 0.95 of the time.
COPY = Group(
    "copy",
    "Memory copies",
    tuple(
        figure
        for size in ("64 MiB", "256 MiB", "1024 MiB")
        for figure in (
            Figure(f"copy_{size.replace(' ', '')}", f"copy of {size}, beside the best first", "ratio", 1 / 0.95),
            Figure(f"copy_{size.replace(' ', '')}/noise", f"noise: memcpy of {size} beside itself", "ratio"),
        )
    ),
)

START = Group("start", "Start", (Figure("start", "`halinfo list`, start to end", "ours", 20e-3),))

GROUPS = (LAUNCH, TRIAD, BABELSTREAM, COPY, START)
