#!/usr/bin/env bash
# Chooses between the graphics card and the CPU, finds nvcc, and picks the architectures.
#   usage: backend.sh build|run     ("run": the program is started too, so a card is needed)
#   reads: BACKEND NVCC CUDA_HOME CUDA_PATH CUDA_ROOT CUDATOOLKIT_HOME CONDA_PREFIX VIRTUAL_ENV CUDA_VISIBLE_DEVICES ARCH
# Prints assignments for make, each ended by "@@", because make's $(shell) drops line ends:
#   backend (gpu or cpu), reason, nvcc, nvcc_version, nvcc_libraries, architectures, gencode; or refusal alone.
set -ufo pipefail

assign() { # name value
    local value=${2//\$/\$\$}
    printf '%s := %s@@' "$1" "${value//#/\\#}"
}

refuse() { # sentence
    assign refusal "$1"
    exit 0
}

# The toolkit that nvcc belongs to: where it lies, whatever link leads to it.
toolkit() {
    local file
    file=$(readlink -f -- "$(command -v -- "$nvcc")")
    echo "${file%/bin/nvcc}"
}

# Environments for other programs may have nvcc without its headers. What is not where NVIDIA has it is asked for.
find_headers() {
    local said
    [[ ! -e $(toolkit)/include/cuda_runtime.h ]] || return
    said=$("$nvcc" -E -x cu -Xcompiler -dM /dev/null 2>&1)
    if [[ $said == *'cuda_runtime.h: No such file'* ]]; then
        nvcc_problem="$nvcc has no headers: it finds no cuda_runtime.h; NVCC=... can name another"
    elif [[ $said =~ CUDART_VERSION\ ([0-9]+)[0-9]{3} && ${BASH_REMATCH[1]} != "${nvcc_version%.*}" ]]; then
        nvcc_problem="$nvcc is of CUDA $nvcc_version and finds headers of CUDA ${BASH_REMATCH[1]}; NVCC=... can name another"
    fi
}

# Sets nvcc_version; fails, with nvcc_problem, if the course cannot use this nvcc.
is_usable() {
    nvcc_problem='' nvcc_version=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    if [[ -z $nvcc_version ]]; then
        nvcc_problem="$nvcc does not run: it does not tell its version"
    elif [[ $(printf '%s\n' 11.8 "$nvcc_version" | sort -V | head -1) != 11.8 ]]; then
        nvcc_problem="$nvcc is of CUDA $nvcc_version, and the course needs 11.8 or later; NVCC=... can name another"
    else
        find_headers
    fi
    [[ -z $nvcc_problem ]]
}

# Sets nvcc and nvcc_version, or nvcc_problem: of the first nvcc, where none can be used. An NVCC that was asked for must be
# right. Modules of a cluster set one of the first names; packages of conda lie below CONDA_PREFIX, those of PyPI deep in a
# virtual environment.
find_nvcc() {
    local candidates=() candidate name problem=''
    if [[ -n ${NVCC:-} ]]; then
        nvcc=$(command -v -- "$NVCC") || refuse "NVCC=$NVCC is no program; leave NVCC out to search for nvcc"
        is_usable || refuse "NVCC=$NVCC: $nvcc_problem"
        return
    fi
    for name in CUDA_HOME CUDA_PATH CUDA_ROOT CUDATOOLKIT_HOME; do
        [[ -z ${!name:-} ]] || candidates+=("${!name}/bin/nvcc")
    done
    candidates+=("$(command -v nvcc)" ${CONDA_PREFIX:+"$CONDA_PREFIX/bin/nvcc"})
    while IFS= read -r candidate; do
        candidates+=("$candidate")
    done < <([[ -z ${VIRTUAL_ENV:-} ]] ||
        (set +f && printf '%s\n' "$VIRTUAL_ENV"/lib/python3*/site-packages/nvidia/cu*/bin/nvcc | sort -rV))
    candidates+=(/usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc)
    while IFS= read -r candidate; do
        candidates+=("$candidate")
    done < <(set +f && printf '%s\n' /usr/local/cuda-*/bin/nvcc /opt/cuda-*/bin/nvcc | sort -rV)
    for candidate in "${candidates[@]}"; do
        [[ -x $candidate ]] || continue
        nvcc=$candidate
        is_usable && return
        problem=${problem:-$nvcc_problem}
    done
    nvcc_problem=${problem:-"nvcc is not in CUDA_HOME, PATH or /usr/local/cuda; NVCC=... can name it"}
}

# Where the toolkit's own libraries lie. nvcc does not look into lib, where PyPI's packages have them; and programs that
# were linked with a shared one find it by this name. A script that starts nvcc lies elsewhere: nvcc tells its own place.
find_libraries() {
    local top folder
    for top in "$(toolkit)" "$("$nvcc" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')"; do
        for folder in lib64 targets/x86_64-linux/lib targets/sbsa-linux/lib lib; do
            [[ -e $top/$folder/libcudart_static.a ]] && nvcc_libraries=$top/$folder && return
        done
    done
}

# What nvidia-smi answers. It may warn of one card, and end with 14 or another status, behind the cards
# that are there: lines with a capability are an answer in any case.
ask_cards() { # fields
    local answer status cards
    answer=$(timeout 60 "$smi" --query-gpu="$1" --format=csv,noheader 2>&1)
    status=$?
    if ((status != 0)) && cards=$(grep -E '^[0-9]+\.[0-9], ' <<<"$answer"); then
        answer=$cards status=0
    fi
    grep -iv '^warning:' <<<"$answer"
    return $((status == 14 ? 0 : status))
}

# Sets card_names and capabilities ("90 75"), or card_problem.
find_cards() {
    local smi answer line visible=${CUDA_VISIBLE_DEVICES-all} count=0
    visible=${visible//[[:space:]]/}
    visible=${visible%%,*}
    case $visible in
        '') card_problem="CUDA_VISIBLE_DEVICES is empty, so every card is hidden" ;;
        all | [0-9]* | GPU-* | MIG-*) ;;
        *) card_problem="CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES hides every card" ;;
    esac
    [[ -z $card_problem ]] || return

    smi=$(command -v nvidia-smi) || smi=/usr/lib/wsl/lib/nvidia-smi
    if [[ ! -x $smi ]]; then
        card_problem="no NVIDIA driver: nvidia-smi not found"
        return
    fi
    # Drivers before 510 do not know compute_cap: then the name alone is asked for.
    if ! answer=$(ask_cards compute_cap,name) && ! answer=$(ask_cards name); then
        card_problem="nvidia-smi finds no card: ${answer%%$'\n'*}"
        return
    fi
    while IFS= read -r line; do
        [[ -n $line && $line != *"No devices"* ]] || continue
        count=$((count + 1))
        if [[ $line =~ ^([0-9]+)\.([0-9]),\ * ]]; then
            capabilities+="${BASH_REMATCH[1]}${BASH_REMATCH[2]} "
            line=${line#"${BASH_REMATCH[0]}"}
        fi
        [[ ", $card_names, " == *", $line, "* ]] || card_names+="${card_names:+, }$line"
    done <<<"$answer"
    capabilities=$(tr ' ' '\n' <<<"${capabilities% }" | sort -nu)
    if ((count == 0)); then
        card_problem="nvidia-smi finds no card"
    elif [[ $visible =~ ^[0-9]+$ ]] && ((10#$visible >= count)); then
        card_problem="CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES hides every card: the first has number 0"
    fi
}

# The newest architecture that nvcc knows and a card of that capability runs: 120 -> 90, say.
best_for() { # capability
    local known best=
    [[ -n $known_architectures ]] || best=$1
    for known in $known_architectures; do
        ((known <= $1)) && ((known > ${best:-0})) && best=$known
    done
    echo "$best"
}

# Without ARCH: what the cards are, else sm_75, whose PTX runs on every later card too.
default_architectures() {
    local capability best
    for capability in $capabilities; do
        best=$(best_for "$capability")
        [[ -z $best || " $architectures " == *" $best "* ]] || architectures+=" $best"
    done
    if [[ -z $architectures && -n $capabilities ]]; then
        nvcc_problem="nvcc $nvcc_version no longer compiles for its compute capability, "
        nvcc_problem+="${capability%?}.${capability: -1}"
    elif [[ -z $architectures ]]; then
        architectures=$(best_for 75)
        architectures=${architectures:-${known_architectures%% *}}
    fi
}

# ARCH as typed: sm_90, compute_90, 90, 90a, 9.0, or several with spaces, commas or semicolons.
given_architectures() {
    local word number
    for word in ${ARCH//[,;]/ }; do
        number=${word#sm_}
        number=${number#compute_}
        number=${number/./}
        [[ $number =~ ^[0-9]{2,3}[af]?$ ]] ||
            refuse "ARCH=$ARCH is no architecture; give sm_90 or 90, several as \"sm_75 sm_90\", or native"
        [[ -z $known_architectures || " $known_architectures " == *" ${number%[af]} "* ]] ||
            refuse "nvcc $nvcc_version cannot compile for sm_$number; it knows sm_${known_architectures// / sm_}"
        [[ " $architectures " == *" $number "* ]] || architectures+=" $number"
    done
}

choose_architectures() {
    local number
    known_architectures=$("$nvcc" --list-gpu-code 2>/dev/null | sed -n 's/^sm_\([0-9]*\)$/\1/p')
    known_architectures=${known_architectures//$'\n'/ }
    if [[ $ARCH == native && -n $card_problem ]]; then
        refuse "ARCH=native needs a card: $card_problem"
    elif [[ -z ${ARCH// /} || $ARCH == native ]]; then
        default_architectures
    else
        given_architectures
    fi
    # Machine code and PTX both: the one starts at once, the other runs on cards still to come.
    for number in $architectures; do
        names+=" sm_$number"
        gencode+=" -gencode arch=compute_$number,code=sm_$number"
        gencode+=" -gencode arch=compute_$number,code=compute_$number"
    done
}

answer_cpu() { # reason
    assign backend cpu
    assign reason "$1"
    exit 0
}

goal=${1:-run}
nvcc='' nvcc_version='' nvcc_libraries='' nvcc_problem='' card_names='' capabilities='' card_problem=''
known_architectures='' architectures='' names='' gencode=''
wanted=${BACKEND:-}
ARCH=${ARCH:-}

case $wanted in
    '' | gpu) ;;
    cpu) answer_cpu "BACKEND=cpu" ;;
    *) refuse "BACKEND=$wanted is neither gpu nor cpu" ;;
esac

find_cards
if [[ -z $wanted && -n $card_problem ]]; then
    [[ -z ${NVCC:-} ]] || find_nvcc
    answer_cpu "$card_problem"
fi
if [[ $wanted == gpu && $goal == run && -n $card_problem ]]; then
    refuse "BACKEND=gpu is not possible here: $card_problem"
fi
find_nvcc
[[ -n $nvcc_problem ]] || choose_architectures
if [[ -n $nvcc_problem ]]; then
    [[ $wanted == gpu ]] && refuse "BACKEND=gpu is not possible here: $nvcc_problem"
    answer_cpu "$card_names is here, but $nvcc_problem"
fi

assign backend gpu
assign reason "${card_names:-no card needed to build}, nvcc $nvcc_version,$names"
assign nvcc "$nvcc"
assign nvcc_version "$nvcc_version"
find_libraries
assign nvcc_libraries "$nvcc_libraries"
assign architectures "${names# }"
assign gencode "${gencode# }"
