#!/usr/bin/env bash
# The course on systems and compilers that this machine does not run: each in a folder of its own, as a newcomer meets it.
# shellcheck disable=SC2317  # `row` calls the functions that it is given
set -uo pipefail

usage() {
    cat <<'USAGE'
Usage: hosts.sh SUITE [STEP]... [-- LAB...]
SUITE is bookworm (Debian 12), trixie (13) or what else debootstrap knows. A step is
  root        as root, with nothing but make: make check of lab 03, which sets everything up, and make sanitize
  user        the same without root, with nothing but make and g++: packages are unpacked under build/packages
  COMPILER    such as g++-14 or clang++-16: the runtime's tests, make check of the worked solutions, and of lab 03
              make sanitize and make explain, which g++ alone can: of clang++ a sentence is expected
Without any it is all three, with the compilers of that suite. LAB is for the compilers' checks; without any it is every lab.
It needs root, debootstrap and bubblewrap. Systems are made under build/hosts and stay there; what they print goes to
build/hosts/said. They have a /dev of their own; nothing of this machine's is mounted, changed or installed.
The exit status is 1 if anything fails.
USAGE
}

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/debian.sh
. tests/debian.sh
refuse() { echo "hosts.sh: $1" >&2 && exit 2; }
case ${1:---help} in
    --help) usage && exit ;;
    -*) refuse "a suite comes first (hosts.sh --help)" ;;
esac
suite=$1 steps=() labs='all' rows=() wrong=0
shift
while [ $# -gt 0 ]; do
    case $1 in
        --) shift && labs=$* && break ;;
        root | user | g++-* | clang++-*) steps+=("$1") ;;
        *) refuse "there is no step $1 (hosts.sh --help lists them)" ;;
    esac
    shift
done
if [ ${#steps[@]} = 0 ]; then
    steps=(root user)
    case $suite in
        bookworm) steps+=(g++-11 g++-12 clang++-14 clang++-16 clang++-19) ;;
        trixie) steps+=(g++-13 g++-14 clang++-19) ;;
    esac
fi
[ "$(id -u)" = 0 ] || refuse "a system is made by root"
for tool in debootstrap bwrap; do
    command -v $tool >/dev/null || refuse "there is no $tool: apt-get install debootstrap bubblewrap"
done
base=$PWD/build/hosts
mkdir -p "$base/said"

inside() { # system, root or user, command line
    local who=()
    [ "$2" = root ] || who=(setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all --bounding-set=-all --)
    bwrap --dev-bind "$base/$1" / --dev /dev --proc /proc --ro-bind-try /etc/resolv.conf /etc/resolv.conf \
        --cap-add ALL --unshare-pid --die-with-parent --clearenv --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin \
        --setenv HOME /course --setenv LC_ALL C.UTF-8 --setenv DEBIAN_FRONTEND noninteractive \
        -- "${who[@]}" sh -c "$3" </dev/null
}

# A system with nothing in it but apt.
bare_system() { # system
    [ ! -e "$base/$1/made" ] || return 0
    rm -rf "${base:?}/$1"
    if [ "$1" = "$suite" ]; then
        local mirror=()
        case $suite in bookworm | trixie | forky | sid) mirror=("$(debian_mirror)") || return ;; esac
        debootstrap --foreign --variant=minbase "$suite" "$base/$1" "${mirror[@]}" || return
        # In a container debootstrap makes links of these.
        rm -f "$base/$1"/{proc,sys}
        mkdir -p "$base/$1"/{proc,sys,course}
        inside "$1" root '/debootstrap/debootstrap --second-stage && apt-get -qq update' || return
    else
        bare_system "$suite" && cp -a "$base/$suite" "$base/$1" || return
    fi
    touch "$base/$1/made"
}

bring_course() { # system
    rm -rf "$base/$1/course" && copy_course "$base/$1/course" && chown -R 1000:1000 "$base/$1/course"
}

# One line of the table.
row() { # step, what, command...
    local said seconds=$SECONDS result='right'
    said=$base/said/$suite-$1-$(tr -c 'A-Za-z0-9\n' - <<<"$2")
    "${@:3}" >"$said" 2>&1 || { result='FAILED' && wrong=1; }
    rows+=("$(printf '%-9s %-11s %-28s %-7s %5d s' "$suite" "$1" "$2" "$result" $((SECONDS - seconds)))")
    echo "${rows[-1]}"
    [ $result = right ] || tail -n 5 "$said"
}

newcomer() { # root or user, packages
    local system=$suite-$1
    row "$1" 'a bare system' bare_system "$system"
    bring_course "$system"
    row "$1" "apt-get install $2" inside "$system" root "apt-get -qq -y install --no-install-recommends $2"
    row "$1" 'make check LAB=03' inside "$system" "$1" 'cd /course && make check LAB=03 SOLUTION=1'
    row "$1" 'make sanitize LAB=03' inside "$system" "$1" 'cd /course && make sanitize LAB=03 SOLUTION=1'
}

compiler() { # name
    local command package=$1 lab
    [[ $1 != clang++-* ]] || package="clang-${1#*-} libomp-${1#*-}-dev"
    row "$1" "apt-get install $package" bare_system "$suite-root"
    bring_course "$suite-root"
    row "$1" 'make setup' inside "$suite-root" root "cd /course && apt-get -qq -y install --no-install-recommends make $package &&
        make setup && make setup CXX=$1"
    row "$1" 'tests/test_runtime.py' inside "$suite-root" root "cd /course && make -s test TESTS=tests/test_runtime.py CXX=$1"
    for lab in $labs; do
        row "$1" "make check LAB=$lab" inside "$suite-root" root "cd /course && make check LAB=$lab SOLUTION=1 CXX=$1"
    done
    for command in sanitize explain; do
        case $1 in
            g++*) row "$1" "make $command LAB=03" inside "$suite-root" root "cd /course && make $command LAB=03 SOLUTION=1 CXX=$1" ;;
            *) row "$1" "make $command: a sentence" inside "$suite-root" root "cd /course && ! make $command LAB=03 SOLUTION=1 CXX=$1 >said 2>&1 &&
                grep 'needs g++' said" ;;
        esac
    done
}

for step in "${steps[@]}"; do
    case $step in
        root) newcomer root make ;;
        user) newcomer user 'make g++' ;;
        *) compiler "$step" ;;
    esac
done
printf '\n%-9s %-11s %-28s %-7s\n' suite step what result
printf '%s\n' "${rows[@]}"
exit $wrong
