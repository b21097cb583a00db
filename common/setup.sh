#!/usr/bin/env bash
# Finds what the course needs, installs what is missing, and writes build/setup.mk for make.
#   usage: setup.sh [--need "compiler python ..."]
# Without --need every package must be there in the end. With it only those must: the others are
# installed where that is possible, and a set-up that was found complete before is trusted as
# long as its files are there (that takes milliseconds; every make asks for it).
#   reads: CXX PYTHON PATH          exit status: 0 ready, 1 something is missing, 2 bad usage
set -ufo pipefail
cd "$(dirname "$0")/.." || exit 1

# The packages by package manager. Each name of the first column can stand in --need.
readonly package_table='
name        apt                   dnf                       pacman             zypper                  brew
compiler    g++                   gcc-c++                   gcc                gcc-c++                 gcc
make        make                  make                      make               make                    make
python      python3               python3                   python             python3                 python
numpy       python3-numpy         python3-numpy             python-numpy       python3-numpy           numpy
scipy       python3-scipy         python3-scipy             python-scipy       python3-scipy           scipy
pillow      python3-pil           python3-pillow            python-pillow      python3-Pillow          pillow
pytest      python3-pytest        python3-pytest            python-pytest      python3-pytest          pytest
matplotlib  python3-matplotlib    python3-matplotlib        python-matplotlib  python3-matplotlib      python-matplotlib
stb         libstb-dev            stb-devel                 stb                stb-devel               -
boost       libboost-context-dev  boost-devel,boost-static  boost              libboost_context-devel  boost
bubblewrap  bubblewrap            bubblewrap                bubblewrap         bubblewrap              -
book        python3-venv,libjs-katex  -                     -                  -                       -
browser     chromium,chromium-driver  chromium,chromedriver     chromium           chromium,chromedriver   -
numerics    libopenblas0,libfftw3-single3,libfftw3-double3,libeigen3-dev  openblas,fftw-libs,eigen3-devel  openblas,fftw,eigen  libopenblas_pthreads0,libfftw3-3,eigen3-devel  openblas,fftw,eigen
'
readonly python_names='python numpy scipy pillow pytest matplotlib'
# Bubblewrap is looked for where it is asked for, by the grader alone, which does without it less well; what makes the book,
# by `make book` alone; what CPU mode's cuBLAS, cuSOLVER and cuFFT need, by `make setup WITH=numerics`; the browser of a few tests,
# by `make setup WITH=browser`.
readonly must_names="compiler make $python_names stb boost" all_names="compiler make $python_names stb boost bubblewrap book numerics browser"
readonly record=build/setup.mk unpacked=build/packages
readonly asked="PATH=$PATH CXX=${CXX:=g++} PYTHON=${PYTHON:=}"

say() { printf 'set-up: %s\n' "$*" >&2; }

contains() { # words word
    [[ " $1 " == *" $2 "* ]]
}

# Names found in both lists of words.
common_names() {
    local name
    for name in $1; do
        contains "$2" "$name" && printf '%s ' "$name"
    done
}

package_names() { # manager name...
    local manager=$1
    shift
    awk -v manager="$manager" -v names="$*" '
        BEGIN { split(names, list, " "); for (i in list) wanted[list[i]] = 1 }
        $1 == "name" { for (i = 1; i <= NF; i++) if ($i == manager) column = i; next }
        ($1 in wanted) && $column != "-" { gsub(",", " ", $column); printf "%s ", $column }
    ' <<<"$package_table"
}

# --- what is there ------------------------------------------------------------------------------

# True if the last set-up was made for the same question, its files are there, and it has $1.
still_ready() { # names
    local label value
    [[ -f $record ]] || return 1
    while IFS= read -r label; do
        value=${label#\# *: }
        case $label in
            '# asked: '*) [[ $value == "$asked" ]] || return 1 ;;
            '# found: '*) [[ -e $value ]] || return 1 ;;
            '# missing: '*) [[ -z $(common_names "$1" "$value") ]] || return 1 ;;
        esac
    done <"$record"
}

found() { # file
    found_files+=("$1")
}

# Where the compiler finds a header; fails if it, or what it includes, is not there.
header_path() { # name
    local answer
    answer=$("$CXX" -std=c++17 -E -H -x c++ - <<<"#include <$1>" 2>&1 >/dev/null) || return
    answer=$(sed -n "s#^\.* \(.*/$1\)\$#\1#p" <<<"$answer")
    echo "${answer%%$'\n'*}"
}

find_compiler() {
    local program
    program=$(mktemp build/setup.XXXXXX)
    if "$CXX" -std=c++17 -x c++ - -o "$program" 2>/dev/null \
        <<<$'#include <string>\nint main() { return std::string().size(); }'; then
        found "$(command -v "$CXX")"
    else
        missing+='compiler '
    fi
    rm -f "$program"
}

find_libraries() {
    local header library
    if header=$(header_path stb/stb_image.h); then found "$header"; else missing+='stb '; fi
    library=$("$CXX" -print-file-name=libboost_context.a 2>/dev/null)
    if header=$(header_path boost/context/detail/fcontext.hpp) && [[ $library == */* ]]; then
        found "$header"
        found "$library"
    else
        missing+='boost '
    fi
}

find_bubblewrap() {
    local program
    if program=$(PATH=$PATH:$PWD/$unpacked/usr/bin type -P bwrap); then
        found "$program"
    else
        missing+='bubblewrap '
        ! contains "$need" bubblewrap || wished+='bubblewrap '
    fi
}

# A Python that makes virtual environments, and KaTeX.
find_book() {
    local katex=${KATEX:-/usr/share/javascript/katex}
    [[ -f $katex/katex.min.js ]] || katex=$PWD/$unpacked/usr/share/javascript/katex
    if [[ -n $python && -f $katex/katex.min.js ]] && "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        found "$katex/katex.min.js"
    else
        missing+='book '
        ! contains "$need" book || wished+='book '
    fi
}

# A BLAS with LAPACK, and FFTW, as CPU mode looks for them (runtime/api_libraries.h), and Eigen.
find_numerics() {
    local library
    for library in 'libopenblas.so.0 libblas.so.3' 'libopenblas.so.0 liblapack.so.3' libfftw3f.so.3 libfftw3.so.3; do
        find_library "$library" && continue
        missing+='numerics '
        break
    done
    local signature=signature_of_eigen3_matrix_library
    [[ -n $(header_path "eigen3/$signature")$(header_path "$signature") ]] || contains "$missing" numerics ||
        missing+='numerics '
    ! contains "$missing" numerics || ! contains "$need" numerics || wished+='numerics '
}

# Whether the loader finds one of these names.
find_library() { # names
    local folder name
    for folder in $(ldconfig -p 2>/dev/null | sed -n 's/.* => //p') "$unpacked"/usr/lib/*/; do
        for name in $1; do
            [[ $folder == */"$name" || -e $folder/$name ]] && return
        done
    done
    return 1
}

# With the program that drives it (tests/browser.py).
find_browser() {
    type -P chromium chromedriver >/dev/null && return
    missing+='browser '
    ! contains "$need" browser || wished+='browser '
}

# Prints the interpreter's own path, the file of each module, and the name of each that it lacks.
readonly python_probe='
import importlib.util, sys
assert sys.version_info >= (3, 10)
print("python", sys.executable)
for name, module in dict(numpy="numpy", scipy="scipy", pillow="PIL", pytest="pytest",
                         matplotlib="matplotlib").items():
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        print("missing", name)
    else:
        print("found", spec.origin)
'

# Sets python to the first python3 that has every module; else to the one that packages of the
# system serve, or to any, with what it lacks.
find_python() {
    local candidate answer lacks best=-1 candidates=()
    python='' python_missing=''
    if [[ -n $PYTHON ]]; then
        candidates=("$PYTHON")
    else
        mapfile -t candidates < <(type -ap python3)
        candidates+=("$unpacked/python3" /usr/bin/python3)
    fi
    for candidate in "${candidates[@]}"; do
        answer=$("$candidate" -c "$python_probe" 2>/dev/null) || continue
        lacks=$(sed -n 's/^missing //p' <<<"$answer" | tr '\n' ' ')
        if [[ -z $lacks || $candidate == /usr/bin/python3 || $best == -1 ]]; then
            best=$answer
            python_missing=$lacks
            python=$(sed -n 's/^python //p' <<<"$answer")
            [[ $candidate != "$unpacked/python3" ]] || python=$candidate
        fi
        [[ -n $lacks ]] || break
    done
    if [[ -z $python ]]; then
        python_missing="$python_names "
    fi
    missing+=$python_missing
    if [[ -n $python ]]; then
        found "$python"
        while IFS= read -r answer; do found "$answer"; done < <(sed -n 's/^found //p' <<<"$best")
    fi
}

# Sets missing and installable (names), found_files and python.
look() {
    missing='' wished='' found_files=()
    find_compiler
    if [[ -n $missing && $CXX != g++ ]]; then
        say "CXX=$CXX does not compile C++17; name another compiler, or leave CXX out for g++"
        exit 1
    fi
    command -v make >/dev/null || missing+='make '
    find_libraries
    installable=$missing
    find_python
    # A python3 that was asked for is left as it is, and no other is taken in its place.
    if [[ -z $PYTHON || $python == /usr/bin/python3 ]]; then
        installable=$missing
    elif [[ -z $python ]]; then
        say "PYTHON=$PYTHON is no Python 3.10 or later; name another, or leave PYTHON out"
    elif [[ -n $python_missing ]]; then
        say "PYTHON=$PYTHON lacks ${python_missing% }; install that there, or leave PYTHON out"
    fi
    find_bubblewrap
    find_book
    find_numerics
    find_browser
    installable+=$wished
}

# --- installing ---------------------------------------------------------------------------------

package_manager() {
    local manager
    for manager in apt-get dnf pacman zypper brew; do
        command -v "$manager" >/dev/null && echo "${manager%-get}" && return
    done
}

# Sets as_root to what has to stand before a command of the superuser; fails without any way.
find_root() {
    as_root=()
    [[ $(id -u) != 0 ]] || return 0
    command -v sudo >/dev/null || return 1
    if sudo -n true 2>/dev/null; then
        as_root=(sudo -n)
    elif [[ -t 0 && -t 2 ]]; then
        say "sudo may ask for your password; without one, what can be is unpacked under build/"
        as_root=(sudo)
    else
        return 1
    fi
}

# Package lists may be absent (a fresh container) or stale: then they are fetched first, or all
# is tried once more.
install_by_apt() { # packages
    local lists update=("${as_root[@]}" apt-get -qq update)
    local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq
        -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@")
    lists=$(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null)
    [[ -n $lists ]] || "${update[@]}" 1>&2
    say "apt-get install $*"
    "${install[@]}" 1>&2 && return
    [[ -n $lists ]] || return
    say "apt-get update, and once more"
    "${update[@]}" 1>&2 && "${install[@]}" 1>&2
}

# Without root: fetch the packages, and all that they lack, and unpack them under build/packages.
# Nothing runs as root, so what is there needs the search paths that write_record adds.
unpack_by_apt() { # packages
    local plan debs options=() state="$PWD/$unpacked/apt"
    command -v dpkg-deb >/dev/null || return 1
    if ! plan=$(apt-get -s install --no-install-recommends "$@" 2>/dev/null); then
        options=(-o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache")
        mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
        apt-get -qq "${options[@]}" update 1>&2
        plan=$(apt-get "${options[@]}" -s install --no-install-recommends "$@") || return 1
    fi
    mapfile -t debs < <(sed -nE 's/^Inst ([^ ]+)( \[[^]]*\])? \(([^ ]+) .*/\1=\3/p' <<<"$plan")
    say "unpacking ${#debs[@]} packages under $unpacked, for lack of root: $*"
    mkdir -p "$state/debs"
    (cd "$state/debs" && apt-get -qq "${options[@]}" download "${debs[@]}") 1>&2 || return 1
    find "$state/debs" -name '*.deb' -exec dpkg-deb -x {} "$unpacked" \;
}

# A virtual environment for the unpacked modules, started by a script that names the libraries:
# BLAS and LAPACK lie in folders of their own, which the system reaches by links of the superuser.
make_python() {
    local system=/usr/bin/python3 version libraries
    local matplotlib="$unpacked/usr/lib/python3/dist-packages/matplotlib/__init__.py"
    [[ -x $system ]] || system=$PWD/$unpacked/usr/bin/python3
    libraries=$("$CXX" -print-multiarch)
    libraries=$PWD/$unpacked/lib/$libraries:$PWD/$unpacked/usr/lib/$libraries
    version=$(LD_LIBRARY_PATH=$libraries "$system" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || return 1
    mkdir -p "$unpacked/venv/bin" "$unpacked/venv/lib/python$version/site-packages"
    ln -sf "$system" "$unpacked/venv/bin/python3"
    echo "home = ${system%/*}" >"$unpacked/venv/pyvenv.cfg"
    echo ../../../../usr/lib/python3/dist-packages >"$unpacked/venv/lib/python$version/site-packages/unpacked.pth"
    if [[ -f $matplotlib ]]; then
        sed -i "s#'\(/usr/share/matplotlib\|/etc/matplotlibrc\)#__file__.rsplit('/usr/lib/', 1)[0] + '\1#" "$matplotlib"
    fi
    cat >"$unpacked/python3" <<'PYTHON3'
#!/bin/sh
# Written by common/setup.sh: python3 with the modules that are unpacked beside this file.
here=$(dirname "$(readlink -f "$0")")
folders=$(find "$here/lib" "$here/usr/lib" -name python3 -prune -o -name 'lib*.so*' -print 2>/dev/null |
    sed 's#/[^/]*$##' | sort -u | tr '\n' ':')
export LD_LIBRARY_PATH="${folders%:}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/venv/bin/python3" "$@"
PYTHON3
    chmod +x "$unpacked/python3"
}

# Installs what is missing, by root or without; sets unable to what stood in the way.
install_missing() {
    local packages
    unable="this machine has no apt-get"
    [[ $(package_manager) == apt ]] || return 1
    # shellcheck disable=SC2086  # a list of names
    read -ra packages <<<"$(package_names apt $installable)"
    unable="apt-get failed"
    if find_root; then
        install_by_apt "${packages[@]}" && return
        [[ $(id -u) != 0 ]] || return 1
    fi
    # A compiler and make do not work from a folder of their own.
    unable="that takes root"
    [[ -z $(common_names "compiler make" "$installable") ]] || return 1
    unable="unpacking under $unpacked failed"
    unpack_by_apt "${packages[@]}" && make_python
    local status=$?
    rm -rf "$unpacked/apt"
    return "$status"
}

# The one line to type where nothing can be installed from here.
say_command() {
    local manager packages
    manager=$(package_manager)
    # shellcheck disable=SC2086  # a list of names
    packages=$(package_names "${manager:-apt}" $installable)
    packages=${packages% }
    if [[ -z $packages ]]; then
        say "docs/setup.md says what ${installable% } needs"
        return
    fi
    case $manager in
        apt) say "type: sudo apt-get install $packages" ;;
        dnf) say "type: sudo dnf install $packages" ;;
        pacman) say "type: sudo pacman -S $packages" ;;
        zypper) say "type: sudo zypper install $packages" ;;
        brew) say "type: brew install $packages" ;;
        *) say "install, by what this system has for it (the names are Debian's): $packages" ;;
    esac
}

# --- the record ---------------------------------------------------------------------------------

# Lets the compiler find what is unpacked; write_record does the same for make.
use_unpacked() {
    multiarch=''
    [[ -d $unpacked/usr ]] || return 0
    multiarch=$("$CXX" -print-multiarch 2>/dev/null)
    export CPLUS_INCLUDE_PATH="$PWD/$unpacked/usr/include${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}"
    export LIBRARY_PATH="$PWD/$unpacked/usr/lib/$multiarch${LIBRARY_PATH:+:$LIBRARY_PATH}"
}

# build/setup.mk: what make needs, and for still_ready what was asked, found and missing.
write_record() {
    local here="\$(CURDIR)/\$(top)/$unpacked" interpreter=${python//\$/\$\$}
    [[ $python != "$unpacked"/* ]] || interpreter=$here/python3
    {
        echo "# Written by common/setup.sh, which writes it anew when something here has changed."
        echo "# asked: $asked"
        printf '# found: %s\n' "${found_files[@]}"
        echo "# missing: $missing"
        echo "PYTHON ?= ${interpreter//#/\\#}"
        if [[ -d $unpacked/usr ]]; then
            echo "export CPLUS_INCLUDE_PATH := $here/usr/include\$(if \$(CPLUS_INCLUDE_PATH),:\$(CPLUS_INCLUDE_PATH))"
            echo "export LIBRARY_PATH := $here/usr/lib/$multiarch\$(if \$(LIBRARY_PATH),:\$(LIBRARY_PATH))"
        fi
    } >"$record.$$"
    if cmp -s "$record.$$" "$record"; then rm -f "$record.$$"; else mv -f "$record.$$" "$record"; fi
}

main() { # [--need names]
    local need=$must_names name
    if [[ ${1:-} == --need && $# == 2 ]]; then
        need=$2
        for name in $need; do
            contains "$all_names" "$name" && continue
            say "--need: $name is not among: $all_names"
            exit 2
        done
        still_ready "$need" && exit
    elif (($# > 0)); then
        say "usage: setup.sh [--need \"names\"], with names among: $all_names"
        exit 2
    fi
    mkdir -p build || exit 1
    if command -v flock >/dev/null; then
        exec 9>build/setup.lock
        flock 9
        [[ $# == 2 ]] && still_ready "$need" && exit
    fi

    use_unpacked
    look
    if [[ -n $installable ]]; then
        say "missing: ${installable% }"
        if install_missing; then
            use_unpacked
            look
            unable=''
        fi
    fi
    write_record
    [[ " $missing" == *" compiler "* ]] || "$CXX" -fopenmp -fsyntax-only -x c++ - <<<'#include <omp.h>' 2>/dev/null ||
        say "CXX=$CXX has no OpenMP, which labs 13 and 16 need; clang++ has it in a package of its own: libomp-dev, libomp-19-dev"
    if [[ -n $installable && -z $unable ]]; then
        say "installed, but not found: ${installable% } (a compiler of conda looks elsewhere, and Python must be 3.10 or later:" \
            "CXX=g++ and PYTHON=... name others)"
    elif [[ -n $installable ]]; then
        say "not installed: ${installable% } ($unable)"
        say_command
    fi
    missing=$(common_names "$missing" "$must_names $(common_names "book numerics browser" "$need")")
    if [[ -n $(common_names "$need" "$missing") ]]; then
        exit 1
    elif [[ -n $missing ]]; then
        say "going on without ${missing% }, which other commands need"
    elif [[ $# == 0 ]]; then
        say "all is there; python is $python"
    fi
}

main "$@"
