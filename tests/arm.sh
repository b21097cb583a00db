#!/usr/bin/env bash
# Labs and the runtime's tests in CPU mode on 64-bit Arm, on a machine that is none: cross-compiled, run by qemu.
set -uo pipefail

usage() {
    cat <<'USAGE'
Usage: arm.sh [runtime | LAB]...
Checks the worked solutions of labs, and with "runtime" runs tests/test_runtime.py. Without any it is runtime and the
labs 01 to 13. LAB is the beginning of a lab's name, such as 05.
The cross-compiler must be there: apt-get install g++-aarch64-linux-gnu. Boost for Arm and qemu are fetched by apt and
unpacked under build/arm. The machine learns nothing of programs for Arm: what build/arm/g++ makes of a program is a
script that starts it under qemu. So it serves other commands, too: make run LAB=03 BACKEND=cpu CXX=$PWD/build/arm/g++
The exit status is 1 if anything fails.
USAGE
}

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/debian.sh
. tests/debian.sh
steps=() wrong=0
for word; do
    found=$(compgen -G "labs/$word*/" | xargs -r basename -a)
    case $word in
        --help) usage && exit ;;
        runtime) found=runtime ;;
    esac
    [ -n "$found" ] || { echo "arm.sh: $word is no lab, and not runtime (arm.sh --help)" >&2 && exit 2; }
    mapfile -t -O ${#steps[@]} steps <<<"$found"
done
[ ${#steps[@]} -gt 0 ] || mapfile -t steps < <(echo runtime && basename -a labs/{0,11_,12_,13_}*/)

command -v aarch64-linux-gnu-g++ >/dev/null ||
    { echo "arm.sh: there is no aarch64-linux-gnu-g++: apt-get install g++-aarch64-linux-gnu" >&2 && exit 1; }
# qemu before version 8 notes every page of the addresses that CPU mode reserves, and runs out of memory.
if ! unpack_debian trixie amd64 build/arm/qemu qemu-user ||
    ! unpack_debian bookworm arm64 build/arm/packages libboost{1.74-dev,-context1.74-dev,-context1.74.0}; then
    echo "arm.sh: not fetched; the lines above say why" >&2
    exit 1
fi

cat >build/arm/g++ <<'COMPILER'
#!/usr/bin/env bash
# Written by tests/arm.sh: compiles for 64-bit Arm; a program becomes a script that runs it under qemu.
here=$(dirname "$(readlink -f "$0")")
aarch64-linux-gnu-g++ -isystem "$here/packages/usr/include" -B"$here/packages/usr/lib/aarch64-linux-gnu" "$@" || exit
while [ $# -gt 1 ] && [ "$1" != -o ]; do shift; done
[ "$1" = -o ] && [ -f "$2" ] && [ -x "$2" ] || exit 0
program=$here/programs/$(b2sum -l 128 <"$2" | cut -c -32)
mkdir -p "$here/programs" && mv -f -- "$2" "$program" || exit
printf '#!/bin/sh\nexec "%s" -L /usr/aarch64-linux-gnu "%s" "$@"\n' "$here/qemu/usr/bin/qemu-aarch64" "$program" >"$2"
chmod +x "$2"
COMPILER
chmod +x build/arm/g++

# Built in a copy, so that nothing here is mixed with it. Under qemu all is ten times as slow.
copy_course build/arm/course || exit
export BACKEND=cpu CXX=$PWD/build/arm/g++
cd build/arm/course || exit
for step in "${steps[@]}"; do
    if [ "$step" = runtime ]; then
        make -s test TESTS=tests/test_runtime.py ARGS=-q || wrong=1
    else
        echo "== $step"
        make -s check LAB="$step" SOLUTION=1 ARGS='--timeout 900' || wrong=1
    fi
done
exit $wrong
