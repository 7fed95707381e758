"""Plain bounds on the Compas-shaped network, people per second: on the CPU, and on a GPU where there is one.

One person is all 40 bounds (±) of the 20 latent coordinates of a 14 → 20 → 20 encoder under Cat+Noise, in float64,
rounded outward: 5 numerics move, race is free. The people are random, and already on the device: what is timed is the
bound itself, the arithmetic that a population costs, not the transfer.
"""

from __future__ import annotations

import time

import numpy as np
import torch

import lcifr
from lcifr.prove.networks.linear_bounds import CellBatch, CellView, backward, hidden_lines, tensors, view_cell

SEED = 0
CHOICES = ((5, 7), (7, 9), (9, 11), (11, 14))  # sex, race (free), degree of charge, score text
FREE = 1


def population(people: int, device: str) -> tuple[CellView, torch.Tensor]:
    """The batch of random people of Compas' shape, and the 40 directions."""
    random = np.random.default_rng(SEED)
    network = lcifr.Network.from_arrays(
        [
            (random.normal(size=(20, 14)) / 3, random.normal(size=20) / 3),
            (random.normal(size=(20, 20)) / 4, np.zeros(20)),
        ]
    )
    lower, upper = np.zeros((people, 14)), np.ones((people, 14))
    middle = random.normal(size=(people, 5))
    lower[:, :5], upper[:, :5] = middle - 0.3, middle + 0.3
    allowed = []
    for number, (start, stop) in enumerate(CHOICES):
        own = np.arange(stop - start) == random.integers(0, stop - start, people)[:, None]
        allowed.append((np.arange(start, stop), own | (number == FREE)))
    region = lcifr.Region.from_arrays(lower, upper, allowed)
    view = view_cell(tensors(network, device), region.cells[0])
    unit = torch.eye(20, dtype=torch.float64, device=device)
    return view, torch.cat([unit, -unit])


def bound(batch: CellBatch, directions: torch.Tensor) -> torch.Tensor:
    return backward(batch, directions, hidden_lines(batch)).upper


def rate(people: int, chunk: int, device: str, *, compiled: bool = False, rounds: int = 5) -> float:
    """The median of people per second over some rounds, warmed up."""
    view, directions = population(people, device)
    ask = torch.compile(bound, dynamic=False) if compiled else bound
    seconds = []
    with torch.no_grad():
        for _ in range(rounds + 2):
            start = time.perf_counter()
            parts = [ask(view.batch.take(slice(i, i + chunk)), directions).amax() for i in range(0, people, chunk)]
            assert np.isfinite(float(torch.stack(parts).amax()))  # also waits for the device
            seconds.append(time.perf_counter() - start)
    return people / float(np.median(seconds[2:]))


def main() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    cpu = rate(100_000, 512, "cpu")
    torch.set_num_threads(threads)
    print(f"plain bounds, 14 → 20 → 20, 40 directions, float64, seed {SEED}")
    print(f"  CPU, one core   {cpu:14,.0f} people/s")
    if not torch.cuda.is_available():
        print("  GPU             none here (torch.cuda.is_available() is False)")
        return
    for compiled in (False, True):
        speed, chunk = max(
            (rate(4_000_000, chunk, "cuda", compiled=compiled), chunk)
            for chunk in (125_000, 250_000, 500_000, 1_000_000)
        )
        name = f"{torch.cuda.get_device_name()}, {'compiled' if compiled else 'eager'}"
        print(f"  {name}: {speed:,.0f} people/s in chunks of {chunk:,} ({speed / cpu:,.0f}×)")


if __name__ == "__main__":
    main()
