static char help[] =
  "Blocks that indices of 32 bits do not suffice for: an error that names the size, and a sound matrix afterwards.\n\n";

#include "../common.h"
#include <petsc/private/isimpl.h>
#include <sptrsvgpu.h>

static PetscErrorCode (*getinfo)(Mat, MatInfoType, MatInfo *);

/* A matrix that reports more nonzeros than it stores */
static PetscErrorCode GetInfoLarge(Mat A, MatInfoType type, MatInfo *info)
{
  PetscFunctionBeginUser;
  PetscCall((*getinfo)(A, type, info));
  info->nz_used = 3e9;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const char what[], PetscErrorCode ierr, const char has[])
{
  PetscFunctionBeginUser;
  if (ierr != (has ? PETSC_ERR_SUP : PETSC_SUCCESS) || (has && !strstr(message, has)))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: error %d, %s\n", what, (int)ierr, message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Set-up of a matrix whose layouts say that it has one row more than is allowed; afterwards they are right, for another
   PC: the first one has an order of so many rows */
static PetscErrorCode CheckRows(Mat A)
{
  PetscLayout rows, columns;
  PetscInt    n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLayouts(A, &rows, &columns));
  n = rows->n;
  for (int afterwards = 0; afterwards < 2; afterwards++) {
    PC             pc;
    PetscErrorCode ierr;

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    PetscCall(PCSetOperators(pc, A, A));
    rows->n = rows->N = columns->n = columns->N = afterwards ? n : INT_MAX;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    rows->n = rows->N = columns->n = columns->N = n;
    PetscCall(Check(afterwards ? "set-up afterwards" : "set-up by rows", ierr,
                    afterwards ? NULL
                               : "The block of this rank has 2147483647 rows and 460 nonzeros; sptrsvgpu orders, and "
                                 "solves with, at most 2147483646 rows and 2147483647 nonzeros"));
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same by nonzeros, where PetscInt can count them */
static PetscErrorCode CheckNonzeros(Mat A)
{
  Mat             plain;
  PC              pc;
  IS              row, column;
  const PetscInt *i, *j;
  PetscInt        n, entries;
  PetscBool       done;
  PetscErrorCode  ierr;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(MatGetOperation(A, MATOP_GETINFO, (void (**)(void)) & getinfo));
  PetscCall(MatSetOperation(A, MATOP_GETINFO, (void (*)(void))GetInfoLarge));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Check("set-up", ierr,
                  "The block of this rank has 100 rows and 3000000000 nonzeros; sptrsvgpu orders, and solves with, "
                  "at most 2147483646 rows and 2147483647 nonzeros"));
  PetscCall(MatSetOperation(A, MATOP_GETINFO, (void (*)(void))getinfo));
  PetscCall(Check("set-up afterwards", PCSetUp(pc), NULL));
  PetscCall(PCDestroy(&pc));

  /* the pattern, on the host */
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatGetRowIJ(plain, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  entries            = i[n];
  ((PetscInt *)i)[n] = (PetscInt)3000000000LL;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = MatGetOrdering(plain, MATORDERINGMULTICOLOR, &row, &column);
  PetscCall(PetscPopErrorHandler());
  ((PetscInt *)i)[n] = entries;
  PetscCall(MatRestoreRowIJ(plain, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(Check("ordering", ierr, "has 100 rows and 3000000000 nonzeros"));
  PetscCall(Check("ordering afterwards", MatGetOrdering(plain, MATORDERINGMULTICOLOR, &row, &column), NULL));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*getfactor)(Mat, MatFactorType, Mat *);

/* PETSc's factor, which reports more nonzeros than it stores */
static PetscErrorCode GetFactorLarge(Mat A, MatFactorType type, Mat *F)
{
  PetscFunctionBeginUser;
  PetscCall((*getfactor)(A, type, F));
  PetscCall(MatGetOperation(*F, MATOP_GETINFO, (void (**)(void)) & getinfo));
  PetscCall(MatSetOperation(*F, MATOP_GETINFO, (void (*)(void))GetInfoLarge));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix fits, the factor that PETSc makes of it does not. */
static PetscErrorCode CheckFill(Mat A)
{
  PetscFunctionBeginUser;
  for (int afterwards = 0; afterwards < 2; afterwards++) {
    PC             pc;
    PetscErrorCode ierr;

    PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, NULL, NULL, &getfactor));
    if (!afterwards) PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, GetFactorLarge));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCFactorSetLevels(pc, 1));
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    if (!afterwards) PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, getfactor));
    PetscCall(Check(afterwards ? "levels of fill afterwards" : "levels of fill", ierr,
                    afterwards ? NULL : "has 100 rows and 3000000000 nonzeros"));
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc factors, and solves with, blocks of every size: views say what is left out, zero pivots are found. */
static PetscErrorCode CheckHost(Mat A)
{
  PC             pc;
  PCFailedReason reason;
  PetscViewer    nowhere;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "/dev/null", &nowhere));
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, NULL, NULL, &getfactor));
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, GetFactorLarge));
  for (int zero = 0; zero < 2; zero++) {
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ILU));
    PetscCall(PCSetOptionsPrefix(pc, "plain_")); /* no algorithm is named */
    if (zero) PetscCall(MatZeroEntries(A));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(Check(zero ? "zero pivot on the host" : "set-up on the host", PCSetUp(pc), NULL));
    PetscCall(PCGetFailedReason(pc, &reason));
    if (reason != (zero ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR))
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "on the host: reason %d\n", (int)reason));
    PetscCall(Check("view on the host", PCView(pc, nowhere), NULL));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, getfactor));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscViewerDestroy(&nowhere));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 100, &A));
  PetscCall(CheckRows(A));
  PetscCall(CheckFill(A));
  PetscCall(CheckHost(A));
  if (PetscDefined(USE_64BIT_INDICES)) PetscCall(CheckNonzeros(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: !debug
      output_file: output/empty.out
      test:
         suffix: host
         args: -mat_type aij -mat_sptrsvgpu_algorithm serial
      test:
         suffix: device
         requires: cuda
         args: -mat_type aijcusparse

TEST*/
