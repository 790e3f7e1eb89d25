"""Ways of playing many matches: in this process, or in worker processes. Each gives the same records."""

from harness.executors.jobs import Executor, Job, Played, Roster
from harness.executors.local import LocalPool, WorkerLoss, default_workers
from harness.executors.serial import SerialExecutor

__all__ = ["Executor", "Job", "LocalPool", "Played", "Roster", "SerialExecutor", "WorkerLoss", "default_workers"]
