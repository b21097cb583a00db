# Functions for the course's Makefile and for lab.mk; `top` is the way to the course's folder.

ifeq ($(shell uname -s),Darwin)
$(error macOS is not supported: the course needs Linux. A virtual machine or a container with Debian or Ubuntu does, on a Mac with \
    Apple silicon too (docs/setup.md))
endif

# One word for the shell, whatever is in it.
quote = '$(subst ','\'',$(1))'

# NAME='value' for those variables that were given to make itself: $(shell) does not see them.
given = $(foreach word,$(1),$(if $(filter command,$(origin $(word))),$(word)=$(call quote,$($(word)))))

# Asks common/backend.sh: sets backend, reason, nvcc and the like, or stops with its refusal.
# $(1) its goal  $(2) further variables for it
define line_end


endef
choose_backend = $(eval refusal :=)$(eval $(subst @@,$(line_end),$(shell env \
    $(call given,BACKEND NVCC CUDA_HOME CUDA_PATH CUDA_ROOT CUDATOOLKIT_HOME CONDA_PREFIX VIRTUAL_ENV CUDA_VISIBLE_DEVICES ARCH) $(2) bash $(top)/common/backend.sh $(1))))$(if \
    $(refusal),$(error $(refusal)))

# True for SOLUTION=1 and the like, false for SOLUTION=0.
is_set = $(filter-out 0 no,$($(1)))

# Checks that what a command needs is there, which takes milliseconds, and installs what is not.
# A dry run (make -n) takes it as it is. $(1) names of common/setup.sh
dry_run = $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
set_up = $(shell env $(call given,CXX PYTHON) bash $(top)/common/setup.sh --need '$(1)' >&2 && echo ready)
require = $(if $(dry_run),,$(if $(call set_up,$(1)),,$(error the set-up is not complete, see above)))

# 77 is no failure: the program has said why it cannot do its work on this machine.
skipped_is_fine = { status=$$?; [ $$status -eq 77 ] || exit $$status; echo 'skipped, for the reason above' >&2; }

python_path = PYTHONPATH="$(1)$${PYTHONPATH:+:$$PYTHONPATH}"

# VARIANT=tiled: one rung of a lab's ladder.
variant := $(if $(filter command,$(origin VARIANT)),$(VARIANT))
of_variant := $(if $(variant),--variant $(call quote,$(variant)))
ifneq ($(variant),)
ifneq ($(filter-out run check hint watch,$(MAKECMDGOALS)),)
$(error VARIANT is for make run, check, hint and watch)
else ifneq ($(filter --variant --variant=%,$(ARGS)),)
$(error VARIANT and ARGS both name a variant: give one of them)
endif
endif

# A learner's command, a module of common/checker. It starts make itself, so nothing of this make's
# own settings may reach it; and it takes the shell's place, so that a signal to make ends it in
# good order.  $(1) the module  $(2) the lab
learner = exec env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(call python_path,$(top)/common) \
    $(call quote,$(PYTHON)) -B -m checker.$(1) $(2) $(of_variant) $(ARGS)
learner_goals := $(filter progress next hint watch reset,$(MAKECMDGOALS))
learner_needs := python numpy $(if $(filter progress next watch,$(learner_goals)),compiler) \
    $(if $(filter progress next watch,$(learner_goals))$(variant),scipy pillow)

# A teacher's command. It asks make how to build, so nothing of this make's own settings may reach it.
# $(1) the labs; none for all
grade = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(call python_path,$(top)/common) \
    $(call quote,$(PYTHON)) -B -m checker.grade $(addprefix --lab ,$(1)) \
    $(if $(SUBMISSIONS),--submissions $(call quote,$(SUBMISSIONS))) \
    $(if $(STUDENT),--only $(call quote,$(STUDENT))) $(if $(call is_set,FORCE),--force) \
    $(if $(POINTS),--points $(call quote,$(POINTS))) $(ARGS)
grade_needs := python compiler make numpy scipy pillow stb boost bubblewrap

# What watches every access relies on calls of g++ and on its order of accesses.
require_gxx = $(if $(findstring __clang__,$(shell $(call quote,$(CXX)) -dM -E -x c++ /dev/null 2>/dev/null)),$(error \
    make $(filter explain sanitize replay replays,$(MAKECMDGOALS)) needs g++, whose calls in front of each access \
    clang++ has not: leave CXX=$(CXX) out, or name a g++))
