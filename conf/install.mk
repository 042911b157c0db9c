# make install and uninstall; included by the makefile at the top.
#
#   PREFIX     where the files belong (default /usr/local)
#   DESTDIR    put before it, for those who make packages
#   PYTHONDIR  also put the Python module there, a folder of site-packages

PREFIX  ?= /usr/local
to       = $(DESTDIR)$(PREFIX)
share    = $(to)/share/sptrsvgpu
manifest = $(share)/installed

.PHONY: install uninstall
install: lib
	$(if $(filter /%,$(PREFIX)),,@echo "sptrsvgpu: PREFIX=$(PREFIX) is not an absolute path" >&2; exit 1)
	@mkdir -p '$(to)/lib/pkgconfig' '$(to)/include' '$(to)/share/man/man3' '$(share)/examples' '$(share)/python' $(if $(PYTHONDIR),'$(DESTDIR)$(PYTHONDIR)')
	@install -m 755 $(LIB).$(VERSION) '$(to)/lib/'
	@ln -sf libsptrsvgpu.so.$(VERSION) '$(to)/lib/$(SONAME)'
	@ln -sf libsptrsvgpu.so.$(VERSION) '$(to)/lib/libsptrsvgpu.so'
	@install -m 644 include/sptrsvgpu.h '$(to)/include/'
	@sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@PETSC_DIR@|$(PETSC_DIR)|; s|@PETSC_ARCH@|$(PETSC_ARCH)|; s|@CUDA_ARCH@|$(CUDA_ARCH)|' \
	  conf/sptrsvgpu.pc.in >'$(to)/lib/pkgconfig/sptrsvgpu.pc'
	@install -m 644 $(wildcard examples/*.c examples/*.h examples/*.py) '$(share)/examples/'
	@install -m 644 python/sptrsvgpu.py '$(share)/python/'
	@$(if $(PYTHONDIR),install -m 644 python/sptrsvgpu.py '$(DESTDIR)$(PYTHONDIR)/')
	@for python in '$(PYTHON)' python3; do $$python conf/manpages.py $(VERSION) '$(to)/share/man/man3' src/pc/*.c >$(BUILD)/manpages 2>/dev/null && exit; done; \
	  : >$(BUILD)/manpages; echo "no man pages: they need Python 3"
	@{ echo lib/libsptrsvgpu.so.$(VERSION) lib/$(SONAME) lib/libsptrsvgpu.so include/sptrsvgpu.h lib/pkgconfig/sptrsvgpu.pc \
	    share/sptrsvgpu/python/sptrsvgpu.py $(patsubst %,share/sptrsvgpu/%,$(wildcard examples/*.c examples/*.h examples/*.py)) | tr ' ' '\n'; \
	  sed 's|^|share/man/man3/|' $(BUILD)/manpages; } >'$(manifest)'
	@$(if $(PYTHONDIR),echo '/$(PYTHONDIR)/sptrsvgpu.py' >>'$(manifest)')
	@echo "installed sptrsvgpu $(VERSION) in $(to):"
	@sed 's|^|  |' '$(manifest)'
	@echo "use it: PETSC_OPTIONS=\"-dll_append $(PREFIX)/lib/libsptrsvgpu.so\" ./app -pc_type sptrsvgpu"

uninstall:
	@test -f '$(manifest)' || { echo "sptrsvgpu: nothing was installed in $(to) (no $(manifest))" >&2; exit 1; }
	@while IFS= read -r f; do case $$f in /*) rm -f '$(DESTDIR)'"$$f" ;; *) rm -f '$(to)'/"$$f" ;; esac; done <'$(manifest)'
	@rm -f '$(manifest)'
	@rmdir '$(share)/examples' '$(share)/python' '$(share)' 2>/dev/null || true
	@echo "removed sptrsvgpu from $(to)"
