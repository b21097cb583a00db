#!/usr/bin/env bash
# Builds a CUDA program for the CPU: preprocess, translate (translate.py), compile, link.
set -eu

usage() {
    cat <<'END'
Usage: compile.sh [OPTION]... SOURCE.cu [SOURCE]... -o PROGRAM
       compile.sh --translate [OPTION]... SOURCE.cu -o SOURCE.ii
       compile.sh --only-say [OPTION]... SOURCE.cu -o NOTHING
       compile.sh [OPTION]... SOURCE.ii -o PROGRAM
       compile.sh --runtime [--headers FOLDER] [OPTION]... -o RUNTIME.a
       compile.sh --headers FOLDER [OPTION]...
Builds a CUDA program, or the runtime that every program is linked with, for the CPU: the program in
any case, the runtime if it is not up to date.
  --object               stop before the linker: the output is an object
  --translate            stop after the translation; from there another call goes on
  --only-say             make nothing: what does the compiler say to the source, but for what its optimiser would?
  --debug                no optimisation, debugging symbols, LAB_DEBUG defined
  --sanitize bounds      with AddressSanitizer and UndefinedBehaviorSanitizer
  --sanitize races       with a call in front of every access, for races and what nobody wrote
  --sanitize accesses    the same for make explain, and one at each piece of code; g++ only
  --sanitize replay      as races, without optimisation, and with a call at each line, for make replay; g++ on
                         x86-64 only
  --cxx COMPILER         the C++ compiler (g++)
  --python PYTHON        the Python that runs the translator (python3)
  --flags "FLAGS"        further flags for the compiler, after all others, and libraries; quotes keep a word together
  --list FILE            build nothing: write what the output would be made from, as a rule of make,
                         and say on standard error where the compiler looks for headers
  --runtime-object FILE  the runtime to link with, as it is (runtime.a beside PROGRAM, built if needed)
  --headers FOLDER       where to put the precompiled headers; a program finds those that lie beside its runtime, for the
                         same options. Without --runtime: those of labs alone
CPU_CXXFLAGS and CPU_LDFLAGS from the environment say where headers and libraries are.
END
}

refuse() {
    echo "compile.sh: $1 (compile.sh --help lists the options)" >&2
    exit 2
}

here=$(dirname -- "${BASH_SOURCE[0]}")
source_text=/dev/null sources=() passed=() output='' list='' sanitize='' runtime_object='' course_object='' headers='' extra_flags=''
debug=no runtime=no anew=no only_course=no translate=no only_object=no only_say=no cxx=g++ python=${CPU_PYTHON-python3}
while [ $# -gt 0 ]; do
    case $1 in
        --debug) debug=yes passed+=(--debug) ;;
        --runtime) runtime=yes ;;
        --anew) anew=yes ;;  # the runtime, as build.sh asks for it
        --course) runtime=yes anew=yes only_course=yes ;;  # of its parts course.o
        --translate) translate=yes ;;
        --object) only_object=yes ;;
        --only-say) only_say=yes ;;
        --help) usage && exit ;;
        -o | --cxx | --python | --sanitize | --flags | --list | --runtime-object | --course-object | --headers)
            [ $# -ge 2 ] || refuse "$1 needs a value"
            case $1 in -o | --list | --runtime-object | --course-object | --headers) ;; *) passed+=("$1" "$2") ;; esac
            case $1 in
                -o) output=$2 ;;
                --cxx) cxx=$2 ;;
                --python) python=$2 ;;
                --sanitize) sanitize=$2 ;;
                --flags) extra_flags=$2 ;;
                --list) list=$2 ;;
                --runtime-object) runtime_object=$2 ;;
                --course-object) course_object=$2 ;;
                --headers) headers=$2 ;;
            esac
            shift
            ;;
        -*) refuse "unknown option $1" ;;
        *) sources+=("$1") ;;
    esac
    shift
done
source=${sources[0]-} only_headers=no
[ -n "$output$list" ] || [ -z "$headers" ] || { only_headers=yes && output=$headers/headers; }
[ -n "$output$list" ] || refuse "-o PROGRAM is missing"
[ ${#sources[@]} -lt 2 ] || [ $translate = no ] || refuse "--translate takes one source, but got ${sources[*]}"
if [ $runtime = yes ]; then
    [ -z "$source" ] || refuse "--runtime takes no source, but got $source"
else
    [ -n "$source" ] || [ $only_headers = yes ] || refuse "SOURCE.cu is missing"
fi
[ -n "$list" ] || [ $runtime$anew = yesno ] || [ -d "$(dirname -- "$output")" ] ||
    refuse "the folder of $output does not exist"

# Whether the source includes the lab.h of this course.
includes_lab_header() {
    local name
    name=$(sed -nE '/^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*common\/lab\.h"/{s/^[^"]*"([^"]*)".*/\1/p;q}' -- "$source")
    [ -n "$name" ] && [ "$(dirname -- "$source")/$name" -ef "$course/lab.h" ]
}

# Brings a runtime up to date, which knows neither the flags nor the libraries of one program, nor where the
# course lies: all names are relative to this folder, so a copy of the course may take it along. What the course's
# headers hold for the host is not observed: those in sanitize/ share that of cpu/ beside it.
bring_runtime() { # file
    local options=() file folder compiler=$cxx
    [ $debug = no ] || options=(--debug)
    [ -z "$sanitize" ] || options+=(--sanitize "$sanitize")
    file=$(realpath -m --relative-to="$here" -- "$1")
    folder=$(dirname -- "$file")
    options+=(--headers "$folder")
    [ $debug = yes ] || [[ $folder != */sanitize/* ]] || folder=${folder%/sanitize/*}/cpu
    [[ $cxx != */* ]] || compiler=$(realpath -- "$cxx")
    (cd -- "$here" && CPU_LDFLAGS='' CPU_PYTHON=$python bash ../build.sh --compiler "$compiler" -o "$file" \
        --say 'compiling common/cpu, which runs CUDA on the CPU (once)' \
        bash ./compile.sh --runtime --anew --course-object "$folder/course.o" "${options[@]}" --cxx "$compiler")
}
if [ $runtime$anew = yesno ]; then
    bring_runtime "$output"
    exit
fi

# -ffp-contract=off: a * b + c rounds twice, as written, whatever the machine's own instructions.
# -fno-optimize-sibling-calls: each call leaves a frame, so that a message finds the learner's line.
# -gdwarf-4: of DWARF 5 the addr2line of binutils 2.40 takes the first piece of code for that of another file.
# -fstack-clash-protection: a local array too large for its stack meets the guard page.
# -fsanitize=return: a function that ends without the value it must return does not go on in what lies behind it.
# -Wno-sign-compare: `threadIdx.x < count` is how kernels are written, and nvcc does not warn of it.
flags=(-std=c++17 -ffp-contract=off -Wall -Wno-unknown-pragmas -Wno-sign-compare -pthread -fno-pie
    -fno-optimize-sibling-calls -fstack-clash-protection -fno-delete-null-pointer-checks)
# At -O1 everything is compiled in two thirds of the time of -O3, and kernels are little slower if loops are vectorised.
# The next two flags bring warnings of -O2; then a float4 is written as a whole, and an access stays in its line when a
# function is inlined. What the course's headers hold for the host is called rarely. The runtime's own lines are in no
# message, and a program is linked in two thirds of the time without them. Beside kernels of -O0
# it may be slower.
runtime_level=(-g0) course_level=(-g0 -Og)
if [ $debug = yes ]; then
    flags+=(-O0 -gdwarf-4 -g -DLAB_DEBUG)
    runtime_level=() course_level=()
else
    flags+=(-O1 -gdwarf-4 -g1)
fi
# What g++ alone knows; clang++ refuses some of it.
wanted=()
[ $debug = yes ] || [ -n "$sanitize" ] ||
    wanted+=('-ftree-loop-vectorize -fvect-cost-model=dynamic -fversion-loops-for-strides -ftree-vrp -fstrict-aliasing -ftree-slp-vectorize -fno-tree-ter')
# Nothing is thrown away before it fills 400 MB: that is a tenth of g++'s time.
wanted+=('--param ggc-min-expand=100 --param ggc-min-heapsize=400000')
# With this analysis g++ 12 drops stores of "part = combined(part, another)", both structures, at -O1.
[ $translate = yes ] || { [ $debug = yes ] && [ -z "$sanitize" ]; } || wanted+=(-fno-ipa-modref)
takes() { # words: does the compiler?
    "$cxx" -Werror "$@" -E -x c++ /dev/null >/dev/null 2>&1
}
read -r -a words <<<"${wanted[*]}"
observe=()
# g++ knows all of it from 12 on; what others know is tried.
if [[ $("$cxx" -dumpfullversion 2>/dev/null) =~ ^(1[2-9]|[2-9][0-9])\. ]] || takes "${words[@]}"; then
    flags+=("${words[@]}")
    observe=(--declared)  # course.cpp has the rest
else
    for group in "${wanted[@]}"; do
        read -r -a words <<<"$group"
        ! takes "${words[@]}" || flags+=("${words[@]}")
    done
    # clang++ makes one call of two in different branches; but which threads are together goes by the place of a call.
    ! takes -mllvm -enable-tail-merge=false || flags+=(-mllvm -enable-tail-merge=false)
    # And it leaves a loop out that does nothing for ever, of which the learner is told.
    ! takes -fno-finite-loops || flags+=(-fno-finite-loops)
fi
# What is observed is compiled so that its accesses are those of the source. Only the program has
# them, not the runtime.
instrument=()
[ "$sanitize" = bounds ] || [ "$sanitize" = replay ] || flags+=(-fsanitize=return -fsanitize-undefined-trap-on-error)
no_builtins=(-fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset)
case $sanitize in
    '') ;;
    bounds)
        # The other parts of UndefinedBehaviorSanitizer double the time to compile. So does -O1, and the
        # small cases run for a second either way.
        flags+=(-O1 -DCUDA_CPU_BOUNDS) runtime_level+=(-Og)
        instrument=(-O0 '-fsanitize=address,alignment,bounds-strict,shift,signed-integer-overflow'
            -fsanitize-recover=all -fno-omit-frame-pointer)
        ;;
    races)
        # Each access stays in the line in which it was written, a read that nobody uses, too.
        flags+=(-O1 -DCUDA_CPU_RACES)
        instrument=(-Og -fno-tree-dce -fno-tree-cselim "${no_builtins[@]}"
            -fsanitize=thread --param tsan-distinguish-volatile=1 -Wno-tsan)
        ;;
    accesses)
        # Optimised as far as the accesses stay those that a GPU's compiler leaves: values in
        # registers, loads moved out of loops, loops of a few fixed rounds unrolled, but each other loop
        # and each branch once, a float4 copied as a whole, and neighbouring loads left apart, which
        # -fexpensive-optimizations would make one.
        [ $runtime = yes ] || flags+=(-O2)
        flags+=(-DCUDA_CPU_ACCESSES -gcolumn-info)
        instrument=(-fsanitize=thread -fsanitize-coverage=trace-pc -Wno-tsan "${no_builtins[@]}"
            -fno-reorder-blocks -fno-jump-tables -fno-thread-jumps -fno-split-paths -fno-tree-tail-merge
            -fno-expensive-optimizations -fno-tree-sra -fno-ipa-icf -fno-ipa-cp -fno-partial-inlining
            -fno-crossjumping -fpeel-loops --param=max-peel-times=0)
        ;;
    replay)
        # Variables lie in their function's frame, and nothing below the stack's end, where calls are added.
        flags+=(-O1 -DCUDA_CPU_RACES -DCUDA_CPU_REPLAY) runtime_level+=(-Og)
        instrument=(-O0 -g -gdwarf-4 -mno-red-zone -fno-omit-frame-pointer "${no_builtins[@]}"
            '-fsanitize=thread,bounds-strict' --param tsan-distinguish-volatile=1 -Wno-tsan)
        ;;
    *) refuse "--sanitize takes bounds, races, accesses or replay, not $sanitize" ;;
esac
[ -z "$sanitize" ] || observe+=(--observed)
# shellcheck source=common/cpu/nvcc_options.sh
. "$here/nvcc_options.sh"
# Without <(...): where submissions are compiled there may be no /dev/fd.
words=() link_flags=()
while IFS= read -r word; do
    case $word in
        '') ;;
        # nvcc's own options, the libraries that CPU mode plays, and an older C++ than its headers are written in.
        -Xcompiler | -G | --device-debug | -lineinfo | --generate-line-info | -rdc=* | -dc | -arch=* | -gencode=* | --gpu-architecture=* | --generate-code=* | \
            --extended-lambda | -extended-lambda | --expt-* | -expt-* | --use_fast_math | -use_fast_math | -std=c++[01][0-4] | --std=c++[01][0-4] | \
            -lcu* | -lnccl | -lnv*) ;;
        -Xcompiler=*) words+=("${word#*=}") ;;
        -l* | -L* | -Wl,* | *.a | *.so) link_flags+=("$word") ;;
        *) words+=("$word") ;;
    esac
done <<<"$(xargs printf '%s\n' <<<"${CPU_CXXFLAGS:-} $extra_flags" | without_nvcc_options)"
course=$(cd -- "$here/.." && pwd -P)
# What a precompiled header and the program must have in common.
agreed=("$(command -v -- "$cxx")" "${flags[@]}" "${instrument[@]}")
for word in "${words[@]}"; do
    case $word in -[DIW]* | -isystem | /* | -fopenmp) ;; *) agreed+=("$word") ;; esac
done
# Thrust and libcu++ are the system's own, with their sequential back end.
for folder in "${CUDA_HOME:-/usr/local/cuda}"/{,targets/*/}include{/cccl,} /usr/local/include{/cccl,} /usr/include; do
    [ -d "$folder/thrust" ] || continue
    words+=(-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP -DCCCL_DISABLE_FP16_SUPPORT -DCCCL_DISABLE_BF16_SUPPORT "-I$here/include/over_libcudacxx")
    [ "$folder" = /usr/include ] || words+=(-isystem "$folder")
    break
done
# What NVIDIA's samples have beside them comes after all that the program brings.
[ $runtime = no ] || flags+=("-fdebug-prefix-map=$PWD=common/cpu")
flags+=(-DCUDA_ON_CPU=1 -DLAB_COMPILED "-I$here/include" "${words[@]}" -idirafter "$here/include/samples")
# A page that is given includes the pages with tasks from beside the source, whether that is the exercise or the
# solution; and a solution has beside it only what differs.
host_source=''
if [ $runtime = no ]; then
    folder=$(dirname -- "$source")
    flags+=(-iquote "$folder")
    [ "$folder" = . ] || [ ! -d "$folder/../../labs/${folder##*/}" ] || flags+=(-iquote "$folder/../../labs/${folder##*/}")
    # What a lab of the course is given for the host alone is compiled once, not with each change of a page.
    place=$(cd -- "$folder" && pwd -P)
    lab=$course/../labs/${place##*/}
    if [ $debug = no ] && [ ${#observe[@]} -gt 0 ] && [[ $source == *.cu && -f $lab/given/host.cpp ]] &&
        { [ "$place" -ef "$lab" ] || [ "$place" -ef "$course/../solutions/${place##*/}" ]; }; then
        host_source=$lab/given/host.cpp
        flags+=(-DLAB_GIVEN_COMPILED)
    fi
fi
read -r -a more_link_flags <<<"${CPU_LDFLAGS:-}"
link_flags+=("${more_link_flags[@]}")

if [ -n "$list" ] && [ ${#sources[@]} -gt 1 ]; then
    for source in "${sources[@]}"; do
        bash "${BASH_SOURCE[0]}" "${passed[@]}" --list "$list.one" ${runtime_object:+--runtime-object "$runtime_object"} "$source"
        cat "$list.one" - >>"$list.all" <<<''
    done
    mv -f -- "$list.all" "$list" && rm -f -- "$list.one"
    exit
fi
# nvcc includes its header in a .cu file alone. A lab's own goes before all others, too, so that both can be precompiled.
header=()
[[ $source != *.cu ]] || header=(-include "$here/include/cuda_runtime.h")
if [ -z "$list" ] && [ ${#header[@]} -gt 0 ]; then
    header=(-include "$course/cpu/include/cuda_runtime.h")
    ! includes_lab_header || header+=(-include "$course/lab.h")
fi
preprocess=("$cxx" "${flags[@]}" "${header[@]}" -E -x c++ "$source")
[ $runtime = no ] || preprocess=("$cxx" "${flags[@]}" -include "$here/runtime.cpp" -E "$here/course.cpp")
if [ -n "$list" ] && [ $only_course = yes ]; then
    "$cxx" "${flags[@]}" -E "$here/course.cpp" -v -M -MT output -MF "$list"
    printf '\noutput: %q' "$here"/compile.sh "$here"/nvcc_options.sh >>"$list"
    exit
elif [ -n "$list" ]; then
    "${preprocess[@]}" -v -M -MT output -MF "$list"
    printf '\noutput:' >>"$list"
    printf ' %q' "$here"/{compile.sh,nvcc_options.sh,translate.py,absent.py,declarations.py,precompiled.py,two_passes.py,ptx.py,ptx_warp.py,volatile_memory.py,{absent,foreign}_headers,absent_names,runtime.cpp,course.cpp,../replay/step_hooks.py} "$here"/runtime/* ${host_source:+"$host_source"} ${runtime_object:+"$runtime_object"} \
        "$("$cxx" -print-file-name=libboost_context.a)" >>"$list"
    exit
fi

# Preprocesses the source, and notes which files are its own: itself, and what it includes of neither the system nor the course.
preprocess_source() {
    "${preprocess[@]}" -o "$work/preprocessed.ii" 2>"$work/said" ||
        { "$python" -I -S "$here/absent.py" <"$work/said" >&2 && exit 1; }
    {
        printf '%s\n' "$source"
        sed -n 's/^# [0-9]* "\([^"<][^"]*\)" 1$/\1/p' -- "$work/preprocessed.ii" | sort -u | HERE=$here/ awk 'index($0, ENVIRON["HERE"]) != 1'
    } >"$work/own_files"
}
mentions_architecture() {
    xargs -d '\n' grep -q __CUDA_ARCH__ -- <"$work/own_files" 2>/dev/null
}
# What nvcc defines in a .cu file, as far as the program asks for it: headers of the system take a compiler that has it for nvcc.
asked_of_nvcc() {
    [[ $source != *.cu ]] || xargs -d '\n' grep -ohE '^[[:space:]]*#[[:space:]]*(el)?if.*\b__(NVCC|CUDACC)__' -- <"$work/own_files" 2>/dev/null |
        sed -E 's/.*\b(__(NVCC|CUDACC)__)/-D\1/' | sort -u
}

as_text() { # as it stands in a string of C++
    local text=${1//\\/\\\\}
    printf '%s' "${text//\"/\\\"}"
}

# Python keeps what it has compiled of a module that is imported, but not of a script.
translator() { # options of translate.py
    "$python" -I -S -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); import translate; sys.exit(translate.main())' "$here" "$@"
}
# Precompiles what every program begins with, or every lab: with -fopenmp, without which g++ 12 crashes in a program that has it.
precompile() { # header...
    local header=() folder=$work/$# name beginning
    mkdir -- "$folder"
    for name in "$@"; do header+=(-include "$course/$name"); done
    "$cxx" "${flags[@]}" "${header[@]}" -E -x c++ /dev/null |
        "$python" -I -S "$here/precompiled.py" "$folder" $# "${agreed[@]}"
    for beginning in "$folder"/*.ii; do
        [ -f "$beginning" ] || return 0
        { printf '# 0 "headers"\n# 0 "<command-line>"\n' && translator "${observe[@]}" <"$beginning"; } >"$folder/translated"
        "${agreed[@]}" -fopenmp -fpreprocessed -x c++-header "$folder/translated" -o "$folder/precompiled"
        name=${beginning##*/}
        mv -f -- "$folder/precompiled" "$headers/${name%.ii}.gch"
    done
}

# Makes the program from what is given, with the runtime and the libraries. norelro: ld and ld.so do not agree where a
# program's fixed part ends if shared memory is aligned to more than a page. What is missing is said in a sentence.
link() { # words of the compiler's line
    if [ -z "$runtime_object" ]; then
        runtime_object=$(dirname -- "$output")/runtime.a
        bring_runtime "$runtime_object"
    fi
    if [ -n "$host_source" ]; then
        wait "$host_build" || exit
        set -- "$@" -x none "$host_object"
    fi
    run_compiler "$@" -x none "$runtime_object" -no-pie -Wl,-z,norelro "${link_flags[@]}" -l:libboost_context.a -o "$work/output"
}
# Brings up to date what the lab's given/host.cpp holds, beside the runtime, for the same options.
bring_host() {
    local header
    while IFS= read -r header; do
        [ -z "$header" ] || grep -q "^#pragma implementation \"${header##*/}\"" -- "$host_source" || {
            echo "$header: error: it says #pragma interface, but given/host.cpp does not compile it: add the line #pragma implementation \"${header##*/}\" there, and include it" >&2
            exit 1
        }
    done <<<"$(grep -E '(^|/)given/[^/]+$' "$work/own_files" | xargs -rd '\n' grep -l '^#pragma interface' --)"
    host_object=$(dirname -- "${runtime_object:-$output}")/given/${place##*/}/$(printf '%s\0' "${agreed[@]}" "${words[@]}" | cksum | cut -d ' ' -f 1).o
    bash "$here/../build.sh" --compiler "$cxx" -o "$host_object" bash "$here/compile.sh" --object "${passed[@]}" \
        --flags "$extra_flags -DLAB_GIVEN_COMPILED" "$host_source" &
    host_build=$!
}
# Compiles; what the program uses and nobody has is said in a sentence.
run_compiler() { # words of the compiler's line
    local status=0 colour=()
    [ ! -t 2 ] || colour=(-fdiagnostics-color)
    "$cxx" "${flags[@]}" "${instrument[@]}" "${colour[@]}" "$@" 2>"$work/said" || status=$?
    if [ $status = 0 ]; then
        cat -- "$work/said" >&2
    elif grep -q 'undefined reference to' "$work/said"; then
        tell_undefined
    elif grep -q 'multiple definition of' "$work/said"; then
        "$python" -I -S "$here/absent.py" --twice "${sources[@]}" <"$work/said" >&2
    else
        "$python" -I -S "$here/absent.py" "$source_text" <"$work/said" >&2
    fi
    return $status
}
as_word() { # a name, in quotes if it needs them
    [[ $1 != *[[:space:]]* ]] && printf '%s' "$1" || printf "'%s'" "$1"
}
tell_undefined() {
    local name part file more=() found=''
    sed -nE "s/.*undefined reference to [\`'](.*)'$/\1/p" "$work/said" | awk '!seen[$0]++' >"$work/undefined"
    if grep -qE '^(GOMP|omp)_' "$work/undefined"; then
        echo "$source: error: the program uses OpenMP: give FLAGS=-fopenmp (compile.sh --flags -fopenmp)" >&2
        return
    fi
    # The files beside the first source, and in the folders there, that seem to define them; no more than one has a main.
    while IFS= read -r name; do
        part=${name%%[(<]*} part=${part##*[ :]}
        for file in "$(dirname -- "${sources[0]}")"/{,*/}*.{cu,cpp,cc,cxx,c}; do
            if [ -f "$file" ] && [[ " ${sources[*]} ${sources[*]/#/./} " != *" $file "* ]] &&
                grep -qzE "\b${part}[[:space:]]*\([^;]*\{" -- "$file" && { [ "$name" = main ] || ! grep -qE '\bmain[[:space:]]*\(' -- "$file"; }; then
                found=${found:-$name}
                [[ " ${more[*]} " == *" $file "* ]] || more+=("$file")
                continue 2
            fi
        done
        echo "$name" >>"$work/unknown"
    done <"$work/undefined"
    if [ -n "$found" ]; then
        echo "$source: error: ${found} is used, and no file that was given defines it: give the file that does, too (FILE=\"$(
            for file in "${sources[@]}" "${more[@]}"; do as_word "$file" && echo -n ' '; done | sed 's/ $//')\")" >&2
    fi
    [ ! -f "$work/unknown" ] || head -n 5 "$work/unknown" |
        sed "s|.*|$source: error: & is used, and no file that was given defines it: give the file that does, too, or its library (FLAGS=-lNAME)|" >&2
}

# Everything is made in a folder beside the output and moved at the end: whoever looks sees the old
# file or the whole new one.
work=$(mktemp -d -- "$output.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
export TMPDIR=$work

if [ $only_headers = yes ]; then
    precompile cpu/include/cuda_runtime.h lab.h
    exit
elif [ $only_course = yes ]; then
    "$cxx" "${flags[@]}" "${course_level[@]}" -c "$here/course.cpp" -o "$work/output"
elif [ $runtime = yes ]; then
    beside=()
    if [ -n "$headers" ] && [ $debug = no ] && "$cxx" --version | grep -q 'Free Software Foundation'; then
        rm -f -- "$headers"/*.gch
        precompile cpu/include/cuda_runtime.h lab.h &
        beside+=("$!")
        precompile cpu/include/cuda_runtime.h &
        beside+=("$!")
    fi
    build_course=(bash "$here/compile.sh" --course --cxx "$cxx")
    [ $debug = no ] || build_course+=(--debug)
    bash "$here/../build.sh" --compiler "$cxx" -o "$course_object" "${build_course[@]}" &
    beside+=("$!")
    "$cxx" "${flags[@]}" "${runtime_level[@]}" -c "$here/runtime.cpp" -o "$work/runtime.o"
    for one in "${beside[@]}"; do wait "$one"; done
    ar rcs "$work/output" "$work/runtime.o" "$course_object"
elif [ ${#sources[@]} -gt 1 ]; then
    objects=()
    for number in "${!sources[@]}"; do
        bash "${BASH_SOURCE[0]}" --object "${passed[@]}" ${runtime_object:+--runtime-object "$runtime_object"} "${sources[number]}" \
            -o "$work/$number.o"
        objects+=("$work/$number.o")
    done
    link -x none "${objects[@]}"
elif [[ $source == *.c ]] && ! "${preprocess[@]}" 2>"$work/said" | grep -q "^# 1 \"$here/include/" && ! grep -q 'fatal error' "$work/said"; then
    # C, as nvcc has it, unless it includes what is C++ here, or what is not there.
    flags=("${flags[@]/#-std=c++*/-std=gnu17}") instrument=()
    run_compiler -c -x c "$source" -o "$work/output"
else
    translated=$source source_text=$source
    if [[ $source != *.ii ]]; then
        translated=$work/translated.ii source_text=$work/preprocessed.ii
        preprocess_source
        read -r -d '' -a asked <<<"$(asked_of_nvcc || true)" || true
        if [ ${#asked[@]} -gt 0 ]; then
            preprocess+=("${asked[@]}")
            preprocess_source
        fi
        # nvcc reads a source twice, for the device with __CUDA_ARCH__. The course's labs say themselves what is theirs here.
        second=()
        if ! grep -qE '^# .*common/lab\.h"' -- "$work/preprocessed.ii" && mentions_architecture; then
            "${preprocess[@]}" -D__CUDA_ARCH__=900 -o "$work/device.ii" 2>/dev/null && second=(--device "$work/device.ii")
        fi
        precompiled=()
        if [ ${#header[@]} -gt 0 ] && [ ${#second[@]} = 0 ] && [ $translate = no ]; then
            precompiled=(--precompiled "$(dirname -- "${runtime_object:-$output}")" $((${#header[@]} / 2)) "${agreed[@]}")
        fi
        [ -z "$host_source" ] || [ $translate$only_object$only_say != nonono ] || bring_host
        translator "${observe[@]}" "${second[@]}" "${precompiled[@]}" <"$work/preprocessed.ii" >"$translated"
        cat -- "$work/said" >&2
        # Messages name no line of the course (runtime/faults.h); a lab has its variants of further/ or not (lab/checks.h),
        # and is timed or not (lab/timers.h).
        further=false replay=false
        [[ " ${words[*]} " != *' -DLAB_FURTHER '* ]] || further=true
        [ "$sanitize" != replay ] || replay=true
        cat >>"$translated" <<END

extern "C" {
extern __attribute__((weak)) const char cuda_cpu_common[];
const char cuda_cpu_common[] = "$(as_text "$course")/";
extern __attribute__((weak)) const bool lab_with_further;
const bool lab_with_further = $further;
extern __attribute__((weak)) const bool lab_runs_once;
const bool lab_runs_once = $replay;
}
END
    fi
    if [ $only_say = yes ]; then
        instrument=()
        run_compiler -fsyntax-only -x c++-cpp-output "$translated"
        exit
    elif [ $translate = yes ]; then
        cp -- "$translated" "$work/output"
    else
        # ThreadSanitizer's own library is left out: runtime/races.h takes its place.
        if [ $only_object = yes ] || [ "$sanitize" = races ] || [ "$sanitize" = accesses ] || [ "$sanitize" = replay ]; then
            object=$translated compile=(-c -x c++-cpp-output)
            if [ "$sanitize" = replay ]; then
                run_compiler -S -x c++-cpp-output "$translated" -o "$work/program.s"
                "$python" -I -S "$here/../replay/step_hooks.py" <"$work/program.s" >"$work/hooked.s"
                object=$work/hooked.s compile=(-c) instrument=()
            fi
            run_compiler "${compile[@]}" "$object" -o "$work/program.o"
            instrument=()
            if [ $only_object = yes ]; then
                mv -- "$work/program.o" "$work/output"
            else
                link -x none "$work/program.o"
            fi
        else
            link -x c++-cpp-output "$translated"
        fi
    fi
fi
mv -f -- "$work/output" "$output"
