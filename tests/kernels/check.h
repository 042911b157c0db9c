/*
   check.h: reports of tests, seeded numbers, matrices of awkward shapes, plans; for the tests of src/kernels.
*/
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "executor.h"
#include "papers/settings.h"
#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "solve/schedule/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A test: Begin, any number of Expect, End, which prints its line. The line states the first failure. */
void Begin(const char *name, ...) __attribute__((format(printf, 1, 2)));
int  Expect(int ok, const char *why, ...) __attribute__((format(printf, 2, 3))); /* returns ok */
int  ExpectError(TrsvError got, TrsvError wanted, const char *doing);
void End(void);
void Skip(const char *name, const char *why);
int  Failures(void);
int  Reduced(void);                         /* true in a slow build, which runs fewer cases */
int  ScheduleCount(int reduced, int usual); /* how many; TRSV_TEST_SCHEDULES times as many in a long run */

/* A suite may run in n processes, k = 1 to n: it calls Mine() once for each case, in the same order in every process.
   */
void Shard(int k, int n);
int  Mine(void);

/* Suites and parts of suites, each in a file of its own */
void TestAnalysis(void), TestComplex(void), TestFactorComplex(void), TestIlu(void), TestSolve(void),
  TestSchedules(void), TestPairs(void), TestPairLaunches(void), TestNumbers(void), TestGrowth(void), TestWaits(void),
  TestMemory(void), TestMatrices(void), TestFamilies(void), TestPlanted(void), TestExecutor(void), TestChunk(void),
  TestChunkHeights(void), TestOnDevice(void), TestInverse(void), TestInversePattern(void), TestFactor(void),
  TestFactorOrder(void), TestTune(void), TestOrdering(void), TestPapers(void), TestSettings(void), TestAg(void),
  TestFactorRefused(void), TestDense(void), TestRecblock(void), TestSell(void), TestThread(void), TestSelect(void),
  TestLockStep(void), TestTogether(void), TestPlanes(void), TestHeights(void), TestPool(void), TestPinned(void),
  TestEntries(void), TestKrylov(void), TestRoles(void), TestEarly(void), TestPatterns(void), TestBoth(void),
  TestState(void), TestLost(void), TestStatistics(void), TestStructure(void), TestIluStreams(void),
  TestOrderChoice(void), TestGrids(void);

/* Seeded random numbers, the same on every machine */
typedef uint64_t Random;
uint64_t         RandomBits(Random *);
int              RandomBelow(Random *, int n);
double           RandomReal(Random *);                 /* in [-1, 1) */
void             Shuffle(Random *, int n, int *order); /* 0 .. n - 1 in a random order */

/* A triangle that belongs to the test */
typedef struct {
  TrsvMatrix view;
  int       *offsets, *columns;
} Triangle;

typedef enum {
  RANDOM, /* some dependencies on any earlier rows */
  DIAGONAL,
  CHAIN,
  DENSE,
  DENSE_ROW,    /* the last row depends on all rows */
  DENSE_COLUMN, /* all rows depend on the first one */
  BAND,
  ARROW,
  GAPS, /* two rows of three depend on nothing */
  GRID_2D,
  GRID_3D,
  SHAPES
} Shape;

extern const char *const ShapeName[SHAPES];

/* Allocations of the host that are held. memory.c */
long HeldOnHost(void);

/* An upper triangle is a lower one with rows and columns reversed. */
Triangle MakeTriangle(Shape, int rows, TrsvTriangle, TrsvDiagonal, TrsvPrecision, unsigned seed);
Triangle MakeFrom(int rows, const int *offsets, const int *columns, TrsvTriangle, TrsvDiagonal,
                  TrsvPrecision); /* that triangle of a square pattern, with a full diagonal */
void     FreeTriangle(Triangle *);

/* Copies data to new memory of the device. pointer is the address of a pointer; TrsvDeviceFree() frees it. */
static inline TrsvError UploadNew(const void *data, size_t bytes, void *pointer)
{
  return TrsvCopyNew(TRSV_DEVICE, TRSV_HOST, data, bytes, pointer);
}

/* A copy of a matrix on the device; FromDevice() frees it. */
TrsvMatrix ToDevice(const TrsvMatrix *);
void       FromDevice(TrsvMatrix *);

/* Expects that the analysis of a copy on the device equals that on the host. device.c */
int ExpectSameAnalysis(const TrsvMatrix *);

/* Arrays of any precision. Get and Set count reals: a complex value is two. */
void       *MakeArray(TrsvPrecision, int n);
int         Reals(TrsvPrecision, int n); /* of n values */
double      Get(const void *, TrsvPrecision, int i);
void        Set(void *, TrsvPrecision, int i, double v);
const char *PrecisionName(TrsvPrecision);
void       *MakeValues(const TrsvMatrix *, unsigned seed); /* diagonally dominant by rows */
void       *MakeVector(TrsvPrecision, int n, unsigned seed);

/* Analyzes and makes a plan; returns NULL after a failed Expect. */
TrsvPlan *MakePlan(const TrsvMatrix *, const int *source, int values, const TrsvAlgorithm *);
TrsvPlan *MakePlanWith(const TrsvMatrix *, const int *source, int values, const TrsvAlgorithm *, const char *settings);
void      ExpectRefused(const char *algorithm, const char *settings,
                        const char *why); /* expects an error whose message contains why */

/* The solution by serial; NULL as above. */
void *Reference(const TrsvMatrix *, const int *source, int nvalues, const void *values, const void *b);

/* Expects equality up to rounding, relative to the largest number; NaN where the reference has NaN, the same Inf where
   it has Inf. */
int ExpectClose(TrsvPrecision, int n, const void *x, const void *reference, const char *where);

/* Solves by a plan that has values, each under another schedule. Expects solutions close to the reference and, if the
   algorithm promises it, the same bits. */
int ExpectSolves(TrsvPlan *, const void *b, const void *reference, unsigned schedule, unsigned solves,
                 const char *where);

/* Solves repeatedly by one plan under different schedules, then with new values; expects as ExpectSolves(), against
   serial. */
void CheckSolves(Shape, int rows, const TrsvAlgorithm *, int transposed, TrsvTriangle, TrsvDiagonal, TrsvPrecision,
                 int solves);

/* Makes the multicolor ordering of a pattern, with values if they are not NULL, and expects all its properties. Returns
   its level sets, and its grid if grid is not NULL. ordering_check.c */
int CheckOrdering(int rows, const int *offsets, const int *columns, const double *values, int grid[3]);

/* Factors a pattern, to which a diagonal is added, with seeded values by ILU(0) and IC(0), and compares device and
   host. factor.c */
void CheckFactors(int rows, const int *offsets, const int *columns, unsigned seed);

/* Settings of all plans of `chunk` from now on; NULL: each plan chooses. In chunk_plan.cu. */
void TrsvChunkSettingsOverride(const TrsvChunkSettings *);

static inline void ForceChunkSettings(int chunks, int length, int cluster)
{
  const TrsvChunkSettings settings = {chunks, length, 32, cluster, 2048, 4, -1, 8, 4};

  TrsvChunkSettingsOverride(&settings);
}

/* The algorithms of the table; `thread` and `chunk` have an entry for each form: "thread" and "thread, recomputing",
   "chunk" (without inverted blocks) and "chunk, inverted". NULL past the last. */
const TrsvAlgorithm *TestedAlgorithm(int i);
const TrsvAlgorithm *FindTested(const char *name);

/* The next of them on the device, from the i-th on; NULL past the last. TRSV_TEST_ALGORITHM names the only one that is
   not left out. */
const TrsvAlgorithm *DeviceAlgorithm(int *i);

#ifdef __cplusplus
}
#endif
#endif
