/*
   Checks that this library was built for the PETSc that runs.

   The layouts of PETSc's objects depend on its minor version, on the types of scalars and indices, on CUDA or another
   GPU package, and on SAWs. A library built for other layouts would corrupt memory, although the loader finds all
   functions.
*/
#include "impl.h"

/* The properties of a PETSc on which layouts depend. */
typedef struct {
  int    major, minor, release; /* release: 1, or another number for a development version */
  int    type;                  /* PetscDataType of PetscScalar */
  size_t scalar, index;         /* bytes of PetscScalar and PetscInt */
  int    cuda, device;          /* device: CUDA or another package for GPUs */
  int    saws;                  /* PETSc's objects then have more members */
} Build;

/* Receives a PetscInt or a PetscBool of the PETSc that runs, whose size there may differ from that of the build. */
typedef union {
  int        narrow;
  PetscInt64 wide;
  PetscInt   index;
  PetscBool  flag;
} Foreign;

static Build GetBuild(void)
{
  return (Build){.major   = PETSC_VERSION_MAJOR,
                 .minor   = PETSC_VERSION_MINOR,
                 .release = PETSC_VERSION_RELEASE,
                 .type    = (int)PETSC_SCALAR,
                 .scalar  = sizeof(PetscScalar),
                 .index   = sizeof(PetscInt),
                 .cuda    = PetscDefined(HAVE_CUDA),
                 .device  = PetscDefined(HAVE_DEVICE),
                 .saws    = PetscDefined(HAVE_SAWS)};
}

static int ToInt(const Foreign *f, size_t size) { return size == sizeof(f->wide) ? (int)f->wide : f->narrow; }

static PetscErrorCode HasPackage(const char name[], int *has)
{
  Foreign found = {.wide = 0};

  PetscFunctionBegin;
  PetscCall(PetscHasExternalPackage(name, &found.flag));
  *has = found.wide != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetRunning(Build *b)
{
  static const char *const devices[] = {"hip", "sycl", "kokkos", "viennacl"};
  Foreign       major = {.wide = 0}, minor = {.wide = 0}, subminor = {.wide = 0}, release = {.wide = 0};
  Foreign       found = {.wide = 0};
  PetscDataType type  = PETSC_DATATYPE_UNKNOWN;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeFromString("int", &type, &found.flag));
  PetscCall(PetscDataTypeGetSize(type, &b->index));
  PetscCall(PetscDataTypeFromString("scalar", &type, &found.flag));
  PetscCall(PetscDataTypeGetSize(type, &b->scalar));
  b->type = (int)type;
  PetscCall(PetscGetVersionNumber(&major.index, &minor.index, &subminor.index, &release.index));
  b->major   = ToInt(&major, b->index);
  b->minor   = ToInt(&minor, b->index);
  b->release = ToInt(&release, b->index);
  PetscCall(HasPackage("saws", &b->saws));
  PetscCall(HasPackage("cuda", &b->cuda));
  b->device = b->cuda;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(devices) && !b->device; i++)
    PetscCall(HasPackage(devices[i], &b->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *ScalarName(const Build *b)
{
  switch (b->type) {
  case PETSC_DOUBLE: return "real double";
  case PETSC_FLOAT: return "real single";
  case PETSC_COMPLEX:
    if (b->scalar == 8) return "complex single";
    return b->scalar == 16 ? "complex double" : "complex quadruple";
  case PETSC___FLOAT128: return "real quadruple";
  default: return "other";
  }
}

/* Builds with the same description have the same layouts. */
static PetscErrorCode DescribeBuild(const Build *b, char text[], size_t size)
{
  const char *development = b->release == 1 ? "" : " (development)";
  const char *device      = b->cuda ? "with CUDA" : b->device ? "with a GPU package other than CUDA" : "without CUDA";

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, size, "PETSc %d.%d%s, %s scalars, %d-bit indices, %s%s", b->major, b->minor,
                          development, ScalarName(b), 8 * (int)b->index, device, b->saws ? ", with SAWs" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails if the PETSc that runs is not the one of the build. To be called before any other function of that PETSc. */
PetscErrorCode SpTRSVGPUCheckPetsc(void)
{
  const Build build = GetBuild();
  Build       running;
  char        built_for[128], runs[128];

  PetscFunctionBegin;
  PetscCall(GetRunning(&running));
  PetscCall(DescribeBuild(&build, built_for, sizeof(built_for)));
  PetscCall(DescribeBuild(&running, runs, sizeof(runs)));
  PetscCheck(!strcmp(built_for, runs), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "sptrsvgpu %s was built for %s; this program runs %s: build sptrsvgpu again with this PETSc's PETSC_DIR",
             SPTRSVGPU_VERSION, built_for, runs);
  PetscFunctionReturn(PETSC_SUCCESS);
}
