/*
   -citations: the papers of the algorithms that solve, from the table of algorithms, and that of the ordering.
*/
#include "impl.h"

static const char *cited[64];
static int         count;

/* Registers each paper once, although several factors may cite it. */
static PetscErrorCode CitePaper(const char *paper)
{
  PetscFunctionBegin;
  if (!paper) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < count; i++)
    if (!strcmp(paper, cited[i])) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(count < (int)PETSC_STATIC_ARRAY_LENGTH(cited), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "More than %d papers", count);
  PetscCall(PetscCitationsRegister(paper, NULL));
  cited[count++] = paper;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc forgets them at PetscFinalize(), too. */
void SpTRSVGPUForgetCitations(void) { count = 0; }

PetscErrorCode SpTRSVGPUCiteOrdering(void)
{
  PetscFunctionBegin;
  PetscCall(CitePaper(TRSV_CITE_BLOCK_MULTICOLOR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cites the algorithms of all plans, and CapelliniSpTRSV if the PC type is named after it. */
PetscErrorCode SpTRSVGPUCite(const SpTRSVGPU *s)
{
  TrsvIluInfo info;

  PetscFunctionBegin;
  TrsvIluDescribe(s->ilu, &info);
  for (int i = 0; i < 8; i++) {
    const TrsvAlgorithm *a = info.algorithms[i >> 2][i >> 1 & 1][i & 1];

    if (a) PetscCall(CitePaper(TrsvAlgorithmDescribe(a).citation));
  }
  if (s->settings.thread_level) PetscCall(CitePaper(TRSV_CITE_CAPELLINI));
  PetscFunctionReturn(PETSC_SUCCESS);
}
