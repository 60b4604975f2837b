"""The demo learns, agrees with NumPy, and finds everything in the cache afterwards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from symc.demo import digits, models, report, twins
from symc.demo.__main__ import main
from symc.demo.training import NotTheSame, Result, train

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def results() -> Sequence[Result]:
    return main([])


def test_the_network_is_right_on_97_of_100_held_out_digits(results: Sequence[Result]) -> None:
    regression, network = results
    assert regression.accuracy >= 0.95
    assert network.accuracy >= 0.97


def test_losses_are_those_of_numpy(results: Sequence[Result]) -> None:
    for result in results:
        assert result.difference <= 1e-4


def test_parameters_are_updated_in_place() -> None:
    start = models.start_network(np.random.default_rng(0))
    model = models.network(start)
    source = model.step.source
    for name in start:
        assert f"{name}_new" not in source, f"{name} gets a buffer of its own"


def test_the_table_says_what_it_promises(results: Sequence[Result]) -> None:
    text = report.table(results)
    for title in (
        "graph nodes before rewriting", "graph nodes after rewriting", "kernels", "making it: load",
        "making it: total", "a step, symc", "a step, NumPy", "steps until making it paid",
    ):  # fmt: skip
        assert title in text
    assert len({len(line) for line in text.splitlines()}) == 1, "columns are not aligned"
    where = report.origin(results)
    for result in results:
        assert str(result.model.step.folder) in where


def test_a_second_process_finds_everything_in_the_cache(results: Sequence[Result]) -> None:
    assert results
    done = subprocess.run(
        [sys.executable, "-m", "symc.demo", "--epochs", "1"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Everything came from the cache: 4 functions" in done.stdout


def test_a_wrong_model_is_noticed() -> None:
    rng = np.random.default_rng(0)
    data = digits.split(digits.load(), rng)
    start = models.start_regression()
    with pytest.raises(NotTheSame, match="softmax regression"):
        train(
            models.regression(start, rate=0.2), twins.regression(start, rate=0.3), data,
            epochs=1, batch=64, seed=0, progress=lambda epoch, loss: None,
        )  # fmt: skip


def test_the_digits_are_those_of_the_notice() -> None:
    everything = digits.load()
    assert len(everything) == 1797
    assert everything.images.shape == (1797, 64)
    assert everything.images.dtype == np.float32
    assert everything.images.min() == 0
    assert everything.images.max() == 1
    counts = np.bincount(everything.classes)
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_held_out_part_is_stratified_and_held_out() -> None:
    everything = digits.load()
    numbered = digits.Digits(np.arange(1797, dtype=np.float32)[:, None], everything.classes)
    learn, held_out = digits.split(numbered, np.random.default_rng(3))
    together = np.concatenate([learn.images, held_out.images])[:, 0]
    assert np.array_equal(np.sort(together), np.arange(1797))
    shares = np.bincount(held_out.classes) / np.bincount(everything.classes)
    assert np.all(np.abs(shares - 0.2) < 0.01)


@pytest.mark.parametrize("arguments", [["--epochs", "0"], ["--batch", "-1"], ["--epochs", "x"]])
def test_bad_options_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert "argument --" in capsys.readouterr().err
