"""`theano.misc.pkl_utils`: objects with shared variables in a file whose arrays NumPy can read."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from symc.theano.compile.sharedvalue import SharedVariable, shared


class StripPickler(pickle._Pickler):  # pyright: ignore[reportPrivateUsage] -- it has `save`
    """A pickler that leaves out where variables were made."""

    def __init__(self, file: Any, protocol: int = 0, extra_tag_to_remove: Any = None) -> None:
        super().__init__(file, protocol)
        self.tag_to_remove = ["trace", "test_value", extra_tag_to_remove]


class CompatUnpickler(pickle._Unpickler):  # pyright: ignore[reportPrivateUsage] -- a base in Python
    """An unpickler, with `encoding` for files that Python 2 wrote."""


class PersistentNdarrayID:
    """Names the arrays of an object, which go into files of their own."""

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self.zip_file = zip_file
        self.seen: dict[int, str] = {}
        self.kept: list[Any] = []
        self.unnamed = 0

    def name_of(self, obj: Any) -> str:
        """The name of an array in the file."""
        del obj
        self.unnamed += 1
        return f"array_{self.unnamed - 1}"

    def __call__(self, obj: Any) -> Any:
        if type(obj) is not np.ndarray:
            return None
        if id(obj) not in self.seen:
            name = self.name_of(obj)
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(obj))
            self.zip_file.writestr(name, buffer.getvalue())
            self.seen[id(obj)] = f"ndarray.{name}"
            self.kept.append(obj)
        return self.seen[id(obj)]


class PersistentSharedVariableID(PersistentNdarrayID):
    """Names the values of shared variables after these."""

    def __init__(self, zip_file: zipfile.ZipFile, allow_unnamed: bool = True,
                 allow_duplicates: bool = True) -> None:  # fmt: skip
        super().__init__(zip_file)
        self.allow_unnamed, self.allow_duplicates = allow_unnamed, allow_duplicates
        self.names: dict[int, str] = {}
        self.counts: dict[str, int] = {}

    def name_of(self, obj: Any) -> str:
        name = self.names.get(id(obj))
        if name is None:
            return super().name_of(obj)
        count = self.counts[name] = self.counts.get(name, 0) + 1
        if count == 1:
            return name
        if not self.allow_duplicates:
            raise ValueError(f"Multiple shared variables with the name `{name}` found.")
        return f"{name}_{count}"

    def __call__(self, obj: Any) -> Any:
        if isinstance(obj, SharedVariable):
            if obj.name:
                if obj.name == "pkl":
                    raise ValueError("can't pickle shared variable with name `pkl`")
                self.names[id(obj.container.data)] = obj.name
            elif not self.allow_unnamed:
                raise ValueError(f"unnamed shared variable, {obj}")
            self.kept.append(obj)
        return super().__call__(obj)


PersistentGpuArrayID = PersistentNdarrayID


class PersistentNdarrayLoad:
    """Reads the arrays of an object."""

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self.zip_file = zip_file
        self.cache: dict[str, Any] = {}

    def __call__(self, persid: Any) -> Any:
        _, _, name = persid.partition(".")
        if name not in self.cache:
            buffer = io.BytesIO(self.zip_file.read(name))
            self.cache[name] = np.lib.format.read_array(buffer, allow_pickle=False)
        return self.cache[name]


PersistentCudaNdarrayLoad = PersistentGpuArrayLoad = PersistentNdarrayLoad


def dump(
    obj: Any, file_handler: Any, protocol: int = 2,
    persistent_id: Callable[[zipfile.ZipFile], Any] = PersistentSharedVariableID,
) -> None:  # fmt: skip
    """Writes an object into a zip file: its pickle, and each array as an `.npy`."""
    with zipfile.ZipFile(file_handler, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=protocol)
        setattr(pickler, "persistent_id", persistent_id(archive))  # noqa: B010 -- a method to mypy
        pickler.dump(obj)
        archive.writestr("pkl", buffer.getvalue())


def load(f: Any, persistent_load: Callable[[zipfile.ZipFile], Any] = PersistentNdarrayLoad) -> Any:
    """Reads an object that `dump` wrote."""
    with zipfile.ZipFile(f, "r") as archive:
        unpickler = pickle.Unpickler(io.BytesIO(archive.read("pkl")))
        setattr(unpickler, "persistent_load", persistent_load(archive))  # noqa: B010
        return unpickler.load()


__all__ = [
    "CompatUnpickler",
    "PersistentCudaNdarrayLoad", "PersistentGpuArrayID", "PersistentGpuArrayLoad",
    "PersistentNdarrayID", "PersistentNdarrayLoad", "PersistentSharedVariableID", "StripPickler",
    "dump", "load", "shared",
]  # fmt: skip
