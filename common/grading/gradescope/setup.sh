#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of an assignment.
set -eu
course=${AUTOGRADER:-/autograder}/source/course
bash "$course/common/setup.sh" --need "compiler make python numpy scipy pillow stb boost bubblewrap"
# Submissions run as another user, from whose eyes this keeps what they must not see, even where
# the image allows no view of its own.
chmod -R go-rwx "$course/solutions" "$course/tests"
# Here there is time: what the worked solutions do is judged once, and remembered for every submission.
read -ra labs <"${course%/*}/assignment"
make -C "$course" grade BACKEND=cpu LAB="${labs[*]}" ARGS="--memory 300 --workers 1 --timeout 60 --whole 420 --prepare"
