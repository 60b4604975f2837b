# pyright: reportUnnecessaryTypeIgnoreComment=true, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Twenty mistakes that users make. Checkers complain where they find no fault in a marked line."""

import numpy as np

import symc
import symc.tensor as T

x, v = T.matrix("x"), T.vector("v")
w = symc.shared(np.zeros(3), name="w")

a = T.sumn(x)  # type: ignore[attr-defined]  # sum
b = x.foo()  # type: ignore[attr-defined]
c = T.exp(x, x, x)  # type: ignore[call-arg]
d = T.exp()  # type: ignore[call-arg]
e = x.sum(axes=0)  # type: ignore[call-arg]  # axis
f = T.sum(x, keepdim=True)  # type: ignore[call-arg]  # keepdims
g = x.reshpe(3, 2)  # type: ignore[attr-defined]  # reshape
h = T.arctan2(x)  # type: ignore[call-arg]
i = x.mean().evl()  # type: ignore[attr-defined]  # eval
j = T.nnet.rellu(x)  # type: ignore[attr-defined]  # relu
k = T.linalg.choleski(x)  # type: ignore[attr-defined]  # cholesky
m = symc.functon([x], x.sum())  # type: ignore[attr-defined]  # function
n = symc.grad(x.sum())  # type: ignore[call-overload]  # with respect to what
o = T.clip(x, 0, 1, 2)  # type: ignore[call-arg]
p = w.getvalue()  # type: ignore[attr-defined]  # get_value
q = x[0].sett(1.0)  # type: ignore[attr-defined]  # set
r = T.concatenate([x], axes=1)  # type: ignore[call-arg]  # axis
s = symc.function([x], x.sum(), moed="fast")  # type: ignore[call-overload]  # mode
t = T.fft.rftt(v)  # type: ignore[attr-defined]  # rfft
u = T.maximum(x, v, T.vector("z"))  # type: ignore[call-arg]
