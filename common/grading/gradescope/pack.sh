#!/usr/bin/env bash
# Makes the zip that Gradescope takes as an autograder, from what is committed.
#   usage: pack.sh "03 13" [autograder.zip]      (the numbers or names of the assignment's labs)
set -euo pipefail
if [[ $# -lt 1 || $# -gt 2 || -z ${1// /} ]]; then
    echo 'usage: pack.sh "03 13" [autograder.zip], with the labs of the assignment' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
target=$(realpath -m -- "${2:-autograder.zip}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$1" >"$work/assignment"
cd "$here/../../.."
git archive --format=zip --output="$target" --prefix= --add-file="$here/setup.sh" \
    --add-file="$here/run_autograder" --add-file="$work/assignment" --prefix=course/ HEAD
echo "$target: upload it as the autograder of labs $1"
