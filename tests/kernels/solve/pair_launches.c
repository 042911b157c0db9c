/*
   Pairs whose two solves are one launch; the number of launches of a pair.
*/
#include "check.h"
#include "solve/rows/level_csr.h"

typedef struct {
  Triangle  L, U;
  double   *l, *u, *b, *scaled, *x, *want, times;
  TrsvPair *pair;
} Both;

/* A pair that is solved in one launch, and the solution by two launches. */
static Both MakeBoth(Shape shape, int rows)
{
  const TrsvAlgorithm *const thread = FindTested("thread");
  Both                       t      = {MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
                                       MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 2),
                                       NULL,
                                       NULL,
                                       MakeVector(TRSV_DOUBLE, rows, 3),
                                       MakeArray(TRSV_DOUBLE, rows),
                                       MakeArray(TRSV_DOUBLE, rows),
                                       MakeArray(TRSV_DOUBLE, rows),
                                       1,
                                       NULL};

  t.l = MakeValues(&t.L.view, 1);
  t.u = MakeValues(&t.U.view, 2);
  ExpectError(
    TrsvPairCreate(&t.L.view, &t.U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, thread, thread, &t.pair),
    TRSV_SUCCESS, "TrsvPairCreate");
  ExpectError(TrsvPairSetValues(t.pair, t.l, t.u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
  ExpectError(TrsvPlanSolve(t.pair->forward.plan, t.b, t.x, NULL), TRSV_SUCCESS, "the solve with L");
  ExpectError(TrsvPlanSolveNext(t.pair->backward.plan, t.x, t.want, NULL), TRSV_SUCCESS, "the solve with U");
  return t;
}

static void FreeBoth(Both *t)
{
  TrsvPairDestroy(&t->pair);
  free(t->l);
  free(t->u);
  free(t->b);
  free(t->scaled);
  free(t->x);
  free(t->want);
  FreeTriangle(&t->L);
  FreeTriangle(&t->U);
}

/* Solves with b times a power of two that differs from those of the last two solves, so that values of these are wrong.
 */
static void SolveBoth(Both *t, const char *when)
{
  const int rows = t->L.view.rows;

  t->times = t->times == 4 ? 1 : 2 * t->times;
  for (int i = 0; i < rows; i++) {
    t->scaled[i] = t->times * t->b[i];
    t->x[i]      = -1e300;
  }
  ExpectError(TrsvPairSolve(t->pair, t->scaled, t->x, NULL), TRSV_SUCCESS, when);
  for (int i = 0; i < rows; i++) t->x[i] /= t->times;
}

static void CheckSameBits(const Both *t, const char *when)
{
  Expect(!memcmp(t->x, t->want, sizeof(double) * (size_t)t->L.view.rows), "%s: other bits than two launches have",
         when);
}

static void CheckOneLaunch(void)
{
  static const Shape shapes[] = {DIAGONAL, RANDOM, BAND, ARROW, CHAIN};

  Begin("L and U by thread, in one launch");
  for (int s = 0; s < 5; s++) {
    Both t = MakeBoth(shapes[s], Reduced() ? 150 : 700);

    for (unsigned k = 0; k < 12; k++) {
      const unsigned launches = SimtLaunches();

      SimtSchedule(k);
      SolveBoth(&t, "TrsvPairSolve");
      Expect(SimtLaunches() == launches + 1, "%u launches", SimtLaunches() - launches);
      CheckSameBits(&t, ShapeName[shapes[s]]);
      if (k % 5 == 4)
        ExpectError(TrsvPlanSolve(t.pair->forward.plan, t.b, t.x, NULL), TRSV_SUCCESS,
                    "the solve with L"); /* the words of L are in another turn than those of U */
    }
    FreeBoth(&t);
  }
  End();

  Begin("a value that never arrives, in one launch for L and U");
  {
    Both     t      = MakeBoth(BAND, 200);
    int      waited = 0;
    unsigned launches;

    for (long k = 1; k <= (Reduced() ? 40 : 400); k += (k + 3) / 4) {
      int nans = 0;

      SimtSchedule((unsigned)k);
      SimtSettings.bounded = 1;
      SimtSettings.lose    = k;
      SolveBoth(&t, "the solve that loses a value");
      SimtSettings.lose = SimtSettings.bounded = 0;
      for (int i = 0; i < 200; i++) {
        nans += isnan(t.x[i]);
        Expect(isnan(t.x[i]) || t.x[i] == t.want[i], "store %ld: x[%d] is %g, neither right nor NaN", k, i, t.x[i]);
      }
      if (nans) {
        unsigned *const aborted = ((TrsvThreadPair *)t.pair->fused)->sync.abort_host;

        waited++;
        for (int queued = 0; queued < 3; queued++) { /* solves that are launched before the host has read the failure:
                                                        none uses values of the failed one */
          *aborted = 0;
          SolveBoth(&t, "a solve behind it");
          for (int i = 0; i < 200; i++)
            Expect(isnan(t.x[i]), "store %ld, %d. solve behind it: x[%d] is %g, where that right is %g", k, queued + 1,
                   i, t.x[i], t.want[i]);
        }
        *aborted = 1;
        launches = SimtLaunches();
        SimtCapture(1);
        ExpectError(TrsvPairSolve(t.pair, t.b, t.x, NULL), TRSV_ERR_TIMEOUT, "a captured call");
        SimtCapture(0);
        Expect(SimtLaunches() == launches, "a captured call launches");
        for (long call = 1, failed = 1; failed; call++) { /* a call of the device fails: the next solve tells, too */
          *aborted = 1;
          SimtFailAt(call, 0);
          const TrsvError error = TrsvPairSolve(t.pair, t.b, t.x, NULL);
          failed                = SimtFailed();
          SimtFailAt(0, 0);
          Expect(failed ? error && *aborted : error == TRSV_ERR_TIMEOUT && !*aborted,
                 "call %ld of the device: error %d, the next solve reports one: %u", call, (int)error, *aborted);
        }
      }
      for (int again = 0; again < 2; again++) {
        SolveBoth(&t, "afterwards");
        CheckSameBits(&t, "afterwards");
      }
    }
    Expect(waited >= 3, "only %d lost values were waited for", waited);
    FreeBoth(&t);
  }
  End();
}

/* If `thread` recomputes in either triangle there are two launches, otherwise one. */
static void CountLaunches(void)
{
  const TrsvAlgorithm *const thread = TrsvAlgorithmFind("thread");

  Begin("L and U by thread, in one launch where neither recomputes");
  for (int mix = 0; mix < 4; mix++) { /* one level set, or many */
    Triangle L     = MakeTriangle(mix & 1 ? RANDOM : DIAGONAL, 300, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
             U     = MakeTriangle(mix & 2 ? RANDOM : DIAGONAL, 300, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 2);
    TrsvPair *pair = NULL;

    if (ExpectError(
          TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, thread, thread, &pair),
          TRSV_SUCCESS, "TrsvPairCreate")) {
      const TrsvLevelCSR *l = pair->forward.plan->data, *u = pair->backward.plan->data;

      Expect(l->recomputes == (mix & 1) && u->recomputes == mix >> 1, "L recomputes %d, U %d, deep are %d and %d",
             l->recomputes, u->recomputes, mix & 1, mix >> 1);
      Expect(!pair->fused == (mix > 0), "L deep %d, U %d: %s", mix & 1, mix >> 1,
             pair->fused ? "one launch" : "two launches");
    }
    TrsvPairDestroy(&pair);
    FreeTriangle(&L);
    FreeTriangle(&U);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestPairLaunches(void)
{
  CheckOneLaunch();
  CountLaunches();
}
