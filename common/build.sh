#!/usr/bin/env bash
# Builds a program, or an object, unless the one that is there was built from the same.
#   usage: build.sh [--compiler COMPILER]... [--first LINE] [--say SENTENCE] -o OUTPUT COMMAND...
#          build.sh -o OUTPUT      builds nothing: are the files as they were when OUTPUT was built?
# COMMAND is nvcc or compile.sh with everything but the output. Before it runs the shell runs LINE,
# which builds what COMMAND needs, and SENTENCE is printed.
# "The same" goes by content, never by date: of the command and what it reads from the environment,
# the compilers, the output, the source and every header; and no header has come to a place that is
# looked at first. OUTPUT.made holds all that, in the form of b2sum with comments.
#   exit status: 0 the output is up to date, 1 it is not, 2 bad usage, otherwise that of COMMAND
set -uo pipefail

# What nvcc, g++ and compile.sh read from the environment.
readonly settings='CPU_CXXFLAGS CPU_LDFLAGS NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS NVCC_CCBIN CPATH
    C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX'

# A digest of what is asked for. The first bytes of a compiler are the whole of a script, and name
# the build of a program.
question() { # command...
    local name
    {
        printf '%s\0' "$@"
        for name in $settings; do printf '%s\0' "$name=${!name-}"; done
        for name in "${compilers[@]}"; do
            "$name" --version
            head -c 65536 -- "$(command -v -- "$name")"
        done
    } 2>/dev/null | b2sum -l 256
}

# Whether a record answers the question, and still holds.
holds() { # record
    local line
    while IFS= read -r line; do
        case $line in
            '# asked: '*) [[ -z $asked || $line == "# asked: $asked" ]] || return 1 ;;
            '# absent: '*) [[ ! -e ${line#'# absent: '} ]] || return 1 ;;
            '# present: '*) [[ -e ${line#'# present: '} ]] || return 1 ;;
            *) break ;;
        esac
    done <"$1"
    b2sum --status --strict -c -- "$1" 2>/dev/null
}
up_to_date() { [[ -f $record ]] && holds "$record"; }

# The files that rules of make name behind the colon, one a line. What bash reads, here and below, is a file: of a pipe it
# would read each byte by itself.
prerequisites() { # file
    local words
    # Without -r, read takes a backslash as make does: before a space, and at the end of a line.
    # shellcheck disable=SC2162
    while read -a words || ((${#words[@]} > 0)); do
        printf '%s\n' "${words[@]//\$\$/\$}" | sed '0,/:$/d'
    done <"$1"
}

# What the output is made from, as it is now.
ingredients() { # command...
    local files directories
    if [[ ${2-} == */compile.sh ]]; then
        "$@" --list "$work/list"
    else
        "$@" -M -MF "$work/list" -Xcompiler -v
    fi >/dev/null 2>"$work/said" || return
    prerequisites "$work/list" | sort -u >"$work/files"
    mapfile -t files <"$work/files"
    ((${#files[@]} > 0)) || return
    sed -nE '/search starts here:$/,/^End of search list/s/^ //p
        s/^ignoring nonexistent directory "(.*)"$/\1/p' "$work/said" >"$work/directories"
    mapfile -t directories <"$work/directories"
    lookups | sort -u
    b2sum -l 256 -- "${files[@]}"
}

# Says what is not there: of a path of several parts, the first of them if there is not even that.
tell_absent() { # place, name
    if [[ $2 == */* && ! -e $1/${2%%/*} ]]; then
        printf '# absent: %s\n' "$1/${2%%/*}"
    else
        printf '# absent: %s\n' "$1/$2"
        return 1
    fi
}

# The places where a header is looked for, up to the one where it is: for every file that was read, in the
# folders that somebody has named before the one where it lies; and for what the files of the course and
# of the learner include, or ask for by __has_include.
lookups() {
    local own=() file name places place earlier other alike
    local -A settled=() # folders whose files are all told of alike
    for file in "${files[@]}"; do
        [[ -z ${settled[in ${file%/*}]-} ]] || continue
        earlier=()
        for place in "${directories[@]}"; do
            [[ $file == "$place"/* ]] || { earlier+=("$place") && continue; }
            name=${file#"$place"/}
            alike=1
            for other in "${earlier[@]}"; do
                [[ $other == /usr/* ]] || { [[ ! -e $other/$name ]] && tell_absent "$other" "$name"; } || alike=
            done
            settled[in ${file%/*}]=$alike
            break
        done
    done
    for file in "${files[@]}"; do
        [[ $file == /usr/* ]] || own+=("$file")
    done
    grep -aHoE '(#[[:space:]]*include|__has_include)[[:space:](]*[<"][^>"]+' -- "${own[@]}" |
        sed -E 's/:.*(")/\t\1/; s/^.*(<)/\/\t\1/' | sort -u >"$work/asked"
    while IFS=$'\t' read -r file name; do
        places=("${directories[@]}")
        if [[ $file != / ]]; then
            [[ $file == */* ]] || file=./$file
            places=("${file%/*}" "${places[@]}")
        fi
        for place in "${places[@]}"; do
            [[ ! -e $place/${name:1} ]] || { printf '# present: %s\n' "$place/${name:1}" && break; }
            tell_absent "$place" "${name:1}" || :
        done
    done <"$work/asked"
}

# Runs the command. What has changed meanwhile may be in the output or not: then nothing is recorded,
# and the next time it is built again.
build() { # command...
    local before
    work=$(mktemp -d -- "$output.XXXXXX") || return
    trap 'rm -rf -- "$work"' EXIT
    bash -c "$first" 9>&- || return
    [[ -z $say ]] || echo "$say" >&2
    before=$(ingredients "$@")
    "$@" -o "$work/output" 9>&- || return
    rm -f -- "$record"
    mv -f -- "$work/output" "$output" || return
    printf '# asked: %s\n%s\n' "$asked" "$before" >"$work/record"
    [[ -n $before ]] && holds "$work/record" || return 0
    b2sum -l 256 -- "$output" >>"$work/record" && mv -f -- "$work/record" "$record"
}

compilers=() first='' say='' output=''
while [[ ${1-} == -* && $# -ge 2 ]]; do
    case $1 in
        --compiler) compilers+=("$2") ;;
        --first) first=$2 ;;
        --say) say=$2 ;;
        -o) output=$2 ;;
        *) break ;;
    esac
    shift 2
done
if [[ -z $output || ${1-} == -* ]]; then
    echo "usage: build.sh [--compiler COMPILER]... [--first LINE] [--say SENTENCE] -o OUTPUT COMMAND..." >&2
    exit 2
fi
record=$output.made
asked=''
[[ $# == 0 ]] || asked=$(question "$@")
up_to_date && exit
[[ $# != 0 ]] || exit 1
mkdir -p -- "$(dirname -- "$output")" || exit
# Of two that build the same, the second waits, and then has nothing to do.
if command -v flock >/dev/null && exec 9>"$output.lock"; then
    flock 9
    up_to_date && exit
fi
build "$@"
