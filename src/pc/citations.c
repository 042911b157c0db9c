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

/* For the plans of a pair, NULL where PETSc's own solves serve; for the PC type that is named after a paper, also where it solves on the host. */
PetscErrorCode SpTRSVGPUCite(const TrsvPair *pair, PetscBool thread)
{
  PetscFunctionBegin;
  if (pair) {
    PetscCall(Cite(TrsvAlgorithmCitation(pair->forward.algorithm)));
    PetscCall(Cite(TrsvAlgorithmCitation(pair->backward.algorithm)));
  }
  if (thread) PetscCall(Cite(TRSV_CITE_CAPELLINI));
  PetscFunctionReturn(PETSC_SUCCESS);
}
