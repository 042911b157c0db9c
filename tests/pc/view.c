static char help[] =
  "What the views show: the version, the order, a selection that is not used, settings by names, "
  "a zero pivot.\n\n";

#include "../common.h"
#include <sptrsvgpu.h>

static PetscErrorCode Check(PC pc, const char what[], const char has[], const char lacks[])
{
  char        text[16384];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(ViewText((PetscObject)pc, text, sizeof(text)));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank && has && !strstr(text, has))
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the view lacks \"%s\":\n%s", what, has, text));
  if (!rank && lacks && strstr(text, lacks))
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the view has \"%s\":\n%s", what, lacks, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Order(PC pc, Mat A, PetscBool device)
{
  Vec               b, x;
  SpTRSVGPUOrdering set, chosen;

  PetscFunctionBeginUser;
  PetscCall(Check(pc, "at first", "matrix ordering: natural", NULL));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSpTRSVGPUGetOrdering(pc, &set));
  PetscCall(PCSpTRSVGPUGetChosenOrdering(pc, &chosen));
  if (set != SPTRSVGPU_ORDERING_MULTICOLOR || chosen != set)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "set %s, chosen %s\n", SpTRSVGPUOrderings[set], SpTRSVGPUOrderings[chosen]));
  PetscCall(Check(pc, "multicolor", "matrix ordering: multicolor", "matrix ordering: natural"));
  PetscCall(ProblemFill(A, PROBLEM_CONVECTION, 0.5));
  PetscCall(PCSetUp(pc));
  PetscCall(Check(pc, "multicolor with new values", "matrix ordering: multicolor", NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 1));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(PCSetUp(pc));
  PetscCall(Check(pc, "natural again", "matrix ordering: natural", "multicolor"));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_AUTO));
  PetscCall(PCSetUp(pc));
  PetscCall(Check(pc, "auto", device ? "natural order: " : "natural order: the solves run on the host", NULL));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of the factor, which PETSc's views show: of all ranks, and of the one that has most */
static PetscErrorCode Entries(Mat F)
{
  static const MatInfoType whose[] = {MAT_GLOBAL_MAX, MAT_GLOBAL_SUM};

  MatInfo        local, info;
  PetscLogDouble entries;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(F, MAT_LOCAL, &local));
  for (int i = 0; i < 2; i++) {
    PetscCall(MatGetInfo(F, whose[i], &info));
    PetscCallMPI(MPIU_Allreduce(&local.nz_used, &entries, 1, MPIU_PETSCLOGDOUBLE, i ? MPI_SUM : MPI_MAX,
                                PETSC_COMM_WORLD));
    if (info.nz_used != entries)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %g entries, should be %g\n", i ? "sum" : "most", info.nz_used,
                            entries));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of another type has no rows to take statistics of. */
static PetscErrorCode Blocks(PC pc, Mat A)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetUp(pc));
  PetscCall(Check(pc, "blocks", "no statistics of L and U: these need a matrix of type aij\n", "level sets"));
  PetscCall(MatDestroy(&B));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that cannot be factored without a shift: a row of zeros, of the last rank. device: the matrix is there */
static PetscErrorCode ZeroPivot(PC pc, Mat A, PetscBool device)
{
  const PetscInt row = 399;
  PetscBool      factors; /* the GPU, not the host */

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_sptrsvgpu_factorization", &factors));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatZeroRows(A, 1, &row, 0, NULL, NULL));
  PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONE));
  PetscCall(PCSetUp(pc));
  PetscCall(Check(pc, "a row of zeros", "failed: zero pivot 0. in row 399\n", NULL));
  PetscCall(MatZeroRows(A, 1, &row, 0, NULL, NULL)); /* the same values are new */
  PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
  PetscCall(PCSetUp(pc));
  PetscCall(Check(pc, "a row of zeros, shifted", device && factors ? " 2 attempts, diagonal shifted by " : NULL,
                  "failed"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char        version[64], text[256];
  Mat         A, F;
  PC          pc;
  PetscViewer viewer;
  PetscBool   device;
  int         ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 400, NULL, &A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PetscViewerStringOpen(PETSC_COMM_WORLD, text, sizeof(text), &viewer));
  PetscCall(PCView(pc, viewer)); /* before the set-up */
  PetscCall(PetscViewerDestroy(&viewer));
  if (!strstr(text, "PCType: sptrsvg")) /* the seven characters that PETSc prints */
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a string before the set-up: %s\n", text));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscSNPrintf(version, sizeof(version), " sptrsvgpu %d.%d.%d\n", SPTRSVGPU_VERSION_MAJOR,
                          SPTRSVGPU_VERSION_MINOR, SPTRSVGPU_VERSION_SUBMINOR));
  PetscCall(Check(pc, "version", version, "not used"));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(Check(pc, "blocks of ranks", ranks > 1 ? "block Jacobi: one block for each of 2 ranks" : NULL,
                  ranks > 1 ? NULL : "block Jacobi"));
  PetscCall(Order(pc, A, device));

  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(Entries(F));
  PetscCall(MatSpTRSVGPUSetSelection(F, SPTRSVGPU_SELECT_TUNE));
  if (device)
    for (int f = 0; f < 2; f++) PetscCall(MatSpTRSVGPUSetAlgorithm(F, (SpTRSVGPUTriangle)f, "chunk"));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(Check(pc, "tune", device ? "settings chunks=" : "tune not used: on the host the solves are PETSc's own",
                  device ? "not used" : NULL));
  if (!device) PetscCall(Blocks(pc, A));
  PetscCall(ZeroPivot(pc, A, device));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      output_file: output/empty.out

   test:
      suffix: device
      output_file: output/empty.out
      args: -mat_sptrsvgpu_factorization device

   # a viewer that does not show text: a factor says so, and the program goes on
   test:
      suffix: others
      nsize: {{1 2}}
      args: -mat_sptrsvgpu_view {{binary:view.bin draw}}
      filter: grep -o "prints text only, not to a viewer of type" | sort -u

TEST*/
