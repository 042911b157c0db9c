/*
   chunk.cuh: what the kernels of the algorithm `chunk` see of a plan, and where things are in shared memory.
*/
#ifndef TRSV_CHUNK_CUH
#define TRSV_CHUNK_CUH

#include "device/sync.cuh"
#include "solve/chunk/chunk.h"

typedef struct Inverse Inverse; /* inverse.cuh */

/* Where the values of records come from, stage by stage, in each by place, without gaps. In an entry, 0 is nothing, 1 a
   one, 2 + where all else. The entries of a row are near its diagonal in the values, where these stand in the order of
   its columns: a byte each is enough then. */
struct ChunkSources {
  int           *starts;   /* [2 * stages] records and values before each; diagonals count as values */
  unsigned char
    *counts; /* [places] of each record its values, 0 where there is none, CHUNK_PART more where it is a partial sum */
  int           *wide;     /* the diagonal and the dependencies of each record; NULL where: */
  int           *diagonal; /* its diagonal; or where that would stand if there were one */
  unsigned char *apart;    /* and how far from there its dependencies are; 0: a one */
  int            toward;   /* 1: behind it, -1: before it */
  int            stored;   /* is the diagonal? */
};

enum {
  CHUNK_PART  = 128,
  CHUNK_APART = 255 /* at most */
};

/* What a plan keeps. */
struct ChunkPlan {
  ChunkSummary  schedule;
  size_t         places;
  unsigned       blocks;
  size_t         shared_bytes;
  unsigned char *records;      /* and words */
  void          *memory;       /* holds sources to imports, but from and to where they are others than rows */
  ChunkHead     *heads;
  ChunkSources   sources;
  int           *rows;         /* [places] 1 + the row of each record that has one, else 0 */
  int           *from, *to;    /* the same of where its b and its x stand: rows itself where nothing is said of them */
  int           *batch_of, *after;
  unsigned char *places_in;
  ChunkImport   *imports;
  void          *words;
  TrsvSync       sync;
  Inverse       *inverse;      /* where diagonal blocks are inverted: then this plan has nothing else; or NULL */
  int            finds_pivots; /* see TrsvPlanFindsPivots */
};

template <class T> struct ChunkView {
  unsigned             chunks, cluster, clusters, ring, cells, stages;
  unsigned             exports;
  int                  bounded;  /* do cells for imports change hands? */
  const unsigned char *records;  /* by stage: header, steps */
  const ChunkHead     *heads;    /* one for each block of the launch */
  const int           *from, *to;
  const unsigned char *places;
  const ChunkImport   *imports;
  const int           *batch_of, *after;
  T                   *words;    /* [2 * exports] each its own flag; two launches take turns */
  TrsvSync             sync;
};

/* Where a value of K stands in a record, and a record in a stage. */
template <class T, int K, int W> struct ChunkLayout {
  static constexpr unsigned rows = CHUNK_ROWS(K), steps = CHUNK_STEPS(K, W), quads = CHUNK_QUADS(K, sizeof(T)),
                            step = quads * W * 16, stage = CHUNK_STAGE(K, sizeof(T));

  /* The byte of a record's field, from the start of the stage. */
  static __host__ __device__ __forceinline__ constexpr unsigned at(unsigned place, unsigned byte)
  { return CHUNK_HEADER + place / W * step + (byte / 16 * W + place % W) * 16 + byte % 16; }
};

/* The kernel that solves with such records, or finds reciprocals: NULL where there is none. Its launch; from, to: where
   b and x stand, as a plan has them. chunk_solve.cu */
template <class T> const void *ChunkKernelOf(const TrsvChunkSettings *, bool reciprocals);
template <class T> TrsvError   ChunkSolveBy(ChunkPlan *, bool reciprocals, const int *from, const int *to, bool early,
                                            const void *b, void *x, TrsvStream);

/* Values into records, each divided by its row's diagonal, and out of them where that is one: chunk_values.cu. */
template <class T> TrsvError ChunkGather(ChunkPlan *, const void *values, TrsvStream);
template <class T> TrsvError ChunkGive(const ChunkPlan *, void *values, TrsvStream);

/* Allows the solve for such records all shared memory, TRSV_ERR_UNSUPPORTED where there is none, and makes clusters
   smaller if the device, or the part of it that there is, holds none so large: chunk.cu. */
TrsvError TrsvChunkReady(TrsvPrecision, TrsvChunkSettings *);

/* Set-up of a plan without inverted blocks, with its settings number rank by predicted time: chunk_plan.cu. */
TrsvError TrsvChunkMakeSchedule(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, int rank);
void      TrsvChunkFreeSchedule(ChunkPlan *);

/* The front of shared memory, before the zero cell. */
enum {
  ARRIVED = 0,   /* barriers, one a stage in shared memory: the copy is in */
  READY   = 128, /* ... the right-hand side is in it: compute */
  EMPTY   = 256, /* ... it has been used: copy the next */
  COMPUTED    = 384, /* barriers, one a stage in the ring of results: computed */
  START   = 512, /* chunk, turn */
  WRITTEN = 520, /* by writer: its stages below this have left the ring of results */
  CELLS_READY  = 528, /* by importer: its batches below this have cells */
  SLOTS   = 16   /* barriers of a kind */
};

/* The warps of a block. Warps w, w + 4, ... share a scheduler: that of the warp that computes is given little else to
   do. */
enum {
  COMPUTE_WARP  = 0,
  COPIER    = 4,
  RESETTER  = 8,
  IMPORTERS = 4, /* 1 2 3 5 */
  RHS_WARPS  = 3, /* 6 7 10 */
  WRITERS   = 2, /* 9 11 */
  WARPS     = 12
};

#endif
