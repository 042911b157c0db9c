static char help[] = "Solves a linear system with a matrix from a file, Matrix Market (.gz, .xz) or PETSc binary.\n\
  -f <file>            : the matrix\n\
  -rhs <ones|random|file> : right-hand side: A times ones (default), seeded random numbers, or a Vec in PETSc binary\n\
  -complete_diagonal   : store a zero on the diagonal if the file has no entry there (otherwise that is an error)\n\
  -values <file|dominant> : the file's values (default), or seeded diagonally dominant values, for a pattern\n\
  -spd <bool>          : whether the matrix is known to be symmetric positive definite\n\n";

/*
   The program changes the matrix only if an option requests it, and prints every change. A matrix is known to be
   symmetric positive definite with -spd, or if the file is real, symmetric and diagonally dominant. The solver is CG
   for such a matrix, and for every real symmetric or Hermitian file with a positive diagonal: CG fails with a clear
   reason if that matrix is indefinite. Otherwise the solver is GMRES.
*/
#include <petscksp.h>
#include <petsctime.h>
#include "mtx.h"

/* Reads a Matrix Market file, and prints its properties and all changes to it. */
static PetscErrorCode LoadMtx(Mat A, const char file[], PetscBool *cg, PetscBool *spd)
{
  static const char *const values[] = {"file", "dominant", "values", "", NULL};
  MtxReport                r;
  MtxValues                kind     = MTX_VALUES_FILE;
  PetscBool                complete = PETSC_FALSE, symmetric, hermitian, imaginary;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-complete_diagonal", &complete, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-values", values, (PetscEnum *)&kind, NULL));
  PetscCall(MtxLoad(A, file, kind, complete, &r));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "file:       Matrix Market, %s %s, %" PetscInt_FMT " entries\n", r.field,
                        r.symmetry, r.stored));
  if (r.generated)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "            values replaced by seeded, diagonally dominant ones\n"));
  if (r.above)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "            %" PetscInt_FMT
                          " entries are above the diagonal, where a symmetric file has none; taken with their mirror "
                          "images\n",
                          r.above));
  if (r.duplicates)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "            %" PetscInt_FMT
                          " entries have the place of an earlier one and were added to it\n",
                          r.duplicates));
  if (r.notfinite)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "            %" PetscInt_FMT " entries are NaN or infinite\n",
                          r.notfinite));
  if (r.completed)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "            %" PetscInt_FMT " rows had no entry on the diagonal and were given %s\n",
                          r.missing, r.generated ? "one" : "a zero"));
  PetscCheck(r.rows == r.cols, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "%s: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: not square", file, r.rows, r.cols);
  PetscCheck(!r.missing || r.completed, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONGSTATE,
             "%s: %" PetscInt_FMT " rows have no entry on the diagonal, the first of them row %" PetscInt_FMT
             " (0-based); -complete_diagonal stores zeros there",
             file, r.missing, r.firstmissing);
  PetscCall(PetscStrcmp(r.symmetry, "symmetric", &symmetric));
  PetscCall(PetscStrcmp(r.symmetry, "hermitian", &hermitian));
  PetscCall(PetscStrcmp(r.field, "complex", &imaginary));
  if (imaginary) symmetric = PETSC_FALSE;
  *spd = symmetric && r.dominant ? PETSC_TRUE : PETSC_FALSE;
  *cg  = (symmetric || hermitian) && r.positive ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadBinary(Mat A, const char file[])
{
  PetscViewer viewer;
  PetscInt    m, n, class = 0, count;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  PetscCall(PetscViewerBinaryRead(viewer, &class, 1, &count, PETSC_INT));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCheck(class == MAT_FILE_CLASSID, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "%s is no matrix: neither Matrix Market nor PETSc binary with indices of %d bits", file,
             8 * (int)sizeof(PetscInt));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "file:       PETSc binary\n"));
  PetscCall(MatGetSize(A, &m, &n));
  PetscCheck(m == n, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "%s: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: not square", file, m, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRightHandSide(Mat A, Vec b, Vec x)
{
  char        rhs[PETSC_MAX_PATH_LEN] = "ones";
  PetscBool   ones, random;
  PetscRandom generator;
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rhs", rhs, sizeof(rhs), NULL));
  PetscCall(PetscStrcmp(rhs, "ones", &ones));
  PetscCall(PetscStrcmp(rhs, "random", &random));
  if (ones) {
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(A, x, b));
  } else if (random) {
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &generator));
    PetscCall(PetscRandomSetFromOptions(generator));
    PetscCall(VecSetRandom(b, generator));
    PetscCall(PetscRandomDestroy(&generator));
  } else {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, rhs, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(b, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rhs:        %s\n", ones ? "A times ones" : rhs));
  PetscCall(VecSet(x, 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char               file[PETSC_MAX_PATH_LEN];
  Mat                A;
  Vec                b, x, r;
  KSP                ksp;
  PC                 pc;
  KSPType            ksptype;
  PCType             pctype;
  KSPConvergedReason reason;
  MatInfo            info;
  PetscInt           n, iterations;
  PetscReal          norm, residual;
  PetscLogDouble     t0, t1, t2, t3;
  PetscBool          given, is, cg = PETSC_FALSE, spd = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), &given));
  PetscCheck(given, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-f <file> says which matrix to solve with");

  PetscCall(PetscTime(&t0));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MtxTest(file, &is));
  if (is) PetscCall(LoadMtx(A, file, &cg, &spd));
  else PetscCall(LoadBinary(A, file));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spd", &spd, NULL));
  if (spd) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscTime(&t1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrix:     %" PetscInt_FMT " rows, %.0f entries%s; read in %.2f s\n", n,
                        info.nz_used, spd ? ", symmetric positive definite" : "", t1 - t0));

  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(SetRightHandSide(A, b, x));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  if (cg || spd) PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&t1));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscTime(&t2));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscTime(&t3));

  PetscCall(KSPGetType(ksp, &ksptype));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &pctype));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solver:     %s, %s\n", ksptype, pctype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT ", %s\n", iterations,
                        KSPConvergedReasons[reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual:   |b - A x| / |b| = %.1e\n", (double)(residual / norm)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time:       set-up %.3f s, solve %.3f s\n", t2 - t1, t3 - t2));

  PetscCall(PetscObjectViewFromOptions((PetscObject)ksp, NULL, "-solver_view")); /* not part of the times */
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build:
      depends: mtx.c

   testset:
      args: -ksp_rtol 1e-8 -pc_type sptrsvgpu
      filter: grep -v -e time: | sed -e "s%; read in.*%%"
      test:
         suffix: mtx
         args: -f data/poisson.mtx
         localrunfiles: data/poisson.mtx
      test:
         suffix: gz
         args: -f data/poisson.mtx.gz
         localrunfiles: data/poisson.mtx.gz
         output_file: output/ex2_mtx.out
      test:
         suffix: xz
         nsize: 2
         args: -f data/poisson.mtx.xz
         localrunfiles: data/poisson.mtx.xz
      test:
         suffix: binary
         requires: double !complex !defined(PETSC_USE_64BIT_INDICES)
         args: -f data/poisson.petsc -spd
         localrunfiles: data/poisson.petsc
      test:
         suffix: rhs
         requires: double !complex !defined(PETSC_USE_64BIT_INDICES)
         args: -f data/poisson.mtx -rhs data/rhs.petsc
         localrunfiles: data/poisson.mtx data/rhs.petsc
      test:
         suffix: random
         args: -f data/poisson.mtx -rhs random
         localrunfiles: data/poisson.mtx
      test:
         suffix: indefinite
         args: -f data/poisson.mtx -spd 0
         localrunfiles: data/poisson.mtx
      test:
         suffix: pattern
         requires: double
         args: -f data/pattern.mtx -values dominant -complete_diagonal
         localrunfiles: data/pattern.mtx

   testset:
      args: -pc_type sptrsvgpu
      test:
         suffix: missing
         args: -f data/pattern.mtx -values dominant
         localrunfiles: data/pattern.mtx
         filter: Error: grep -E -o "data/pattern.mtx: .*"
      test:
         suffix: no_values
         args: -f data/pattern.mtx
         localrunfiles: data/pattern.mtx
         filter: Error: grep -E -o "data/pattern.mtx:1: .*"
      test:
         suffix: no_matrix
         args: -f data/text.txt
         localrunfiles: data/text.txt
         filter: Error: grep -E -o "data/text.txt is no matrix.*PETSc binary"
      test:
         suffix: no_file
         filter: Error: grep -o -e "-f <file> says which matrix"

TEST*/
