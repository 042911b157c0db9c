static char help[] =
  "-citations names the papers of the algorithms that solve, and of the ordering, each once, and no others.\n\n";

#include "../common.h"
#include <sptrsvgpu.h>

static const struct {
  const char *algorithm, *key;
} papers[] = {
#if !defined(PETSC_USE_COMPLEX) /* on a GPU for real values only */
  {"level", "AndersonSaad1989"},
  {"csc", "SyncFreeSpTRSV"},
  {"warp", "DufrechouEzzatti2018"},
  {"fusion", "YuenyeungSpTRSV"},
  {"twophase", "CapelliniSpTRSV"},
  {"ag", "AGSpTRSV"},
  {"recblock", "RecBlockSpTRSV"},
  {"dense", "DenseLowerTriangularSolver"},
#endif
  {"thread", "CapelliniSpTRSV"},
  {"chunk", "AlvaradoSchreiber1993"},
  {"sell", "IwashitaNakashimaTakahashi2012"}, /* and of the ordering; the last */
};

#define PAPERS ((int)PETSC_STATIC_ARRAY_LENGTH(papers))

/* Sets up a PC by its options; adds to wanted what must be cited. */
static PetscErrorCode SetUp(Mat A, PCType type, const char *algorithm, SpTRSVGPUOrdering ordering, PetscBool wanted[])
{
  PC          pc;
  Mat         F;
  const char *ran[3];

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, ordering));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetUpMatSolverType(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  for (int f = 0; f < 2; f++) PetscCall(MatSpTRSVGPUSetAlgorithm(F, (SpTRSVGPUTriangle)f, algorithm));
  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  for (int f = 0; f < 2; f++) PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, (SpTRSVGPUTriangle)f, &ran[f]));
  ran[2] = strcmp(type, PCCAPELLINI) ? "" : "thread"; /* named after its paper, on the host and on the GPU */
  for (int p = 0; p < PAPERS; p++)
    for (int r = 0; r < 3; r++)
      if (!strcmp(papers[p].algorithm, ran[r])) wanted[p] = PETSC_TRUE;
  if (ordering == SPTRSVGPU_ORDERING_MULTICOLOR) wanted[PAPERS - 1] = PETSC_TRUE;
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat        A;
  VecType    type;
  PetscBool  wanted[PAPERS] = {PETSC_FALSE};
  char      *text, *cuda;
  PetscCount size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_POISSON, 400, &A));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscStrstr(type, "cuda", &cuda));
  for (int round = 0; round < 4; round++) {
    if (!round) PetscCall(SetUp(A, PCSPTRSVGPU, "auto", SPTRSVGPU_ORDERING_NATURAL, wanted));
    for (int twice = 0; round == 1 && twice < 2; twice++)
      PetscCall(SetUp(A, PCCAPELLINI, "auto", SPTRSVGPU_ORDERING_NATURAL, wanted));
    if (round == 2) PetscCall(SetUp(A, PCSPTRSVGPU, "auto", SPTRSVGPU_ORDERING_MULTICOLOR, wanted));
    for (int p = 0; round == 3 && cuda && p < PAPERS; p++)
      PetscCall(SetUp(A, PCSPTRSVGPU, papers[p].algorithm, SPTRSVGPU_ORDERING_NATURAL, wanted));
    /* a size_t before PETSc 3.22 */
    PetscCall(PetscSegBufferGetSize(PetscCitationsList, (void *)&size));
    PetscCall(PetscMalloc1(size + 1, &text));
    PetscCall(PetscSegBufferExtractTo(PetscCitationsList, text));
    text[size] = 0;
    for (int p = 0; p < PAPERS; p++) {
      char mark[64], *first;

      PetscCall(PetscSNPrintf(mark, sizeof(mark), "{%s,", papers[p].key));
      PetscCall(PetscStrstr(text, mark, &first));
      if (first) {
        char *second;

        PetscCall(PetscStrstr(first + 1, mark, &second));
        if (second) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "round %d: %s is cited twice\n", round, papers[p].key));
      }
      for (int q = 0; q < PAPERS; q++) /* one paper for two algorithms: either is enough */
        if (!strcmp(papers[p].key, papers[q].key) && wanted[q]) wanted[p] = PETSC_TRUE;
      if ((first != NULL) != (PetscBool)wanted[p])
        PetscCall(
          PetscPrintf(PETSC_COMM_WORLD, "round %d: %s is %scited\n", round, papers[p].key, first ? "" : "not "));
    }
    /* the old output is restored: the next round must not cite again */
    {
      char *back;

      PetscCall(PetscSegBufferGet(PetscCitationsList, size, &back));
      PetscCall(PetscArraycpy(back, text, size));
    }
    PetscCall(PetscFree(text));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      test:
      test:
         suffix: ranks
         nsize: 2

   test:
      suffix: printed
      args: -citations
      filter: grep -c "{CapelliniSpTRSV,"

TEST*/
