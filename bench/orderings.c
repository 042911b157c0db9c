static char help[] =
  "Iterations and level sets of the orderings natural and multicolor, with PETSc's ILU(0) and ICC(0) on the host.\n\
  -f <file,file,...> : matrices in Matrix Market's format; g2d5:N and g3d7:N are grids\n\
  -o <file>          : a JSON object a line is added to it\n\n";

/*
   Systems: the file's own values, with zeros for missing diagonal entries; for symmetric matrices also a weighted
   Laplacian with a small shift. CG for symmetric matrices, else GMRES(60); rtol 1e-8, b = ones. -dll_append loads the
   plugin, which has the ordering.
*/
#include <petsctime.h>
#include "systems.h"

/* The number of level sets of L in an order; without fill, L has the pattern of the matrix. */
static PetscErrorCode CountLevels(Mat A, IS order, PetscInt *levels)
{
  const PetscInt *i, *j, *row;
  PetscInt        n, *place, *level;
  PetscBool       done;

  PetscFunctionBeginUser;
  *levels = 0;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(PetscMalloc2(n, &place, n, &level));
  PetscCall(ISGetIndices(order, &row));
  for (PetscInt p = 0; p < n; p++) place[row[p]] = p;
  for (PetscInt p = 0; p < n; p++) {
    level[p] = 0;
    for (PetscInt k = i[row[p]]; k < i[row[p] + 1]; k++)
      if (place[j[k]] < p) level[p] = PetscMax(level[p], level[place[j[k]]] + 1);
    *levels = PetscMax(*levels, level[p] + 1);
  }
  PetscCall(ISRestoreIndices(order, &row));
  PetscCall(PetscFree2(place, level));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(FILE *out, Mat A, const char name[], const char values[], PetscBool symmetric,
                              PCType type, const char ordering[], PetscInt *iterations)
{
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  IS                 row, column;
  PetscInt           levels = 0, n;
  PetscLogDouble     start, end;
  KSPConvergedReason reason;
  MatInfo            info;
  PetscBool          jacobi;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, PCJACOBI, &jacobi));
  PetscCall(PetscTime(&start));
  PetscCall(MatGetOrdering(A, ordering, &row, &column));
  PetscCall(PetscTime(&end));
  if (!jacobi) PetscCall(CountLevels(A, row, &levels));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, symmetric ? KSPCG : KSPGMRES));
  PetscCall(KSPGMRESSetRestart(ksp, 60));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 2000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (!jacobi) PetscCall(PCFactorSetMatOrderingType(pc, ordering));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, out,
                         "{\"matrix\": \"%s\", \"rows\": %" PetscInt_FMT
                         ", \"nnz\": %.0f, \"values\": \"%s\", \"ksp\": \"%s\", \"pc\": \"%s\", \"ordering\": \"%s\", "
                         "\"levels\": %" PetscInt_FMT ", \"iterations\": %" PetscInt_FMT
                         ", \"converged\": %s, \"ordering_ms\": %.2f}\n",
                         name, n, info.nz_used, values, symmetric ? "cg" : "gmres", type, jacobi ? "none" : ordering,
                         levels, *iterations, reason > 0 ? "true" : "false", 1e3 * (end - start)));
  if (reason < 0) *iterations = -1;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureAll(FILE *out, Mat A, const char name[], const char values[], PetscBool symmetric)
{
  PetscInt its[2];

  PetscFunctionBeginUser;
  for (int icc = 0; icc <= (int)symmetric; icc++) {
    PetscCall(Measure(out, A, name, values, symmetric, icc ? PCICC : PCILU, MATORDERINGNATURAL, &its[0]));
    PetscCall(Measure(out, A, name, values, symmetric, icc ? PCICC : PCILU, "multicolor", &its[1]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, " %s %s %" PetscInt_FMT " -> %" PetscInt_FMT, values, icc ? "icc" : "ilu",
                          its[0], its[1]));
  }
  PetscCall(Measure(out, A, name, values, symmetric, PCJACOBI, MATORDERINGNATURAL, &its[0]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, " (jacobi %" PetscInt_FMT ");", its[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the file's own values, if it has any; and as a Laplacian, if the matrix is symmetric. */
static PetscErrorCode MeasureFile(FILE *out, const char file[])
{
  Mat       A;
  PetscBool pattern, symmetric;
  char      name[64];

  PetscFunctionBeginUser;
  PetscCall(SystemName(file, name, sizeof(name)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s:", name));
  PetscCall(SystemLoadOwn(file, &A, &pattern, &symmetric));
  if (!pattern) PetscCall(MeasureAll(out, A, name, "own", symmetric));
  if (symmetric && !SystemIsGrid(file)) {
    PetscCall(SystemLaplacian(A, pattern));
    PetscCall(MeasureAll(out, A, name, "laplacian", PETSC_TRUE));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char    *files[256], output[PETSC_MAX_PATH_LEN] = "/dev/null";
  PetscInt count = PETSC_STATIC_ARRAY_LENGTH(files);
  FILE    *out;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-f", files, &count, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-o", output, sizeof(output), NULL));
  PetscCall(PetscFOpen(PETSC_COMM_SELF, output, "a", &out));
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(MeasureFile(out, files[i]));
    PetscCall(PetscFree(files[i]));
  }
  PetscCall(PetscFClose(PETSC_COMM_SELF, out));
  PetscCall(PetscFinalize());
  return 0;
}
