# What compile.sh is given with --flags may be meant for nvcc: of its options those stay that a host's compiler knows.
# shellcheck shell=bash

# Reads words, one a line, and writes what is left of them likewise.
without_nvcc_options() {
    local word then=''
    while IFS= read -r word; do
        case $then in
            drop) then='' && continue ;;
            # -Xcompiler "-fopenmp,-Wall" and -Xlinker -rpath
            host) tr ',' '\n' <<<"$word" && then='' && continue ;;
            linker) printf '%s\n' "-Wl,$word" && then='' && continue ;;
        esac
        case $word in
            -Xcompiler | --compiler-options) then=host ;;
            -Xcompiler=* | --compiler-options=*) printf '%s\n' "${word#*=}" | tr ',' '\n' ;;
            -Xlinker | --linker-options) then=linker ;;
            -arch | -code | -gencode | --gpu-architecture | --gpu-code | --generate-code | -Xptxas | --ptxas-options | \
                -Xnvlink | --nvlink-options | -Xcudafe | -ccbin | --compiler-bindir | -maxrregcount | --maxrregcount | \
                -cudart | --cudart | -diag-suppress | --diag-suppress | -rdc | --relocatable-device-code | --threads | -t | \
                --default-stream) then=drop ;;
            -arch=* | -code=* | -gencode=* | --gpu-architecture=* | --gpu-code=* | --generate-code=* | -Xptxas=* | \
                --ptxas-options=* | -Xnvlink=* | -Xcudafe=* | -ccbin=* | --compiler-bindir=* | -maxrregcount=* | --maxrregcount=* | \
                -cudart=* | --cudart=* | -diag-suppress=* | --diag-suppress=* | -rdc=* | --relocatable-device-code=* | \
                --threads=* | -t=* | --default-stream=* | -lineinfo | --generate-line-info | -G | --device-debug | \
                -use_fast_math | --use_fast_math | --fmad=* | -fmad=* | -ftz=* | --ftz=* | -prec-div=* | --prec-div=* | \
                -prec-sqrt=* | --prec-sqrt=* | -extended-lambda | --extended-lambda | -expt-extended-lambda | \
                --expt-extended-lambda | -expt-relaxed-constexpr | --expt-relaxed-constexpr | -res-usage | --resource-usage | \
                -Wno-deprecated-gpu-targets | --forward-unknown-to-host-compiler | -dc | -dw | -keep | --keep | --source-in-ptx) ;;
            # The libraries of the CUDA Toolkit are CPU mode's own headers.
            -lcublas | -lcublasLt | -lcudart | -lcudart_static | -lcudadevrt | -lcuda | -lcurand | -lcufft | -lcufftw | \
                -lcusolver | -lcusparse | -lnvToolsExt | -lnccl | -lnvrtc) ;;
            --std=* | --optimize=*) printf '%s\n' "-${word#--}" | sed 's/^-optimize=/-O/' ;;
            *) printf '%s\n' "$word" ;;
        esac
    done
}
