#!/bin/sh
#SBATCH --job-name=arena
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
# A run in one job of SLURM's, from a folder that all its nodes see:
#     sbatch slurm_job.sh night.toml
#     sbatch slurm_job.sh --resume results/night

export PATH="${ARENA_BIN:-/opt/arena/bin}:$PATH" # where arena and its bots are installed on them
file="$PWD/scheduler-$SLURM_JOB_ID.json"
log="$PWD/dask-$SLURM_JOB_ID.log"
dask scheduler --port 0 --scheduler-file "$file" --no-dashboard 2>>"$log" &
scheduler=$!
until [ -s "$file" ]; do sleep 1; done
srun dask worker --scheduler-file "$file" --nthreads "$SLURM_CPUS_PER_TASK" --no-dashboard 2>>"$log" &
arena tournament --cluster "$file" "$@"
code=$?
kill "$scheduler" # the nodes end with it
wait
rm -f "$file"
exit "$code"
