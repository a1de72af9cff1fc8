#!/bin/sh
# Runs each prompt of a folder as a task of a Slurm job array, JOBS (50) at a time:
#
#   sh slurm.sh PROMPTS RESULTS [FLAGS OF PI…]
#
# submits it. Both folders have to be where every node sees them. What sbatch reads from the environment
# works: SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_WAIT=1. What bounds a task stands in one.sh; the bounds
# below are those of the node, and the time is three tries and the pauses between them.
#SBATCH --job-name=pi
#SBATCH --cpus-per-task=1
#SBATCH --mem=512M
#SBATCH --time=00:35:00
set -eu
if [ -z "${SLURM_ARRAY_TASK_ID-}" ]; then # somebody submits it
  if [ $# -lt 2 ]; then
    echo "usage: slurm.sh PROMPTS RESULTS [FLAGS OF PI…]" >&2
    exit 2
  fi
  here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
  prompts=$(CDPATH='' cd -- "$1" && pwd)
  mkdir -p -- "$2/slurm"
  results=$(CDPATH='' cd -- "$2" && pwd)
  shift 2
  count=0
  for _ in "$prompts"/*; do count=$((count + 1)); done
  size=${ARRAY:-1000} first=0 # MaxArraySize of slurm.conf is 1001 if nobody has set it
  while [ "$first" -lt "$count" ]; do
    tasks=$((count - first < size ? count - first : size))
    sbatch --array="0-$((tasks - 1))%${JOBS:-50}" --output="$results/slurm/%A_%a.log" \
      "$here/slurm.sh" "$here" "$first" "$prompts" "$results" "$@"
    first=$((first + tasks))
  done
  exit
fi
here=$1 first=$2 # Slurm runs a copy, which lies elsewhere
shift 2
exec sh "$here/one.sh" -n $((first + SLURM_ARRAY_TASK_ID)) -- "$@"
