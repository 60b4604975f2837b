"""Reference networks: they learn, they share weights, they are short, and their C is exported."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc import nets
from symc.errors import ShapeMismatch
from symc.nets import data
from symc.nets.weights import known

SMALL: dict[str, dict[str, Any]] = {
    "alexnet": {"width": 1 / 32},
    "vgg": {"width": 1 / 32},
    "lstm": {"hidden": 16},
    "transformer": {"width": 16, "blocks": 1},
    "unet": {"width": 2},
}
STEPS = {"alexnet": 8, "lenet": 20, "resnet": 5, "lstm": 24, "unet": 8, "vgg": 8}


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are run by the interpreter: most networks take longer to compile than to learn."""
    monkeypatch.setattr(symc.config, "mode", "python")


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", nets.NETWORKS)
def test_networks_learn(name: str) -> None:
    network = getattr(nets, name)
    step = network.step(nets.Weights(), **SMALL.get(name, {}))
    losses = nets.train(step, network.batches(STEPS.get(name, 12)))
    assert np.isfinite(losses).all()
    assert min(losses[-3:]) < 0.97 * losses[0]


@pytest.mark.parametrize("name", ["lstm", "vae"])
def test_compiled_steps_give_the_interpreters_losses(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = getattr(nets, name)
    found: list[list[float]] = []
    for mode in ("python", "default"):
        monkeypatch.setattr(symc.config, "mode", mode)
        step = network.step(nets.Weights(), **SMALL.get(name, {}))
        found.append(nets.train(step, network.batches(4)))
    np.testing.assert_allclose(found[1], found[0], rtol=2e-4)


@pytest.mark.usefixtures("interpreted")
def test_a_resnet_that_predicts_uses_the_running_statistics() -> None:
    w, x = nets.Weights(), T.tensor("float32", (None, 1, 8, 8), "x")
    nets.resnet.scores(w, x, depth=8)
    learned, updates = len(w.learned), len(w.updates)
    assert updates == 2 * sum(name.endswith(".mean") for name in w.values)
    predict = symc.function([x], nets.resnet.scores(w, x, depth=8, training=False))
    assert (len(w.learned), len(w.updates)) == (learned, updates)
    images = next(iter(data.digits(1, size=3)))[0]
    np.testing.assert_allclose(
        np.concatenate([predict(images[:1]), predict(images[1:])]), predict(images), rtol=1e-4,
        atol=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize(("name", "count"), [("alexnet", 62_378_344), ("vgg", 138_357_544)])
def test_networks_of_the_papers_have_as_many_weights(
    name: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AlexNet of one device, and VGG-16."""

    def counted(self: nets.Weights, key: str, *shape: int, **_: Any) -> Any:
        return self.values.setdefault(key, T.tensor("float32", shape, key))  # type: ignore[arg-type]

    monkeypatch.setattr(nets.Weights, "normal", counted)
    monkeypatch.setattr(nets.Weights, "filled", counted)
    side, w = {"alexnet": 227, "vgg": 224}[name], nets.Weights()
    images = T.tensor("float32", (None, 3, side, side), "images")
    getattr(nets, name).scores(w, images)
    lengths = [[known(made, axis) for axis in range(made.ndim)] for made in w.values.values()]
    assert sum(map(math.prod, lengths)) == count


def test_a_transformer_does_not_see_what_comes() -> None:
    letters = T.lmatrix("letters")
    w = nets.Weights()
    scores = nets.transformer.scores(w, letters, 5, width=8, heads=2, blocks=1)
    f = symc.function([letters], scores, mode="python")
    first, second = f([[0, 1, 2, 3]]), f([[0, 1, 4, 4]])
    np.testing.assert_allclose(first[:, :2], second[:, :2], rtol=1e-5)
    assert not np.allclose(first[:, 2:], second[:, 2:])


def test_the_step_of_a_network_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from symc.nets.__main__ import main

    assert main(["vae", "--export", str(tmp_path / "vae")]) == 0
    assert "wrote" in capsys.readouterr().out
    assert any("vae_step" in path.name for path in (tmp_path / "vae").rglob("*.c"))


def test_each_network_is_a_page() -> None:
    for name in nets.NETWORKS:
        text = Path(getattr(nets, name).__file__).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 80, name


def test_the_alphabet_of_the_text() -> None:
    numbers, alphabet = data.text()
    assert len(alphabet) == data.ALPHABET
    assert numbers.max() == data.ALPHABET - 1
    with pytest.raises(AttributeError, match=r"it has .*lenet"):
        getattr(nets, "lenot")  # noqa: B009


def test_a_layer_says_which_length_it_needs() -> None:
    with pytest.raises(ShapeMismatch, match=r"axis -1.*\n.*hidden.*test_nets.py"):
        nets.Weights().dense("out", T.fmatrix("hidden"), 2)
