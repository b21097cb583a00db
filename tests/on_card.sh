#!/usr/bin/env bash
# What a card must say of the course: for those who change it and have a GPU.
set -uo pipefail

usage() {
    cat <<'END'
Usage: on_card.sh STEP... [-- LAB...]
Builds the worked solutions, all at once, and then takes the steps one after the other:
  check       the checkers of the labs, one after the other
  faults      planted faults must be caught here too
  sanitize    compute-sanitizer on the small cases: memcheck, racecheck, synccheck, initcheck
  teaching    compute-sanitizer on the programs of tests/teaching, beside what they expect
  features    the programs of tests/programs/features: what CPU mode says it has, the card has
  explain     make explain, by ncu
  bench       make bench, into build/bench
LAB is the beginning of a lab's name, such as 05; without any it is every lab. What has to be measured
alone is measured alone. Each step prints what it found as it goes; the exit status is 1 if
anything was wrong. BACKEND=gpu, ARCH, NVCC and so on are those of make.
END
}

cd "$(dirname "$0")/.." || exit 1
export BACKEND=gpu
steps=() labs=() wrong=0
while [ $# -gt 0 ]; do
    case $1 in
        check | faults | sanitize | teaching | features | explain | bench) steps+=("$1") ;;
        --help) usage && exit ;;
        --) shift && break ;;
        *) echo "on_card.sh: there is no step $1 (on_card.sh --help lists them)" >&2 && exit 2 ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || { usage >&2 && exit 2; }
for beginning in "${@:-}"; do
    for folder in solutions/"$beginning"*/; do
        [ -d "$folder" ] || { echo "on_card.sh: there is no lab $beginning" >&2 && exit 2; }
        labs+=("$(basename "$folder")")
    done
done

say() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
program() { echo "build/gpu/solutions/$1/${1#*_}"; }
logs=$(mktemp -d)
trap 'rm -rf "$logs"; jobs -p | xargs -r kill 2>/dev/null' EXIT

build_one() { # lab, flavour
    make -s -C "labs/$1" build ${2:+"$2"} SOLUTION=1 LAB="$1" FROM_TOP=1 >"$logs/$1" 2>&1 && return
    echo "does not build: $1"
    tail -5 "$logs/$1"
    return 1
}

# All at once: compilers share the cores. `bench=bench` chooses the flavour that make bench runs.
build() { # flavour
    local lab pid pids=()
    for lab in "${labs[@]}"; do
        build_one "$lab" "${1:-}" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || wrong=1; done
}

# While one program holds the card, the others need not wait for the driver to start.
hold_the_card() {
    printf '#include <unistd.h>\nint main() { cudaFree(0); pause(); }\n' >"$logs/hold.cu"
    "${NVCC:-nvcc}" -o "$logs/hold" "$logs/hold.cu" && { "$logs/hold" & }
}

check() {
    local lab
    for lab in "${labs[@]}"; do
        python3 -B "labs/$lab/check.py" --program "$(program "$lab")" >"$logs/check" 2>&1 || wrong=1
        echo "$lab: $(tail -1 "$logs/check")"
        grep -A 12 '^FAIL' "$logs/check" | head -40
    done
}

faults() {
    local names
    names=$(printf ' or %s' "${labs[@]}")
    PYTHONPATH="common:tests${PYTHONPATH:+:$PYTHONPATH}" python3 -B -m pytest tests/test_labs.py -q \
        -k "fault_is_caught and (${names# or })" || wrong=1
}

# The checkers run their small cases, and start the tool where they mean to start the program.
sanitize() {
    local lab tool wrapper
    for lab in "${labs[@]}"; do
        wrapper=build/gpu/sanitize/$lab/${lab#*_}
        mkdir -p "$(dirname "$wrapper")"
        for tool in memcheck racecheck synccheck initcheck; do
            printf '#!/bin/sh\nexec compute-sanitizer --tool %s --log-file "%s" "%s" "$@"\n' \
                "$tool" "$logs/report-%p" "$PWD/$(program "$lab")" >"$wrapper" && chmod +x "$wrapper"
            rm -f "$logs"/report-*
            python3 -B "labs/$lab/check.py" --quick --timeout 100 --program "$wrapper" >"$logs/sanitize" 2>&1 || wrong=1
            echo "$lab, $tool: $(tail -1 "$logs/sanitize"); $(find "$logs" -name 'report-*' | wc -l) programs"
            grep -h SUMMARY "$logs"/report-* | sort | uniq -c | grep -v 'SUMMARY: 0 ' && wrong=1
        done
    done
}

# Needs no lab.
teaching() {
    PYTHONPATH="common:tests${PYTHONPATH:+:$PYTHONPATH}" python3 -B tests/teaching/on_card.py || wrong=1
}

# Needs no lab.
features() {
    PYTHONPATH="common:tests${PYTHONPATH:+:$PYTHONPATH}" python3 -B -m pytest tests/test_features.py -q -k test_feature || wrong=1
}

bench() {
    local lab
    for lab in "${labs[@]}"; do
        [ -f "labs/$lab/bench.py" ] || continue
        say "$lab"
        make -s bench LAB="$lab" SOLUTION=1 || wrong=1
    done
}

if [ "${steps[*]}" != teaching ] && [ "${steps[*]}" != features ]; then
    say "building ${#labs[@]} labs"
    build
fi
for step in "${steps[@]}"; do
    if [ "$step" = bench ]; then
        build bench=bench
    else
        [ -e "$logs/hold" ] || hold_the_card
    fi
    say "$step"
    case $step in
        check) check ;;
        faults) faults ;;
        sanitize) sanitize ;;
        teaching) teaching ;;
        features) features ;;
        explain) for lab in "${labs[@]}"; do make -s explain LAB="$lab" SOLUTION=1 || wrong=1; done ;;
        bench) bench ;;
    esac
done
say "$([ "$wrong" -eq 0 ] && echo 'all right' || echo 'something was wrong, see above')"
exit "$wrong"
