#!/usr/bin/env bash
# Compiles every lab with CUDA toolkits that this machine need not have.
set -uo pipefail

usage() {
    cat <<'USAGE'
Usage: toolkits.sh [TOOLKIT...] [LAB...]
Compiles exercises and solutions, these with further/ and what they compare with in benchmarks, for the oldest and the
newest card that the course and the toolkit know. Nothing is linked or run, so no card is needed. A toolkit is
  11.8, 12.4  of Debian 12 and 13 (non-free), with a g++ that it takes, fetched by apt
  newest      13.x from PyPI, fetched by pip
  NVCC        or the name of an nvcc that is there
Without any it is all three. LAB is the beginning of a lab's name, such as 05; without any it is every lab.
What is fetched, 1 to 3 GB a toolkit, is unpacked under build/toolkits and not installed; it stays there. Messages of
the compilers go to build/toolkits/said. With all labs a toolkit takes a quarter of an hour on one core.
The exit status is 1 if anything does not compile, warns, or could not be fetched.
USAGE
}

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/debian.sh
. tests/debian.sh
toolkits=() labs=() rows=() wrong=0
for word; do
    found=$(compgen -G "labs/$word*/") || found=''
    case $word in
        --help) usage && exit ;;
        11.8 | 12.4 | newest) toolkits+=("$word") ;;
        *nvcc*) toolkits+=("$word") ;;
        *) [ -n "$found" ] || { echo "toolkits.sh: $word is no toolkit and no lab (toolkits.sh --help lists them)" >&2 && exit 2; } ;;
    esac
    while IFS= read -r folder; do
        [ -z "$folder" ] || labs+=("$(basename "$folder")")
    done <<<"$found"
done
[ ${#toolkits[@]} -gt 0 ] || toolkits=(11.8 12.4 newest)
[ ${#labs[@]} -gt 0 ] || mapfile -t labs < <(basename -a labs/*/)

# A g++ from the PATH, else from Debian's packages of the suite that this machine's C library is of.
bring_compiler() { # version
    compiler=g++-$1
    ! command -v "$compiler" >/dev/null || return 0
    unpack_debian bookworm amd64 "build/toolkits/$compiler" {g++,gcc,cpp}-"$1" gcc-"$1"-base lib{gcc,stdc++}-"$1"-dev || return
    compiler=$PWD/build/toolkits/$compiler/usr/bin/$compiler
}

# Debian spreads a toolkit over /usr; here it is laid as NVIDIA lays it out, so that it works from any folder.
bring_debian() { # toolkit, suite
    local top=$PWD/build/toolkits/$1
    nvcc=$top/bin/nvcc
    [ ! -x "$nvcc" ] || return 0
    rm -rf "$top"
    unpack_debian "$2" amd64 "$top" nvidia-cuda-{toolkit,dev} libnvvm4 lib{thrust,cub,cu++}-dev || return
    mv "$top"/usr/include "$top"/usr/bin "$top" &&
        mv "$top"/usr/lib/x86_64-linux-gnu "$top"/lib64 &&
        mkdir -p "$top"/nvvm/bin &&
        mv "$top"/usr/lib/nvidia-cuda-toolkit/libdevice "$top"/nvvm &&
        mv "$top"/usr/lib/nvidia-cuda-toolkit/bin/cicc "$top"/nvvm/bin &&
        cat >"$top"/bin/nvcc.profile <<'PROFILE' &&
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
PROFILE
        mv "$top"/usr/lib/nvidia-cuda-toolkit/bin/{crt,nvcc} "$top"/bin
}

bring_newest() {
    local top=$PWD/build/toolkits/newest python=${PYTHON:-python3}
    nvcc=$top/nvidia/cu13/bin/nvcc compiler=g++
    [ ! -x "$nvcc" ] || return 0
    rm -rf "$top"
    "$python" -m pip -q install --no-deps --no-compile --target "$top" nvidia-cuda-{nvcc,crt,runtime,cccl,profiler-api} \
        nvidia-{nvvm,nvtx,cublas,cusolver,cusparse,curand,cufft,npp} >&2 || return
    # Nothing is linked, and these are most of it.
    rm -rf "$top"/nvidia/cu13/lib
}

# Sets nvcc and compiler.
bring() { # toolkit
    case $1 in
        11.8) bring_debian 11.8 bookworm && bring_compiler 11 ;;
        12.4) bring_debian 12.4 trixie && bring_compiler 12 ;;
        newest) bring_newest ;;
        *) nvcc=$(command -v -- "$1") && compiler=${CCBIN:-g++} ;;
    esac
}

compile() { # lab, kind: counts
    local said=build/toolkits/said/$version/$1-$2 flags='-c' words=() warned
    if [ "$2" = solution ]; then
        words=(SOLUTION=1)
        [ ! -d "labs/$1/further" ] || words+=(FURTHER=1)
        [ ! -f "labs/$1/bench.py" ] || flags+=' -DLAB_BENCH -DLAB_PEERS -DLAB_HOST_PEERS'
    fi
    mkdir -p "${said%/*}"
    if NVCC_APPEND_FLAGS=$flags make -s -C build/toolkits/course build LAB="$1" "${words[@]}" BACKEND=gpu NVCC="$nvcc" CCBIN="$compiler" \
        ARCH="$cards" >"$said" 2>&1; then
        compiled=$((compiled + 1))
    else
        failed=$((failed + 1))
        echo "$version: the $2 of $1 does not compile: $(grep -m 1 error "$said" || tail -1 "$said")"
    fi
    warned=$(grep -c warning "$said")
    [ "$warned" = 0 ] || echo "$version: the $2 of $1: $(grep -m 1 warning "$said")"
    warnings=$((warnings + warned))
}

copy_course build/toolkits/course || exit
for toolkit in "${toolkits[@]}"; do
    if ! bring "$toolkit"; then
        echo "$toolkit could not be fetched: the lines above say why"
        rows+=("$(printf '%-9s %s' "$toolkit" 'not fetched')")
        wrong=1
        continue
    fi
    version=$("$nvcc" --version | sed -n 's/.*release .*, V//p')
    newest=$("$nvcc" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | sort -n | tail -1)
    cards="sm_75 sm_$newest" compiled=0 warnings=0 failed=0
    for lab in "${labs[@]}"; do
        compile "$lab" exercise
        [ ! -d "solutions/$lab" ] || compile "$lab" solution
    done
    rows+=("$(printf '%-9s %-13s %-14s %8d %8d %6d' "$version" "g++ $("$compiler" -dumpfullversion)" "$cards" $compiled $warnings $failed)")
    ((warnings == 0 && failed == 0)) || wrong=1
done
printf '\n%-9s %-13s %-14s %8s %8s %6s\n' toolkit host cards compiled warnings failed
printf '%s\n' "${rows[@]}"
exit $wrong
