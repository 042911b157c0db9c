/*
   Fuzzing of examples/mtx.c. The bytes are a file: it is refused, or the matrix is the same after it is written and
   read again. The number of bytes chooses the options: generated values, a complete diagonal.
*/
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../examples/mtx.c"

#define Must(call) \
  do { \
    if (call) __builtin_trap(); \
  } while (0)

static int  file;
static char path[64];

static PetscErrorCode WriteFile(const void *data, size_t size)
{
  PetscFunctionBegin;
  PetscCheck(!ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
             "cannot write");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(MtxValues values, PetscBool complete, Mat *A, MtxReport *report)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  error = MtxLoad(*A, path, values, complete, report);
  if (error) PetscCall(MatDestroy(A));
  PetscFunctionReturn(error);
}

/* The matrix as a general file */
static char *Written(Mat A, size_t *size)
{
  const PetscInt    *offsets, *columns;
  const PetscScalar *values;
  PetscInt           rows, cols;
  PetscBool          done;
  char              *text;
  FILE              *f = open_memstream(&text, size);

  Must(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &columns, &done));
  Must(MatGetSize(A, NULL, &cols));
  Must(MatSeqAIJGetArrayRead(A, &values));
  fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", (int)rows, (int)cols, (int)offsets[rows]);
  for (PetscInt i = 0; i < rows; i++)
    for (PetscInt k = offsets[i]; k < offsets[i + 1]; k++)
      fprintf(f, "%d %d %.17g\n", (int)i + 1, (int)columns[k] + 1, (double)values[k]);
  (void)fclose(f);
  Must(MatSeqAIJRestoreArrayRead(A, &values));
  Must(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &columns, &done));
  return text;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  Must(PetscInitializeNoArguments());
  Must(PetscPopSignalHandler());
  Must(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  file = memfd_create("matrix", 0);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Mat       A, B;
  MtxReport report, again;
  PetscBool is;
  char     *text;
  size_t    length;

  Must(WriteFile(data, size));
  if (MtxTest(path, &is)) is = PETSC_FALSE;
  if (Load(size & 1 ? MTX_VALUES_DOMINANT : MTX_VALUES_FILE, size & 2 ? PETSC_TRUE : PETSC_FALSE, &A, &report))
    return 0;
  Must(!is);
  text = Written(A, &length);
  Must(WriteFile(text, length));
  Must(Load(MTX_VALUES_FILE, PETSC_FALSE, &B, &again));
  Must(again.rows != report.rows || again.cols != report.cols || again.duplicates);
  if (!again.notfinite) {
    Must(MatEqual(A, B, &is));
    Must(!is);
    Must(again.positive != report.positive || again.dominant != report.dominant);
  }
  free(text);
  Must(MatDestroy(&A));
  Must(MatDestroy(&B));
  return 0;
}
