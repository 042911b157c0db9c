# sptrsvgpu: see README.md
#
#   make        set up what is missing and build build/lib/libsptrsvgpu.so; V=1 prints all commands
#   make run    solve a problem; ARGS="..." are the options of examples/ex1, or of examples/ex2 where they name a file (-f)
#   make test   run every test
#   make info   print LIB, PETSC_DIR, PETSC_ARCH and CUDA as shell assignments; builds nothing
#   make clean

$(if $(word 2,$(CURDIR)),$(error sptrsvgpu: make cannot work in a folder with a space in its name: $(CURDIR)))
BUILD := $(CURDIR)/build
LIB   := $(BUILD)/lib/libsptrsvgpu.so

ifeq ($(MAKECMDGOALS),clean)
clean:
	rm -rf $(BUILD)
else

# conf/petsc.sh answers PETSC_DIR=... PETSC_ARCH=... PETSC_PYTHONPATH=...; without --find it builds a PETSc where there is none
PETSC := $(shell PETSC_DIR='$(PETSC_DIR)' PETSC_ARCH='$(PETSC_ARCH)' conf/petsc.sh $(if $(filter info,$(MAKECMDGOALS)),--find))
override PETSC_DIR  := $(patsubst PETSC_DIR=%,%,$(filter PETSC_DIR=%,$(PETSC)))
override PETSC_ARCH := $(patsubst PETSC_ARCH=%,%,$(filter-out PETSC_ARCH='',$(filter PETSC_ARCH=%,$(PETSC))))
PETSC_PYTHONPATH    := $(patsubst PETSC_PYTHONPATH=%,%,$(filter-out PETSC_PYTHONPATH='',$(filter PETSC_PYTHONPATH=%,$(PETSC))))
ifeq ($(PETSC_DIR)$(filter info,$(MAKECMDGOALS)),)
$(error sptrsvgpu: no PETSc; see above)
endif
ifeq ($(PETSC_DIR),)
$(warning sptrsvgpu: nothing is set up yet; `make' does it)
MAKEFLAGS += -q # the one way to an exit status of 1
.PHONY: info
info:
	@:
else
include $(PETSC_DIR)/lib/petsc/conf/variables
ifneq ($(shell awk '/define PETSC_VERSION_MAJOR/ { a = $$3 } /define PETSC_VERSION_MINOR/ { b = $$3 } END { print (1000 * a + b >= 3026) }' $(PETSC_DIR)/include/petscversion.h),1)
$(error sptrsvgpu needs PETSc 3.26 or later, and is made with 3.26.1; $(PETSC_DIR) is older)
endif
ifneq ($(PETSC_SCALAR) $(PETSC_PRECISION) $(PETSC_INDEX_SIZE),real double 32)
$(error sptrsvgpu needs a PETSc of real double scalars and 32-bit indices; $(PETSC_DIR) $(PETSC_ARCH) has $(PETSC_SCALAR) $(PETSC_PRECISION) scalars and $(PETSC_INDEX_SIZE)-bit indices)
endif

WITH_CUDA := $(shell grep -l 'define PETSC_HAVE_CUDA 1' $(wildcard $(PETSC_DIR)/$(PETSC_ARCH)/include/petscconf.h $(PETSC_DIR)/include/petscconf.h))

# objects of another PETSc are made again
CONFIG := makefile $(BUILD)/petsc $(wildcard $(PETSC_DIR)/$(PETSC_ARCH)/lib/petsc/conf/petscvariables)
ifeq ($(filter info,$(MAKECMDGOALS)),)
$(shell mkdir -p $(BUILD); echo '$(PETSC_DIR) $(PETSC_ARCH)' | cmp -s - $(BUILD)/petsc || echo '$(PETSC_DIR) $(PETSC_ARCH)' >$(BUILD)/petsc)
endif

CUDA := $(if $(WITH_CUDA),1,0)
C    := $(wildcard src/pc/*.c) $(if $(WITH_CUDA),,src/kernels/without_cuda.c) $(wildcard src/kernels/*/*.c src/kernels/*/*/*.c)
CU   := $(if $(WITH_CUDA),$(wildcard src/kernels/*/*.cu src/kernels/*/*/*.cu))
OBJ  := $(C:%.c=$(BUILD)/obj/%.o) $(CU:%.cu=$(BUILD)/obj/%.cu.o)

.DEFAULT_GOAL := lib
.PHONY: lib run test info check-kernels
.DELETE_ON_ERROR:

# A short line for each file, as PETSc's makefiles print it
say = $(if $(V),,@$(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,echo '  $1 $(@:$(CURDIR)/%=%)';))

lib: $(LIB)

$(LIB): $(OBJ)
	@mkdir -p $(@D)
	$(if $(WITH_CUDA),,@echo "sptrsvgpu: this PETSc has no CUDA: building the host path only")
	$(call say,LINK)$(CLINKER) -shared -Wl,-soname,$(@F) -o $@.new $^ $(PETSC_LIB)
	@mv $@.new $@ # at once: a program may be loading it

COMPILE.dep = -MMD -MP -MF $(@:.o=.d)
$(BUILD)/obj/%.o: %.c $(CONFIG)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -c -std=c11 $(CC_FLAGS) -O3 -Wextra -Wno-unused-parameter $(CCPPFLAGS) -Iinclude -Isrc/kernels $(if $(WITH_CUDA),-DTRSV_CUDA) $(COMPILE.dep) $< -o $@
$(BUILD)/obj/%.cu.o: %.cu $(CONFIG)
	@mkdir -p $(@D)
	$(call say,CUDAC)$(CUDAC) -c $(MPICXX_INCLUDES) $(CUDAC_FLAGS) $(CUDAFLAGS) $(CUDA_HOSTFLAGS) -Isrc/kernels -DTRSV_CUDA $(COMPILE.dep) $< -o $@
-include $(OBJ:.o=.d)

info:
	@printf 'LIB=%q\nPETSC_DIR=%q\nPETSC_ARCH=%q\nCUDA=%q\n' '$(LIB)' '$(PETSC_DIR)' '$(PETSC_ARCH)' '$(CUDA)'

include examples/makefile tests/makefile tests/bench/makefile
endif
endif
