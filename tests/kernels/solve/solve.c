/*
   Every device algorithm compared with serial: shapes, sizes, triangles, diagonals, precisions, transposes,
   schedules, repeated solves, new values.
*/
#include "check.h"

enum {
  FIRST = 16520 /* each algorithm gets the same schedules, independent of other algorithms */
};

static unsigned schedule;

static void CheckEverySolve(const TrsvMatrix *A, const int *source, int nvalues, const TrsvAlgorithm *algorithm,
                            const void *first, const void *b, int solves, const char *where)
{
  void     *second = MakeArray(A->precision, nvalues);
  TrsvPlan *plan   = MakePlan(A, source, nvalues, algorithm);
  int       good   = plan != NULL;

  for (int k = 0; k < Reals(A->precision, nvalues); k++)
    Set(second, A->precision, k, 1.25 * Get(first, A->precision, k));
  for (int pass = 0; good && pass < 2; pass++) {
    const void    *values    = pass ? second : first;
    const unsigned count     = pass ? 1 : (unsigned)solves;
    void          *reference = Reference(A, source, nvalues, values, b);

    good = ExpectError(TrsvPlanSetValues(plan, values, pass ? TRSV_DEVICE : TRSV_HOST, NULL), TRSV_SUCCESS,
                       "TrsvPlanSetValues") &&
           ExpectSolves(plan, b, reference, schedule, count, where);
    schedule += count;
    free(reference);
  }
  TrsvPlanDestroy(&plan);
  free(second);
}

void CheckSolves(Shape shape, int rows, const TrsvAlgorithm *algorithm, int transposed, TrsvTriangle triangle,
                 TrsvDiagonal diagonal, TrsvPrecision precision, int solves)
{
  Triangle   T      = MakeTriangle(shape, rows, triangle, diagonal, precision, (unsigned)rows);
  void      *values = MakeValues(&T.view, (unsigned)rows), *b = MakeVector(precision, rows, (unsigned)rows);
  TrsvMatrix A      = T.view;
  int       *made   = NULL;
  const int *source = NULL;
  char       where[80];

  (void)snprintf(where, sizeof(where), "%s %d", ShapeName[shape], rows);
  if (!transposed || ExpectError(TrsvTranspose(&T.view, &A, &made, &source), TRSV_SUCCESS, "TrsvTranspose"))
    CheckEverySolve(&A, source, T.offsets[rows], algorithm, values, b, solves, where);
  free(made);
  free(values);
  free(b);
  FreeTriangle(&T);
}

void TestSolve(void)
{
  static const int     sizes[] = {0, 1, 2, 31, 32, 33, 63, 65, 127, 129, 255, 257, 1000};
  const TrsvAlgorithm *a;

  for (int i = 0; (a = DeviceAlgorithm(&i));) {
    schedule = FIRST;
    for (int variant = 0; variant < 16; variant++) {
      const TrsvTriangle  triangle   = variant & 1 ? TRSV_UPPER : TRSV_LOWER;
      const TrsvDiagonal  diagonal   = variant & 2 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED;
      const TrsvPrecision precision  = variant & 4 ? TRSV_FLOAT : TRSV_DOUBLE;
      const int           transposed = variant >> 3;

      if (Reduced() && variant % 5) continue; /* each of the four, transposed and not */
      Begin("solve %s, %s, %s diagonal, %s%s", TrsvAlgorithmName(a), triangle ? "upper" : "lower",
            diagonal ? "stored" : "unit", precision ? "double" : "float", transposed ? ", transposed" : "");
      for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        if (!Reduced() || sizes[s] < 200)
          CheckSolves(RANDOM, sizes[s], a, transposed, triangle, diagonal, precision, 3);
      for (int shape = DIAGONAL; shape < SHAPES; shape++) {
        CheckSolves((Shape)shape,
                    shape == DENSE     ? 70
                    : shape == GRID_3D ? 216
                    : shape == GRID_2D ? 225
                                       : 150,
                    a, transposed, triangle, diagonal, precision, 3);
        if (!Reduced() && variant % 3 == 0)
          CheckSolves((Shape)shape,
                      shape == DENSE     ? 33
                      : shape == GRID_3D ? 343
                      : shape == GRID_2D ? 400
                                         : 300,
                      a, transposed, triangle, diagonal, precision, 2);
      }
      End();
    }
  }
}

/* Few matrices, many schedules. */
void TestSchedules(void)
{
  static const Shape   shapes[] = {RANDOM, CHAIN, GRID_2D, ARROW};
  const TrsvAlgorithm *a;

  for (int i = 0; (a = DeviceAlgorithm(&i));)
    for (int s = 0; s < 4; s++) {
      Begin("schedules %s, %s", TrsvAlgorithmName(a), ShapeName[shapes[s]]);
      schedule = 0;
      CheckSolves(shapes[s], 196, a, 0, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, ScheduleCount(6, 96));
      CheckSolves(shapes[s], 196, a, 1, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_FLOAT, ScheduleCount(6, 96));
      End();
    }
}
