"""Databases of rewrites, which modes ask by tags.

symc's own rewrites are not in them: they are of its expressions, and always run. What programs
register is applied to Theano's graph before that (`symc.theano.compile.rewriting`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from symc.theano.configparser import config
from symc.theano.gof import opt as opt
from symc.theano.gof.local_rewrites import LocalOptGroup
from symc.theano.gof.rewriters import EquilibriumOptimizer, SeqOptimizer, TopoOptimizer

__all__ = [
    "DB", "EquilibriumDB", "LocalGroupDB", "ProxyDB", "Query", "SequenceDB", "TopoDB", "optdb",
]  # fmt: skip


class Query:
    """Which rewrites are wanted: with one of the tags `include`, all of `require`, no `exclude`."""

    def __init__(
        self, include: Iterable[str], require: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None, subquery: Any = None,
        position_cutoff: float = math.inf, extra_optimizations: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        self.include, self.require = set(include), set(require or ())
        self.exclude, self.subquery = set(exclude or ()), dict(subquery or {})
        self.position_cutoff = position_cutoff
        self.extra_optimizations = list(extra_optimizations or ())

    def changed(self, **changes: Any) -> Query:
        """A copy with other values of some attributes."""
        made = Query(
            self.include, self.require, self.exclude, self.subquery, self.position_cutoff,
            self.extra_optimizations,
        )  # fmt: skip
        made.__dict__.update(changes)
        return made

    def including(self, *tags: str) -> Query:
        """The query with more tags that are wanted."""
        return self.changed(include=self.include | set(tags))

    def excluding(self, *tags: str) -> Query:
        """The query with more tags that are not wanted."""
        return self.changed(exclude=self.exclude | set(tags))

    def requiring(self, *tags: str) -> Query:
        """The query with more tags that are needed."""
        return self.changed(require=self.require | set(tags))

    def register(self, *optimizations: Any) -> Query:
        """The query with further rewrites, pairs of a rewrite and a position."""
        return self.changed(extra_optimizations=[*self.extra_optimizations, *optimizations])


class DB:
    """Rewrites and databases of them by name and by tags."""

    name: str | None = None

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Any, set[str]]] = {}

    def register(
        self, name: str, obj: Any, *tags: str, use_db_name_as_tag: bool = True, **kwargs: Any
    ) -> None:
        """Enters a rewrite, a database or a function of a graph under a name, with tags.

        Raises ValueError if the name is taken.
        """
        del kwargs
        if name in self._entries:
            raise ValueError(f"The name of the object cannot be an existing tag or name: {name}")
        if any(name in own for _, own in self._entries.values()):
            raise ValueError(f"The name of the object cannot be an existing tag: {name}")
        for tag in tags:
            if tag in self._entries:
                raise ValueError(f"The tag cannot be the name of another object: {tag}")
        found = {name, type(obj).__name__, *tags}
        if use_db_name_as_tag and self.name is not None:
            found.add(self.name)
        if (isinstance(obj, DB) and obj.name is None) or getattr(obj, "name", "") is None:
            obj.name = name
        self._entries[name] = (obj, found)

    def add_tags(self, name: str, *tags: str) -> None:
        """More tags for an entry."""
        self._entries[name][1].update(tags)

    def remove_tags(self, name: str, *tags: str) -> None:
        """Fewer tags for an entry."""
        self._entries[name][1].difference_update(tags)

    def entries(self, *tags: Any, **kwargs: Any) -> list[tuple[str, Any]]:
        """The names and rewrites that a query, or tags with a sign, ask for."""
        query = as_query(*tags, **kwargs)
        found = []
        for name, (obj, own) in self._entries.items():
            if not own & query.include or query.require - own or own & query.exclude:
                continue
            if isinstance(obj, DB):
                inner = query.subquery.get(name, query.changed(extra_optimizations=[]))
                if not obj.entries(inner):
                    continue
                obj = obj.query(inner)
            found.append((name, obj))
        return found

    def query(self, *tags: Any, **kwargs: Any) -> Any:
        """The rewrites that are asked for, as one."""
        return SeqOptimizer(*(each for _, each in self.entries(*tags, **kwargs)))

    def __getitem__(self, name: str) -> Any:
        if name not in self._entries:
            raise KeyError(f"Nothing registered for '{name}'")
        return self._entries[name][0]

    def __contains__(self, name: object) -> bool:
        return name in self._entries


def as_query(*tags: Any, subquery: Any = None) -> Query:
    """A query; tags have a sign: "+" wanted, "&" needed, "-" not wanted."""
    if tags and isinstance(tags[0], Query):
        return tags[0]
    found: dict[str, list[str]] = {"+": [], "&": [], "-": []}
    for each in tags:
        sign, tag = (each[0], each[1:]) if each[0] in found else ("+", each)
        found[sign].append(tag)
    return Query(found["+"] + found["&"], found["&"], found["-"], subquery)


class EquilibriumDB(DB):
    """Rewrites that are applied until none of them changes anything."""

    def __init__(self, ignore_newtrees: bool = True, tracks_on_change_inputs: bool = False) -> None:
        super().__init__()
        self.ignore_newtrees = ignore_newtrees
        self.tracks_on_change_inputs = tracks_on_change_inputs
        self._last: dict[str, str] = {}

    def register(self, name: str, obj: Any, *tags: str, **kwargs: Any) -> None:
        """As a `DB`; `final_opt` and `cleanup` say that a rewrite comes after the others."""
        super().register(name, obj, *tags, **kwargs)
        for kind in ("final_opt", "cleanup"):
            if kwargs.get(kind):
                self._last[name] = kind

    def query(self, *tags: Any, **kwargs: Any) -> Any:
        found = self.entries(*tags, **kwargs)
        kinds: dict[str | None, list[Any]] = {None: [], "final_opt": [], "cleanup": []}
        for name, each in found:
            kinds[self._last.get(name)].append(each)
        return EquilibriumOptimizer(
            kinds[None], max_use_ratio=config.optdb.max_use_ratio,
            ignore_newtrees=self.ignore_newtrees, final_optimizers=kinds["final_opt"],
            cleanup_optimizers=kinds["cleanup"],
        )  # fmt: skip


class SequenceDB(DB):
    """Rewrites in the order of their positions."""

    seq_opt = SeqOptimizer

    def __init__(self, failure_callback: Any = None) -> None:
        super().__init__()
        self.failure_callback = failure_callback
        self.__position__: dict[str, float] = {}

    def register(  # type: ignore[override]
        self, name: str, obj: Any, position: Any, *tags: str, **kwargs: Any
    ) -> None:
        """As a `DB`, at a position, a number or "last"."""
        super().register(name, obj, *tags, **kwargs)
        if position == "last":
            position = max(self.__position__.values(), default=0) + 1
        assert isinstance(position, int | float), "a position is a number"
        self.__position__[name] = position

    def query(self, *tags: Any, position_cutoff: float | None = None, **kwargs: Any) -> Any:
        asked = as_query(*tags, **kwargs)
        cutoff = asked.position_cutoff if position_cutoff is None else position_cutoff
        placed = [(self.__position__[name], each) for name, each in self.entries(asked)]
        for extra in asked.extra_optimizations:
            each, position = extra if isinstance(extra, tuple | list) else (extra, math.inf)
            placed.append((position, each))
        placed.sort(key=lambda pair: pair[0])
        return self.seq_opt([each for position, each in placed if position < cutoff])


class LocalGroupDB(DB):
    """Rewrites of one node, of which the first that fits is taken."""

    def __init__(self, apply_all_opts: bool = False, profile: bool = False) -> None:
        super().__init__()
        self.options = {"apply_all_opts": apply_all_opts, "profile": profile}

    def query(self, *tags: Any, **kwargs: Any) -> Any:
        found = [each for _, each in self.entries(*tags, **kwargs)]
        return LocalOptGroup(*found, **self.options)


class TopoDB(DB):
    """Rewrites of one node, applied once along the graph."""

    def __init__(
        self, db: DB, order: str = "in_to_out", ignore_newtrees: Any = False,
        failure_callback: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.db = db
        self.options = {
            "order": order, "ignore_newtrees": ignore_newtrees,
            "failure_callback": failure_callback,
        }  # fmt: skip

    def entries(self, *tags: Any, **kwargs: Any) -> list[tuple[str, Any]]:
        return self.db.entries(*tags, **kwargs)

    def query(self, *tags: Any, **kwargs: Any) -> Any:
        options: dict[str, Any] = self.options
        return TopoOptimizer(self.db.query(*tags, **kwargs), **options)


class ProxyDB(DB):
    """Another name for a database."""

    def __init__(self, db: DB) -> None:
        super().__init__()
        self.db = db

    def entries(self, *tags: Any, **kwargs: Any) -> list[tuple[str, Any]]:
        return self.db.entries(*tags, **kwargs)

    def query(self, *tags: Any, **kwargs: Any) -> Any:
        return self.db.query(*tags, **kwargs)


optdb = SequenceDB()  # what modes ask; `theano.compile.optdb`
for _name, _position in (
    ("canonicalize", 1), ("stabilize", 1.5), ("specialize", 2), ("uncanonicalize", 3),
    ("specialize_device", 48.6), ("inplace", 75),
):  # fmt: skip
    optdb.register(_name, EquilibriumDB(), _position, "fast_run", "fast_compile")
