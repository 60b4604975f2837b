"""Trains two models on handwritten digits and reports the cost and gain of compiling them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Never

import numpy as np

from symc.demo import digits, models, report, twins
from symc.demo.training import NotTheSame, Progress, Result, train

try:
    from tqdm import tqdm
except ImportError:
    sys.exit("the demo needs tqdm: pip install tqdm")


def main(arguments: Sequence[str] | None = None) -> list[Result]:
    """Runs the demo and returns its outcome."""
    options = _options(arguments)
    rng = np.random.default_rng(options.seed)
    everything = digits.load()
    data = digits.split(everything, rng)
    print(f"{len(everything):,} handwritten digits: {len(data[0]):,} to train on, "
          f"{len(data[1])} held out")  # fmt: skip
    results: list[Result] = []
    for make, twin, start in (
        (models.regression, twins.regression, models.start_regression()),
        (models.network, twins.network, models.start_network(rng)),
    ):
        model = make(start)
        with tqdm(total=options.epochs, desc=f"{model.name:18}", unit="epoch") as bar:
            results.append(
                train(
                    model, twin(start), data, epochs=options.epochs, batch=options.batch,
                    seed=options.seed, progress=_progress(bar),
                )
            )  # fmt: skip
    print(f"\n{report.table(results)}\n\n{report.origin(results)}")
    return results


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m symc.demo", description=__doc__)
    parser.add_argument("--epochs", type=_positive, default=60, help="passes over the data")
    parser.add_argument("--batch", type=_positive, default=64, help="digits in a step")
    parser.add_argument("--seed", type=int, default=1, help="of the split, the start and the order")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def _progress(bar: tqdm[Never]) -> Progress:
    def progress(_: int, loss: float) -> None:
        bar.set_postfix_str(f"loss {loss:.4f}", refresh=False)
        bar.update()

    return progress


if __name__ == "__main__":
    try:
        main()
    except NotTheSame as error:
        sys.exit(str(error))
