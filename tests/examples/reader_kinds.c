/* Tests of reader.c that depend on the scalars and indices of the PETSc */
#include "reader.c"

/*TEST

   testset:
      requires: complex
      nsize: {{1 2}}
      diff_args: -j
      filter: grep -v -e "Mat Object" -e type:
      test:
         suffix: general
         args: -f data/complex.mtx
         localrunfiles: data/complex.mtx
      test:
         suffix: symmetric
         args: -f data/complex_symmetric.mtx
         localrunfiles: data/complex_symmetric.mtx
      test:
         suffix: skew
         args: -f data/complex_skew.mtx -complete
         localrunfiles: data/complex_skew.mtx
      test:
         suffix: hermitian
         args: -f data/complex_hermitian.mtx
         localrunfiles: data/complex_hermitian.mtx
      test:
         suffix: nan
         args: -f data/complex_nan.mtx
         localrunfiles: data/complex_nan.mtx

   # errors, with file and line
   testset:
      filter: Error: grep -E -o "[a-z_]+.mtx(:[0-9]+)?: .*"
      test:
         suffix: error_part
         requires: complex
         args: -f data/complex_part.mtx
         localrunfiles: data/complex_part.mtx
      test:
         suffix: error_hermitian_diagonal
         requires: complex
         args: -f data/hermitian_diagonal.mtx
         localrunfiles: data/hermitian_diagonal.mtx
      test:
         suffix: error_complex
         requires: !complex
         args: -f data/complex.mtx
         localrunfiles: data/complex.mtx
      test:
         suffix: error_field
         args: -f data/field.mtx
         localrunfiles: data/field.mtx
      test:
         suffix: error_symmetry
         args: -f data/symmetry.mtx
         localrunfiles: data/symmetry.mtx
      test:
         suffix: error_large
         requires: !defined(PETSC_USE_64BIT_INDICES)
         args: -f data/large.mtx
         localrunfiles: data/large.mtx
      test:
         suffix: error_large_64
         requires: defined(PETSC_USE_64BIT_INDICES)
         args: -f data/large.mtx
         localrunfiles: data/large.mtx
      test:
         suffix: error_sizes
         filter: Error: grep -E -o "[a-z_]*.mtx:2: .*" | sed "s/9223372036854775807/2147483647/"
         args: -f data/sizes.mtx
         localrunfiles: data/sizes.mtx

TEST*/
