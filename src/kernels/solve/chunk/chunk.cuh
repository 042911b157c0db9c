/*
   chunk.cuh: a plan of the algorithm `chunk`, the arguments of its kernels, and the layout of shared memory.
*/
#ifndef TRSV_CHUNK_CUH
#define TRSV_CHUNK_CUH

#include "device/sync.cuh"
#include "solve/chunk/chunk.h"

typedef struct Inverse Inverse; /* inverse.cuh */
typedef struct ChunkSetup ChunkSetup; /* chunk_plan.cu */

/* The sources of the values of records, stage by stage, in the order of places, without gaps. A source is 0: no value;
   1: the number 1; 2 + k: the caller's value k. If the source of each dependency is near that of the diagonal of its
   row, as in the order of columns, the distance, a byte, replaces the source. */
struct ChunkSources {
  int           *starts;   /* [2 * stages] records and values before each stage; diagonals count as values */
  unsigned char *counts;   /* [places] values of a record, 0: no record; plus CHUNK_PART for a partial sum, and
                              CHUNK_EXPORTED if other chunks read its result through L2 */
  int           *wide;     /* the sources of the diagonal and the dependencies of each record; NULL: the next two */
  int           *diagonal; /* the source of each record's diagonal; if it is not stored, the source before the first */
  unsigned char *apart;    /* the distance of each dependency's source from the diagonal's; 0: the number 1 */
  int            toward;   /* 1: dependencies come after the diagonal, -1: before it */
  int            stored;   /* the diagonal is stored */
};

enum { CHUNK_PART = 128, CHUNK_EXPORTED = 64, CHUNK_APART_MAX = 255 };

/* The arguments of the solve kernels. A place is the index of a record in its stage: step * width + lane. */
struct ChunkView {
  unsigned       cluster, clusters, ring, cells, stages, exports;
  int            bounded;          /* cells for imports are reused */
  unsigned char *records;          /* by stage: header, steps; its memory also holds words, and sync on the device */
  ChunkHead     *heads;            /* one for each block of the launch */
  int           *from, *to;        /* [places] as rows, for 1 + the indices into b and x; without permutations: rows */
  unsigned char *places_in;        /* [places] the place of each entry of rows */
  ChunkImport   *imports;
  int           *batch_of, *after; /* if cells are reused, in one array: [stages] the batches that a stage needs;
                                      [batches] the stages that must end before a batch gets cells */
  void          *words;            /* [2 * exports] each its own flag; launches alternate between the halves */
  TrsvSync       sync;
};

/* The kernels for records of a length in steps of a width. */
typedef void (*ChunkKernel)(const ChunkView, const void *b, void *x);
typedef void (*ChunkCopy)(const ChunkSources, const void *from, void *to);
struct ChunkKernels {
  int         length, width;
  ChunkKernel solve, reciprocals; /* reciprocals: NULL if unused */
  ChunkCopy   gather, scatter;    /* values into records, and back; a block for each stage, a thread for each place */
};

/* chunk_solve.cu: the kernels for these settings; NULL: there are none. */
template <class T> const ChunkKernels *ChunkKernelsOf(const TrsvChunkSettings *);

/* The data of a plan. */
struct ChunkPlan : ChunkView {
  ChunkSummary        schedule;
  const ChunkKernels *kernels;
  unsigned            blocks;
  size_t              shared_bytes;
  void               *memory;  /* holds sources, rows, from, to, places_in and imports */
  ChunkSources        sources;
  int                *rows;    /* [places] of each stage: 1 + row, in rising order, then 0 */
  Inverse            *inverse; /* the data of a plan with inverted diagonal blocks, which has nothing else; or NULL */
  ChunkSetup         *setup;   /* from TrsvChunkScheduleBegin to TrsvChunkScheduleEnd */
};

/* Offsets of values in a record, and of records in a stage. */
template <class T, int K, int W> struct ChunkLayout {
  static constexpr unsigned rows = CHUNK_ROWS(K, sizeof(T)), steps = CHUNK_ROWS(K, sizeof(T)) / W,
                            quads = CHUNK_QUADS(K, sizeof(T)), step = quads * W * 16, stage = CHUNK_STAGE(K, sizeof(T));

  /* The offset of a byte of a record from the start of the stage. */
  static __host__ __device__ __forceinline__ constexpr unsigned at(unsigned place, unsigned byte)
  { return CHUNK_HEADER + place / W * step + (byte / 16 * W + place % W) * 16 + byte % 16; }
};

/* By a block with a thread for each place of a stage: the sums over earlier places, given the values of the record at
   this place, 0 if there is none. Low half: values; high half: records. sums: words in shared memory, one for each
   warp. Has one barrier. */
static __device__ __forceinline__ unsigned chunk_sums(unsigned values, unsigned *sums)
{
  const unsigned place = threadIdx.x, lane = place % 32, own = values ? 65536u + values : 0;
  unsigned       sum = own;

  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned before = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += before;
  }
  if (lane == 31) sums[place / 32] = sum;
  __syncthreads();
  for (unsigned w = 0; w < place / 32; w++) sum += sums[w];
  return sum - own;
}

/* chunk_plan.cu: TrsvChunkSettingsRank for the current device. */
TrsvError ChunkRank(const TrsvStatistics *, TrsvPrecision, TrsvChunkSettings choice[CHUNK_CHOICES],
                    double time[CHUNK_CHOICES], int *choices);

/* chunk_plan.cu: Begin launches the schedule of a plan, with the settings of this rank by predicted time. Wait waits
   for it, and predicts the seconds of a solve by it. End waits if Wait has not, and makes the records. Without rows
   there is no schedule. */
TrsvError TrsvChunkScheduleBegin(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, int rank);
TrsvError TrsvChunkScheduleWait(TrsvPlan *, double *seconds);
TrsvError TrsvChunkScheduleEnd(TrsvPlan *);
void      TrsvChunkFreeSchedule(ChunkPlan *);

/* Byte offsets at the front of shared memory, before cell 0. */
enum {
  ARRIVED     = 0,   /* barriers, one for each stage in shared memory: its records are copied */
  READY       = 128, /* the same: its records have their right-hand sides */
  EMPTY       = 256, /* the same: its records are not needed any more */
  COMPUTED    = 384, /* barriers, one for each stage in the ring: its results are computed */
  START       = 512, /* the ticket; 0 or 1 in alternate launches */
  WRITTEN     = 520, /* one for each writer: its stages below this number have been read from the ring */
  CELLS_READY = 528, /* one for each importer: its batches below this number have cells */
  SLOTS       = 16   /* barriers of a kind */
};

/* The warps of a block. Warps w, w + 4, ... share a scheduler; the two that share it with the computing warp have
   little to do. */
enum {
  COMPUTE_WARP = 0,
  COPIER       = 4,
  RESETTER     = 8,
  IMPORTERS    = 4, /* warps 1 2 3 5 */
  RHS_WARPS    = 3, /* warps 6 7 10 */
  WRITERS      = 2, /* warps 9 11 */
  WARPS        = 12
};

#endif
