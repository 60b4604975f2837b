"""PyTensor's graphs compiled by symc: the mode "SYMC", for PyMC and everything else on PyTensor.

import pymc as pm, symc.pytensor
pm.sample(backend="SYMC")
"""

from symc.pytensor.versions import check_version

check_version()

import symc.pytensor.convert  # noqa: E402, F401 -- fills the table of converters
from symc.pytensor.compiled import functions, logp_dlogp  # noqa: E402
from symc.pytensor.conversion import NoConversion, symc_funcify  # noqa: E402
from symc.pytensor.linker import SymcLinker  # noqa: E402
from symc.pytensor.mode import mode, register, use  # noqa: E402

SYMC = register()

__all__ = [
    "SYMC",
    "NoConversion",
    "SymcLinker",
    "functions",
    "logp_dlogp",
    "mode",
    "symc_funcify",
    "use",
]
