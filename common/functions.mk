# Functions for the course's Makefile and for lab.mk; `top` is the way to the course's folder.

# One word for the shell, whatever is in it.
quote = '$(subst ','\'',$(1))'

# NAME='value' for those variables that were given to make itself: $(shell) does not see them.
given = $(foreach word,$(1),$(if $(filter command,$(origin $(word))),$(word)=$(call quote,$($(word)))))

# True for SOLUTION=1 and the like, false for SOLUTION=0.
is_set = $(filter-out 0 no,$($(1)))

# Checks that what a command needs is there, which takes milliseconds, and installs what is not.
# A dry run (make -n) takes it as it is. $(1) names of common/setup.sh
dry_run = $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
set_up = $(shell env $(call given,CXX PYTHON) bash $(top)/common/setup.sh --need '$(1)' >&2 && echo ready)
require = $(if $(dry_run),,$(if $(call set_up,$(1)),,$(error the set-up is not complete, see above)))
