/*
   mtx.c: see mtx.h.

   A file is read once, line by line, into triples (row, column, value) of this rank's rows, with the other triangle if
   it is symmetric. A counting sort puts them into rows. The entries of a row are sorted, those of one place are summed,
   and the matrix gets them: O(rows + entries) memory.
*/
#include "mtx.h"
#include <petscbt.h>
#include <math.h>
#include "mtx_lines.h"

/* - - - triples, and the matrix that they make - - - */

typedef struct {
  PetscInt     first, last; /* rows of this rank */
  PetscCount   n, room;
  PetscInt    *row, *col;
  PetscScalar *value;
  PetscInt    *sorted_col;
  PetscScalar *sorted_value;
  PetscCount  *start;   /* where each row starts after the sort */
  PetscInt    *offsets; /* the same after entries of one place are summed */
  PetscInt    *counts;  /* entries of each row in the diagonal block, then of each row outside of it */
} Triples;

static PetscErrorCode TriplesFree(Triples *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(t->row));
  PetscCall(PetscFree(t->col));
  PetscCall(PetscFree(t->value));
  PetscCall(PetscFree(t->sorted_col));
  PetscCall(PetscFree(t->sorted_value));
  PetscCall(PetscFree(t->start));
  PetscCall(PetscFree(t->offsets));
  PetscCall(PetscFree(t->counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TriplesAdd(Triples *t, PetscInt i, PetscInt j, PetscScalar v)
{
  PetscFunctionBegin;
  if (i < t->first || i >= t->last) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->n == t->room) {
    t->room = PetscMax(1024, t->room + t->room / 2);
    PetscCall(PetscRealloc(sizeof(PetscInt) * t->room, &t->row));
    PetscCall(PetscRealloc(sizeof(PetscInt) * t->room, &t->col));
    PetscCall(PetscRealloc(sizeof(PetscScalar) * t->room, &t->value));
  }
  t->row[t->n]     = i;
  t->col[t->n]     = j;
  t->value[t->n++] = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadEntries(Reader *r, MtxReport *report, Triples *t)
{
  const PetscBool pattern = report->field[0] == 'p', integer = report->field[0] == 'i';
  const PetscBool general = report->symmetry[0] == 'g', skew = !strcmp(report->symmetry, "skew-symmetric");
  const PetscBool imaginary = report->field[0] == 'c', hermitian = report->symmetry[0] == 'h';
  char            line[MAXLINE];
  int             n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < report->stored;) {
    char    *p = line;
    PetscInt i, j;
    double   v = 1, w = 0; /* real and imaginary part */

    PetscCall(ReaderLine(r, line, &n));
    CheckLine(n >= 0, r, "the file ends after %" PetscInt_FMT " of %" PetscInt_FMT " entries", k, report->stored);
    if (AtEnd(line)) continue;
    CheckLine(TakeIndex(&p, &i) && TakeIndex(&p, &j) && (pattern || TakeReal(&p, &v)) &&
                (!imaginary || TakeReal(&p, &w)) && AtEnd(p), r, pattern ? "row and column expected" :
              imaginary ? "row, column, real part and imaginary part expected" : "row, column and value expected");
    CheckLine(i >= 1 && i <= report->rows && j >= 1 && j <= report->cols, r,
              "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is outside the matrix of %" PetscInt_FMT
              " rows and %" PetscInt_FMT " columns", i, j, report->rows, report->cols);
    CheckLine(!integer || (isfinite(v) && v == floor(v)), r, "not a whole number, in a file of integers");
    CheckLine(!skew || i != j, r,
              "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is on the diagonal of a skew-symmetric matrix", i, j);
    CheckLine(!hermitian || i != j || !w, r,
              "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") of a hermitian matrix is not real", i, j);
    if (!isfinite(v) || !isfinite(w)) report->notfinite++;
    if (!general && j > i) report->above++;
    PetscCall(TriplesAdd(t, i - 1, j - 1, MakeScalar(v, w)));
    if (!general && i != j)
      PetscCall(TriplesAdd(t, j - 1, i - 1, MakeScalar(skew ? -v : v, skew || hermitian ? -w : w)));
    k++;
  }
  do {
    PetscCall(ReaderLine(r, line, &n));
    CheckLine(n < 0 || AtEnd(line), r, "more than the %" PetscInt_FMT " entries that the header promises",
              report->stored);
  } while (n >= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A value in [-1, 1) that depends only on the place (by the mixing of splitmix64) */
static double PlaceValue(PetscInt i, PetscInt j)
{
  uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)j + 1;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1;
}

/* Sorts the triples by row and column: row i has start[i] to start[i + 1] - 1. Frees their row indices. */
static PetscErrorCode TriplesToRows(Triples *t)
{
  const PetscInt m = t->last - t->first;
  PetscCount    *s;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)m + 2, &t->start));
  PetscCall(PetscMalloc1(t->n + 1, &t->sorted_col));
  PetscCall(PetscMalloc1(t->n + 1, &t->sorted_value));
  s = t->start;
  for (PetscCount k = 0; k < t->n; k++) s[t->row[k] - t->first + 2]++;
  for (PetscInt i = 1; i <= m; i++) s[i + 1] += s[i];
  for (PetscCount k = 0; k < t->n; k++) {
    PetscCount at = s[t->row[k] - t->first + 1]++;

    t->sorted_col[at]   = t->col[k];
    t->sorted_value[at] = t->value[k];
  }
  PetscCall(PetscFree(t->row));
  PetscCall(PetscFree(t->col));
  PetscCall(PetscFree(t->value));
  t->col          = t->sorted_col;
  t->value        = t->sorted_value;
  t->sorted_col   = NULL;
  t->sorted_value = NULL;
  for (PetscInt i = 0; i < m; i++)
    PetscCall(PetscSortIntWithScalarArray((PetscInt)(s[i + 1] - s[i]), t->col + s[i], t->value + s[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the rows without an entry on the diagonal; with `complete`, adds a zero there. */
static PetscErrorCode TriplesDiagonal(Triples *t, PetscBool complete, MtxReport *report)
{
  const PetscInt last = PetscMin(t->last, report->cols);
  PetscBT        has;

  PetscFunctionBegin;
  PetscCall(PetscBTCreate(t->last - t->first, &has));
  for (PetscCount k = 0; k < t->n; k++)
    if (t->row[k] == t->col[k]) PetscCall(PetscBTSet(has, t->row[k] - t->first));
  for (PetscInt i = t->first; i < last; i++) {
    if (PetscBTLookup(has, i - t->first)) continue;
    if (!report->missing++) report->firstmissing = i;
    if (complete) PetscCall(TriplesAdd(t, i, i, 0));
  }
  PetscCall(PetscBTDestroy(&has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums entries of the same place */
static PetscErrorCode RowsSum(Triples *t, MtxReport *report)
{
  const PetscInt  m       = t->last - t->first;
  const PetscBool general = report->symmetry[0] == 'g' ? PETSC_TRUE : PETSC_FALSE;
  PetscInt        n       = 0;

  PetscFunctionBegin;
  PetscCheck(t->n <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%" PetscCount_FMT " entries are more than a PetscInt counts", t->n);
  PetscCall(PetscMalloc1((size_t)m + 1, &t->offsets));
  t->offsets[0] = 0;
  for (PetscInt i = 0; i < m; i++) {
    for (PetscCount k = t->start[i]; k < t->start[i + 1]; k++) {
      if (n > t->offsets[i] && t->col[n - 1] == t->col[k]) {
        t->value[n - 1] += t->value[k];
        if (general || t->col[k] <= t->first + i) report->duplicates++; /* counts an expanded entry once */
      } else {
        t->col[n]     = t->col[k];
        t->value[n++] = t->value[k];
      }
    }
    t->offsets[i + 1] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the values by MTX_VALUES_DOMINANT */
static void RowsGenerate(Triples *t, PetscBool symmetric)
{
  const PetscInt *offsets = t->offsets;

  for (PetscInt row = t->first; row < t->last; row++) {
    PetscScalar *diagonal = NULL;
    PetscReal    sum      = 1;

    for (PetscInt k = offsets[row - t->first]; k < offsets[row - t->first + 1]; k++) {
      const PetscInt j = t->col[k];

      t->value[k] = symmetric ? PlaceValue(PetscMin(row, j), PetscMax(row, j)) : PlaceValue(row, j);
      if (j == row) diagonal = &t->value[k];
      else sum += PetscAbsScalar(t->value[k]);
    }
    if (diagonal) *diagonal = sum;
  }
}

/* positive: all of the diagonal is; dominant: all rows are; strict: one row is strictly so. All are false with NaN. */
static void RowsJudge(const Triples *t, PetscBool *positive, PetscBool *dominant, PetscBool *strict)
{
  const PetscInt *offsets = t->offsets;

  *positive = *dominant = PETSC_TRUE;
  *strict               = PETSC_FALSE;
  for (PetscInt row = t->first; row < t->last && *positive; row++) {
    PetscReal diagonal = 0, others = 0;

    for (PetscInt k = offsets[row - t->first]; k < offsets[row - t->first + 1]; k++) {
      if (t->col[k] == row) diagonal = PetscImaginaryPart(t->value[k]) == 0 ? PetscRealPart(t->value[k]) : -1;
      else others += PetscAbsScalar(t->value[k]);
    }
    if (!(diagonal > 0)) *positive = PETSC_FALSE;
    if (!(diagonal >= others * (1 - 4000 * PETSC_MACHINE_EPSILON))) *dominant = PETSC_FALSE;
    if (diagonal > others) *strict = PETSC_TRUE;
  }
}

/* Sets the rows of the matrix. */
static PetscErrorCode RowsToMat(Triples *t, Mat A)
{
  const PetscInt m = t->last - t->first, *offsets = t->offsets;
  PetscInt      *inside, *outside, c0, c1;

  PetscFunctionBegin;
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRangeColumn(A, &c0, &c1));
  PetscCall(PetscCalloc1(2 * (size_t)m + 1, &t->counts));
  inside  = t->counts;
  outside = t->counts + m;
  for (PetscInt i = 0; i < m; i++)
    for (PetscInt k = offsets[i]; k < offsets[i + 1]; k++) (t->col[k] >= c0 && t->col[k] < c1 ? inside : outside)[i]++;
  PetscCall(MatSeqAIJSetPreallocation(A, 0, inside));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, inside, 0, outside));
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt row = t->first + i, k = offsets[i];

    PetscCall(MatSetValues(A, 1, &row, offsets[i + 1] - k, t->col + k, t->value + k, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* - - - the functions of mtx.h: they close files and free memory even after an error - - - */

static PetscErrorCode ReadMagic(Reader *r, const char file[], PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(ReaderOpen(file, r));
  PetscCall(ReaderFill(r));
  *is = r->end >= 2 && !memcmp(r->text, "%%", 2) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MtxTest(const char file[], PetscBool *is)
{
  Reader         r = {0};
  PetscErrorCode error;

  PetscFunctionBegin;
  error = ReadMagic(&r, file, is);
  PetscCall(ReaderClose(&r));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadFile(Reader *r, const char file[], Mat A, MtxReport *report, Triples *t)
{
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(ReaderOpen(file, r));
  PetscCall(ReadHeader(r, report));
  CheckLine(report->field[0] != 'p' || report->generated, r, "the file is a pattern: it has no values to solve with");
  PetscCall(ReadSizes(r, report));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, report->rows, report->cols));
  PetscCall(MatGetLayouts(A, &layout, NULL));
  PetscCall(PetscLayoutSetUp(layout));
  PetscCall(PetscLayoutGetRange(layout, &t->first, &t->last));
  PetscCall(ReadEntries(r, report, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds up the counts of the report over all ranks. */
static PetscErrorCode ReportReduce(MPI_Comm comm, PetscBool strict, MtxReport *report)
{
  PetscMPIInt all[] = {report->positive, report->dominant, !strict};

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->duplicates, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->missing, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &report->firstmissing, 1, MPIU_INT, MPI_MIN, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, all, 3, MPI_INT, MPI_MIN, comm));
  report->positive = (PetscBool)all[0];
  report->dominant = (PetscBool)(all[0] && all[1] && !all[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadTriples(Mat A, PetscBool complete, Triples *t, MtxReport *report)
{
  const PetscBool hermitian = report->symmetry[0] == 'h';
  const PetscBool symmetric = strcmp(report->symmetry, "symmetric") ? PETSC_FALSE : PETSC_TRUE;
  PetscBool       strict;

  PetscFunctionBegin;
  PetscCall(TriplesDiagonal(t, complete, report));
  PetscCall(TriplesToRows(t));
  PetscCall(RowsSum(t, report));
  if (report->generated) RowsGenerate(t, symmetric || hermitian);
  RowsJudge(t, &report->positive, &report->dominant, &strict);
  PetscCall(RowsToMat(t, A));
  PetscCall(ReportReduce(PetscObjectComm((PetscObject)A), strict, report));
  report->completed = complete && report->missing ? PETSC_TRUE : PETSC_FALSE;
  if (symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (hermitian) PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MtxLoad(Mat A, const char file[], MtxValues kind, PetscBool complete, MtxReport *report)
{
  Reader         r = {0};
  Triples        t = {0};
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(report, sizeof(*report)));
  report->generated    = kind == MTX_VALUES_DOMINANT ? PETSC_TRUE : PETSC_FALSE;
  report->firstmissing = PETSC_INT_MAX;
  error                = ReadFile(&r, file, A, report, &t);
  PetscCall(ReaderClose(&r));
  if (!error) error = LoadTriples(A, complete, &t, report);
  PetscCall(TriplesFree(&t));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
