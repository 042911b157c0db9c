static char help[] =
  "What -pc_sptrsvgpu_ordering auto reads of linear systems, which solutions.c describes: a line of JSON each.\n\
  -f <file,file,...>      : matrices in Matrix Market's format; g2d5:N and g3d7:N are grids\n\
  -values <own,laplacian> : which values of a file, both if not given\n\n";

/*
   Statistics of L in the natural and in the multicolor order, and the fill that ILU(0) leaves out in both. On the host,
   without a GPU: for bench/fit_order.py.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "entries.h"
#include "systems.h"

/* The entry (i,j), or -1 */
static int FindEntry(const Matrix *M, int i, int j)
{
  for (int low = M->offsets[i], high = M->offsets[i + 1]; low < high;) {
    const int middle = low + (high - low) / 2;

    if (M->columns[middle] == j) return middle;
    if (M->columns[middle] < j) low = middle + 1;
    else high = middle;
  }
  return -1;
}

static double GetDiagonal(const Matrix *M, int i)
{
  const int k = FindEntry(M, i, i);

  return k < 0 ? 0 : fabs(M->values[k]);
}

/* Adds the fill of row i through row k to both squares. */
static void FillThrough(const Matrix *M, const int *place, int i, int e, double fill[2])
{
  const int k = M->columns[e], begin = M->offsets[k], end = M->offsets[k + 1];

  if (k == i || !(GetDiagonal(M, k) > 0) || end - begin > TRSV_FILL_LONGEST) return;
  for (int t = begin; t < end; t++) {
    const int    j       = M->columns[t];
    const int    drops[] = {k < i && k < j, place[k] < place[i] && place[k] < place[j]};
    const double d       = GetDiagonal(M, j);

    if (j == i || (!drops[0] && !drops[1]) || !(d > 0) || FindEntry(M, i, j) >= 0) continue;
    const double f = M->values[e] * M->values[t] / GetDiagonal(M, k);
    for (int o = 0; o < 2; o++)
      if (drops[o]) fill[o] += f * f / (GetDiagonal(M, i) * d);
  }
}

/* TrsvDeviceDiscardedFill() */
static void DiscardedFill(const Matrix *M, const int *place, double fill[2])
{
  const int stride = TrsvFillStride(M->rows);

  fill[0] = fill[1] = 0;
  for (int s = 0; s * (long)stride < M->rows; s++) {
    const int i = TrsvFillRow(s, stride);

    if (i < M->rows && GetDiagonal(M, i) > 0 && M->offsets[i + 1] - M->offsets[i] <= TRSV_FILL_LONGEST)
      for (int e = M->offsets[i]; e < M->offsets[i + 1]; e++) FillThrough(M, place, i, e, fill);
  }
  for (int o = 0; o < 2; o++) fill[o] = sqrt(fill[o]);
}

/* Do only pivots depend on each other, because no row of L shares a column with a row on which it depends? */
static int OnlyPivotsDepend(const Matrix *M)
{
  for (int i = 0; i < M->rows; i++)
    for (int e = M->offsets[i]; e < M->offsets[i + 1] && M->columns[e] < i; e++) {
      const int k = M->columns[e], longer = M->offsets[k + 1] - M->offsets[k] > M->offsets[i + 1] - M->offsets[i],
                searched = longer ? k : i, other = longer ? i : k;

      for (int t = M->offsets[other]; t < M->offsets[other + 1]; t++)
        if (M->columns[t] > k && M->columns[t] != i && FindEntry(M, searched, M->columns[t]) >= 0) return 0;
    }
  return 1;
}

static PetscErrorCode PrintFactor(const char order[], const Matrix *M)
{
  Triangle      T;
  TrsvAnalysis *a;

  PetscFunctionBeginUser;
  PetscCheck(!TriangleMake(M, TRSV_LOWER, 0, &T) && !TrsvAnalyze(&T.matrix, &a), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s",
             TrsvErrorMessage());
  const TrsvStatistics *s      = &a->statistics;
  const int             pivots = OnlyPivotsDepend(M);
  printf(", \"%s\": {\"pivots\": %d, \"rows\": %d, \"nnz\": %ld, \"row_mean\": %.10g, "
         "\"row_variation\": %.8g, \"row_max\": %d, \"levels\": %d, \"level_max\": %d, \"level_mean\": %.10g, ",
         order, pivots, s->rows, s->nnz, s->row_mean, s->row_variation, s->row_max, s->levels, s->level_max,
         s->level_mean);
  printf("\"mean_offset\": %.10g, \"bandwidth\": %d, \"row_bandwidth\": %.17g, \"level_span\": %.10g, "
         "\"late_per_row\": %.10g, \"chain_fraction\": %.10g, \"granularity\": %.8g, \"hub_fraction\": %.10g}",
         s->mean_offset, s->bandwidth, s->row_bandwidth, s->level_span, s->late_per_row, s->chain_fraction,
         s->granularity, s->hub_fraction);
  TrsvAnalysisDestroy(&a);
  TriangleFree(&T);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintMatrix(const char name[], const char values[], Matrix *M)
{
  TrsvOrdering *o;
  double        fill[2];
  long          lower = 0;
  int          *place = Reallocate(NULL, sizeof(int) * (size_t)M->rows);

  PetscFunctionBeginUser;
  PetscCheck(!TrsvOrderMulticolor(M->rows, M->offsets, M->columns, M->values, TRSV_HOST, &o), PETSC_COMM_SELF,
             PETSC_ERR_LIB, "%s", TrsvErrorMessage());
  for (int i = 0; i < M->rows; i++) place[o->order[i]] = i;
  TrsvOrderingDestroy(&o);
  DiscardedFill(M, place, fill);
  for (int i = 0; i < M->rows; i++)
    for (int k = M->offsets[i]; k < M->offsets[i + 1]; k++) lower += M->columns[k] < i;
  printf("{\"matrix\": \"%s\", \"values\": \"%s\", \"lower\": %ld, \"upper\": %ld, \"fill\": [%.10g, %.10g]",
         name, values, lower, M->offsets[M->rows] - lower, fill[0], fill[1]);
  PetscCall(PrintFactor("natural", M));
  Reorder(place, M);
  PetscCall(PrintFactor("multicolor", M));
  printf("}\n");
  (void)fflush(stdout);
  free(place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteFactors(Mat A, const char name[], const char values[])
{
  Entries            e = {0, 0, NULL, NULL, NULL};
  PetscInt           rows;
  const PetscInt    *columns;
  const PetscScalar *row;
  Matrix             M;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  for (PetscInt i = 0, n; i < rows; i++) {
    PetscCall(MatGetRow(A, i, &n, &columns, &row));
    for (PetscInt k = 0; k < n; k++) AddEntry(&e, i, columns[k], row[k]);
    PetscCall(MatRestoreRow(A, i, &n, &columns, &row));
  }
  FromEntries((int)rows, (int)rows, 1, &e, &M);
  PetscCall(PrintMatrix(name, values, &M));
  MatrixFree(&M);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadFile(const char file[], PetscBool own, PetscBool laplacian)
{
  Mat       A;
  PetscBool pattern, symmetric;
  char      name[64];

  PetscFunctionBeginUser;
  PetscCall(SystemName(file, name, sizeof(name)));
  PetscCall(SystemLoadOwn(file, &A, &pattern, &symmetric));
  if (!pattern && own) PetscCall(WriteFactors(A, name, "own"));
  if (symmetric && laplacian && !SystemIsGrid(file)) {
    PetscCall(SystemLaplacian(A, pattern));
    PetscCall(WriteFactors(A, name, "laplacian"));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char     *files[256], *values[2];
  PetscInt  count = PETSC_STATIC_ARRAY_LENGTH(files), chosen = PETSC_STATIC_ARRAY_LENGTH(values);
  PetscBool of[2] = {PETSC_FALSE, PETSC_FALSE}, some;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-f", files, &count, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-values", values, &chosen, &some));
  for (PetscInt i = 0; i < chosen && some; i++) {
    of[!strcmp(values[i], "laplacian")] = PETSC_TRUE;
    PetscCall(PetscFree(values[i]));
  }
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(ReadFile(files[i], (PetscBool)(of[0] || !some), (PetscBool)(of[1] || !some)));
    PetscCall(PetscFree(files[i]));
  }
  PetscCall(PetscFinalize());
  return 0;
}
