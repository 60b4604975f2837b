from symc.calls.call import PythonCaller
from symc.graph.locks import PythonLock

team: int
FIELDS: str

def use_threads(count: int, /) -> None: ...

class Caller(PythonCaller): ...
class Lock(PythonLock): ...
