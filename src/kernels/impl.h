/*
   impl.h: what the files of this library share and its callers do not see: the plan, the row of the table of algorithms,
   how errors are told, memory and copies on the device.
*/
#ifndef TRSV_IMPL_H
#define TRSV_IMPL_H

#include "trsv.h"

#ifdef __CUDACC__
  #define TRSV_BOTH static __host__ __device__ inline
#else
  #define TRSV_BOTH static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What can be set of an algorithm: a name, what its value may be, for messages, and whether a value is that; where `to` is not NULL it gets
   what the value means. */
typedef struct {
  const char *name, *values;
  int (*parse)(const char *value, void *to);
} TrsvSetting;

struct TrsvAlgorithm {
  const char *name;
  const char *source; /* the paper */
  TrsvMemory  memory;
  TrsvMemory  pattern; /* where analyse takes the matrix, its analysis and source */

  /* Each gets a plan whose shape is filled in. analyse allocates plan->data; destroy must cope with a half-made one. */
  TrsvError (*analyse)(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
  TrsvError (*set_values)(TrsvPlan *, const void *values, TrsvStream); /* values in the algorithm's memory */
  TrsvError (*solve)(TrsvPlan *, const void *b, void *x, TrsvStream);
  void (*destroy)(TrsvPlan *);

  /* Seconds that a solve is expected to take; NULL where TRSV_SELECT_MODEL is never to pick it. */
  double (*predict)(const TrsvCosts *, const TrsvStatistics *, TrsvPrecision);

  /* Where analyse has settings to choose from: how many of these it ranks, at most, and what a plan has, in words; 0 and NULL where there are none. */
  int  choices;
  void (*describe)(const TrsvPlan *, char *line, size_t size);

  unsigned           traits;   /* what it does not have in common with the others */
  const TrsvSetting *settings; /* what a caller can set, up to one without a name; describe prints them so that they can be. NULL where there are none */
};

enum {
  TRSV_BITS_VARY      = 1, /* sums in no fixed order: the bits of a solution may differ from solve to solve */
  TRSV_NEVER_WAITS    = 2, /* no thread waits for another, so no wait can be given up */
  TRSV_TAKES_PLACES   = 4, /* its analyse heeds plan->places; for the others b and x are permuted before and after a solve */
  TRSV_SCHEDULED      = 8, /* its analyse makes a schedule, which follows the chains of rows */
  TRSV_NEEDS_CLUSTERS = 16 /* and as much shared memory as chunk takes: not every device can run it */
};

/* Where the values of b and x stand, if not as the rows do: row i of a triangle takes b[from[i]], and its solution goes to x[to[i]]. Each is [rows],
   no place twice, or NULL for where b or x are in the order of the rows. */
typedef struct {
  const int *from, *to;
} TrsvPlaces;

struct TrsvPlan {
  const TrsvAlgorithm *algorithm;
  TrsvPrecision        precision;
  int                  rows, values; /* values: how many the caller hands to TrsvPlanSetValues */
  int                  fresh; /* no solve since the values were set: they may still be on their way in the stream */
  int                  filled; /* does it have the values of its triangle? */
  int                  early; /* may the solve now asked for be an early launch? */
  int                  rank;         /* which of the settings by predicted time: 0 the best */
  const char          *settings;     /* while it is analysed: what was given, checked; or NULL */
  TrsvPlaces           places;       /* where analyse takes the pattern; after it only where the algorithm does not take them: copies in its memory */
  void                *permuted[2];  /* [rows] b and x in the order of the rows, where there are such copies */
  size_t               bytes;
  void                *data; /* the algorithm's own */
};

extern const TrsvAlgorithm TrsvSerial;
extern const TrsvAlgorithm TrsvThread, TrsvRecompute, TrsvWarp, TrsvChunk, TrsvInverse, TrsvCusparse; /* in builds with CUDA; the SIMT executor has no cuSPARSE */
extern const TrsvAlgorithm TrsvLevel, TrsvCsc, TrsvTwoPhase, TrsvFusion, TrsvSell, TrsvAg, TrsvRecblock, TrsvDenseRows; /* there, too */

/* Can the current device run it? Where it cannot there is no plan, so that nothing is to be predicted of it. */
int TrsvAlgorithmRuns(const TrsvAlgorithm *);

/* Was a setting given? Then *to gets what its value means. */
int TrsvSettingGet(const TrsvAlgorithm *, const char *settings, const char *name, void *to);

/* TrsvPlanCreate for vectors in another order, their places being where the matrix is (NULL: none). */
TrsvError TrsvPlanCreatePlaced(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values, const TrsvPlaces *, const TrsvAlgorithm *, const char *settings, TrsvPlan **plan);

/* The same of an algorithm that was chosen, not asked for: where it cannot do this here, or where there is no memory for it and that counts (alone: no
   plan beside this one is under way, so that the choice hangs on no chance), of `thread`, which runs on every device, in little memory. *instead is then the
   error, else TRSV_SUCCESS. */
TrsvError TrsvPlanCreateChosen(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values, const TrsvPlaces *, const TrsvAlgorithm *, int alone, TrsvError *instead, TrsvPlan **plan);

/* For plans of a pair that are there, or have become others. */
TrsvError TrsvPairJoin(TrsvPair *);

/* Both solves of a pair of plans of `thread`, which must outlive it, in one launch; the bits are those of two. between [rows] is its own from now on; who has used it
   for anything else in spite of that has it made ready again. */
TrsvError TrsvThreadPairCreate(const TrsvPlan *first, const TrsvPlan *second, void *between, TrsvThreadPair **);
TrsvError TrsvThreadPairReady(TrsvThreadPair *, TrsvStream);
TrsvError TrsvThreadPairSolve(TrsvThreadPair *, const void *b, void *x, TrsvStream);
void      TrsvThreadPairDestroy(TrsvThreadPair **);

/* TrsvPlanSolve right behind another solve of this library in the same stream, beside whose end it starts. (An early launch behind anything else
   gains nothing and costs a microsecond.) */
TrsvError TrsvPlanSolveNext(TrsvPlan *, const void *b, void *x, TrsvStream);

static inline size_t TrsvValueSize(TrsvPrecision p) { return p == TRSV_FLOAT ? sizeof(float) : sizeof(double); }

/* The entries off the diagonal of row i are [begin, end); its diagonal, where stored, is at *diagonal. */
static inline void TrsvRow(const TrsvMatrix *A, int i, int *begin, int *end, int *diagonal)
{
  *begin = A->offsets[i], *end = A->offsets[i + 1], *diagonal = -1;
  if (A->diagonal == TRSV_DIAGONAL_STORED) *diagonal = A->triangle == TRSV_LOWER ? --*end : (*begin)++;
}

/* How many entries are stored; a small read where the matrix lives on a device. */
TrsvError TrsvEntries(const TrsvMatrix *, int *entries);

/* The same where there is an analysis, without a read. */
static inline int TrsvStored(const TrsvMatrix *A, const TrsvAnalysis *a) { return (int)(a->statistics.nnz - (A->diagonal == TRSV_DIAGONAL_UNIT ? A->rows : 0)); }

/* Notes a message, as printf makes it, and returns the code. */
TrsvError TrsvFail(TrsvError, const char *format, ...)
#ifdef __GNUC__
  __attribute__((format(printf, 2, 3)))
#endif
  ;

#define TrsvCall(...) \
  do { \
    TrsvError trsv_error_ = __VA_ARGS__; \
    if (trsv_error_) return trsv_error_; \
  } while (0)

double TrsvSeconds(void); /* a clock that only ever goes on, from whenever: analysis.c */
int    TrsvAscending(const void *, const void *); /* of two doubles, for qsort(): tune.c */

/* Do nearly all rows reach back equally far, as in grids in their natural order? */
static inline int TrsvRegular(const TrsvStatistics *s) { return s->bandwidth > 0 && s->row_bandwidth >= 0.9 * s->bandwidth; }

/* 1 where dependencies are anywhere, and the rows of a level set beside those of others, as by chance, so that values come from all over memory; 0 where
   dependencies are near by, or where level sets stand together, as colours do. */
static inline double TrsvScattered(const TrsvStatistics *s)
{
  const double far = s->rows ? 4 * s->distance / s->rows - 0.25 : 0, beside = s->rows ? (s->span * s->levels / s->rows - 2) / 4 : 0;

  return far > 0 && beside > 0 ? (far < 1 ? far : 1) * (beside < 1 ? beside : 1) : 0;
}

/* Host memory, counted in plan->bytes by plans of the host. NULL and TRSV_ERR_MEMORY where there is none; never NULL for 0 bytes. */
TrsvError TrsvAlloc(size_t bytes, void *pointer);

/* Device memory, copies and launches: memory.cu and device.cu; over malloc and memcpy in the SIMT executor; device_none.c in builds without CUDA.
   pointer is the address of a pointer. */
TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer);
void      TrsvDeviceFree(void *);
TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream); /* host may change after the return */
TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream); /* both on the device */
TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream); /* to zeros */
TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream); /* returns when it is there */
TrsvError TrsvDeviceAllocWord(unsigned **); /* 0, on the host, where the device can write it */
void      TrsvDeviceFreeWord(unsigned *);

/* Device memory, and a copy of host memory on the device, until it is released in stream order: used in the stream that it is asked for, before
   what follows there. */
TrsvError TrsvDeviceRoom(size_t bytes, void *pointer, TrsvStream);
TrsvError TrsvDeviceStage(const void *host, size_t bytes, void *pointer, TrsvStream);
void      TrsvDeviceRelease(void *device, TrsvStream);

/* to[i] = from[index[i]], or to[index[i]] = from[i] where scatter; index and values on the device */
TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision, const void *from, void *to, TrsvStream);

/* The largest componentwise backward error |b - T x| / (|T| |x| + |b|) of a solution, everything on the device; Inf where there is a NaN. */
TrsvError TrsvDeviceError(const TrsvMatrix *, const int *source, const void *values, const void *b, const void *x, double *error, TrsvStream);

/* How far a matrix on the device is from symmetric, 0 to 1, with columns rising in every row; in the default stream: asymmetry.cu. */
TrsvError TrsvDeviceAsymmetry(int rows, const int *offsets, const int *columns, TrsvPrecision, const void *values, double *asymmetry);

/* Scans and sorts on the device, in the default stream: primitives.cu. */
TrsvError TrsvDeviceScan(int n, const int *counts, int *offsets); /* offsets [n + 1]: sums of the counts before each, and of all; counts may be offsets + 1 */

/* The low bits that tell apart 0 .. largest, at least one: of keys, for a sort. */
static inline int TrsvBits(long largest)
{
  int bits = 1;

  while (bits < 31 && largest >> bits > 0) bits++;
  return bits;
}

/* Stable, by the low so many bits of keys; none of the arrays [n] overlap. values and sorted_values may be NULL. */
TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values, int *sorted_values);

/* TrsvAnalyse and TrsvTranspose of a matrix on the device, in the default stream: analysis.cu. analysis is zeroed, the caller frees what is
   in it after an error. */
TrsvError TrsvDeviceAnalyse(const TrsvMatrix *, TrsvAnalysis *);
TrsvError TrsvDeviceTranspose(const TrsvMatrix *, int *offsets, int *columns, int *source);

/* Lets the analyses of L and U lead across to each other, where they are on the device, deep, and the levels of the one are heights of the other. */
TrsvError TrsvAnalysisAcross(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper);

/* across.cu: whether they are; and the level of each row, or turned, of each from the last to the first */
TrsvError TrsvDeviceAcross(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper);
TrsvError TrsvDeviceLevels(const TrsvAnalysis *, int turned, int *level);

enum {
  TRSV_FEW_LEVELS = 32 /* level sets: with no more there is nothing to gain from schedules, nor from making two plans at the same time */
};

/* The analysis that a matrix brings along, or else a new one, which is the caller's to destroy. On an error both are NULL. */
TrsvError TrsvAnalysisGet(const TrsvMatrix *, const TrsvAnalysis **analysis, TrsvAnalysis **made);

/* What both analyses share: analysis.c. columns holds those of row i alone, [begin, end) of the matrix. */
TrsvError TrsvCheckRow(const TrsvMatrix *, int i, int begin, int end, const int *columns);
TrsvError TrsvCheckStart(const TrsvMatrix *, int start);

#define TRSV_SPAN_LEFT_OUT(rows) ((rows) / 10) /* of a level set at either end */

/* What the statistic `shared` is made of: a sample of the entries, counted by a hash of their columns. */
enum {
  TRSV_SAMPLES = 4096,
  TRSV_BINS    = 4096,
  TRSV_OFTEN   = 8,  /* entries in a bin: fewer are chance */
  TRSV_SHARED  = 120 /* a row that so many others depend on is taken by about all chunks, which further ones share */
};

/* Chris Wellons' lowbias32 (hash-prospector, public domain). */
TRSV_BOTH unsigned TrsvHash(unsigned v)
{
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

TRSV_BOTH int TrsvSamples(int entries) { return entries < TRSV_SAMPLES ? entries : TRSV_SAMPLES; }

/* The n-th entry of the sample: one of each of so many stretches, not always at the same place of it, as rows may be of equal length. */
TRSV_BOTH int TrsvSample(int n, int entries)
{
  const int stretch = entries / TrsvSamples(entries);

  return n * stretch + (int)(TrsvHash((unsigned)n) % (unsigned)stretch);
}

TRSV_BOTH int TrsvBin(int column) { return (int)(TrsvHash((unsigned)column) % TRSV_BINS); }

/* Of a bin with so many entries of the sample: how many dependencies are shared, times the size of the sample. */
TRSV_BOTH unsigned long long TrsvSharedIn(unsigned count, int entries)
{
  const unsigned long long all = (unsigned long long)count * (unsigned)entries, once = (unsigned long long)TRSV_SHARED * (unsigned)TrsvSamples(entries);

  return count >= TRSV_OFTEN && all > once ? all - once : 0;
}

TRSV_BOTH double TrsvShared(unsigned long long of_all_bins, int entries, int off)
{
  const double share = off > 0 ? (double)of_all_bins / TrsvSamples(entries) / off : 0;

  return share < 1 ? share : 1;
}

/* Fills in the means and what follows from them; levels are there, and what else no sum given here tells is the caller's to fill in. off: entries off the diagonal;
   squares: sum of the squares of the rows' lengths; distance: sum of |row - column|; profile: that of the farthest of each row. */
void TrsvFillStatistics(TrsvStatistics *, int rows, long nnz, long off, unsigned long long squares, unsigned long long distance, unsigned long long profile);

/* What NULL stands for where a stream is asked for: CUDA's default stream, or for the second of TrsvDeviceTogether one of its own. */
TrsvStream TrsvDeviceDefault(void);

static inline TrsvStream TrsvDeviceStream(TrsvStream stream) { return stream ? stream : TrsvDeviceDefault(); }

/* Runs a function with two data at the same time, in turns: where the one waits for the device the other goes on, with a default stream that does not
   wait for the first's. What the default stream was asked for before is there for both. The first's error, or else the second's. No lock is to be held
   where a turn may end. */
TrsvError TrsvDeviceTogether(TrsvError (*run)(void *data), void *first, void *second);

int TrsvDeviceSharing(void); /* into how many parts the device is then to be divided; 1 where there is no second, or none any more */

TrsvError TrsvDeviceWait(TrsvStream); /* until the stream has done what it was asked for: where turns end */

TrsvError TrsvDeviceFinish(void); /* waits for what was asked of the default stream */
TrsvError TrsvDeviceCurrent(int *device); /* its number; TRSV_ERR_UNSUPPORTED where its times mean nothing */
TrsvError TrsvDeviceMultiprocessors(int *count);
TrsvError TrsvDeviceClock(double *hertz); /* of the multiprocessors, at most */

/* Times what a stream does between start and stop; read waits for it. */
typedef struct TrsvTimer TrsvTimer;
TrsvError TrsvDeviceTimerCreate(TrsvTimer **);
TrsvError TrsvDeviceTimerStart(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerStop(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerRead(TrsvTimer *, double *seconds);
void      TrsvDeviceTimerDestroy(TrsvTimer **);

/* Allows a kernel the dynamic shared memory that leaves room for no more than this many of its blocks on a multiprocessor; says how much. */
TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes);

/* How many clusters of so many such blocks the device can hold at a time. */
TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int threads, size_t shared_bytes, int *clusters);

TrsvError TrsvDeviceHasClusters(int *); /* of blocks, and bulk copies into shared memory */

/* Has the current device these, and so much shared memory for a block (compute capability 12 has less than 9)? Yes where it does not say: then nothing else
   that is asked of it works, and tells why. */
int TrsvDeviceHolds(size_t shared_bytes);

/* Allows a kernel all the shared memory there is, as plans of the same kernel differ in what they need, and clusters of any size where there are clusters. */
TrsvError TrsvDeviceAllow(const void *kernel);
TrsvError TrsvDeviceLaunched(const char *kernel); /* did the launch just made succeed? */

/* Launches that are recorded once, by a function that makes them in the stream it is given, and replayed as one. data must stay as it is.
   launch asks for no device memory, and gives none back: that may wait for the end of the recording. */
typedef struct TrsvRecording TrsvRecording;
TrsvError TrsvDeviceRecord(TrsvError (*launch)(void *data, TrsvStream), void *data, TrsvRecording **);
TrsvError TrsvDeviceReplay(TrsvRecording *, TrsvStream);
void      TrsvDeviceForget(TrsvRecording **);

/* What TrsvGetCosts rests on: seconds, whose ratios to another device's matter; <= 0 for what could not be measured. */
typedef struct {
  double hop, push, step, byte;
} TrsvMeasured;

TrsvError TrsvCalibrate(size_t copied, TrsvMeasured *); /* calibrate.cu; copied: bytes of a copy, more than caches hold */
TrsvCosts TrsvCostsFrom(const TrsvMeasured *);          /* ratios to an H200, in coarse steps */

extern const TrsvMeasured TrsvH200;

/* The words that the blocks of one plan's launches share; see vocabulary.cuh. */
typedef struct {
  unsigned          *ticket;   /* in device memory: how many blocks have started, modulo two launches */
  unsigned          *gave_up;  /* behind it: has a wait gone over its limit? */
  unsigned          *told;     /* in pinned host memory: the same, for the host */
  unsigned long long patience; /* ns that a wait may take */
} TrsvSync;

enum {
  TRSV_SYNC_WORDS = 2 /* in device memory */
};

unsigned long long TrsvPatienceLimit(void); /* what TrsvSetPatience has set, ns */

TrsvError TrsvSyncCreate(TrsvSync *);
TrsvError TrsvSyncIn(unsigned *words, TrsvSync *); /* the same in words [TRSV_SYNC_WORDS] of the caller, who clears and frees them, and frees told */
TrsvError TrsvSyncStart(TrsvSync *, TrsvStream); /* before a launch: TRSV_ERR_TIMEOUT, once, if an earlier one gave up */
void      TrsvSyncDestroy(TrsvSync *);

#ifdef __cplusplus
}
#endif
#endif
