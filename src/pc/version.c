/*
   Whether this library was built for the PETSc that runs.

   Layouts of PETSc's objects depend on its minor version, on the types of its scalars and indices, and on CUDA or
   another package for GPUs. A library that was built for others would corrupt memory, although PETSc has all the
   functions that it calls.
*/
#include <sptrsvgpu.h>

PETSC_INTERN PetscErrorCode SpTRSVGPUCheckPetsc(void);

/* A PETSc, as far as layouts depend on it. */
typedef struct {
  int    major, minor, release; /* release: 1, or another number for a development version */
  int    type;                  /* PetscDataType of PetscScalar */
  size_t scalar, index;         /* bytes of PetscScalar and PetscInt */
  int    cuda, device;          /* device: CUDA or another package for GPUs */
} Build;

/* Takes a PetscInt or a PetscBool from the PETSc that runs, which may have another size there than here. */
typedef union {
  int        narrow;
  PetscInt64 wide;
  PetscInt   index;
  PetscBool  flag;
} Foreign;

static Build BuiltFor(void)
{
  Build b;

  b.major   = PETSC_VERSION_MAJOR;
  b.minor   = PETSC_VERSION_MINOR;
  b.release = PETSC_VERSION_RELEASE;
  b.type    = (int)PETSC_SCALAR;
  b.scalar  = sizeof(PetscScalar);
  b.index   = sizeof(PetscInt);
  b.cuda    = PetscDefined(HAVE_CUDA);
  b.device  = PetscDefined(HAVE_DEVICE);
  return b;
}

static int Integer(const Foreign *f, size_t size) { return size == sizeof(f->wide) ? (int)f->wide : f->narrow; }

static PetscErrorCode GetRunning(Build *b)
{
  static const char *const packages[] = {"cuda", "hip", "sycl", "kokkos", "viennacl"};
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
  b->major   = Integer(&major, b->index);
  b->minor   = Integer(&minor, b->index);
  b->release = Integer(&release, b->index);
  b->cuda = b->device = 0;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(packages); i++) {
    Foreign has = {.wide = 0};

    PetscCall(PetscHasExternalPackage(packages[i], &has.flag));
    if (has.wide && !i) b->cuda = 1;
    if (has.wide) b->device = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool AreEqual(const Build *a, const Build *b)
{
  if (a->major != b->major || a->minor != b->minor || a->release != b->release) return PETSC_FALSE;
  if (a->type != b->type || a->scalar != b->scalar || a->index != b->index) return PETSC_FALSE;
  return (PetscBool)(a->cuda == b->cuda && a->device == b->device);
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

static PetscErrorCode Describe(const Build *b, char text[], size_t size)
{
  const char *development = b->release == 1 ? "" : " (development)";
  const char *device      = b->cuda ? "with CUDA" : b->device ? "with a GPU package other than CUDA" : "without CUDA";

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, size, "PETSc %d.%d%s, %s scalars, %d-bit indices, %s", b->major, b->minor, development,
                          ScalarName(b), 8 * (int)b->index, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails where the PETSc that runs is another than the one of the build; to be called before anything else of it. */
PetscErrorCode SpTRSVGPUCheckPetsc(void)
{
  const Build build = BuiltFor();
  Build       now;
  char        text[2][128];

  PetscFunctionBegin;
  PetscCall(GetRunning(&now));
  PetscCall(Describe(&build, text[0], sizeof(text[0])));
  PetscCall(Describe(&now, text[1], sizeof(text[1])));
  PetscCheck(AreEqual(&build, &now), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "sptrsvgpu %s was built for %s; this program runs %s: build sptrsvgpu again with this PETSc's PETSC_DIR",
             SPTRSVGPU_VERSION, text[0], text[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
