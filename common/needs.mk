# Reads build/setup.mk (PYTHON, and where unpacked packages lie). Making it comes first, each
# time: it checks that what is in `needed` is there, and installs what is missing. A dry run
# (make -n) takes it as it is.
ifneq ($(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),)
-include $(top)/build/setup.mk
else
include $(top)/build/setup.mk
$(top)/build/setup.mk: always
	@bash $(top)/common/setup.sh --need '$(needed)'
endif
