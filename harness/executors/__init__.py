"""Ways of playing many matches: in this process, or in worker processes. Each gives the same records."""

from harness.executors.local import Incident, LocalPool, default_workers
from harness.executors.serial import Serial
from harness.executors.work import Executor, Job, Played, Table

__all__ = ["Executor", "Incident", "Job", "LocalPool", "Played", "Serial", "Table", "default_workers"]
