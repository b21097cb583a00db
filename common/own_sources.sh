#!/usr/bin/env bash
# The source files that FILE="..." names, as words for the shell; first the one with main.
#   usage: own_sources.sh TARGET FILE      TARGET is make's, for the sentences
# FILE is one name, which may hold spaces, or several words; quotes keep a word together.
#   exit status: 0 they are there, 2 one is not, or is no source
set -uf -o pipefail
target=$1 file=$2

refuse() {
    echo "make $target: $1" >&2
    exit 2
}

sources=("$file")
if [ ! -f "$file" ] && [[ $file == *[[:space:]\'\"]* ]]; then
    mapfile -t sources < <(xargs printf '%s\n' <<<"$file" 2>/dev/null)
    # Words that are no sources are pieces of one name.
    for source in "${sources[@]}"; do
        [[ $source =~ \.(cu|cpp|cc|cxx|c)$ ]] || sources=("$file")
    done
fi
first=() others=()
for source in "${sources[@]}"; do
    case $source in
        *.cu | *.cpp | *.cc | *.cxx | *.c) ;;
        *) refuse "$source is no CUDA source; FILE= names a .cu file, from this folder" ;;
    esac
    [ -f "$source" ] || refuse "there is no file $source; FILE= names a .cu file, from this folder"
    [[ $source != -* ]] || source=./$source
    if [ ${#first[@]} -eq 0 ] && grep -qE '\bmain[[:space:]]*\(' -- "$source"; then
        first=("$source")
    else
        others+=("$source")
    fi
done
printf '%q ' "${first[@]}" "${others[@]}"
