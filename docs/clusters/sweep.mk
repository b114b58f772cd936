# make -f sweep.mk -j 4 CONFIG=sweep.ini OUTPUT=DIRECTORY - the points of a sweep, then its report. OUTPUT is what
# [run] output says. Starting it again runs what is missing.
CONFIG = sweep.ini
OUTPUT = sweep
SELF := $(firstword $(MAKEFILE_LIST))

.PHONY: report points
report:
	dpframe sweep -q -c $(CONFIG) --prepare
	+$(MAKE) -f $(SELF) points
	dpframe report $(OUTPUT)

# Only the inner make knows the points: the list is there by then.
ifneq ($(filter points,$(MAKECMDGOALS)),)
names := $(shell dpframe sweep -c $(CONFIG) --list | awk '$$2 != "done" {print $$3}')
.PHONY: $(names)
points: $(names)
$(names):
	dpframe sweep -q -c $(CONFIG) --point $@
endif
