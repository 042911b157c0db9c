/*
   What depends on the files of the process: the name of this one, and which PETSc it is linked with.

   PETSc derives the name of a plugin's hook from the name of its file, as it is given to -dll_append, without following
   links. In a file of another name PETSc finds no hook and goes on in silence; so this says why nothing is registered.
   It does not register: while a library is loaded no error can be returned to PETSc, and registration may load further
   libraries, for which the loader's lock is held.
*/
#define PETSC_DESIRE_FEATURE_TEST_MACROS /* dladdr() */
#include <sptrsvgpu.h>
#include <dlfcn.h>

PETSC_INTERN PetscErrorCode SpTRSVGPUNotInitialized(void);

/* Not by PetscError(): a PETSc that is not initialized cannot print. */
PetscErrorCode SpTRSVGPUNotInitialized(void)
{
  Dl_info     info;
  const char *name = dladdr((void *)PetscGetVersionNumber, &info) && info.dli_fname ? info.dli_fname : "unknown";

  (void)fprintf(stderr,
                "sptrsvgpu: the PETSc that this library is linked with (%s) is not initialized: call "
                "SpTRSVGPURegister() after PetscInitialize(), or, where the program runs another copy of PETSc, build "
                "sptrsvgpu with that one's PETSC_DIR\n",
                name);
  return PETSC_ERR_LIB;
}

static const char *Base(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* The last ".so" of a file's name and what follows, where PETSc cuts it. */
static size_t Length(const char *base)
{
  const char *end = NULL;

  for (const char *at = strstr(base, ".so"); at; at = strstr(at + 1, ".so")) end = at;
  return end ? (size_t)(end - base) : strlen(base);
}

/* Does PETSc find the hook in a file of this name? */
static PetscBool Found(const char *base)
{
  static const char name[] = "sptrsvgpu";
  const size_t      prefix = strncmp(base, "lib", 3) ? 0 : 3;

  return (PetscBool)(Length(base) == prefix + strlen(name) && !strncmp(base + prefix, name, strlen(name)));
}

/* Is this file named by the option? */
static PetscBool IsLoadedBy(const char *option, const char *base)
{
  char      *files[32];
  PetscInt64 n      = 32; /* a PetscInt of any size, where the lowest byte is the first one */
  PetscBool  loaded = PETSC_FALSE;

  if (PetscOptionsGetStringArray(NULL, NULL, option, files, (PetscInt *)&n, NULL)) return PETSC_FALSE;
  for (int i = 0; i < (int)n; i++) {
    const char *file = Base(files[i]);

    if (Length(file) == Length(base) && !strncmp(file, base, Length(base))) loaded = PETSC_TRUE;
    (void)PetscFree(files[i]);
  }
  return loaded;
}

/* Runs when the file is loaded. A program that links it has not initialized MPI then; one that opens it by itself has
   not named it in an option. */
__attribute__((constructor)) static void CheckName(void)
{
  Dl_info     info;
  const char *base;
  int         flag, rank;

  if (MPI_Initialized(&flag) || !flag || MPI_Finalized(&flag) || flag) return;
  if (!dladdr((void *)SpTRSVGPUNotInitialized, &info) || !info.dli_fname) return;
  base = Base(info.dli_fname);
  if (Found(base) || PetscOptionsCreateDefault()) return;
  if (!IsLoadedBy("-dll_append", base) && !IsLoadedBy("-dll_prepend", base)) return;
  if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) || rank) return;
  (void)fprintf(stderr,
                "sptrsvgpu: PETSc registers nothing from %s, because it looks for a function named after the file: "
                "name the file, or a link to it, libsptrsvgpu.so\n",
                info.dli_fname);
}
