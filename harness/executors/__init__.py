"""Ways of playing many matches: in this process, in worker processes, or on other machines. Each has the same records.

`serial` plays here; `local` in workers (`worker`, with `jobs` and `worker_status` between the two, `verdicts` on who is
to blame for a worker's death, `system` for what the operating system does). Workers come from the `nursery`, a process
without bots (`nursery_server` is its inside), and bots reach them as `parcels`. `remote` has the entrants whose bots
are processes of their own, `isolation` makes them: from a command, a file, or a bot of this process. `cluster` takes
all of this to the nodes of a Dask cluster.
"""

from harness.executors.jobs import Executor, Job, Played, Roster, WorkerLoss

__all__ = ["Executor", "Job", "Played", "Roster", "WorkerLoss"]
