static char help[] =
  "The library under other names, and a program that opens it by itself. It starts itself again for each case:\n\
  -own <file> : opens the file and registers by itself\n\
  -before     : before PetscInitialize()\n\n";

#define PETSC_DESIRE_FEATURE_TEST_MACROS /* symlink(), popen() */
#include <petscksp.h>
#include <dlfcn.h>
#include <unistd.h>

/* In the child program: prints whether the type of PC exists. */
static int RunChild(int argc, char **args)
{
  char        file[PETSC_MAX_PATH_LEN] = "";
  PetscBool   before                   = PETSC_FALSE;
  PC          pc;
  const char *answer = "not registered";
  PetscErrorCode (*create)(PC);

  PetscFunctionBeginUser;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(args[i], "-own")) (void)snprintf(file, sizeof(file), "%s", args[i + 1]);
    if (!strcmp(args[i], "-before")) before = PETSC_TRUE;
  }
  if (before) {
    PetscErrorCode (*registers)(void) = (PetscErrorCode(*)(void))dlsym(dlopen(file, RTLD_NOW), "SpTRSVGPURegister");

    if (!(*registers)()) (void)printf("no error\n");
    return 0;
  }
  PetscCall(PetscInitialize(&argc, &args, NULL, NULL));
  if (file[0]) {
    void *handle                      = dlopen(file, RTLD_NOW);
    PetscErrorCode (*registers)(void) = handle ? (PetscErrorCode(*)(void))dlsym(handle, "SpTRSVGPURegister") : NULL;

    PetscCheck(registers, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", dlerror());
    PetscCall((*registers)());
  }
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PetscFunctionListFind(PCList, "sptrsvgpu", &create));
  if (create) {
    PetscCall(PCSetType(pc, "sptrsvgpu"));
    answer = "registered";
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", answer));
  PetscCall(PetscFinalize());
  return 0;
}

/* Starts the program without the parent's environment, because MPI may take the child for a part of the parent; prints
   its output without the folder and without text in brackets, which has the path of PETSc. */
static void StartProgram(const char what[], const char self[], const char environment[], const char folder[],
                         const char options[])
{
  char        command[4 * PETSC_MAX_PATH_LEN], line[2 * PETSC_MAX_PATH_LEN];
  const char *path = getenv("LD_LIBRARY_PATH");
  FILE       *pipe;

  (void)snprintf(command, sizeof(command),
                 "env -i PATH=\"$PATH\" HOME=\"$HOME\" LD_LIBRARY_PATH=\"%s\" %s %s -child -options_left 0 %s 2>&1",
                 path ? path : "", environment, self, options);
  (void)fflush(stdout);
  pipe = popen(command, "r");
  while (pipe && fgets(line, sizeof(line), pipe)) {
    char *at = strstr(line, folder), *open = strchr(line, '('), *end = strchr(line, ')');

    if (open && end) (void)printf("%s: %.*s%s", what, (int)(open + 1 - line), line, end);
    else if (at) (void)printf("%s: %.*s%s", what, (int)(at - line), line, at + strlen(folder) + 1);
    else (void)printf("%s: %s", what, line);
  }
  if (!pipe || pclose(pipe)) (void)printf("%s: failed\n", what);
}

int main(int argc, char **args)
{
  static const char *const names[]  = {"libsptrsvgpu.so", "libsptrsvgpu.so.0", "libsptrsvgpu.so.0.1.0", "sptrsvgpu.so",
                                       "libother.so",     "libsptrsvgpu-0.so", "libsptrsvgpu2.so.0"};
  const char              *library  = getenv("SPTRSV_LIB");
  char                     folder[PETSC_MAX_PATH_LEN / 2], path[PETSC_MAX_PATH_LEN], text[4 * PETSC_MAX_PATH_LEN];
  Dl_info                  c;

  if (argc > 1 && !strcmp(args[1], "-child")) return RunChild(argc, args);
  if (!library || !getcwd(folder, sizeof(folder) - 16) || !mkdtemp(strcat(folder, "/plugin-XXXXXX"))) {
    (void)printf("%sno SPTRSV_LIB, or no folder\n", help);
    return 1;
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); i++) {
    (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
    if (symlink(library, path)) return 1;
    (void)snprintf(text, sizeof(text), "-dll_append %s", path);
    StartProgram(names[i], args[0], "", folder, text);
  }
  (void)snprintf(text, sizeof(text), "-dll_append %s/libother", folder);
  StartProgram("without .so", args[0], "", folder, text);
  (void)snprintf(text, sizeof(text), "-dll_prepend %s/libother.so", folder);
  StartProgram("before others", args[0], "", folder, text);
  (void)snprintf(text, sizeof(text), "-own %s/libother.so", folder);
  StartProgram("opened by the program", args[0], "", folder, text);
  /* another library, whose name begins like that of ours */
  (void)snprintf(path, sizeof(path), "%s/libother2.so", folder);
  if (!dladdr(dlsym(dlopen(NULL, RTLD_NOW), "fprintf"), &c) || symlink(c.dli_fname, path)) return 1;
  (void)snprintf(text, sizeof(text), "-own %s/libother.so -dll_append %s", folder, path);
  StartProgram("opened beside another", args[0], "", folder, text);
  (void)unlink(path);
  (void)snprintf(text, sizeof(text), "-before -own %s/libother.so", folder);
  StartProgram("too early", args[0], "", folder, text);
  (void)snprintf(text, sizeof(text), "LD_PRELOAD=%s/libother.so", folder);
  StartProgram("linked", args[0], text, folder, "");
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); i++) {
    (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
    (void)unlink(path);
  }
  (void)rmdir(folder);
  return 0;
}

/*TEST

   test:

TEST*/
