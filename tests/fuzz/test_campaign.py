"""The campaign itself: it survives its programs, judges as it should, and keeps failures."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz.__main__ import main
from tests.fuzz.campaign import Campaign, CampaignSettings
from tests.fuzz.expressions import Writer
from tests.fuzz.faulty import Faulty
from tests.fuzz.generators import PLACES, generator
from tests.fuzz.gradients import Gradient
from tests.fuzz.lines import Given, Line, Lines, literal
from tests.fuzz.oracle import Opinion, judge
from tests.fuzz.protocol import EVERY, MODES, Refused, Wrong
from tests.fuzz.running import LineProgram, run
from tests.fuzz.shrink import shrunk
from tests.fuzz.vocabulary import FAMILIES
from tests.fuzz.workers import Outcome, Task, Worker, attempt

ROOT = Path(__file__).parents[2]
NAN, INF = np.nan, np.inf

# --- workers --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


@pytest.fixture(scope="module")
def impatient() -> Iterator[Worker]:
    made = Worker(seconds=0.5)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("kind", "wanted", "head"),
    [("ok", "ok", ""), ("crash", "crash", "SIGSEGV"), ("exit", "crash", "exit 3"),
     ("memory", "memory", "outside symc"),
     ("wrong", "wrong", "wrong"), ("error", "error", "KeyError outside symc"),
     ("refused", "refused", "not today")],
)  # fmt: skip
def test_a_worker_survives(worker: Worker, kind: str, wanted: str, head: str) -> None:
    outcome = worker.run(Task(Faulty(kind), "default"))
    assert (outcome.kind, outcome.head) == (wanted, head)
    assert outcome.failed == (wanted not in ("ok", "refused"))
    assert worker.run(Task(Faulty("ok"), "default")).compared.outputs == 1


def test_a_crash_tells_what_was_said_last(worker: Worker) -> None:
    assert "last words" in worker.run(Task(Faulty("exit"), "default")).message


def test_only_the_time_of_processors_counts(impatient: Worker) -> None:
    """Of a machine that others keep busy, a program gets little in three minutes."""
    assert impatient.run(Task(Faulty("starved"), "default")).kind == "ok"


@pytest.mark.parametrize("kind", ["hang", "busy"])
def test_a_hang_ends_and_tells_where(impatient: Worker, kind: str) -> None:
    outcome = impatient.run(Task(Faulty(kind), "default"))
    assert (outcome.kind, outcome.head) == ("hang", "not done in time")
    assert "faulty.py" in outcome.message


def test_without_a_mode_a_program_is_only_made(worker: Worker) -> None:
    made = worker.run(Task(("expressions", 5), None)).program
    assert made == generator("expressions").generate(5)


# --- making programs smaller ----------------------------------------------------------------------


def test_what_does_not_matter_is_left_out() -> None:
    program = Faulty("wrong", (1, 2, 7, 3, 7))
    outcome = attempt(Task(program, "fast"))
    small, last = shrunk(program, outcome, lambda candidate: attempt(Task(candidate, "fast")))
    assert small == Faulty("wrong", (7,))
    assert last.kind == "wrong"


def test_another_failure_is_not_the_same() -> None:
    program = Faulty("wrong", (1, 7))
    found = shrunk(program, attempt(Task(program, "fast")), lambda _: Outcome("crash", head="x"))
    assert found[0] == program


def test_what_cannot_be_made_smaller_is_kept_as_it_is() -> None:
    program = Faulty("wrong", (7,) * 9)
    outcome = attempt(Task(program, "fast"))
    small, last = shrunk(program, outcome, lambda candidate: attempt(Task(candidate, "fast")))
    assert small == program
    assert last.signature == outcome.signature
    assert last.message.startswith(outcome.message)
    assert "ValueError: too many parts" in last.message


def line(name: str, text: str, *args: str, kind: Any = "rounds", numpy: str = "") -> Line:
    ours, theirs = text.replace("m.", "T."), (numpy or text).replace("m.", "np.")
    return Line(name, ours, theirs, args, kind)


def lying() -> Lines:
    """One line of it differs from the result stated for NumPy."""
    x = np.arange(6.0).reshape(2, 3)
    return Lines(
        (Given("x0", literal(x), (True, False)), Given("s0", literal(x + 1), (True, True), True)),
        (
            line("v0", "m.tanh({0})", "x0"), line("v1", "{0} * {1}", "v0", "s0"),
            line("v2", "m.sum({0}, axis=0)", "v1", kind="sums", numpy="np.sum({0}, axis=0) + 1"),
            line("v3", "m.exp({0})", "v2"), line("v4", "m.sin({0})", "x0"),
        ),
        ("v3", "v4"), (("s0", "v1"),), (), 2,
    )  # fmt: skip


def test_lines_are_cut_to_the_one_that_matters() -> None:
    program = LineProgram(lying())
    outcome = attempt(Task(program, "python"))
    assert outcome.kind == "wrong"
    small, _ = shrunk(program, outcome, lambda candidate: attempt(Task(candidate, "python")))
    assert isinstance(small, LineProgram)
    assert [made.text for made in small.lines.lines] == ["T.sum({0}, axis=0)"]
    assert small.lines.calls == 1
    (given,) = small.lines.given
    assert eval(given.text, {"np": np}).size == 1


def test_scripts_run_on_their_own(tmp_path: Path) -> None:
    program = generator("expressions").generate(11)
    path = tmp_path / "script.py"
    path.write_text(program.script("python"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("symc")


# --- judging --------------------------------------------------------------------------------------


def judged(value: Any, lines: Lines, **how: bool) -> Any:
    return judge(np.asarray(value), Opinion(lines, lines.values()).of("v0"), "v0", **{
        "signs": True, **how,
    })  # fmt: skip


def one(text: str, value: Any, kind: Any = "rounds", numpy: str = "") -> Lines:
    given = (Given("x0", literal(value), (False,) * np.ndim(value)),)
    return Lines(given, (line("v0", text, "x0", kind=kind, numpy=numpy),), ("v0",))


EXP = one("m.exp({0})", np.array([0.5, 1.0, 1000.0]))
TRUTH = np.array([*np.exp([0.5, 1.0]), INF])


def test_rounding_is_right() -> None:
    assert judged(TRUTH * (1 + 4e-15), EXP).unjudged == 0


@pytest.mark.parametrize(
    ("got", "what"),
    [(TRUTH * (1 + 1e-13), "3 of 3|2 of 3"), (TRUTH[:2], "shape"), (TRUTH.astype("f4"), "dtype"),
     (np.array([*TRUTH[:2], NAN]), "1 of 3"), (np.array([INF, *TRUTH[1:]]), "1 of 3")],
)  # fmt: skip
def test_what_is_wrong_is_wrong(got: Any, what: str) -> None:
    with pytest.raises(Wrong, match=what):
        judged(got, EXP)


def test_signs_of_zeros_count_where_they_are_sure() -> None:
    keeps = one("m.abs({0})", np.array([-0.0]), "exact")
    assert judged(np.array([0.0]), keeps).outputs == 1
    with pytest.raises(Wrong):
        judged(np.array([-0.0]), keeps)
    judged(np.array([-0.0]), keeps, signs=False)
    either = one("m.max({0})", np.array([0.0, -0.0]), "unsigned")
    judged(-0.0, either)
    judged(0.0, either)


def test_exact_lines_are_exact() -> None:
    with pytest.raises(Wrong):
        judged(np.array([2.0 * (1 + 3e-16)]), one("-{0}", np.array([-2.0]), "exact"))


def test_what_rounding_decides_is_not_asked() -> None:
    """The difference of two numbers that are nearly equal, and integers made of such."""
    x = np.array([1e16, 1.0, -1e16])
    total = one("m.sum({0})", x, "sums")
    assert judged(0.0, total).outputs == 1
    assert judged(1.0, total).outputs == 1
    with pytest.raises(Wrong):
        judged(1e4, total)
    sharp = Lines(
        (Given("x0", literal(np.array([0.1, 0.2]))),),
        (line("v1", "m.sum({0})", "x0", kind="sums"),
         line("v0", "({0} * 10 - 3) > 0", "v1", kind="exact")), ("v0",),
    )  # fmt: skip
    assert judged(True, sharp).outputs == judged(False, sharp).outputs == 1


def test_products_of_equal_arguments_cancel_but_for_their_rounding() -> None:
    """Seed 3300031 of the layouts: a cross product, where one product is not rounded."""
    x = np.linspace(1, 4, 300).astype("f4")
    cancels = Lines(
        (Given("x0", literal(x)),),
        (line("v0", "{0} * {0} - {1} * {1}", "x0", "x0", kind="sums"),), ("v0",),
    )  # fmt: skip
    rounding = x.astype("f8") ** 2 - x * x
    assert judged(rounding.astype("f4"), cancels).unjudged == 0
    with pytest.raises(Wrong):
        judged((1e4 * rounding).astype("f4"), cancels)


def test_squeeze_is_asked_only_where_lengths_are_known() -> None:
    """Seed 3300014 of the layouts: of a set of one element, symc does not know that it is one."""
    (squeezes,) = (entry for entry in FAMILIES["shapes"][0] if "squeeze" in entry.text)
    writer = Writer(np.random.default_rng(1))
    writer.give(Given("x0", "np.ones((1, 2))", (True, True)))
    assert writer.write(squeezes, ["x0"])
    assert writer.add(line("v1", "m.unique({0})", "x0", kind="exact"))
    assert writer.values["v1"].shape == (1,)
    assert not writer.write(squeezes, ["v1"])


def test_reciprocals_of_integers_are_fractions() -> None:
    """Seed 3300063 of the expressions: NumPy's are integers, which ``1 / x`` is not."""
    (entry,) = (entry for entry in FAMILIES["elementwise"][0] if "T.reciprocal" in entry.text)
    writer = Writer(np.random.default_rng(1))
    writer.give(Given("x0", "np.array([1, 2, -4])", (False,)))
    assert writer.write(entry, ["x0"])
    program = LineProgram(Lines(tuple(writer.given), tuple(writer.lines), ("v0",)))
    assert program.run("default").outputs


def test_more_accurate_than_numpy_is_right() -> None:
    """``log(1 + exp(x))`` overflows in NumPy; wider numbers have its value."""
    soft = one("m.log(1 + m.exp({0}))", np.array([800.0, 1.0]))
    judged(np.array([INF, np.log1p(np.e)]), soft)
    judged(np.array([800.0, np.log1p(np.e)]), soft)
    with pytest.raises(Wrong):
        judged(np.array([NAN, np.log1p(np.e)]), soft)


def test_what_numpy_refuses_is_refused() -> None:
    """Of NaN alone, of nothing: also where only other digits on the way come to that."""
    with pytest.raises(Refused, match="NumPy refuses: ValueError: All-NaN slice"):
        run(one("m.nanargmin({0}, axis=0)", np.array([NAN, NAN]), "exact"), "default")
    empty = one("T.max({0} + T.zeros(()))", np.zeros(0))
    with pytest.raises(Refused, match="NumPy refuses: ValueError: max: there are no"):
        run(replace(empty, lines=(replace(empty.lines[0], numpy=None),)), "default")


def test_what_has_no_derivative_is_refused() -> None:
    """The factors of a singular matrix, of seed 1795370593: an error instead of infinities."""
    lines = one("m.linalg.qr({0})[0] @ m.linalg.qr({0})[1]", np.zeros((1, 1)), "sums")
    with pytest.raises(Refused, match="no derivative: solve_triangular"):
        Gradient(lines, second=False).run("default")


def test_signs_of_sorted_zeros_are_not_asked() -> None:
    """``intersect1d([0], [-0.0])`` of seed 1795366868: NumPy's sort, too, may give either."""
    drawn = {entry.text: entry.kind for family, _ in FAMILIES.values() for entry in family}
    assert drawn["m.intersect1d({0}, {1})"] == drawn["m.sort({0}, axis={ax})"] == "unsigned"


def test_fast_is_not_asked_about_infinities() -> None:
    with pytest.raises(Refused):
        run(EXP, "fast")


# --- generators -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PLACES)
def test_a_seed_makes_one_program(name: str) -> None:
    made = generator(name)
    assert made.name == name
    for seed in (3, 14):
        program = made.generate(seed)
        assert program == made.generate(seed) == pickle.loads(pickle.dumps(program))
        assert program.script("default")
    modes = [mode for seed in range(200) for mode in made.modes(seed)]
    assert set(modes) <= set(MODES)
    assert "default" in modes


def test_every_mode_gets_its_share() -> None:
    made = generator("expressions")
    assert {mode for seed in range(100) for mode in made.modes(seed)} == set(MODES) == set(EVERY)


# --- campaigns ------------------------------------------------------------------------------------


def test_a_campaign_counts_and_keeps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, keep = "tests.fuzz.faulty", tmp_path / "kept"
    campaign = Campaign(CampaignSettings((name,), 1, 0.0, 1, keep, only_seed=True))
    campaign.plan = CampaignSettings(
        (name,), 1, 0.0, 1, keep, only_seed=True, modes=("default", "fast")
    )
    assert not campaign.run()
    assert campaign.tally.programs == {name: 1}
    assert campaign.tally.runs == {(name, "default"): 1, (name, "fast"): 1}
    said = capsys.readouterr()
    assert f"failed 2 of {name}: wrong" in said.out
    assert f"scripts/fuzz --only {name} --seed 1 --mode fast" in said.err
    kept = (keep / f"{name}-1-fast.py").read_text(encoding="utf-8")
    assert "parts = [7]  # in mode fast" in kept
    assert "# tests.fuzz.protocol.Wrong: a wrong number in mode fast" in kept


def test_a_campaign_survives_what_cannot_be_made_smaller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, keep = "tests.fuzz.faulty", tmp_path / "kept"
    assert not Campaign(
        CampaignSettings((name,), 2, 0.0, 1, keep, only_seed=True, modes=("fast",))
    ).run()
    assert "1 programs, 1 runs" in capsys.readouterr().out
    kept = (keep / f"{name}-2-fast.py").read_text(encoding="utf-8")
    assert "# no script: ValueError('too many parts')" in kept
    assert "# Not made smaller than this:" in kept


def test_the_command_says_what_it_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = ["--keep", str(tmp_path / "kept"), "--jobs", "1"]
    assert main(["--only", "scripts", "--seed", "7", "--mode", "python", *keep]) == 0
    row = capsys.readouterr().out.splitlines()[2].split()
    assert row[:2] == ["scripts", "1"]
    assert not (tmp_path / "kept").exists()


def test_one_seed_or_all_from_one() -> None:
    with pytest.raises(SystemExit):
        main(["--seed", "1", "--from-seed", "2"])
