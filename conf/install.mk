# make install and uninstall; included by the makefile at the top.
#
#   PREFIX     where the files belong (default /usr/local)
#   DESTDIR    put before it, for those who make packages
#   PYTHONDIR  also put the Python module there, a folder of site-packages
#
# make manpages makes the manual pages in docs/man3 from comments in src, by PETSc's doctext: configure PETSc with
# --download-sowing, or set DOCTEXT. docs/man3/sums has the check sums of the comments and of the pages.
#
# The manifest names a file before the file is written, so that uninstall removes what an install that failed has left.

PREFIX  ?= /usr/local
to       = $(DESTDIR)$(PREFIX)
share    = $(to)/share/sptrsvgpu
manifest = $(share)/installed

sources    := $(wildcard examples/*.c examples/*.h examples/*.py)
installed   = lib/libsptrsvgpu.so.$(VERSION) lib/$(SONAME) lib/libsptrsvgpu.so lib/pkgconfig/sptrsvgpu.pc \
              include/sptrsvgpu.h $(patsubst docs/%,share/man/%,$(wildcard docs/man3/*.3)) \
	      $(patsubst %,share/sptrsvgpu/%,$(sources) examples/makefile python/sptrsvgpu.py)
commented   = $(sort $(wildcard src/*/*.c))
sums        = LC_ALL=C; sed -n '/^\/\*\(@C\{0,1\}\|MC\)$$/,/^{/p' $(commented) | cksum; cat docs/man3/*.3 | cksum
fill        = sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@PETSC_DIR@|$(PETSC_DIR)|' \
              -e 's|@PETSC_ARCH@|$(PETSC_ARCH)|; s|@CUDA_ARCH@|$(CUDA_ARCH)|'

.PHONY: install uninstall manpages check-manpages
DOCTEXT ?= $(PETSC_DIR)/$(PETSC_ARCH)/bin/doctext
manpages:
	@rm -rf $(BUILD)/man3; mkdir -p $(BUILD)/man3
	@$(DOCTEXT) -man -mpath $(BUILD)/man3 -ext 3 -heading sptrsvgpu -date ' ' -nolocation $(commented) || \
	  { echo "sptrsvgpu: DOCTEXT=$(DOCTEXT) makes no manual pages" >&2; exit 1; }
	@rm -f docs/man3/*.3; cp $(BUILD)/man3/*.3 docs/man3/
	@{ $(sums); } >docs/man3/sums
check-manpages:
	@{ $(sums); } | cmp - docs/man3/sums || { echo "docs/man3 is not made of these comments: make manpages"; exit 1; }

install: lib
	$(if $(filter /%,$(PREFIX)),,@echo "sptrsvgpu: PREFIX=$(PREFIX) is not an absolute path" >&2; exit 1)
	@mkdir -p '$(to)/lib/pkgconfig' '$(to)/include' '$(share)/examples' '$(share)/python' \
	  '$(to)/share/man/man3' $(if $(PYTHONDIR),'$(DESTDIR)$(PYTHONDIR)')
	@printf '%s\n' $(installed) $(if $(PYTHONDIR),'/$(PYTHONDIR)/sptrsvgpu.py') >'$(manifest)'
	@install -m 755 $(LIB).$(VERSION) '$(to)/lib/'
	@ln -sf libsptrsvgpu.so.$(VERSION) '$(to)/lib/$(SONAME)'
	@ln -sf libsptrsvgpu.so.$(VERSION) '$(to)/lib/libsptrsvgpu.so'
	@install -m 644 include/sptrsvgpu.h '$(to)/include/'
	@$(fill) conf/sptrsvgpu.pc.in >'$(to)/lib/pkgconfig/sptrsvgpu.pc'
	@install -m 644 $(sources) '$(share)/examples/'
	@$(fill) conf/examples.mk.in >'$(share)/examples/makefile'
	@install -m 644 python/sptrsvgpu.py '$(share)/python/'
	@$(if $(PYTHONDIR),install -m 644 python/sptrsvgpu.py '$(DESTDIR)$(PYTHONDIR)/')
	@install -m 644 docs/man3/*.3 '$(to)/share/man/man3/'
	@echo "installed sptrsvgpu $(VERSION) in $(to):"
	@sort -u '$(manifest)' | sed 's|^|  |'
	@echo "use it: PETSC_OPTIONS=\"-dll_append $(PREFIX)/lib/libsptrsvgpu.so\" ./app -pc_type sptrsvgpu"

uninstall:
	@test -f '$(manifest)' || { echo "sptrsvgpu: nothing was installed in $(to) (no $(manifest))" >&2; exit 1; }
	@while IFS= read -r f; do \
	  case $$f in /*) rm -f '$(DESTDIR)'"$$f" ;; *) rm -f '$(to)'/"$$f" ;; esac; done <'$(manifest)'
	@rm -f '$(manifest)'
	@rmdir '$(share)/examples' '$(share)/python' '$(share)' 2>/dev/null || true
	@echo "removed sptrsvgpu from $(to)"
