/*
   What -citations prints: the papers of the algorithms that solve, by the table of algorithms, and of the ordering.
*/
#include "impl.h"

static const char *cited[64];
static int         count;

/* Each once, whatever names it. */
static PetscErrorCode Cite(const char *paper)
{
  PetscFunctionBegin;
  if (!paper) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < count; i++)
    if (!strcmp(paper, cited[i])) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(count < (int)PETSC_STATIC_ARRAY_LENGTH(cited), PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d papers", count);
  PetscCall(PetscCitationsRegister(paper, NULL));
  cited[count++] = paper;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc does at PetscFinalize(). */
void SpTRSVGPUCitationsForget(void) { count = 0; }

PetscErrorCode SpTRSVGPUCiteOrdering(void)
{
  PetscFunctionBegin;
  PetscCall(Cite(TRSV_CITE_BLOCK_MULTICOLOR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The algorithms of all plans; and that of the PC type that is named after its paper, wherever it solves. */
PetscErrorCode SpTRSVGPUCite(const SpTRSVGPU *s)
{
  TrsvIluInfo info;

  PetscFunctionBegin;
  TrsvIluDescribe(s->ilu, &info);
  for (int i = 0; i < 8; i++) {
    const TrsvAlgorithm *a = info.algorithms[i >> 2][i >> 1 & 1][i & 1];

    if (a) PetscCall(Cite(TrsvAlgorithmCitation(a)));
  }
  if (s->settings.thread_level) PetscCall(Cite(TRSV_CITE_CAPELLINI));
  PetscFunctionReturn(PETSC_SUCCESS);
}
