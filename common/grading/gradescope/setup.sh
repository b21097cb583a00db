#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of an assignment.
set -eu
course=${AUTOGRADER:-/autograder}/source/course
bash "$course/common/setup.sh" --need "compiler make python numpy scipy pillow stb boost bubblewrap"
# Submissions run as another user, from whose eyes this keeps what they must not see, even where
# the image allows no view of its own.
chmod -R go-rwx "$course/solutions" "$course/tests"
