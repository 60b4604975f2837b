"""`theano.config`: Theano's settings, from THEANO_FLAGS, `.theanorc` and assignments.

Settings that have no meaning for symc are kept, so that programs may read and assign them.
"""

from __future__ import annotations

import configparser
import logging
import os
import re
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar

from symc.theano.settings import AddConfigVar as AddConfigVar
from symc.theano.settings import BoolParam as BoolParam
from symc.theano.settings import ConfigParam as ConfigParam
from symc.theano.settings import EnumStr as EnumStr
from symc.theano.settings import FloatParam as FloatParam
from symc.theano.settings import IntParam as IntParam
from symc.theano.settings import StrParam as StrParam
from symc.theano.settings import TypedParam as TypedParam

_log = logging.getLogger("theano.configparser")

DEFAULTS: dict[str, Any] = {
    "floatX": "float64", "warn_float64": "ignore", "cast_policy": "custom",
    "int_division": "int", "device": "cpu", "init_gpu_device": "", "force_device": False,
    "mode": "Mode", "linker": "cvm", "optimizer": "o4", "optimizer_verbose": False,
    "optimizer_including": "", "optimizer_excluding": "", "optimizer_requiring": "",
    "on_opt_error": "warn", "nocleanup": False, "on_unused_input": "raise", "cxx": "g++",
    "allow_gc": True, "openmp": False, "openmp_elemwise_minsize": 200000,
    "exception_verbosity": "low", "compute_test_value": "off", "compute_test_value_opt": "off",
    "print_test_value": False, "print_active_device": True, "deterministic": "default",
    "unpickle_function": True, "reoptimize_unpickled_function": False, "profile": False,
    "profile_memory": False, "profile_optimizer": False, "assert_no_cpu_op": "ignore",
    "assert_no_convs": False, "base_compiledir": "", "compiledir": "", "compiledir_format": "",
    "reorder_ops": True, "pickle_test_value": True, "check_input": True, "mpi4py": "",
    "check_stack_trace": "off", "cycle_detection": "regular", "change_flags": None,
    "enable_initial_driver_test": True, "cache_optimizations": False, "nvcc.flags": "",
    "scan.allow_gc": False, "scan.allow_output_prealloc": True, "scan.debug": False,
    "blas.ldflags": "", "blas.check_openmp": True, "gcc.cxxflags": "", "cmodule.debug": False,
    "compile.wait": 5, "compile.timeout": 120, "traceback.limit": 8,
    "traceback.compile_limit": 0, "numpy.seterr_all": "ignore", "tensor.cmp_sloppy": 0,
    "tensor.local_elemwise_fusion": True, "lib.amdlibm": False, "lib.cnmem": 0.0,
    "gpuarray.preallocate": 0.0, "dnn.enabled": "auto", "dnn.conv.algo_fwd": "small",
    "dnn.conv.algo_bwd_filter": "none", "dnn.conv.algo_bwd_data": "none",
    "unittests.rseed": "666", "experimental.unpickle_gpu_on_cpu": False,
    "experimental.local_alloc_elemwise": True, "warn.ignore_bug_before": "0.9",
    "warn.identify_1pexp_bug": False, "warn.subtensor_merge_bug": False, "warn.round": False,
    "warn.sum_div_dimshuffle_bug": False, "warn.inc_set_subtensor1": False,
    "NanGuardMode.nan_is_error": True, "NanGuardMode.inf_is_error": True,
    "NanGuardMode.big_is_error": True, "NanGuardMode.action": "raise",
    "DebugMode.patience": 10, "DebugMode.check_c": True, "DebugMode.check_py": True,
    "DebugMode.check_finite": True, "DebugMode.check_strides": 0,
    "DebugMode.check_preallocated_output": "", "DebugMode.warn_input_not_reused": True,
    "optdb.max_use_ratio": 8.0, "optdb.position_cutoff": float("inf"),
    "metaopt.verbose": 0, "metaopt.optimizer_including": "", "metaopt.optimizer_excluding": "",
    "conv.assert_shape": False, "ctc.root": "", "print_global_stats": False,
    "warn.argmax_pushdown_bug": False, "warn.gpusum_01_011_0111_bug": False,
    "warn.sum_sum_bug": False, "warn.gpu_set_subtensor1": False, "warn.vm_gc_bug": False,
    "warn.signal_conv2d_interface": False, "warn.reduce_join": False,
    "warn.inc_subtensor1_opt": False, "numpy.seterr_divide": "None", "numpy.seterr_over": "None",
    "numpy.seterr_under": "None", "numpy.seterr_invalid": "None", "on_shape_error": "warn",
    "tensor.insert_inplace_optimizer_validate_nb": -1, "profiling.time_thunks": True,
    "profiling.n_apply": 20, "profiling.n_ops": 20, "profiling.output_line_width": 512,
    "profiling.min_memory_size": 1024, "profiling.min_peak_memory": False,
    "profiling.destination": "stderr", "profiling.debugprint": False,
    "profiling.ignore_first_call": False, "cmodule.mac_framework_link": False,
    "cmodule.warn_no_version": False, "cmodule.remove_gxx_opt": False,
    "cmodule.compilation_warning": False, "cmodule.preload_cache": False,
    "cmodule.age_thresh_use": 2073600, "gpuarray.sync": False, "gpuarray.sched": "default",
    "gpuarray.single_stream": True, "gpuarray.cache_path": "", "cuda.root": "",
    "cuda.enabled": True, "cuda.include_path": "", "nvcc.compiler_bindir": "",
    "nvcc.fastmath": False, "pycuda.init": False, "magma.enabled": False,
    "magma.include_path": "", "magma.library_path": "", "dnn.base_path": "",
    "dnn.include_path": "", "dnn.library_path": "", "dnn.bin_path": "",
    "dnn.conv.workmem": "", "dnn.conv.workmem_bwd": "", "dnn.conv.algo_bwd": "",
    "dnn.conv.precision": "as_input_f32",
    "DebugMode.check_preallocated_output_ndim": 4,
    "gpuelemwise.sync": True,
}  # fmt: skip

CHOICES = {
    "floatX": ("float64", "float32", "float16"),
    "cast_policy": ("custom", "numpy+floatX"),
    "int_division": ("int", "raise", "floatX"),
    "warn_float64": ("ignore", "warn", "raise", "pdb"),
    "compute_test_value": ("off", "ignore", "warn", "raise", "pdb"),
    "on_unused_input": ("raise", "warn", "ignore"),
    "exception_verbosity": ("low", "high"),
}


class Settings:
    """A group of settings as attributes; groups within it are attributes as well."""

    def __init__(self, values: dict[str, Any], prefix: str = "") -> None:
        self.__dict__["_values"] = values
        self.__dict__["_prefix"] = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        whole = self._prefix + name
        if whole in self._values:
            return self._values[whole]
        if any(key.startswith(f"{whole}.") for key in self._values):
            return Settings(self._values, f"{whole}.")
        raise AttributeError(f"theano.config has no setting {whole!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        whole = self._prefix + name
        if whole not in self._values:
            raise AttributeError(f"theano.config has no setting {whole!r}")
        self._values[whole] = _fit(whole, value)

    def __dir__(self) -> list[str]:
        found = {k[len(self._prefix) :] for k in self._values if k.startswith(self._prefix)}
        return sorted(name.partition(".")[0] for name in found)

    def __str__(self) -> str:
        return "".join(f"{key} = {value}\n" for key, value in sorted(self._values.items()))


def _fit(name: str, value: Any) -> Any:
    """The value with the setting's type. Raises ValueError for a value that is no choice of it."""
    if name in _added:
        param = _added[name]
        if name in _values and not param.allow_override:
            raise Exception("Can't change the value of this config parameter after initialization!")
        return param.fitted(value)
    default = DEFAULTS[name]
    if isinstance(default, bool) and isinstance(value, str):
        value = value.lower() in ("1", "true", "yes", "on")
    elif isinstance(default, int | float) and isinstance(value, str):
        value = type(default)(value)
    if name in CHOICES and value not in CHOICES[name]:
        raise ValueError(f'Invalid value ("{value}") for configuration variable "{name}".')
    return value


class TheanoConfig(Settings):
    """All settings: ``config.floatX``, ``config.blas.ldflags``."""

    @staticmethod
    def change_flags(*args: Mapping[str, Any], **kwargs: Any) -> change_flags:
        """See `change_flags`."""
        return change_flags(*args, **kwargs)


# What programs added, and values that were given for settings that nobody has added yet.
_added: dict[str, ConfigParam] = {}
THEANO_FLAGS_DICT: dict[str, Any] = {}
_values = {name: value for name, value in DEFAULTS.items() if name != "change_flags"}
config: Any = TheanoConfig(_values)


class change_flags:
    """Settings that are changed for a block, or for the calls of a function it decorates."""

    def __init__(self, *args: Mapping[str, Any], **kwargs: Any) -> None:
        given = {name.replace("__", "."): value for name, value in kwargs.items()}
        for each in args:
            given.update(each)
        for name in given:
            if name not in _values:
                raise AttributeError(f"theano.config has no setting {name!r}")
        self.flags = given
        self.before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self.before.append({name: _values[name] for name in self.flags})
        _values.update({name: _fit(name, value) for name, value in self.flags.items()})

    def __exit__(self, *_: object) -> None:
        _values.update(self.before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with the settings changed while it runs."""

        @wraps(function)
        def changed(*args: Any, **kwargs: Any) -> Any:
            with change_flags(self.flags):
                return function(*args, **kwargs)

        return changed


class Setting:
    """One setting, for programs that walk over all of them: its name and value."""

    def __init__(self, fullname: str) -> None:
        self.fullname = fullname

    def __get__(self, config: Any, kind: Any = None) -> Any:
        return _values[self.fullname]

    def __set__(self, config: Any, value: Any) -> None:
        _values[self.fullname] = _fit(self.fullname, value)


def __getattr__(name: str) -> Any:
    if name == "_config_var_list":
        return [Setting(each) for each in _values]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def enter(name: str, param: ConfigParam) -> None:
    """Enters a setting of a program."""
    if name in _values or any(key.startswith(f"{name}.") for key in _values):
        raise AttributeError("This name is already taken", name)
    given = name in THEANO_FLAGS_DICT
    if not given and callable(param.default):
        value = param.default()
    else:
        value = THEANO_FLAGS_DICT.pop(name) if given else param.default
    param.is_default = not given
    _values[name] = param.fitted(value)
    _added[name] = param


def load(files: str) -> None:
    """Take settings from configuration files (a list of paths)."""
    parser = configparser.ConfigParser(interpolation=None)
    setattr(parser, "optionxform", str)  # keys keep their case  # noqa: B010
    parser.read([str(Path(name).expanduser()) for name in files.split(os.pathsep) if name])
    for section in parser.sections():
        prefix = "" if section == "global" else f"{section}."
        for key, value in parser.items(section):
            _take(prefix + key, value)


class _Flags:
    """The flags that were taken, and what their settings were before."""

    text = ""
    before: ClassVar[dict[str, Any]] = {}


def take_flags() -> None:
    """Take settings from THEANO_FLAGS, in place of those that were taken from it before.

    A program that sets it does so before it imports theano, which may be after this was imported.
    """
    text = os.environ.get("THEANO_FLAGS", "")
    if text == _Flags.text:
        return
    _values.update(_Flags.before)
    _Flags.text, _Flags.before = text, {}
    for item in re.split(r",(?=\s*[\w.]+\s*=)", text):
        key, equals, value = (part.strip() for part in item.partition("="))
        if equals:
            if key in _values:
                _Flags.before.setdefault(key, _values[key])
            _take(key, value)


def _take(name: str, value: str) -> None:
    if name not in _values:
        THEANO_FLAGS_DICT[name] = value
        _log.warning("the setting %s is unknown to symc.theano and ignored", name)
    else:
        _values[name] = _fit(name, value)


load(os.environ.get("THEANORC", "~/.theanorc"))
take_flags()
