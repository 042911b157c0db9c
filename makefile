# sptrsvgpu: `make help' says what there is. Reading this file builds, downloads and installs nothing.

$(if $(word 2,$(CURDIR)),$(error sptrsvgpu: make cannot work in a folder with a space in its name: $(CURDIR)))
override BUILD := $(abspath $(or $(BUILD),build))
MAKEFLAGS += -j$(shell nproc)
.DEFAULT_GOAL := lib
.DELETE_ON_ERROR:
comma := ,

VERSION := $(subst $() ,.,$(foreach p,MAJOR MINOR SUBMINOR,$(shell \
  sed -n 's/^#define SPTRSVGPU_VERSION_$p *//p' include/sptrsvgpu.h)))
SONAME  := libsptrsvgpu.so.$(firstword $(subst ., ,$(VERSION)))
LIB     := $(BUILD)/lib/libsptrsvgpu.so

include conf/install.mk

.PHONY: help clean petsc petsc4py fat
help:
	@cat conf/help
clean:
	rm -rf $(BUILD)
petsc:
	@$(setup) build >/dev/null
petsc4py:
	@$(setup) petsc4py >/dev/null
fat:
	@$(MAKE) --no-print-directory lib CUDA_ARCH=fat

# ---- which PETSc

answer = $(patsubst $1=%,%,$(filter-out $1='',$(filter $1=%,$(PETSC))))
setup = PETSC_DIR='$(PETSC_DIR)' PETSC_ARCH='$(PETSC_ARCH)' CUDA_ARCH='$(CUDA_ARCH)' conf/petsc.sh
ifneq ($(filter-out help clean petsc petsc4py uninstall fat,$(or $(MAKECMDGOALS),lib)),)
found := 0
# installs what was built: root has another environment and another cache; not if another PETSc is named
ifeq ($(MAKECMDGOALS)$(CUDA_ARCH),install)
PETSC := $(file <$(BUILD)/config)
ifneq ($(strip $(foreach v,PETSC_DIR PETSC_ARCH,$(filter-out $(call answer,$v),$($v)))),)
PETSC :=
endif
endif
ifeq ($(wildcard $(call answer,PETSC_DIR)/include/petscversion.h),)
PETSC := $(shell $(setup) find)
found := $(.SHELLSTATUS)
endif
endif

ifeq ($(found),1)
$(error sptrsvgpu: cannot build; the reason is above)
endif
ifeq ($(found),2) # none here: what runs something builds one, everything else says how
again = $(MAKE)
.PHONY: run test
run test:
	@echo "sptrsvgpu: no PETSc found (PETSC_DIR, CONDA_PREFIX, pkg-config, the cache); building one"
	@$(setup) build >/dev/null
	@env -u MAKEFLAGS -u MFLAGS $(again) --no-print-directory $@ $(MAKEOVERRIDES)
info:
	@echo "sptrsvgpu: no PETSc found; 'make petsc' builds one" >&2; exit 1
lib check examples:
	@echo "sptrsvgpu: no PETSc found: set PETSC_DIR (and PETSC_ARCH), or 'make petsc' builds one in about 7 minutes" >&2; \
	  exit 1
.DEFAULT:
	@echo "sptrsvgpu: no goal '$@', or it needs a PETSc, and none was found: see 'make help'" >&2; exit 1
endif

ifeq ($(found),0)
override PETSC_DIR  := $(call answer,PETSC_DIR)
override PETSC_ARCH := $(call answer,PETSC_ARCH)
override CUDA_ARCH  := $(call answer,CUDA_ARCH)
PETSC4PY            := $(call answer,PETSC4PY)
WITH_CUDA           := $(filter 1,$(call answer,CUDA))
include $(PETSC_DIR)/lib/petsc/conf/variables

.PHONY: lib examples run test check info check-kernels FORCE
lib: $(LIB)
info:
	@printf '%s=%q\n' VERSION '$(VERSION)' LIB '$(LIB)' PETSC_DIR '$(PETSC_DIR)' PETSC_ARCH '$(PETSC_ARCH)' \
	  PETSC_FROM '$(call answer,PETSC_FROM)' PETSC4PY '$(PETSC4PY)' CUDA '$(or $(WITH_CUDA),0)'
	@printf 'CUDA_ARCH=%s\n' '$(CUDA_ARCH)'

# ---- what is built

C_PETSC := $(wildcard $(patsubst %,src/%/*.c,petsc mat ksp pc plugin))
C   := $(C_PETSC) $(if $(WITH_CUDA),,src/kernels/without_cuda.c) \
  $(wildcard src/kernels/*/*.c src/kernels/*/*/*.c)
CU  := $(if $(WITH_CUDA),$(wildcard src/kernels/*/*.cu src/kernels/*/*/*.cu))
OBJ := $(CU:%.cu=$(BUILD)/obj/%.cu.o) $(C:%.c=$(BUILD)/obj/%.o) # what takes long first

# objects of another PETSc, or for other GPUs, are made again
CONFIG := makefile $(BUILD)/config
config  = VERSION=$(VERSION) PETSC_DIR=$(PETSC_DIR) PETSC_ARCH=$(PETSC_ARCH) CUDA=$(WITH_CUDA) CUDA_ARCH=$(CUDA_ARCH)
$(BUILD)/config: FORCE
	@mkdir -p $(@D); echo '$(config)' | cmp -s - $@ || echo '$(config)' >$@

# A line for each file (V=1: the whole command); of files that are not there yet: how many are made, how long the rest
# may take
todo  := $(if $(subst $(config),,$(file <$(BUILD)/config)),$(OBJ),$(filter-out $(wildcard $(OBJ)),$(OBJ)))
began := $(shell date +%s)
made   = $(eval count += 1)$(words $(count))
left   = $(shell echo $$(( ($$(date +%s) - $(began)) * ($(words $(todo)) - $1) / $1 / 60 + 1 )))
tell   = [$1 of $(words $(todo))$(if $(word 10,$(count)),$(comma) at most $(call left,$1) min left)]
silent = $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
say    = $(if $(V),,@$(if $(silent),,echo '  $1 $(@:$(CURDIR)/%=%) \
  $(if $(filter $(OBJ),$@),$(if $(word $(made),$(todo)),$(call tell,$(words $(count)))))';))

GENCODE = $(foreach a,$(subst $(comma), ,$(CUDA_ARCH)), \
  -gencode arch=compute_$(a:ptx%=%),code=$(if $(filter ptx%,$a),compute,sm)_$(a:ptx%=%))
CUDAC_COMPILE = $(CUDAC) $(MPICXX_INCLUDES) \
  $(filter-out -gencode arch=% -arch=% --gpu-architecture=% --generate-code=%,$(CUDAC_FLAGS) $(CUDAFLAGS)) $(GENCODE)

$(LIB): $(OBJ)
	@mkdir -p $(@D)
	$(if $(WITH_CUDA),,@echo "sptrsvgpu: this PETSc has no CUDA: the library works on the host only")
	$(call say,LINK)$(CLINKER) -shared -Wl,-soname,$(SONAME) -o $@.$(VERSION).new $^ $(PETSC_LIB)
	@mv $@.$(VERSION).new $@.$(VERSION) # at once: a program may be loading it
	@ln -sf $(@F).$(VERSION) $(@D)/$(SONAME); ln -sf $(@F).$(VERSION) $@

COMPILE.dep = -MMD -MP -MF $(@:.o=.d)
$(BUILD)/obj/%.o: %.c $(CONFIG)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -c -std=c11 -Iinclude -Isrc/kernels $(CC_FLAGS) -O3 -Wextra -Wno-unused-parameter \
	  $(CCPPFLAGS) $(if $(WITH_CUDA),-DTRSV_CUDA) $(COMPILE.dep) $< -o $@
$(BUILD)/obj/%.cu.o: %.cu $(CONFIG)
	@mkdir -p $(@D)
	$(call say,CUDAC)$(CUDAC_COMPILE) -c $(CUDA_HOSTFLAGS) --compiler-options=-Wno-maybe-uninitialized \
	  -Isrc/kernels -DTRSV_CUDA $(COMPILE.dep) $< -o $@
-include $(OBJ:.o=.d)

include examples/makefile tests/makefile bench/makefile
endif
