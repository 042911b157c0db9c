/*
   Early launches: consecutive solves, each for the solution of the one before, by one plan and by two alternating
   plans, with new values in between. The executor begins each before the previous one has ended (SimtOptions.early).
   Values and vectors are on the device, so that no call but the last waits.
*/
#include "check.h"
#include "solve/chunk/chunk.h"
#include "solve/rows/level_csr.h"

enum {
  ROWS   = 300,
  ROUNDS = 2, /* sets of values */
  SOLVES = 3  /* solves with each set */
};

static void *OnDevice(size_t bytes, const void *host)
{
  void *copy;

  ExpectError(TrsvDeviceAlloc(bytes, &copy), TRSV_SUCCESS, "TrsvDeviceAlloc");
  if (host) ExpectError(TrsvDeviceUpload(copy, host, bytes, NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  return copy;
}

/* Solves by plan[0] and plan[1] in turn; if they are the same plan, each launch follows one of its own. */
static void MakeChain(TrsvPlan *plan[2], const Triangle *T, unsigned schedule)
{
  const int    entries = T->offsets[ROWS];
  const size_t vector  = sizeof(double) * ROWS;
  void *values[ROUNDS], *there[ROUNDS], *b = MakeVector(TRSV_DOUBLE, ROWS, schedule), *x = MakeArray(TRSV_DOUBLE, ROWS);
  void *step[ROUNDS * SOLVES + 1];

  for (int r = 0; r < ROUNDS; r++) {
    values[r] = MakeValues(&T->view, 3 + (unsigned)r);
    there[r]  = OnDevice(sizeof(double) * (size_t)entries, values[r]);
  }
  for (int s = 0; s <= ROUNDS * SOLVES; s++) step[s] = OnDevice(vector, b);
  SimtSchedule(schedule);
  SimtSettings.early = 1;
  for (int s = 0; s < ROUNDS * SOLVES; s++) {
    if (s % SOLVES == 0)
      for (int p = 0; p < 1 + (plan[0] != plan[1]); p++)
        ExpectError(TrsvPlanSetValues(plan[p], there[s / SOLVES], TRSV_DEVICE, NULL), TRSV_SUCCESS,
                    "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolveNext(plan[s % 2], step[s], step[s + 1], NULL), TRSV_SUCCESS, "TrsvPlanSolveNext");
  }
  Expect(SimtFinish(), "schedule %u: %s", schedule, SimtReport());
  SimtDefaults();
  for (int s = 0; s < ROUNDS * SOLVES; s++) {
    char  where[60];
    void *want =
      Reference(&T->view, NULL, entries, values[s / SOLVES], step[s]); /* of earlier launches of the executor */

    (void)snprintf(where, sizeof(where), "schedule %u, solve %d", schedule, s);
    ExpectClose(TRSV_DOUBLE, ROWS, step[s + 1], want, where);
    free(want);
  }
  for (int r = 0; r < ROUNDS; r++) {
    free(values[r]);
    TrsvDeviceFree(there[r]);
  }
  for (int s = 0; s <= ROUNDS * SOLVES; s++) TrsvDeviceFree(step[s]);
  free(b);
  free(x);
}

/* Do solves of this algorithm launch early? */
static int IsEarly(const TrsvAlgorithm *a)
{
  return a == FindTested("thread") || a == FindTested("thread, recomputing") || a == FindTested("sell") ||
         a == FindTested("chunk") || a == FindTested("chunk, inverted") || a == FindTested("recblock") ||
         a == FindTested("dense");
}

static void CheckEarly(const TrsvAlgorithm *a, Shape shape)
{
  const unsigned before = SimtEarlyBlocks();
  Triangle       T      = MakeTriangle(shape, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 5);
  TrsvPlan      *plan[2], *same[2];

  ForceChunkSettings(4, 3, 2);
  for (int p = 0; p < 2; p++) plan[p] = MakePlan(&T.view, NULL, T.offsets[ROWS], a);
  TrsvChunkSettingsOverride(NULL);
  same[0] = same[1] = plan[0];
  for (unsigned k = 0; plan[0] && plan[1] && k < (Reduced() ? 2 : 8); k++) MakeChain(k % 2 ? plan : same, &T, k);
  Expect((SimtEarlyBlocks() > before) == IsEarly(a), "%u blocks begin early", SimtEarlyBlocks() - before);
  for (int p = 0; p < 2; p++) TrsvPlanDestroy(&plan[p]);
  FreeTriangle(&T);
}

void TestEarly(void)
{
  const TrsvAlgorithm *a;

  for (int i = 0; (a = DeviceAlgorithm(&i));) {
    if (Reduced() && !IsEarly(a)) continue;
    Begin("early launches, %s", TrsvAlgorithmName(a));
    CheckEarly(a, BAND);
    if (IsEarly(a) && !Reduced()) CheckEarly(a, RANDOM);
    End();
  }
}
