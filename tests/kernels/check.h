/*
   check.h: what the tests of src/kernels share: how a test is told, seeded numbers, matrices of awkward shapes, plans.
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

/* A test: Begin, any number of Expect, End, which prints its line. The first thing that goes wrong is what the line
 * says. */
void Begin(const char *name, ...) __attribute__((format(printf, 1, 2)));
int  Expect(int ok, const char *why, ...) __attribute__((format(printf, 2, 3))); /* returns ok */
int  ExpectError(TrsvError got, TrsvError wanted, const char *doing);
void End(void);
void Skip(const char *name, const char *why);
int  Failures(void);
int  Reduced(void);                         /* a slow build asks for fewer of the same */
int  ScheduleCount(int reduced, int usual); /* how many; TRSV_TEST_SCHEDULES times as many in a long run */

/* A suite may run in n parts, k = 1 to n, in processes of their own: it asks Mine() once for each case, in the same
   order in every part. */
void Shard(int k, int n);
int  Mine(void);

/* Suites and parts of suites, each in a file of its own */
void TestAnalysis(void), TestComplex(void), TestFactorComplex(void), TestIlu(void), TestSolve(void),
  TestSchedules(void), TestPairs(void), TestPairLaunches(void), TestNumbers(void), TestGrowth(void), TestWaits(void),
  TestMemory(void), TestMatrices(void), TestFamilies(void), TestPlanted(void), TestExecutor(void), TestChunk(void),
  TestChunkHeights(void), TestOnDevice(void), TestInverse(void), TestInversePattern(void), TestFactor(void),
  TestFactorOrder(void), TestTune(void), TestOrdering(void), TestPapers(void), TestSettings(void), TestAg(void),
  TestDense(void), TestRecblock(void), TestSell(void), TestThread(void), TestSelect(void), TestInterleave(void),
  TestPlanes(void), TestHeights(void), TestPool(void), TestPinned(void), TestEntries(void), TestKrylov(void),
  TestRoles(void), TestEarly(void), TestPatterns(void), TestBoth(void), TestState(void), TestLost(void),
  TestStatistics(void), TestStructure(void), TestIluStreams(void), TestOrderChoice(void), TestGrids(void);

/* Seeded numbers, the same everywhere */
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
  RANDOM, /* some dependencies anywhere before */
  DIAGONAL,
  CHAIN,
  DENSE,
  DENSE_ROW,    /* the last row depends on all */
  DENSE_COLUMN, /* all depend on the first */
  BAND,
  ARROW,
  GAPS, /* two rows of three depend on nothing */
  GRID_2D,
  GRID_3D,
  SHAPES
} Shape;

extern const char *const ShapeName[SHAPES];

/* Upper triangles are the lower ones seen from the other end. */
Triangle MakeTriangle(Shape, int rows, TrsvTriangle, TrsvDiagonal, TrsvPrecision, unsigned seed);
Triangle MakeFrom(int rows, const int *offsets, const int *columns, TrsvTriangle, TrsvDiagonal,
                  TrsvPrecision); /* that triangle of a square pattern, with a full diagonal */
void     FreeTriangle(Triangle *);

/* A copy of a matrix on the device, to be given to FromDevice(). */
TrsvMatrix ToDevice(const TrsvMatrix *);
void       FromDevice(TrsvMatrix *);

/* The analysis of a copy on the device is the same as that on the host. Expects it; device.c. */
int ExpectSameAnalysis(const TrsvMatrix *);

/* Arrays of any precision. Get and Set count reals: a complex value is two. */
void       *MakeArray(TrsvPrecision, int n);
int         Reals(TrsvPrecision, int n); /* of n values */
double      Get(const void *, TrsvPrecision, int i);
void        Set(void *, TrsvPrecision, int i, double v);
const char *PrecisionName(TrsvPrecision);
void       *MakeValues(const TrsvMatrix *, unsigned seed); /* diagonally dominant by rows */
void       *MakeVector(TrsvPrecision, int n, unsigned seed);

/* Analysis and plan in one; NULL and a failed Expect where that does not work. */
TrsvPlan *MakePlan(const TrsvMatrix *, const int *source, int values, const TrsvAlgorithm *);
TrsvPlan *MakePlanWith(const TrsvMatrix *, const int *source, int values, const TrsvAlgorithm *, const char *settings);
void      ExpectRefused(const char *algorithm, const char *settings,
                        const char *why); /* no plan; the message has why in it */

/* What serial makes of it; NULL as above. */
void *Reference(const TrsvMatrix *, const int *source, int nvalues, const void *values, const void *b);

/* Equal up to rounding, relative to the largest; NaN where the other has NaN, the same Inf where it has Inf. Expects
 * it. */
int ExpectClose(TrsvPrecision, int n, const void *x, const void *reference, const char *where);

/* Solves of a plan that has values, one a schedule: all close to the reference and, where the algorithm promises that,
   the same to the bit. Expects it. */
int ExpectSolves(TrsvPlan *, const void *b, const void *reference, unsigned schedule, unsigned solves,
                 const char *where);

/* Solves of one plan in a row under different schedules; then with new values. As ExpectSolves(), against serial. */
void CheckSolves(Shape, int rows, const TrsvAlgorithm *, int transposed, TrsvTriangle, TrsvDiagonal, TrsvPrecision,
                 int solves);

/* The multicolor ordering of a pattern, by values where they are not NULL: expects all that it has to be; returns its
   level sets, and its grid where that is not NULL. ordering_check.c */
int CheckOrdering(int rows, const int *offsets, const int *columns, const double *values, int grid[3]);

/* ILU(0) and IC(0) of a pattern, made complete, with seeded values: the device against the host; factor.c */
void CheckFactors(int rows, const int *offsets, const int *columns, unsigned seed);

/* Settings of the plans of `chunk` made next; NULL: chosen again. In chunk_plan.cu. */
void TrsvChunkSettingsOverride(const TrsvChunkSettings *);

static inline void ForceChunkSettings(int chunks, int length, int cluster)
{
  const TrsvChunkSettings settings = {chunks, length, 32, cluster, 2048, 4, -1, 8, 4};

  TrsvChunkSettingsOverride(&settings);
}

/* The rows of the table, but `thread` and `chunk` twice; NULL past the last. By name: "thread" and "thread,
   recomputing"; "chunk", without inverted blocks, and "chunk, inverted". */
const TrsvAlgorithm *TestedAlgorithm(int i);
const TrsvAlgorithm *FindTested(const char *name);

/* A device algorithm of those, from the i-th on; NULL past its end. All but one are left out where TRSV_TEST_ALGORITHM
 * names it. */
const TrsvAlgorithm *DeviceAlgorithm(int *i);

#ifdef __cplusplus
}
#endif
#endif
