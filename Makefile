# Every command of the course. The lines that begin with "#:" are what `make` alone prints.
# What builds, runs and checks a lab is in common/lab.mk; all paths are relative, because the
# path of the course itself may hold spaces and brackets.
#:
#: make setup [WITH=numerics]  install what is missing (the other commands do it too)
#: make run LAB=03             build and run my exercise
#: make check LAB=03           judge my exercise; VARIANT=vectorised: that variant alone (run, hint, watch, too)
#: make build LAB=03           build it only
#: make run LAB=03 SOLUTION=1  the worked solution; check, build, bench, sanitize, explain, replay, profile too
#: make run LAB=13 FURTHER=1   with the variants of further/, which are there to be read; check and the like, too
#: make sanitize LAB=03        races, bounds, barriers, pointers and more: named, with lines; FILE=my.cu
#: make run FILE=my.cu         any CUDA program, without a GPU too; several files: FILE="a.cu b.cu" FLAGS="-Iinclude -fopenmp"
#: make replay LAB=10          a run as a page: watch it step by step, forward and back; FILE=my.cu; REPLAY=--help
#: make replays                such pages of what labs 03 to 13 and 16 are about
#: make bench LAB=03           times as a table, CSV and plots, beside the vendor's library
#: make explain LAB=03         what each line asks of memory, without a GPU; FILE=my.cu; EXPLAIN=--help
#: make profile-nsys LAB=03    where a run's time goes: kernels, copies, CUDA calls (Nsight Systems)
#: make profile-ncu LAB=03     what limits each kernel (Nsight Compute)
#: make progress [LAB=03]      how far I am in every lab
#: make next [LAB=03]          where to go on: opens the first TODO that is left, in VISUAL or EDITOR
#: make hint LAB=03            one more hint; ARGS=--again, "--task 2", --all, --reset
#: make watch LAB=03           build and check at each save
#: make reset LAB=03           start over; what I have goes to build/replaced
#: make grade [SUBMISSIONS=dir] grades of my work, or of a folder with one folder or zip a student; STUDENT=ada again
#: make exercises [LAB=03]     write exercises anew; what they replace goes to build/replaced
#: make results                write docs/results.md and its plots from docs/results/*/*.csv
#: make book [SERVE=1] [PDF=1] the course as a site, build/book/site; SERVE=1 shows it while you write, PDF=1 prints the labs
#: make test                   the course's own tests; TESTS=tests/test_labs.py chooses a file
#: make clean [LAB=03]         remove the build folder, or what a lab has there
#:
#: LAB is a number or a name (3, 03, vector_add), or all. Inside a lab's folder leave it out.
#: ARGS="..." goes to what is run: make run LAB=03 ARGS="--help" lists the program's options.
#: ORDER=reversed|random|random:7  in CPU mode the order of blocks and threads
#: BACKEND=gpu|cpu  NVCC=nvcc  CCBIN=g++-12  ARCH="sm_75 sm_90"  DEBUG=1  CXX=g++  PYTHON=python3
#: V=1 shows the commands.

.DEFAULT_GOAL := help
.SUFFIXES:
.PHONY: help run check build bench explain sanitize profile-nsys profile-ncu test setup clean exercises progress next hint watch reset grade results replay replays book

top := .
include common/functions.mk
labs := $(sort $(patsubst labs/%/Makefile,%,$(wildcard labs/*/Makefile)))

# 03_vector_add answers to 03_vector_add, labs/03_vector_add/, vector_add, 03 and 3.
number = $(firstword $(subst _, ,$(1)))
names = $(1) $(patsubst $(number)_%,%,$(1)) $(number) $(patsubst 0%,%,$(number)) all
wanted := $(patsubst %/,%,$(patsubst labs/%,%,$(LAB)))
named = $(strip $(foreach lab,$(labs),$(if $(filter $(call names,$(lab)),$(1)),$(lab))))
unknown := $(strip $(foreach word,$(wanted),$(if $(call named,$(word)),,$(word))))
selected := $(foreach word,$(wanted),$(call named,$(word)))

known_labs := the labs are $(labs)
require_lab = $(if $(wanted),,$(error LAB is needed, as in: make $@ LAB=$(call number,$(firstword $(labs))); $(known_labs)))
refuse_unknown = $(if $(unknown),$(error there is no lab $(unknown); $(known_labs)))

refuse_lab = $(if $(wanted),$(error FILE names a file of your own, LAB a lab: give make $@ one of them))
# The sources that FILE names are then "$$@".
own_sources = own=$$(bash common/own_sources.sh $@ $(call quote,$(FILE))) || exit 2; eval "set -- $$own"

help:
	@sed -n 's/^#: \{0,1\}//p' Makefile
	@echo
	@for lab in $(labs); do \
	    title=$$(sed -n '/^# /{s/^# *\(Lab [0-9]*[:.]\)* *//p;q;}' "labs/$$lab/README.md" 2>/dev/null); \
	    printf '%-28s %s\n' "$$lab" "$$title"; \
	done

# For a FILE in CPU mode: the order of blocks and threads that was asked for.
order_of_command = $(if $(filter command,$(origin ORDER)),CUDA_CPU_ORDER=$(call quote,$(ORDER)))

# Options of `make explain` that need neither a lab nor a file.
explain_help := $(filter -h --help,$(EXPLAIN))
replay_help := $(filter -h --help,$(REPLAY))

# Where several labs are measured, all are built on all cores meanwhile, and each has its turn as soon as it is built: what
# went wrong is said then. When all are measured, their plots are drawn in the same way. A lab without bench.py has nothing to measure.
several := $(if $(filter bench,$(MAKECMDGOALS)),$(word 2,$(selected)))
measured := $(patsubst labs/%/bench.py,%,$(wildcard $(selected:%=labs/%/bench.py)))
at_once = printf '%s\n' $(measured) | nice xargs -P "$$(nproc)" -I {} sh -c \
    '$(MAKE) --no-print-directory -C labs/{} $(1) LAB={} FROM_TOP=1 >/dev/null 2>&1; echo {}'
# A program that is measured comes before those that are built, so nice. Their names come here when they are done.
builds = $(if $(several),$(call at_once,build bench=bench) |)
until_built = $(if $(several),while [ -f "labs/$$lab/bench.py" ] && case "$$built" in (*" $$lab "*) false;; esac && read -r name; do \
    built="$$built$$name "; done;)
plots = $(if $(several),$(call at_once,plots) >/dev/null;)

# With LAB make clean takes what that lab has built.
of_lab := $(if $(filter-out all,$(wanted)),lab)

# Every lab that was named, one after the other; a failure does not stop the next.
$(if $(FILE),,run) $(of_lab:%=clean) check build bench profile-nsys profile-ncu $(if $(FILE),,sanitize $(if $(replay_help),,replay) $(if $(explain_help),,explain)):
	@$(require_lab)$(refuse_unknown)$(builds) { status=0 built=' '; for lab in $(selected); do $(until_built) \
	    $(MAKE) --no-print-directory -C "labs/$$lab" $@ LAB="$$lab" FROM_TOP=1 $(if $(several),PLOTS=later </dev/null) || status=$$?; \
	done; $(plots) exit $$status; }

# Tests start make themselves, so nothing of this make's own settings may reach them.
test:
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u LAB -u ARGS $(call python_path,$$PWD/common:$$PWD/tests) \
	    $(call quote,$(PYTHON)) -B -m pytest $(or $(TESTS),tests) $(ARGS)

ifneq ($(explain_help),)
explain:
	@$(call python_path,common) $(call quote,$(PYTHON)) -B -m explain --help
else ifneq ($(FILE),)
# Any .cu file, in CPU mode.
compile = bash common/cpu/compile.sh --sanitize accesses --cxx $(call quote,$(CXX)) --python $(call quote,$(PYTHON))
runtime := build/sanitize/accesses/runtime.a
explain:
	@$(refuse_lab)$(own_sources); mkdir -p build/cpu-explain/own; \
	name=$${1##*/}; explained=build/cpu-explain/own/$${name%.*}; \
	bash common/build.sh --compiler $(call quote,$(CXX)) --first $(call quote,$(compile) --runtime -o $(runtime)) \
	    -o "$$explained" $(compile) --runtime-object $(runtime) --flags $(call quote,$(FLAGS)) "$$@" || exit; \
	exec env $(order_of_command) $(call python_path,common) $(call quote,$(PYTHON)) -B \
	    -m explain $(EXPLAIN) "$$explained" $(ARGS)
endif

# Any .cu file, in CPU mode; BACKEND=gpu asks for compute-sanitizer.
ifneq ($(FILE),)
sanitize:
	@$(refuse_lab)$(own_sources); $(order_of_command) $(call python_path,common) \
	    $(call quote,$(PYTHON)) -B -m checker.sanitize --cxx $(call quote,$(CXX)) \
	    $(if $(FLAGS),--flags $(call quote,$(FLAGS))) "$$@" -- $(ARGS) || $(skipped_is_fine)

# On a card if there is one, else in CPU mode.
ifneq ($(filter run,$(MAKECMDGOALS)),)
$(call choose_backend,run)
$(call require,compiler $(if $(filter cpu,$(backend)),python boost))
-include build/setup.mk
compile := bash common/cpu/compile.sh --cxx $(call quote,$(CXX)) --python $(call quote,$(PYTHON))
ifeq ($(backend),gpu)
build_own = bash common/build.sh --compiler $(call quote,$(nvcc)) -o "$$program" $(call quote,$(nvcc)) -std=c++17 -O3 \
    -lineinfo $(gencode) $(if $(nvcc_libraries),-L$(call quote,$(nvcc_libraries))) $(if $(CCBIN),-ccbin $(call quote,$(CCBIN))) $(if $(filter-out 1,$(words $(FILE))),-rdc=true) \
    $(patsubst -fopenmp,-Xcompiler -fopenmp,$(FLAGS)) "$$@"
else
build_own = bash common/build.sh --compiler $(call quote,$(CXX)) --first $(call quote,$(compile) --runtime -o build/cpu/runtime.a) \
    -o "$$program" $(compile) --runtime-object build/cpu/runtime.a --flags $(call quote,$(FLAGS)) "$$@"
endif
run:
	@$(refuse_lab)$(own_sources); echo $(call quote,backend: $(backend) ($(reason))) >&2; \
	folder=build/own/$(backend)-$$(printf '%s\n' "$$@" | cksum | cut -d ' ' -f 1); program=$$folder/$$(basename -- "$${1%.*}"); \
	mkdir -p "$$folder" && $(build_own) && exec env CUDA_CPU_PROGRESS=30 CUDA_CPU_NOTES=1 CUDA_CPU_BARRIERS=volta $(order_of_command) "$$program" $(ARGS)
endif
endif

# A run as a page, in CPU mode.
replays:
	@$(call python_path,common) $(call quote,$(PYTHON)) -B -m replay.moments --cxx $(call quote,$(CXX)) $(ARGS)
ifneq ($(replay_help),)
replay:
	@$(call python_path,common) $(call quote,$(PYTHON)) -B -m replay --help
else ifneq ($(FILE),)
replay:
	@$(refuse_lab)$(own_sources); $(order_of_command) $(call python_path,common) $(call quote,$(PYTHON)) -B -m replay \
	    --cxx $(call quote,$(CXX)) $(if $(FLAGS),--flags=$(call quote,$(FLAGS))) $(REPLAY) "$$@" -- $(ARGS) || $(skipped_is_fine)
endif

# What a learner asks for on the way; the modules are in common/checker.
progress next:
	@$(refuse_unknown)$(call learner,$@,$(selected))

hint watch reset:
	@$(require_lab)$(refuse_unknown)$(call learner,$@,$(selected))

grade:
	@$(refuse_unknown)$(call grade,$(selected))

# For those who have measured: the page of all results, from the CSV files in docs/results.
results:
	@$(call python_path,common) OPENBLAS_NUM_THREADS=1 $(call quote,$(PYTHON)) -B -m checker.results $(ARGS)

# Sphinx gets a Python of its own; what it shows of a lab comes from the course's.
book:
	@$(refuse_unknown)$(call python_path,common) $(call quote,$(PYTHON)) -B -m book $(if $(call is_set,SERVE),--serve) \
	    $(if $(call is_set,PDF),--pdf $(selected)) $(ARGS)

exercises:
	@$(refuse_unknown)$(call python_path,common) \
	    $(call quote,$(PYTHON)) -B -m checker.exercises $(selected)

setup:
	@bash common/setup.sh $(if $(WITH),--need $(call quote,$(WITH)))

# If build is a link, this removes the link and nothing of what it leads to.
ifeq ($(of_lab),)
clean:
	@if [ -L build ] || [ ! -d build/replaced ]; then rm -rf build; else \
	    find build -mindepth 1 -maxdepth 1 ! -name replaced -exec rm -rf {} +; \
	    echo 'build/replaced stays: it holds exercises that "make exercises" has replaced'; \
	fi
endif

ifneq ($(filter test exercises grade,$(MAKECMDGOALS)),)
$(call require,python $(if $(filter test grade,$(MAKECMDGOALS)),$(grade_needs)) \
    $(if $(filter test,$(MAKECMDGOALS)),pytest matplotlib))
-include build/setup.mk
endif

ifneq ($(filter book,$(MAKECMDGOALS)),)
$(call require,python numpy pillow book)
-include build/setup.mk
endif

ifneq ($(filter results,$(MAKECMDGOALS)),)
$(call require,python numpy matplotlib)
-include build/setup.mk
endif

ifneq ($(filter explain sanitize replay replays,$(MAKECMDGOALS)),)
ifneq ($(FILE)$(explain_help)$(replay_help)$(filter replays,$(MAKECMDGOALS)),)
$(call require,python $(if $(FILE)$(filter replays,$(MAKECMDGOALS)),compiler boost $(if $(filter sanitize replay replays,$(MAKECMDGOALS)),numpy)) \
    $(if $(filter replays,$(MAKECMDGOALS)),stb))
-include build/setup.mk
$(if $(explain_help)$(replay_help)$(filter gpu,$(BACKEND)),,$(call require_gxx))
endif
endif

ifneq ($(learner_goals),)
$(call require,$(learner_needs))
-include build/setup.mk
endif
