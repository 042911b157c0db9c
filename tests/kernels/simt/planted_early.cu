/*
   Planted faults in early launches: solves as in thread.cu, with words of two halves, that read their values before
   they wait for the previous launch; the weakened protocols of tests/models/turns.pml. The executor must find each
   under one of its schedules, and must find nothing in the correct solve.
*/
#include "simt/reports.h"

enum Fault { NONE, NO_WAIT, LET_FIRST, NO_READYING, READY_FIRST, ALWAYS_EARLY, FAULTS };

static const char *const fault_name[FAULTS] = {
  "no fault",
  "no wait for the launch before",
  "the next launch may start before the ticket is taken",
  "the other half of the words is not readied",
  "the other half is readied before the wait",
  "early right behind new values",
};

enum {
  BLOCK = 32,
  ROWS  = 4 * BLOCK, /* each row waits for the row 32 before it */
  SOLVES = 3         /* solves with each set of values; each for the solution of the one before */
};

struct Plan {
  double  *values, *words;
  TrsvSync sync;
};

static __global__ void set_values(double *values, double v)
{
  values[trsv_index()] = v;
}

template <int FAULT> static __global__ void solve(const Plan A, const double *b, double *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (FAULT == LET_FIRST) trsv_let_next_start();
  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int     row   = (int)(start[0] * BLOCK + threadIdx.x);
  double *const now   = A.words + (start[1] ? ROWS : 0), *const then = A.words + (start[1] ? 0 : ROWS);
  const double  value = A.values[row];
  double        before = 0;

  if (FAULT == READY_FIRST) then[row] = trsv_not_ready<double>();
  if (FAULT != NO_WAIT) trsv_wait_for_previous();
  if (FAULT != LET_FIRST) trsv_let_next_start();
  if (FAULT != NO_READYING && FAULT != READY_FIRST) then[row] = trsv_not_ready<double>();
  const double right = b[row];
  if (row >= BLOCK)
    while (!trsv_is_ready(before = trsv_load(now + row - BLOCK))) trsv_pause();
  x[row] = trsv_publish(now + row, fma(value, before, right));
}

/* x, computed on the host */
static void SolveByPlan(double value, const double *b, double *x)
{
  for (int i = 0; i < ROWS; i++) x[i] = i < BLOCK ? b[i] : fma(value, x[i - BLOCK], b[i]);
}

template <int FAULT> static bool FindsFault(unsigned schedule, unsigned *early)
{
  const unsigned before = SimtEarlyBlocks();
  Plan           A;
  double        *x[2 * SOLVES + 1], want[ROWS], b[ROWS];
  bool           found = false;

  ExpectError(TrsvSyncCreate(&A.sync), TRSV_SUCCESS, "TrsvSyncCreate");
  ExpectError(TrsvDeviceAlloc(sizeof(double) * ROWS, &A.values), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceAlloc(sizeof(double) * 2 * ROWS, &A.words), TRSV_SUCCESS, "TrsvDeviceAlloc");
  for (int i = 0; i < 2 * ROWS; i++) A.words[i] = trsv_not_ready<double>();
  for (int s = 0; s <= 2 * SOLVES; s++) {
    ExpectError(TrsvDeviceAlloc(sizeof(double) * ROWS, &x[s]), TRSV_SUCCESS, "TrsvDeviceAlloc");
    for (int i = 0; i < ROWS; i++) x[s][i] = s ? -1 : 1 + i % 7;
  }
  SimtSchedule(schedule);
  SimtSettings.early = 1;
  for (int s = 0; s < 2 * SOLVES; s++) {
    const bool first = s % SOLVES == 0;

    if (first) TRSV_LAUNCH(set_values, ROWS / BLOCK, BLOCK, 0, (TrsvStream)NULL, A.values, s ? 0.5 : 2.0);
    TRSV_LAUNCH_EARLY(solve<FAULT>, !first || FAULT == ALWAYS_EARLY, 1, ROWS / BLOCK, BLOCK, 0, (TrsvStream)NULL, A,
                      (const double *)x[s], x[s + 1]);
  }
  found = !SimtFinish();
  memcpy(b, x[0], sizeof(b));
  for (int s = 0; s < 2 * SOLVES && !found; s++) {
    SolveByPlan(s < SOLVES ? 2 : 0.5, b, want);
    found = memcmp(want, x[s + 1], sizeof(want)) != 0;
    memcpy(b, want, sizeof(b));
  }
  SimtDefaults();
  for (int s = 0; s <= 2 * SOLVES; s++) TrsvDeviceFree(x[s]);
  TrsvDeviceFree(A.values);
  TrsvDeviceFree(A.words);
  TrsvSyncDestroy(&A.sync);
  *early += SimtEarlyBlocks() - before;
  return found;
}

template <int FAULT> static void RunSchedules(void)
{
  const unsigned schedules = Reduced() ? 16 : 60;
  unsigned       found = 0, early = 0;

  Begin("planted: early launches, %s", fault_name[FAULT]);
  for (unsigned k = 0; k < schedules; k++) found += FindsFault<FAULT>(k, &early);
  if (FAULT == NONE) Expect(!found, "%u of %u schedules find something: %s", found, schedules, SimtReport());
  else Expect(found, "not caught in %u runs", schedules);
  Expect(early > schedules, "%u blocks start early in %u runs", early, schedules);
  End();
}

void TestEarlyFaults(void)
{
  RunSchedules<NONE>();
  RunSchedules<NO_WAIT>();
  RunSchedules<LET_FIRST>();
  RunSchedules<NO_READYING>();
  RunSchedules<READY_FIRST>();
  RunSchedules<ALWAYS_EARLY>();
}
