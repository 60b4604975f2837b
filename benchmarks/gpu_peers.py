"""Whom `gpu.py` compares with: PyTorch and JAX, where they are installed and see the card.

Both compute float32 products and convolutions in float32, as symc does: by themselves JAX and
cuDNN's convolutions would round to TF32. A peer that fails, or takes too long to compile, is named
with the reason and left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from gpu_measure import Call, Setting, check, limited
from gpu_models import Model, jax_step, torch_step

COMPILING = 60.0  # seconds that a peer has for a function of rows
TRAINING = 100.0  # and for a training step


@cache
def torch() -> tuple[Any, str]:
    """PyTorch, if it is there and sees a card, else None; and a remark about it."""
    try:
        import torch as found
    except Exception as error:
        return None, f"PyTorch: {type(error).__name__}: {error}".partition("\n")[0]
    if not found.cuda.is_available():
        return None, f"PyTorch {found.__version__} sees no card"
    found.backends.cuda.matmul.allow_tf32 = False
    found.backends.cudnn.allow_tf32 = False
    found.backends.cudnn.benchmark = True
    assert found.cuda.current_stream().cuda_stream == 0, "events are on the default stream"
    return found, f"PyTorch {found.__version__}"


@cache
def jax() -> tuple[Any, str]:
    """JAX, likewise."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        import jax as found

        found.config.update("jax_default_matmul_precision", "highest")
        platform = found.default_backend()
    except Exception as error:
        return None, f"JAX: {type(error).__name__}: {error}".partition("\n")[0]
    if platform != "gpu":
        return None, f"JAX {found.__version__} sees no card"
    return found, f"JAX {found.__version__}"


def installed(setting: Setting) -> list[str]:
    """A line for each peer."""
    if setting.device.is_simulator:
        return ["the simulator has no peers"]
    return [torch()[1], jax()[1]]


def compiled_by_torch(
    setting: Setting, sets: Sequence[Sequence[Any]], function: Any, wanted: Any, notes: list[str]
) -> dict[str, list[Call]]:
    """torch.compile's function on the same arrays, checked; empty if there is none."""
    found = None if setting.device.is_simulator else torch()[0]
    if found is None:
        notes.append("torch.compile took no part")
        return {}
    try:
        with limited(COMPILING):
            tensors = [[found.from_dlpack(array) for array in arrays] for arrays in sets]
            fast = found.compile(function, dynamic=False)
            check("torch.compile", fast(*tensors[0]).cpu().numpy(), wanted)
    except Exception as error:
        notes.append(f"torch.compile: {type(error).__name__}: {error}".partition("\n")[0])
        return {}
    return {"torch.compile": [partial(fast, *one) for one in tensors]}


def softmax(x: Any) -> Any:
    """softmax of rows, in PyTorch."""
    return x.softmax(1)


def layer_norm(x: Any) -> Any:
    """Rows with mean 0 and variance 1, in PyTorch."""
    centred = x - x.mean(1, keepdim=True)
    return centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()


def torch_matmul(setting: Setting, left: Any, right: Any) -> dict[str, list[Call]]:
    """A product by PyTorch."""
    found = None if setting.device.is_simulator else torch()[0]
    if found is None:
        return {}
    a, b = found.from_dlpack(left), found.from_dlpack(right)
    return {"torch.matmul": [lambda: a @ b]}


def steps(setting: Setting, model: Model, wanted: float, notes: list[str]) -> dict[str, Call]:
    """Training steps of the peers, each of which waits for the device; their first loss is checked.

    `wanted` is that loss.
    """
    if setting.device.is_simulator:
        return {}
    made: dict[str, Call] = {}
    for name, make in {
        "torch.compile": partial(_torch_step, model, None),
        "torch.compile, graphs": partial(_torch_step, model, "reduce-overhead"),
        "jax.jit": partial(_jax_step, model),
    }.items():
        if name == "torch.compile, graphs" and "torch.compile" not in made:
            continue  # it would fail in the same way, after as long
        try:
            with limited(TRAINING):
                step, once = make()
                if step is None:
                    continue
                check(f"{model.name}, {name}", float(step()), wanted, 1e-3)
                for _ in range(3):
                    once()
        except Exception as error:
            notes.append(f"{name}: {type(error).__name__}: {error}".partition("\n")[0])
            continue
        made[name] = once
    return made


def _torch_step(model: Model, mode: str | None) -> tuple[Callable[[], Any] | None, Call]:
    found = torch()[0]
    step = None if found is None else torch_step(found, model, "cuda", mode)

    def once() -> None:
        assert step is not None
        step()
        found.cuda.synchronize()

    return step, once


def _jax_step(model: Model) -> tuple[Callable[[], Any] | None, Call]:
    found = jax()[0]
    if found is None:
        return None, lambda: None
    step, state = jax_step(found, model)

    def once() -> None:
        step()
        found.block_until_ready(state())

    return step, once
