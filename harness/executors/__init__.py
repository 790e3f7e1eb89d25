"""Ways of playing many matches: in this process, or in worker processes. Each gives the same records."""

from harness.executors.jobs import Executor, Job, Played, Roster, WorkerLoss

__all__ = ["Executor", "Job", "Played", "Roster", "WorkerLoss"]
