#!/usr/bin/env bash
# Grades a folder of submissions as a Slurm job array: each task takes its share of the students.
#   sbatch --array=1-8 common/grading/slurm_grade.sh FOLDER [setting of make]...
#   make grade ARGS="--merge build/grade_parts/JOB/*"            when all have ended
# From the course's folder, which every node must see. Settings are those of `make grade`: LAB=03, say.
# Partition, account and cards are your centre's: sbatch takes them as options, --gres=gpu:1 too.
# A task that failed is repeated with: PARTS=8 SEED=JOB sbatch --array=3 ... (and the rest as before)
#SBATCH --job-name=grade
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=02:00:00
#SBATCH --output=build/grade_part_%A_%a.txt
set -euo pipefail
if [[ -z ${SLURM_ARRAY_TASK_ID:-} || $# -lt 1 ]]; then
    echo 'usage: sbatch --array=1-8 common/grading/slurm_grade.sh FOLDER [setting of make]...' >&2
    exit 2
fi
folder=$1
shift
part=$SLURM_ARRAY_TASK_ID
# One seed for all tasks: every student meets the same fresh input.
seed=${SEED:-$SLURM_ARRAY_JOB_ID}
exec make grade SUBMISSIONS="$folder" "$@" ARGS="--part $part/${PARTS:-$SLURM_ARRAY_TASK_MAX} \
    --seed $seed --workers ${SLURM_CPUS_PER_TASK:-1} --output build/grade_parts/$seed/$part"
