/*
   Planted bugs: solves as in thread.cu and warp.cu, each with one bug that a device rarely shows. The executor must
   find each under one of its schedules, and must find nothing in the two correct solves.
*/
#include "simt/reports.h"

enum Bug {
  NONE_WARP, /* a warp for a row */
  NONE_THREAD, /* a thread for a row */
  STATIC_BLOCKS,
  NO_BARRIER,
  HALF_MASK,
  LANE_LEFT_OUT,
  ENDED_LANES,
  PARTIAL_SUM,
  NOT_REARMED,
  SEPARATE_FLAG,
  WRITE_AFTER_LOOP,
  BARRIER_IN_BRANCH,
  TICKET_FOR_EACH_THREAD,
  NOT_CANONICAL,
  BUGS
};

static const struct {
  const char *name, *report; /* the executor's report; "" if the solution is wrong */
} bugs[BUGS] = {
  {"warp-level, no bug",                            "-"                    },
  {"thread-level, no bug",                          "-"                    },
  {"block numbers instead of tickets",             "deadlock"             },
  {"no barrier behind the ticket",                  ""                     },
  {"a mask of half the warp",                       "not in the mask"      },
  {"a lane that does not take part",                ""                     }, /* there are several possible reports */
  {"lanes that have ended",                         "have ended"           },
  {"a partial sum is published",                    ""                     },
  {"the other half of the words is not readied",    ""                     },
  {"value and flag in two words",                   ""                     },
  {"a thread writes behind what its warp waits at", "deadlock"             },
  {"a barrier in a branch",                         ""                     },
  {"every thread takes a ticket",                   ""                     },
  {"a NaN with the bits of NOT_READY is published", "deadlock"             },
};

struct View {
  int           rows;
  const int    *offsets, *columns; /* the diagonal is not stored */
  const double *values;
  double       *words;
  unsigned     *flags;
  TrsvSync      sync;
};

enum {
  WARPS = 2,
  BLOCK = 32 * WARPS
};

template <int BUG> static __global__ void planted_warp(View A, const double *b, double *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0 || BUG == TICKET_FOR_EACH_THREAD) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  if (BUG != NO_BARRIER) __syncthreads();
  const unsigned block = BUG == STATIC_BLOCKS ? blockIdx.x : start[0], p = block * WARPS + threadIdx.x / 32,
                 lane = threadIdx.x % 32;

  if (p >= (unsigned)A.rows) return;
  double *const now  = A.words + (start[1] == 1 ? A.rows : 0), *const then = A.words + (start[1] == 1 ? 0 : A.rows);
  double        sum  = 0;
  const int     begin = A.offsets[p], end = A.offsets[p + 1];

  if (BUG == ENDED_LANES && begin + (int)lane >= end && lane) return;
  if (lane == 0 && BUG != NOT_REARMED) then[p] = trsv_not_ready<double>();
  for (int k = begin + (int)lane; k < end; k += 32) {
    double solution;

    if (BUG == SEPARATE_FLAG) {
      const unsigned turn = start[1] + 1;
      while (trsv_load(A.flags + A.columns[k]) != turn) trsv_pause();
      solution = trsv_load(now + A.columns[k]);
    } else
      while (!trsv_is_ready(solution = trsv_load(now + A.columns[k]))) trsv_pause();
    sum = fma(A.values[k], solution, sum);
  }
  if (BUG == BARRIER_IN_BRANCH && lane < 16) __syncthreads();
  __syncwarp();
  if (BUG == PARTIAL_SUM && lane == 0) trsv_publish(now + p, b[p] - sum);
  for (int half = 16; half; half /= 2) {
    const unsigned mask = BUG == HALF_MASK ? 0xffffu : 0xffffffffu;

    if (BUG == LANE_LEFT_OUT && lane == 31 && half == 1) break;
    sum += __shfl_down_sync(mask, sum, (unsigned)half);
  }
  if (lane == 0) {
    if (BUG == NOT_CANONICAL) trsv_store(now + p, x[p] = b[p] - sum);
    else x[p] = trsv_publish(now + p, b[p] - sum);
    if (BUG == SEPARATE_FLAG) trsv_store(A.flags + p, start[1] + 1);
  }
}

template <int BUG> static __global__ void planted_thread(View A, const double *b, double *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  __syncthreads();
  const unsigned p    = start[0] * BLOCK + threadIdx.x;
  const bool     mine = p < (unsigned)A.rows;
  double *const  now  = A.words + (start[1] ? A.rows : 0), *const then = A.words + (start[1] ? 0 : A.rows);
  double         sum  = 0;

  if (mine) then[p] = trsv_not_ready<double>(), sum = b[p];
  for (int k = mine ? A.offsets[p] : 0, end = mine ? A.offsets[p + 1] : 0; k < end; k++) {
    double solution;

    while (!trsv_is_ready(solution = trsv_load(now + A.columns[k]))) trsv_pause();
    sum = fma(-A.values[k], solution, sum);
  }
  if (BUG == WRITE_AFTER_LOOP) __syncwarp(); /* a compiler may let a warp converge here */
  if (mine) x[p] = trsv_publish(now + p, sum);
}

static void LaunchPlanted(Bug bug, const View &A, const double *b, double *x)
{
#define PLANTED(B)                                                                                                     \
  case B:                                                                                                              \
    TRSV_LAUNCH(planted_warp<B>, (unsigned)(A.rows + WARPS - 1) / WARPS, BLOCK, 0, (TrsvStream)NULL, A, b, x);         \
    break
  switch (bug) {
    PLANTED(NONE_WARP);
    PLANTED(STATIC_BLOCKS);
    PLANTED(NO_BARRIER);
    PLANTED(HALF_MASK);
    PLANTED(LANE_LEFT_OUT);
    PLANTED(ENDED_LANES);
    PLANTED(PARTIAL_SUM);
    PLANTED(NOT_REARMED);
    PLANTED(SEPARATE_FLAG);
    PLANTED(BARRIER_IN_BRANCH);
    PLANTED(TICKET_FOR_EACH_THREAD);
    PLANTED(NOT_CANONICAL);
  case WRITE_AFTER_LOOP:
    TRSV_LAUNCH(planted_thread<WRITE_AFTER_LOOP>, (unsigned)(A.rows + BLOCK - 1) / BLOCK, BLOCK, 0, (TrsvStream)NULL, A,
                b, x);
    break;
  default:
    TRSV_LAUNCH(planted_thread<NONE_THREAD>, (unsigned)(A.rows + BLOCK - 1) / BLOCK, BLOCK, 0, (TrsvStream)NULL, A, b,
                x);
  }
}

/* Four solves in a row under one schedule, each with another b. Returns whether a bug was found; prints the executor's
   report. */
static bool FindsBug(Bug bug, const Triangle &T, const double *values, unsigned schedule, char *report, size_t size)
{
  const int             rows = T.view.rows;
  std::vector<double>   words(2 * (size_t)rows, trsv_not_ready<double>()), x((size_t)rows);
  std::vector<unsigned> flags((size_t)rows, 0);
  View                  A = {rows, T.offsets, T.columns, values, words.data(), flags.data(), {}};
  bool                  found = false;

  if (!ExpectError(TrsvSyncCreate(&A.sync), TRSV_SUCCESS, "TrsvSyncCreate")) return false;
  *report = 0;
  for (unsigned s = 0; s < 4 && !found; s++) {
    double *b = (double *)MakeVector(TRSV_DOUBLE, rows, s), *reference;

    if (bug == NOT_CANONICAL) b[rows / 2] = trsv_not_ready<double>();
    reference = (double *)Reference(&T.view, NULL, T.offsets[rows], values, b);
    SimtSchedule(schedule);
    if (TrsvSyncStart(&A.sync, NULL)) found = true;
    x.assign((size_t)rows, NAN);
    LaunchPlanted(bug, A, b, x.data());
    if (TrsvDeviceCheckLaunch("planted")) {
      found = true;
      (void)snprintf(report, size, "%s", TrsvErrorMessage());
    } else
      for (int i = 0; reference && i < rows; i++)
        found = found || (std::isnan(reference[i]) ? !std::isnan(x[(size_t)i])
                                                   : !(std::fabs(x[(size_t)i] - reference[i]) < 1e-12));
    free(b);
    free(reference);
  }
  TrsvSyncDestroy(&A.sync);
  return found;
}

extern "C" void TestPlanted(void)
{
  const Shape    shapes[]  = {RANDOM, CHAIN, GRID_2D};
  const unsigned schedules = Reduced() ? 6 : 40;

  for (int bug = 0; bug < BUGS; bug++) {
    unsigned found = 0, reported = 0;
    char     report[1024];

    Begin("planted: %s", bugs[bug].name);
    for (int s = 0; s < 3; s++) {
      Triangle T      = MakeTriangle(shapes[s], 100, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 9);
      double  *values = (double *)MakeValues(&T.view, 9);

      for (unsigned k = 0; k < schedules; k++)
        if (FindsBug((Bug)bug, T, values, k, report, sizeof(report))) {
          found++;
          reported += *report && strstr(report, bugs[bug].report);
          if (bug <= NONE_THREAD) Expect(false, "schedule %u: %s", k, *report ? report : "a wrong solution");
        }
      free(values);
      FreeTriangle(&T);
    }
    if (bug > NONE_THREAD) {
      Expect(found > 0, "not caught in %u runs", 3 * schedules);
      Expect(!*bugs[bug].report || reported, "caught, but not as '%s': %s", bugs[bug].report, report);
    }
    End();
  }
  TestEarlyFaults();
}
