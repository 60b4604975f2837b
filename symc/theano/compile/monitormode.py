"""`theano.compile.monitormode`: `MonitorMode`."""

from symc.theano.compile.mode import MonitorMode as MonitorMode

__all__ = ["MonitorMode"]
