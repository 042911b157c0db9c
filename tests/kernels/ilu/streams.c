/*
   Calls of the object TrsvIlu and the state of the device: solves in several streams, another current device, waits
   that are given up.
*/
#include "square.h"

enum { ROWS = 400 };

static TrsvCSR ViewOf(const Square *A) { return (TrsvCSR){A->rows, A->offsets, A->columns, A->values}; }

/* An object for a chain, with values. */
static TrsvIlu *MakeChain(Square *A, double timeout)
{
  const TrsvIluRequest request = {.kind         = TRSV_ILU,
                                  .precision    = TRSV_DOUBLE,
                                  .memory       = TRSV_DEVICE,
                                  .place        = TRSV_PLACE_DEVICE,
                                  .thread_level = 1,
                                  .timeout      = timeout};
  TrsvCSR              csr;
  TrsvIlu             *ilu = NULL;
  TrsvOutcome          o;

  *A  = MakeSquare(CHAIN, ROWS, 1, TRSV_DOUBLE, 9);
  csr = ViewOf(A);
  if (!ExpectError(TrsvIluCreate(&request, ROWS, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) return NULL;
  ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
  ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvIluSetValues");
  return ilu;
}

/* Work in several streams is ordered: by a wait for the device at the first change of streams, by events later. With
   one stream there are no events. */
static void CheckStreams(void)
{
  Square   A;
  TrsvIlu *ilu = MakeChain(&A, TRSV_TIMEOUT);
  double  *b = MakeVector(TRSV_DOUBLE, ROWS, 5), *x = MakeArray(TRSV_DOUBLE, ROWS);
  int      place[4];
  unsigned records = SimtRecords(), waits = SimtEventWaits(), drains = SimtDrains();
  size_t   objects;

  static const struct {
    int      stream; /* 0: the default stream */
    unsigned drains, records, waits;
    int      renewed; /* 1: a new stream with this handle */
  } steps[] = {
    {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 1},
    {0, 0, 1, 1}, {0, 0, 1, 0}, {1, 0, 1, 1}, {1, 0, 1, 1, 1},
  };

  Begin("ilu: solves in several streams");
  objects = SimtObjects();
  for (size_t s = 0; ilu && s < sizeof(steps) / sizeof(steps[0]); s++) {
    const TrsvStream stream = steps[s].stream ? (TrsvStream)&place[steps[s].stream] : NULL;

    if (steps[s].renewed) SimtRenewStream(stream);
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, stream), TRSV_SUCCESS, "TrsvIluSolve");
    Expect(SimtDrains() - drains == steps[s].drains && SimtRecords() - records == steps[s].records &&
             SimtEventWaits() - waits == steps[s].waits,
           "step %zu: %u waits for the device, %u records, %u waits for events", s, SimtDrains() - drains,
           SimtRecords() - records, SimtEventWaits() - waits);
    records = SimtRecords(), waits = SimtEventWaits(), drains = SimtDrains();
  }
  SimtCapture(1);
  if (ilu)
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, (TrsvStream)&place[3]), TRSV_SUCCESS,
                "a captured solve");
  SimtCapture(0);
  for (long k = 1; ilu && k < 8; k++) { /* after any failure a later solve is right */
    SimtFailAt(k, 0);
    (void)TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, (TrsvStream)&place[k % 3]);
    SimtFailAt(0, 0);
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, (TrsvStream)&place[k % 2]), TRSV_SUCCESS,
                "a solve after a failure");
  }
  TrsvIluDestroy(&ilu);
  Expect(SimtObjects() <= objects, "%zu objects instead of %zu", SimtObjects(), objects);
  free(b);
  free(x);
  FreeSquare(&A);
  End();
}

/* The matrix is on the host, but there are plans on the device. */
static void CheckHostMatrix(void)
{
  const TrsvIluRequest request = {.precision = TRSV_DOUBLE, .memory = TRSV_HOST, .timeout = TRSV_TIMEOUT};
  Square               A;
  TrsvIlu             *device = MakeChain(&A, TRSV_TIMEOUT), *ilu = NULL;
  TrsvCSR              csr = ViewOf(&A);
  TrsvTriangles        t   = {0};
  double              *b = MakeVector(TRSV_DOUBLE, ROWS, 5), *x = MakeArray(TRSV_DOUBLE, ROWS);
  int                  place[4];
  unsigned             drains, records, waits;

  Begin("ilu: plans on the device for a matrix on the host");
  ExpectError(TrsvIluDownload(device, &t, NULL), TRSV_SUCCESS, "TrsvIluDownload");
  if (ExpectError(TrsvIluCreate(&request, ROWS, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) {
    ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, &t, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    drains = SimtDrains(), records = SimtRecords(), waits = SimtEventWaits();
    for (int s = 1; s < 4; s++)
      ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, (TrsvStream)&place[s]), TRSV_SUCCESS,
                  "TrsvIluSolve");
    ExpectError(TrsvIluSetFactor(ilu, &t, NULL), TRSV_SUCCESS, "TrsvIluSetFactor");
    Expect(SimtDrains() - drains == 1 && SimtRecords() - records == 4 && SimtEventWaits() - waits == 3,
           "%u waits for the device, %u records, %u waits for events", SimtDrains() - drains, SimtRecords() - records,
           SimtEventWaits() - waits);
    SimtUseDevice(1);
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, NULL), TRSV_ERR_ARGUMENT, "TrsvIluSolve");
    SimtUseDevice(0);
  }
  TrsvIluDestroy(&ilu);
  TrsvIluDestroy(&device);
  TrsvTrianglesDestroy(&t);
  free(b);
  free(x);
  FreeSquare(&A);
  End();
}

/* The current device is not that of the set-up. */
static void CheckOtherDevice(void)
{
  Square      A;
  TrsvIlu    *ilu = MakeChain(&A, TRSV_TIMEOUT);
  TrsvCSR     csr = ViewOf(&A);
  double     *b = MakeVector(TRSV_DOUBLE, ROWS, 5), *x = MakeArray(TRSV_DOUBLE, ROWS);
  TrsvOutcome o;

  Begin("ilu: another device is current");
  if (ilu) {
    SimtUseDevice(1);
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, NULL), TRSV_ERR_ARGUMENT, "TrsvIluSolve");
    Expect(strstr(TrsvErrorMessage(), "call cudaSetDevice(0)") != NULL, "'%s'", TrsvErrorMessage());
    ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 1, NULL, NULL), TRSV_ERR_ARGUMENT, "TrsvIluPrepare");
    ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_ERR_ARGUMENT, "TrsvIluSetValues");
    SimtUseDevice(0);
    ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvIluSetValues");
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, NULL), TRSV_SUCCESS, "TrsvIluSolve");
    SimtUseDevice(1);
    TrsvIluDestroy(&ilu);
    SimtUseDevice(0);
  }
  free(b);
  free(x);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* A wait ends at the limit of the object; the next call returns the error once; then the object works. */
static void CheckGivesUp(double limit, const char *message)
{
  Square         A;
  TrsvIlu       *ilu = MakeChain(&A, limit);
  double        *b = MakeVector(TRSV_DOUBLE, ROWS, 5), *x = MakeArray(TRSV_DOUBLE, ROWS);
  const uint64_t start   = SimtNanoseconds();
  int            missing = 0;

  Begin("ilu: waits are given up after %g s", limit);
  SimtSettings.bounded = 1;
  SimtSettings.lose    = 1;
  if (ilu)
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_FORWARD, b, x, NULL), TRSV_SUCCESS,
                "a solve that loses a value");
  SimtDefaults();
  for (int k = 0; k < ROWS; k++) missing += isnan(x[k]);
  Expect(missing > 0, "no NaN in x");
  const double took = 1e-9 * (double)(SimtNanoseconds() - start);
  Expect(took >= limit && took < limit + 45, "gave up after %g s", took);
  if (ilu) {
    SimtCapture(1);
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, NULL), TRSV_ERR_TIMEOUT, "a captured call");
    Expect(strstr(TrsvErrorMessage(), "before a capture call a solve") != NULL, "'%s'", TrsvErrorMessage());
    SimtCapture(0);
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, NULL), TRSV_ERR_TIMEOUT, "the next call");
    Expect(strstr(TrsvErrorMessage(), message) != NULL, "'%s'", TrsvErrorMessage());
    ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, b, x, NULL), TRSV_SUCCESS, "after that");
    for (int k = 0; k < ROWS; k++) Expect(isfinite(x[k]), "x[%d] is %g", k, x[k]);
  }
  TrsvIluDestroy(&ilu);
  free(b);
  free(x);
  FreeSquare(&A);
  End();
}

void TestIluStreams(void)
{
  CheckStreams();
  CheckHostMatrix();
  CheckOtherDevice();
  CheckGivesUp(2, "longer than 2 s");
  CheckGivesUp(50, "longer than 50 s");
}
