/*
   Messages about files: this library under another name, and a PETSc that is not initialized.

   PETSc derives the name of a plugin's register function from the file name given to -dll_append, without following
   links. In a file of another name it finds no such function and reports nothing. A message then says why nothing is
   registered. The constructor does not register the types itself: it cannot return an error to PETSc, and the loader
   holds its lock, which registration may need to load further libraries.
*/
#define PETSC_DESIRE_FEATURE_TEST_MACROS /* dladdr() */
#include "impl.h"
#include <dlfcn.h>

/* No PetscError(): a PETSc that is not initialized cannot print. */
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

static const char *GetBase(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* The length of a file's name before its last ".so", where PETSc cuts it. */
static size_t StemLength(const char *base)
{
  const char *end = NULL;

  for (const char *at = strstr(base, ".so"); at; at = strstr(at + 1, ".so")) end = at;
  return end ? (size_t)(end - base) : strlen(base);
}

/* Does PETSc find our register function in a file of this name? */
static PetscBool IsRegistered(const char *base)
{
  static const char name[] = "sptrsvgpu";
  const size_t      prefix = strncmp(base, "lib", 3) ? 0 : 3;

  return (PetscBool)(StemLength(base) == prefix + strlen(name) && !strncmp(base + prefix, name, strlen(name)));
}

/* Does this option name the file? */
static PetscBool IsLoadedBy(const char *option, const char *base)
{
  char      *files[32];
  PetscInt64 n      = 32; /* also a PetscInt of 32 bits, on little-endian machines */
  PetscBool  loaded = PETSC_FALSE;

  if (PetscOptionsGetStringArray(NULL, NULL, option, files, (PetscInt *)&n, NULL)) return PETSC_FALSE;
  for (int i = 0; i < (int)n; i++) {
    const char *file = GetBase(files[i]);

    if (StemLength(file) == StemLength(base) && !strncmp(file, base, StemLength(base))) loaded = PETSC_TRUE;
    (void)PetscFree(files[i]);
  }
  return loaded;
}

/* Runs when the file is loaded. A program that links the library has not initialized MPI at that time; a program that
   opens it by dlopen() does not name it in an option. Both get no message. */
__attribute__((constructor)) static void CheckName(void)
{
  Dl_info     info;
  const char *base;
  int         flag, rank;

  if (MPI_Initialized(&flag) || !flag || MPI_Finalized(&flag) || flag) return;
  if (!dladdr((void *)SpTRSVGPUNotInitialized, &info) || !info.dli_fname) return;
  base = GetBase(info.dli_fname);
  if (IsRegistered(base) || PetscOptionsCreateDefault()) return;
  if (!IsLoadedBy("-dll_append", base) && !IsLoadedBy("-dll_prepend", base)) return;
  if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) || rank) return;
  (void)fprintf(stderr,
                "sptrsvgpu: PETSc registers nothing from %s, because it looks for a function named after the file: "
                "name the file, or a link to it, libsptrsvgpu.so\n",
                info.dli_fname);
}
