"""Ways of playing many matches: in this process, or in worker processes. Each gives the same records.

`serial` plays here; `local` in workers (`worker`, with `jobs` and `worker_status` between the two, `verdicts` on who is
to blame for a worker's death, `system` for what the operating system does). `remote` has the entrants whose bots are
processes of their own, `isolation` makes them: from a command, a file, or a bot of this process.
"""

from harness.executors.jobs import Executor, Job, Played, Roster
from harness.executors.local import LocalPool, WorkerLoss, default_workers
from harness.executors.serial import SerialExecutor

__all__ = ["Executor", "Job", "LocalPool", "Played", "Roster", "SerialExecutor", "WorkerLoss", "default_workers"]
