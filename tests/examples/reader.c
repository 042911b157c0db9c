static char help[] = "The reader of Matrix Market files: what it reports, the matrix, and its errors.\n\
  -f <file>, -complete, -dominant : its arguments\n\
  -failures : fail to load the file some times, and say what that leaves behind\n\n";

#include "../../examples/mtx.c"
#include <dirent.h>
#include <malloc.h>

typedef struct {
  int            files; /* that are open */
  PetscLogDouble petsc; /* bytes that PETSc has allocated */
  size_t         heap;  /* bytes of all allocations, with those that malloc() keeps */
} Held;

static PetscErrorCode GetHeld(Held *held)
{
  const struct mallinfo2 heap = mallinfo2();
  DIR                   *open = opendir("/proc/self/fd");

  PetscFunctionBeginUser;
  for (held->files = 0; open && readdir(open);) held->files++;
  if (open) (void)closedir(open);
  PetscCall(PetscMallocGetCurrentUsage(&held->petsc));
  held->heap = heap.uordblks + heap.hblkhd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadAndFail(const char file[], MtxValues values)
{
  PetscErrorCode error;
  MtxReport      report;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = MtxLoad(A, file, values, PETSC_FALSE, &report);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s could be loaded", file);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFailures(const char file[], MtxValues values)
{
  Held early, late;

  PetscFunctionBeginUser;
  for (int i = 0; i < 10; i++) PetscCall(LoadAndFail(file, values)); /* the first ones fill caches */
  PetscCall(GetHeld(&early));
  for (int i = 0; i < 10; i++) PetscCall(LoadAndFail(file, values));
  PetscCall(GetHeld(&late));
  PetscCheck(late.files == early.files, PETSC_COMM_SELF, PETSC_ERR_PLIB, "ten failures left %d files open",
             late.files - early.files);
  PetscCheck(late.petsc == early.petsc, PETSC_COMM_SELF, PETSC_ERR_PLIB, "ten failures left %g bytes of PETSc's",
             late.petsc - early.petsc);
  PetscCheck(late.heap < early.heap + 16384, PETSC_COMM_SELF, PETSC_ERR_PLIB, "ten failures left %zu bytes",
             late.heap - early.heap);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "failures leave nothing behind\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char      file[PETSC_MAX_PATH_LEN] = "";
  MtxReport r;
  Mat       A;
  PetscBool complete = PETSC_FALSE, dominant = PETSC_FALSE, failures = PETSC_FALSE, is;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-complete", &complete, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-dominant", &dominant, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-failures", &failures, NULL));
  if (failures) {
    PetscCall(CheckFailures(file, dominant ? MTX_VALUES_DOMINANT : MTX_VALUES_FILE));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MtxTest(file, &is));
  if (!is) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "does not begin as a Matrix Market file\n"));
  PetscCall(MtxLoad(A, file, dominant ? MTX_VALUES_DOMINANT : MTX_VALUES_FILE, complete, &r));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s, %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " stored",
                        r.field, r.symmetry, r.rows, r.cols, r.stored));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", %" PetscInt_FMT " above, %" PetscInt_FMT " duplicates", r.above,
                        r.duplicates));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", %" PetscInt_FMT " not finite, %" PetscInt_FMT " missing%s\n", r.notfinite,
                        r.missing, r.completed ? ", completed" : ""));
  if (r.missing) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "first missing in row %" PetscInt_FMT "\n", r.firstmissing));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%s\n", r.positive ? "positive diagonal" : "diagonal not positive",
                        r.dominant ? ", dominant" : ""));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      diff_args: -j
      filter: grep -v -e "Mat Object" -e type:
      test:
         suffix: general
         args: -f data/general.mtx
         localrunfiles: data/general.mtx
      test:
         suffix: gz
         args: -f data/general.mtx.gz
         localrunfiles: data/general.mtx.gz
         output_file: output/reader_general.out
      test:
         suffix: xz
         args: -f data/general.mtx.xz
         localrunfiles: data/general.mtx.xz
         output_file: output/reader_general.out
      test:
         suffix: dos
         args: -f data/dos.mtx
         localrunfiles: data/dos.mtx
      test:
         suffix: case
         args: -f data/case.mtx
         localrunfiles: data/case.mtx
      test:
         suffix: symmetric
         args: -f data/symmetric.mtx
         localrunfiles: data/symmetric.mtx
      test:
         suffix: skew
         args: -f data/skew.mtx
         localrunfiles: data/skew.mtx
      test:
         suffix: skew_complete
         args: -f data/skew.mtx -complete
         localrunfiles: data/skew.mtx
      test:
         suffix: integer
         args: -f data/integer.mtx
         localrunfiles: data/integer.mtx
      test:
         suffix: pattern
         args: -f data/pattern.mtx -dominant
         localrunfiles: data/pattern.mtx
      test:
         suffix: pattern_symmetric
         args: -f data/pattern_symmetric.mtx -dominant -complete
         localrunfiles: data/pattern_symmetric.mtx
      test:
         suffix: above
         args: -f data/above.mtx
         localrunfiles: data/above.mtx
      test:
         suffix: duplicate
         args: -f data/duplicate.mtx
         localrunfiles: data/duplicate.mtx
      test:
         suffix: nan
         args: -f data/nan.mtx
         localrunfiles: data/nan.mtx
      test:
         suffix: missing
         args: -f data/missing.mtx
         localrunfiles: data/missing.mtx
      test:
         suffix: missing_complete
         args: -f data/missing.mtx -complete
         localrunfiles: data/missing.mtx
      test:
         suffix: rectangular
         args: -f data/rectangular.mtx
         localrunfiles: data/rectangular.mtx
      test:
         suffix: members
         args: -f data/members.mtx.gz
         localrunfiles: data/members.mtx.gz
         output_file: output/reader_general.out
      test:
         suffix: streams
         args: -f data/streams.mtx.xz
         localrunfiles: data/streams.mtx.xz
         output_file: output/reader_general.out
      test:
         suffix: long_comment
         args: -f data/long_comment.mtx
         localrunfiles: data/long_comment.mtx
         output_file: output/reader_general.out
      test:
         suffix: weak
         args: -f data/weak.mtx
         localrunfiles: data/weak.mtx
      test:
         suffix: tall
         args: -f data/tall.mtx -complete
         localrunfiles: data/tall.mtx
      test:
         suffix: empty_matrix
         args: -f data/empty_matrix.mtx
         localrunfiles: data/empty_matrix.mtx

   # errors, with file and line
   testset:
      filter: Error: grep -E -o "[a-z_]+.mtx(:[0-9]+)?: .*|the compressed file .*"
      test:
         suffix: error_empty
         args: -f data/empty.mtx
         localrunfiles: data/empty.mtx
      test:
         suffix: error_no_header
         args: -f data/no_header.mtx
         localrunfiles: data/no_header.mtx
      test:
         suffix: error_indented
         args: -f data/indented.mtx
         localrunfiles: data/indented.mtx
      test:
         suffix: error_short_header
         args: -f data/short_header.mtx
         localrunfiles: data/short_header.mtx
      test:
         suffix: error_vector
         args: -f data/vector.mtx
         localrunfiles: data/vector.mtx
      test:
         suffix: error_array
         args: -f data/array.mtx
         localrunfiles: data/array.mtx
      test:
         suffix: error_hermitian
         args: -f data/hermitian.mtx
         localrunfiles: data/hermitian.mtx
      test:
         suffix: error_no_sizes
         args: -f data/no_sizes.mtx
         localrunfiles: data/no_sizes.mtx
      test:
         suffix: error_not_square
         args: -f data/not_square.mtx
         localrunfiles: data/not_square.mtx
      test:
         suffix: error_row
         args: -f data/row.mtx
         localrunfiles: data/row.mtx
      test:
         suffix: error_zero
         args: -f data/zero.mtx
         localrunfiles: data/zero.mtx
      test:
         suffix: error_column
         args: -f data/column.mtx
         localrunfiles: data/column.mtx
      test:
         suffix: error_few
         args: -f data/few.mtx
         localrunfiles: data/few.mtx
      test:
         suffix: error_many
         args: -f data/many.mtx
         localrunfiles: data/many.mtx
      test:
         suffix: error_word
         args: -f data/word.mtx
         localrunfiles: data/word.mtx
      test:
         suffix: error_value
         args: -f data/value.mtx
         localrunfiles: data/value.mtx
      test:
         suffix: error_extra
         args: -f data/extra.mtx
         localrunfiles: data/extra.mtx
      test:
         suffix: error_fraction
         args: -f data/fraction.mtx
         localrunfiles: data/fraction.mtx
      test:
         suffix: error_skew_diagonal
         args: -f data/skew_diagonal.mtx
         localrunfiles: data/skew_diagonal.mtx
      test:
         suffix: error_no_values
         args: -f data/pattern.mtx
         localrunfiles: data/pattern.mtx
      test:
         suffix: error_cut_gz
         args: -f data/cut.mtx.gz
         localrunfiles: data/cut.mtx.gz
      test:
         suffix: error_cut_xz
         args: -f data/cut.mtx.xz
         localrunfiles: data/cut.mtx.xz
      test:
         suffix: error_corrupt_xz
         args: -f data/corrupt.mtx.xz
         localrunfiles: data/corrupt.mtx.xz
      test:
         suffix: error_long
         args: -f data/long.mtx
         localrunfiles: data/long.mtx
      test:
         suffix: error_nul
         args: -f data/nul.mtx
         localrunfiles: data/nul.mtx
      test:
         suffix: error_nul_header
         args: -f data/nul_header.mtx
         localrunfiles: data/nul_header.mtx
      test:
         suffix: error_hexadecimal
         args: -f data/hexadecimal.mtx
         localrunfiles: data/hexadecimal.mtx
      test:
         suffix: error_range
         args: -f data/range.mtx
         localrunfiles: data/range.mtx
      test:
         suffix: error_payload
         args: -f data/payload.mtx
         localrunfiles: data/payload.mtx
      test:
         suffix: error_first_word
         args: -f data/first_word.mtx
         localrunfiles: data/first_word.mtx
      test:
         suffix: error_six_words
         args: -f data/six_words.mtx
         localrunfiles: data/six_words.mtx
      test:
         suffix: error_joined
         args: -f data/joined.mtx
         localrunfiles: data/joined.mtx
      test:
         suffix: error_infinite_integer
         args: -f data/infinite_integer.mtx
         localrunfiles: data/infinite_integer.mtx
      test:
         suffix: error_empty_rows
         args: -f data/empty_rows.mtx
         localrunfiles: data/empty_rows.mtx
      test:
         suffix: error_behind_gz
         args: -f data/behind.mtx.gz
         localrunfiles: data/behind.mtx.gz
      test:
         suffix: error_behind_xz
         args: -f data/behind.mtx.xz
         localrunfiles: data/behind.mtx.xz
      test:
         suffix: error_absent
         args: -f data/absent.mtx

   # a load that fails closes its file and frees its memory
   testset:
      args: -malloc_debug -failures -f
      output_file: output/reader_failures.out
      test:
         suffix: failures_word
         args: data/word.mtx
         localrunfiles: data/word.mtx
      test:
         suffix: failures_empty
         args: data/empty.mtx
         localrunfiles: data/empty.mtx
      test:
         suffix: failures_absent
         args: data/absent.mtx
      test:
         suffix: failures_many
         args: data/many.mtx
         localrunfiles: data/many.mtx
      test:
         suffix: failures_cut_gz
         args: data/cut.mtx.gz
         localrunfiles: data/cut.mtx.gz
      test:
         suffix: failures_cut_xz
         args: data/cut.mtx.xz
         localrunfiles: data/cut.mtx.xz
      test:
         suffix: failures_corrupt_xz
         args: data/corrupt.mtx.xz
         localrunfiles: data/corrupt.mtx.xz
      test:
         suffix: failures_empty_rows
         args: data/empty_rows.mtx
         localrunfiles: data/empty_rows.mtx
TEST*/
