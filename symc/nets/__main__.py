"""``python -m symc.nets NAME``: trains a network on its example, or writes its step as C."""

from __future__ import annotations

import argparse
import sys

from symc import nets


def main(arguments: list[str] | None = None) -> int:
    """Trains and prints losses; 1 if they did not fall."""
    parser = argparse.ArgumentParser(prog="python -m symc.nets", description=__doc__)
    parser.add_argument("name", choices=nets.NETWORKS)
    parser.add_argument("--steps", type=int, default=200, help="how many batches (200)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights")
    parser.add_argument("--export", metavar="FOLDER", help="write the step as a library there")
    options = parser.parse_args(arguments)
    network = getattr(nets, options.name)
    step = network.step(nets.Weights(options.seed))
    if options.export is not None:
        (batch,) = network.batches(1)
        print(f"wrote {step.export(options.export, list(batch))}")
        return 0
    losses = nets.train(step, network.batches(options.steps))
    for number in range(0, len(losses), max(1, len(losses) // 10)):
        print(f"step {number + 1}: loss {losses[number]:.4f}")
    print(f"step {len(losses)}: loss {losses[-1]:.4f}")
    return 0 if losses[-1] < losses[0] else 1


if __name__ == "__main__":
    sys.exit(main())
