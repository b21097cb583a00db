# The rules of every lab; the lab's own Makefile includes this file, and may set before:
#   LAB_NVCC_FLAGS    what this lab needs beside the flags below, -rdc=true for example
#   LAB_CXX_FLAGS     the same for the host's compiler, on a card and on the CPU: -fopenmp, for example
#   LAB_PEERS         the toolkit's libraries that `make bench` compares with: nppif nppc, for example;
#                     benchmarks are compiled with the macro LAB_BENCH, and with LAB_PEERS too where
#                     nvcc finds these libraries to link
#   LAB_HOST_PEERS    the same for the host's libraries, on a card and on the CPU: openblas
#   LAB_SMALL         the arguments of a small case, which `make sanitize` runs without ARGS; with -- between
#                     two lists it makes two runs: every kernel, and each loop twice, is to run
#   LAB_SMALL_FURTHER what is added to them with FURTHER=1: runs of the variants of further/, each behind --
#   LAB_FURTHER_90A   yes: further/ has instructions of sm_90a, which are compiled, with the macro LAB_SM_90A, for sm_90
#   LAB_EXPLAIN       the same as LAB_SMALL for `make explain`
#   LAB_REPLAY        the same for `make replay`: a case so small that one can watch it
# The lab's name is its folder's. All paths are relative to that folder, because the path of the
# course itself may hold spaces and brackets. FROM_TOP=1 comes from the course's own Makefile:
# then programs start there, where the command was typed.

.DEFAULT_GOAL := help
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: help run check build bench profile-nsys profile-ncu test setup clean exercises announce always
.PHONY: progress next hint watch reset grade explain sanitize replay plots

top := ../..
include $(top)/common/functions.mk
lab := $(lastword $(subst /, ,$(CURDIR)))
number := $(firstword $(subst _, ,$(lab)))
name := $(lab:$(number)_%=%)
up := $(if $(FROM_TOP),,$(top)/)
here := $(if $(FROM_TOP),labs/$(lab)/)
at := $(if $(FROM_TOP),cd $(top) &&)

ifneq ($(filter-out $(lab) $(name) $(number) $(number:0%=%),$(LAB)),)
$(error this folder is lab $(lab), not $(LAB); leave LAB out here)
endif

ifneq ($(filter explain sanitize replay,$(MAKECMDGOALS)),)
ifneq ($(FILE),)
$(error this folder is lab $(lab), FILE names a file of your own: ask for it in the course's folder, as in: make $(firstword $(MAKECMDGOALS)) FILE=my.cu)
endif
endif

quiet := $(if $(call is_set,V),,@)

help test setup:
	@$(MAKE) --no-print-directory -C $(top) $@

exercises:
	@$(MAKE) --no-print-directory -C $(top) $@ LAB=$(lab)

ifneq ($(learner_goals)$(filter grade,$(MAKECMDGOALS)),)
$(call require,$(learner_needs) $(if $(filter grade,$(MAKECMDGOALS)),$(grade_needs)))
-include $(top)/build/setup.mk
endif

progress next:
	@$(call learner,$@,$(if $(LAB),$(lab)))

hint watch reset:
	@$(call learner,$@,$(lab))

grade:
	@$(call grade,$(lab))

# What was measured with PLOTS=later.
ifneq ($(filter plots,$(MAKECMDGOALS)),)
$(call require,python matplotlib)
-include $(top)/build/setup.mk
endif
plots:
	@[ ! -f $(top)/build/bench/$(lab)/results.csv ] || { $(at) $(call python_path,$(up)common) $(call quote,$(PYTHON)) -B \
	    $(here)bench.py --data $(up)build/bench/$(lab)/results.csv; }

# What this lab has built, and nothing beyond a link that somebody put in the build folder.
clean:
	@if [ -d $(top)/build ]; then \
	    find $(top)/build -path '*/replaced' -prune -o -type d -path '*/$(lab)' -prune -exec rm -rf {} +; \
	fi

profile := $(filter profile-nsys profile-ncu,$(MAKECMDGOALS))
explain := $(filter explain,$(MAKECMDGOALS))
sanitize := $(filter sanitize,$(MAKECMDGOALS))
replay := $(filter replay,$(MAKECMDGOALS))
runs := $(filter run check bench,$(MAKECMDGOALS))$(profile)$(explain)$(sanitize)$(replay)
ifneq ($(filter build,$(MAKECMDGOALS))$(runs),)

# --- the backend, and what is needed for it ------------------------------------------------------

$(call choose_backend,$(if $(runs),run,build),$(if $(replay),BACKEND=cpu))

bench := $(filter bench,$(MAKECMDGOALS))
needs_stb := $(if $(shell grep -l common/image.h $(top)/solutions/$(lab)/*.cu $(wildcard given/* further/*)),stb)
$(call require,compiler $(needs_stb) $(if $(filter cpu,$(backend)),python boost) \
    $(if $(filter check,$(MAKECMDGOALS))$(variant),python numpy scipy pillow) $(if $(bench),python matplotlib) \
    $(if $(profile)$(sanitize)$(replay)$(if $(filter gpu,$(backend)),$(explain)),python numpy))
-include $(top)/build/setup.mk

announce:
	@$(if $(variant),$(call python_path,$(top)/common) $(call quote,$(PYTHON)) -B check.py --list $(if $(further),--further) $(of_variant) >/dev/null)
	@echo $(call quote,backend: $(backend) ($(reason))) >&2
	@$(if $(call is_set,FURTHER),$(if $(wildcard further),,echo 'lab $(lab) has no folder further/: FURTHER=1 changes nothing' >&2))
	@$(if $(untouched),echo 'labs/$(lab)/$(name).cu is as it was shipped: the worked solution is $(if $(explain),explained,$(if $(replay),shown,measured))' >&2)
	@$(call is_missing,$(LAB_PEERS),$(libraries))
	@$(call is_missing,$(LAB_HOST_PEERS),$(host_libraries))

# --- building -----------------------------------------------------------------------------------

# Measuring, explaining or showing an exercise that nobody has touched would show nothing.
untouched := $(if $(bench)$(profile)$(explain)$(replay),$(if $(SOLUTION),,$(shell PYTHONPATH=$(top)/common \
    $(call quote,$(PYTHON)) -B -m checker.exercises --check $(lab) >/dev/null 2>&1 && echo yes)))
kind := $(if $(call is_set,SOLUTION)$(untouched),solutions,labs)
source := $(if $(filter solutions,$(kind)),$(top)/solutions/$(lab)/)$(name).cu
debug := $(if $(call is_set,DEBUG),-debug)
# FURTHER=1: with the variants of further/, which nobody is asked to write. Benchmarks have them in any case.
further := $(if $(bench)$(call is_set,FURTHER),$(if $(wildcard further),-DLAB_FURTHER))
flavour := build/$(backend)$(bench:%=-%)$(if $(filter cpu,$(backend)),$(explain:%=-%),$(sanitize:%=-%))$(if $(bench),,$(further:%=-further))$(debug)
target := $(flavour)/$(kind)/$(lab)/$(name)
program := $(top)/$(target)

ifeq ($(wildcard $(source)),)
$(error $(kind)/$(lab)/$(name).cu is missing$(if $(filter labs,$(kind)),; make exercises LAB=$(number) writes it from the solution))
endif

# What is up to date goes by content, which build.sh compares; make itself would go by dates.
# $(1) the compiler and other options  $(2) what is said before it is built  $(3) the command, all but the output
up_to_date = $(quiet)bash $(top)/common/build.sh --compiler $(1) --say $(call quote,$(2)) -o $@ $(3)
said := compiling $(kind)/$(lab)/$(name).cu for

# Benchmarks link what they compare with, where it is there. links: does a program with these words
# of a compiler's line link?  $(1) compiler and words  $(2) names of libraries
links = $(shell work=$$(mktemp -d) && echo 'int main() {}' >"$$work/peers.cpp" && \
    $(1) "$$work/peers.cpp" -o "$$work/peers" $(addprefix -l,$(2)) >/dev/null 2>&1 && echo yes; \
    rm -rf "$$work")
peers = $(if $(bench),$(if $(2),$(if $(call links,$(1),$(2)),$(2))))
is_missing = $(if $(bench),$(if $(2),,$(if $(1),echo 'lib$(firstword $(1)) is not found: measured without it' >&2)))

ifeq ($(backend),gpu)

host_compiler := $(if $(CCBIN),-ccbin $(call quote,$(CCBIN)))
# Pages that are given include those with tasks from beside the source: here or in solutions/.
include_paths := $(if $(wildcard given further),$(addprefix -I,$(dir $(source)) .))
# Instructions of no other card are compiled for sm_90a, which nvcc 12.0 and later know.
for_90 := arch=compute_90,code=sm_90
for_90a := $(if $(and $(further),$(LAB_FURTHER_90A),$(filter-out 11.%,$(nvcc_version))),$(filter $(for_90),$(gencode)))
flags := -std=c++17 $(if $(call is_set,DEBUG),-G -g -O0 -DLAB_DEBUG,-O3 -lineinfo$(if $(sanitize), -g)) \
    $(if $(for_90a),$(patsubst $(for_90),$(subst 90,90a,$(for_90)),$(gencode)) -DLAB_SM_90A,$(gencode)) \
    $(host_compiler) $(addprefix -Xcompiler ,-Wall $(LAB_CXX_FLAGS)) $(LAB_NVCC_FLAGS) $(further)
# The toolkit's libraries lie beside nvcc, or where NVCC_APPEND_FLAGS and LIBRARY_PATH say. The linker's words nvcc gives to a
# shell as they are, quotes as well.
library_path := $(if $(nvcc_libraries),-L$(call quote,$(nvcc_libraries)))
libraries := $(call peers,$(call quote,$(nvcc)) $(host_compiler) $(library_path),$(LAB_PEERS))
host_libraries := $(call peers,$(call quote,$(nvcc)) $(host_compiler) $(library_path),$(LAB_HOST_PEERS))
flags += $(library_path) $(if $(bench),-DLAB_BENCH $(addprefix -l,$(libraries) $(host_libraries)) $(if $(libraries),-DLAB_PEERS \
    $(if $(nvcc_libraries),-Xlinker $(call quote,"-rpath=$(nvcc_libraries)"))) $(if $(host_libraries),-DLAB_HOST_PEERS))

$(program): always | announce
	$(call up_to_date,$(call quote,$(nvcc)) --compiler $(call quote,$(or $(CCBIN),g++)),$(said) $(architectures),$(strip \
	    $(call quote,$(nvcc)) $(flags) $(include_paths) $(source)))

else

$(if $(explain)$(sanitize)$(replay),$(call require_gxx))
libraries := none
host_libraries := $(call peers,$(call quote,$(CXX)),$(LAB_HOST_PEERS))
flags := $(strip $(LAB_CXX_FLAGS) $(further) $(if $(bench),-O3 -DLAB_BENCH $(if $(host_libraries),-DLAB_HOST_PEERS)))
export CPU_LDFLAGS := $(CPU_LDFLAGS) $(addprefix -l,$(host_libraries))
compile := bash $(top)/common/cpu/compile.sh $(if $(call is_set,DEBUG),--debug) \
    $(if $(explain),--sanitize accesses) \
    --cxx $(call quote,$(CXX)) --python $(call quote,$(PYTHON))
runtime := $(top)/build/$(if $(explain),sanitize/accesses,cpu)$(debug)/runtime.a
build_runtime := $(compile) --runtime -o $(runtime)

# What the checker builds once more, to look for races and to count accesses. It begins beside the program, so that both
# cores have work; the checker waits for what it needs. With --first the program has both, and the checker begins it.
flags_of_watched = --flags=$(call quote,$(flags))
watched := $(if $(filter cpu,$(backend)),$(if $(filter g++,$(CXX)),--source $(up)$(kind)/$(lab)/$(name).cu $(flags_of_watched)))
watched_builds := $(if $(watched),$(if $(filter check,$(MAKECMDGOALS)),$(if $(filter --case --first --list --help,$(ARGS)),,$(strip \
    $(shell sed -n 's/^ *lab\.watched\>.*/races/p; s/^ *lab\.shown\>.*/accesses/p' check.py | sort -ru)))))
build_beside := $(if $(watched_builds),$(at) for flavour in $(watched_builds); do BACKEND=cpu $(call python_path,$(up)common) \
    $(call quote,$(PYTHON)) -B -m checker.sanitize --build "$$flavour" $(flags_of_watched) $(up)$(kind)/$(lab)/$(name).cu; done)

$(program): always | announce
	$(call up_to_date,$(call quote,$(CXX)) --first $(call quote,$(build_runtime)$(if $(build_beside), && { { $(build_beside); } </dev/null >/dev/null 2>&1 & })),$(said) the CPU,$(strip \
	    $(compile) $(if $(flags),--flags '$(flags)') --runtime-object $(runtime) $(source)))

endif

# --- running ------------------------------------------------------------------------------------

# Cards that are hidden are a reason to choose the CPU, and none to hide the CPU's device as well.
shown := $(if $(filter cpu,$(backend)),$(if $(BACKEND),,env -u CUDA_VISIBLE_DEVICES))

build: $(program)

ifneq ($(bench),)
ifeq ($(wildcard bench.py),)
bench:
	@echo 'lab $(lab) has nothing to measure: there is no labs/$(lab)/bench.py' >&2
else
bench: $(program) | announce
	$(quiet)$(at) $(shown) $(call python_path,$(up)common) $(call quote,$(PYTHON)) -B $(here)bench.py --program $(up)$(target) $(if $(PLOTS),--no-plots) $(ARGS) \
	    || $(skipped_is_fine)
endif
endif

# The order of blocks and threads in CPU mode: forward, reversed, random or random:SEED.
ifneq ($(filter command,$(origin ORDER)),)
export CUDA_CPU_ORDER := $(ORDER)
endif

# On the CPU it builds programs of its own; on a card it runs one with the lines of the host's code as well.
sanitize: $(if $(filter gpu,$(backend)),$(program)) | announce
	$(quiet)$(at) $(shown) $(call python_path,$(up)common) $(call quote,$(PYTHON)) -B \
	    -m checker.sanitize --backend $(backend) $(if $(filter gpu,$(backend)),--program $(up)$(target),--cxx \
	    $(call quote,$(CXX)) --flags=$(call quote,$(flags))) $(up)$(kind)/$(lab)/$(name).cu \
	    -- $(or $(ARGS),$(LAB_SMALL) $(if $(further),$(LAB_SMALL_FURTHER))) || $(skipped_is_fine)

# A run as a page, in CPU mode wherever it is made. REPLAY holds the options.
replay: | announce
	$(quiet)$(at) $(call python_path,$(up)common) $(call quote,$(PYTHON)) -B -m replay --cxx $(call quote,$(CXX)) \
	    --flags=$(call quote,$(flags)) --small='$(LAB_REPLAY)' $(REPLAY) $(up)$(kind)/$(lab)/$(name).cu -- $(ARGS) || $(skipped_is_fine)

run: $(program) | announce
	$(quiet)$(at) $(shown) $(up)$(target) $(of_variant) $(ARGS) || $(skipped_is_fine)

# Modules of common/checker; where there is no profiler they give the program's own times.
$(profile): $(program) | announce
	$(quiet)$(at) $(shown) $(call python_path,$(up)common) $(call quote,$(PYTHON)) -B -m checker.$(subst -,_,$@) \
	    --program $(up)$(target) -- $(ARGS) || $(skipped_is_fine)

# Without a card it counts what the CPU does; with one it asks ncu. EXPLAIN holds the options.
explain: $(program) | announce
	$(quiet)$(at) $(shown) $(call python_path,$(up)common) $(call quote,$(PYTHON)) -B \
	    -m explain --backend $(backend) --small='$(LAB_EXPLAIN)' $(EXPLAIN) $(up)$(target) $(ARGS) || $(skipped_is_fine)

# A second thread of NumPy's library, or of OpenMP in the program, would wait in a loop for its part, on the core that
# another case needs.
check: $(program) | announce
	$(quiet)$(at) $(shown) $(call python_path,$(up)common) OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive $(call quote,$(PYTHON)) -B \
	    $(here)check.py --program $(up)$(target) $(watched) $(if $(further),--further) $(of_variant) $(ARGS) || $(skipped_is_fine)

endif
