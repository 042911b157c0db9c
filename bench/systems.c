/*
   Linear systems from files and grids, the clock, and the view of a factor: see systems.h.
*/
#include <petscdevice.h>
#include <petsctime.h>
#include "systems.h"

PetscErrorCode SystemGrid(PetscInt dim, PetscInt n, Mat *A)
{
  PetscInt rows = 1;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < dim; d++) rows *= n;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 2 * dim + 1, NULL, A));
  for (PetscInt i = 0; i < rows; i++) {
    PetscInt    cols[7], count = 0, stride = 1;
    PetscScalar values[7];

    for (PetscInt d = 0, at = i; d < dim; d++, at /= n, stride *= n) {
      if (at % n > 0) cols[count] = i - stride, values[count++] = -1;
      if (at % n < n - 1) cols[count] = i + stride, values[count++] = -1;
    }
    cols[count]     = i;
    values[count++] = 2 * dim;
    PetscCall(MatSetValues(*A, 1, &i, count, cols, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemLoad(const char file[], MtxValues values, Mat *A, MtxReport *report)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MtxLoad(*A, file, values, PETSC_TRUE, report));
  PetscCheck(report->rows == report->cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s is not square", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points along a side of a grid; 0: a file. */
static PetscInt GridSide(const char file[])
{
  int n;

  return sscanf(file, "g2d5:%d", &n) == 1 || sscanf(file, "g3d7:%d", &n) == 1 ? n : 0;
}

PetscBool SystemIsGrid(const char file[]) { return (PetscBool)(GridSide(file) > 0); }

PetscErrorCode SystemLoadOwn(const char file[], Mat *A, PetscBool *pattern, PetscBool *symmetric)
{
  MtxReport r;

  PetscFunctionBeginUser;
  if (SystemIsGrid(file)) {
    *pattern   = PETSC_FALSE;
    *symmetric = PETSC_TRUE;
    PetscCall(SystemGrid(file[1] - '0', GridSide(file), A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SystemLoad(file, MTX_VALUES_DOMINANT, A, &r));
  *pattern = (PetscBool)(r.field[0] == 'p');
  if (!*pattern) {
    PetscCall(MatDestroy(A));
    PetscCall(SystemLoad(file, MTX_VALUES_FILE, A, &r));
  }
  PetscCall(MatIsSymmetric(*A, 1e-10, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemLaplacian(Mat A, PetscBool pattern)
{
  const PetscInt *i, *j;
  PetscInt        n;
  PetscScalar    *a;
  PetscReal       mean = 0;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArray(A, &a));
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt k = i[r]; k < i[r + 1]; k++)
      if (j[k] != r) {
        if (pattern) a[k] = 1;
        mean += PetscAbsScalar(a[k]) / n;
      }
  for (PetscInt r = 0; r < n; r++) {
    PetscReal sum = 0;

    for (PetscInt k = i[r]; k < i[r + 1]; k++)
      if (j[k] != r) {
        a[k] = -PetscAbsScalar(a[k]);
        sum -= PetscRealPart(a[k]);
      }
    for (PetscInt k = i[r]; k < i[r + 1]; k++)
      if (j[k] == r) a[k] = sum + (mean ? 1e-3 * mean : 1);
  }
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this rank */
static PetscErrorCode Distribute(Mat all, Mat *A)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           n, from = 0, mine = PETSC_DECIDE, *offsets;
  PetscBool          done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(all, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(all, &a));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &mine, &n));
  PetscCallMPI(MPI_Exscan(&mine, &from, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc1(mine + 1, &offsets));
  for (PetscInt r = 0; r <= mine; r++) offsets[r] = i[from + r] - i[from];
  PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, mine, mine, n, n, offsets, j + i[from], a + i[from], A));
  PetscCall(PetscFree(offsets));
  PetscCall(MatSeqAIJRestoreArrayRead(all, &a));
  PetscCall(MatRestoreRowIJ(all, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemPlace(Mat all, PetscBool host, Mat *A)
{
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (ranks > 1) PetscCall(Distribute(all, A));
#if PetscDefined(HAVE_CUDA)
  else if (!host) PetscCall(MatConvert(all, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, A));
#endif
  else PetscCall(MatDuplicate(all, MAT_COPY_VALUES, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemPlacePermuted(Mat all, PetscBool host, Mat *A)
{
  Mat permuted;
  IS  row, column;

  PetscFunctionBeginUser;
  PetscCall(MatGetOrdering(all, "multicolor", &row, &column));
  PetscCall(MatPermute(all, row, column, &permuted));
  PetscCall(SystemPlace(permuted, host, A));
  PetscCall(MatDestroy(&permuted));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemResidual(Mat A, Vec b, Vec x, PetscReal *residual)
{
  Vec       left;
  PetscReal norm, all;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &left));
  PetscCall(MatResidual(A, b, x, left));
  PetscCall(VecNorm(left, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &all));
  PetscCall(VecDestroy(&left));
  *residual = norm / all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHasOneSign(Mat A, PetscBool *one)
{
  Vec       d;
  PetscReal least, most;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, NULL, &d));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecMin(d, NULL, &least));
  PetscCall(VecMax(d, NULL, &most));
  *one = (PetscBool)(least > 0 || most < 0);
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemName(const char file[], char name[], size_t size)
{
  const char *slash = strrchr(file, '/');
  char       *end;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(name, slash ? slash + 1 : file, size));
  end = strstr(name, ".mtx");
  if (end) *end = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemNow(double *ms)
{
  PetscLogDouble t;

  PetscFunctionBeginUser;
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCall(PetscTime(&t));
  *ms = 1e3 * t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemTimeApply(PC pc, Vec b, Vec x, double *ms)
{
  enum { APPLIES_MOST = 20, TOGETHER = 20 /* ms that they take */ };
  double start, end;
  int    applies = 1;

  PetscFunctionBeginUser;
  for (int pass = 0; pass < 2; pass++) { /* the first one finds how many applies to time */
    PetscCall(SystemNow(&start));
    for (int i = 0; i < applies; i++) PetscCall(PCApply(pc, b, x));
    PetscCall(SystemNow(&end));
    *ms     = (end - start) / applies;
    applies = (int)PetscClipInterval(TOGETHER / *ms, 1, APPLIES_MOST);
    PetscCallMPI(MPI_Bcast(&applies, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemFactorView(KSP ksp, char text[], size_t size)
{
  PC          pc;
  Mat         F;
  PetscViewer viewer;
  FILE       *f = tmpfile();

  PetscFunctionBeginUser;
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No temporary file");
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, f, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(F, viewer));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(f);
  text[fread(text, 1, size - 1, f)] = 0;
  (void)fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemKeepMessage(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n,
                                 PetscErrorType type, const char *message, void *kept)
{
  (void)comm, (void)line, (void)function, (void)file;
  if (type == PETSC_ERROR_INITIAL && message) {
    char *text = (char *)kept;

    (void)PetscStrncpy(text, message, SYSTEM_MESSAGE);
    for (; *text; text++)
      if (*text == '"' || *text == '\\' || *text < ' ') *text = '\'';
  }
  return n;
}
