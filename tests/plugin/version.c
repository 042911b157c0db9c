static char help[] = "The check of the PETSc that runs, given other answers than this one's.\n\n";

#include <petsc.h>

/* The answers of a PETSc to src/plugin/version.c; sizes of PetscInt and PetscBool are those that it writes. */
static struct {
  int         major, minor, release, index;
  size_t      boolean, scalar;
  const char *type;
  PetscBool   cuda, kokkos, saws;
} running;

static void Write(void *to, size_t size, PetscInt64 value)
{
  const int narrow = (int)value;

  if (size == 8) memcpy(to, &value, 8);
  else if (size == 4) memcpy(to, &narrow, 4);
  else *(char *)to = (char)value;
}

static PetscErrorCode FakeVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  Write(major, running.index, running.major);
  Write(minor, running.index, running.minor);
  Write(subminor, running.index, 7);
  Write(release, running.index, running.release);
  return PETSC_SUCCESS;
}

static PetscErrorCode FakeFromString(const char name[], PetscDataType *type, PetscBool *found)
{
  PetscBool own;

  PetscFunctionBeginUser;
  PetscCall(PetscDataTypeFromString(strcmp(name, "scalar") ? name : running.type, type, &own));
  Write(found, running.boolean, own);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FakeSize(PetscDataType type, size_t *size)
{
  *size = type == PETSC_INT ? (size_t)running.index : running.scalar;
  return PETSC_SUCCESS;
}

static PetscErrorCode FakePackage(const char name[], PetscBool *has)
{
  Write(has, running.boolean,
        (!strcmp(name, "cuda") && running.cuda) || (!strcmp(name, "kokkos") && running.kokkos) ||
          (!strcmp(name, "saws") && running.saws));
  return PETSC_SUCCESS;
}

#define PetscGetVersionNumber   FakeVersionNumber
#define PetscDataTypeFromString FakeFromString
#define PetscDataTypeGetSize    FakeSize
#define PetscHasExternalPackage FakePackage
#include "../src/plugin/version.c"

static char message[512];

#if PetscDefined(USE_64BIT_INDICES)
  #define INDICES       "64-bit indices"
  #define OTHER_INDICES "32-bit indices"
#else
  #define INDICES       "32-bit indices"
  #define OTHER_INDICES "64-bit indices"
#endif

/* Scalars: PETSc's answer, and their name in the message */
static const struct {
  const char *type;
  size_t      bytes;
  const char *text;
} scalars[] = {{"double", 8, ", real double scalars, "},
               {"float", 4, ", real single scalars, "},
               {"complex", 8, ", complex single scalars, "}, /* no larger than a double */
               {"complex", 16, ", complex double scalars, "}};
static const int own =
  2 * PetscDefined(USE_COMPLEX) +
  (PetscDefined(USE_COMPLEX) ? sizeof(PetscReal) == 8 : sizeof(PetscReal) == 4); /* scalars of this PETSc */

static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                           PetscErrorType type, const char *text, void *context)
{
  if (type == PETSC_ERROR_INITIAL) (void)PetscStrncpy(message, text, sizeof(message));
  return code;
}

/* Expects acceptance if nothing is wrong; otherwise one sentence with the version of sptrsvgpu, the PETSc that it was
   built for, and the one that runs */
static PetscErrorCode Check(const char what[], const char runs[])
{
  static const char sentence[] = "sptrsvgpu " SPTRSVGPU_VERSION " was built for PETSc ";
  PetscErrorCode    ierr;
  char              built[64];
  PetscBool         right;

  PetscFunctionBeginUser;
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = SpTRSVGPUCheckPetsc();
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscSNPrintf(built, sizeof(built), "%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR));
  if (!ierr != !runs) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: error %d\n", what, (int)ierr));
  if (!ierr || !runs) PetscFunctionReturn(PETSC_SUCCESS);
  right = (PetscBool)(!strncmp(message, sentence, strlen(sentence)) &&
                      !strncmp(message + strlen(sentence), built, strlen(built)));
  if (!right || !strstr(message, runs) || !strstr(message, "PETSC_DIR"))
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ResetRunning(void)
{
  running.major   = PETSC_VERSION_MAJOR;
  running.minor   = PETSC_VERSION_MINOR;
  running.release = PETSC_VERSION_RELEASE;
  running.index   = sizeof(PetscInt);
  running.boolean = sizeof(PetscBool);
  running.type    = scalars[own].type;
  running.scalar  = sizeof(PetscScalar);
  running.cuda    = PetscDefined(HAVE_CUDA);
  running.kokkos  = (PetscBool)(PetscDefined(HAVE_DEVICE) && !running.cuda);
  running.saws    = PetscDefined(HAVE_SAWS);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  for (size_t size = 1; size <= 4; size += 3) { /* of a PetscBool: bool, and the enum of older versions */
    ResetRunning();
    running.boolean = size;
    PetscCall(Check("the same", NULL));
    running.minor--;
    PetscCall(Check("an older one", "this program runs PETSc " PetscStringize(PETSC_VERSION_MAJOR) "."));
    ResetRunning();
    running.boolean = size;
    running.major++;
    PetscCall(Check("a newer one", "; this program runs PETSc "));
    ResetRunning();
    running.boolean = size;
    running.release = !PETSC_VERSION_RELEASE;
    PetscCall(Check("a development version", PETSC_VERSION_RELEASE ? "(development)" : scalars[own].text));
    ResetRunning();
    running.boolean = size;
    running.cuda    = (PetscBool)!running.cuda;
    running.kokkos  = PETSC_FALSE;
    PetscCall(Check("CUDA", running.cuda ? INDICES ", with CUDA: build sptrsvgpu again"
                                         : INDICES ", without CUDA: build sptrsvgpu again"));
    ResetRunning();
    running.boolean = size;
    running.kokkos  = PETSC_TRUE;
    running.cuda    = PETSC_FALSE;
    if (!PetscDefined(HAVE_DEVICE) || PetscDefined(HAVE_CUDA))
      PetscCall(Check("Kokkos", "with a GPU package other than CUDA: "));
    ResetRunning();
    running.boolean = size;
    running.saws    = (PetscBool)!running.saws;
    PetscCall(Check("SAWs", running.saws ? ", with SAWs: " : INDICES ", "));
    ResetRunning();
    running.boolean = size;
    running.index   = 12 - (int)sizeof(PetscInt);
    PetscCall(Check("other indices", OTHER_INDICES ", "));
    for (int k = 0; k < 4; k++) {
      if (k == own) continue;
      ResetRunning();
      running.boolean = size;
      running.type    = scalars[k].type;
      running.scalar  = scalars[k].bytes;
      PetscCall(Check("other scalars", scalars[k].text));
    }
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      output_file: output/empty.out

TEST*/
