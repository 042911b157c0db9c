/*
   schedule.h: settings of the algorithm `chunk`, and the summary of a schedule.

   The rows of a triangle in solve order are cut into chunks; a thread block solves a chunk. A row with more than
   `length` dependencies gets partial sums: rows of their own without a right-hand side. Each row or partial sum is a
   record. A chunk is a sequence of steps of at most `width` records. The lanes of one warp work off the records of a
   step side by side, and read only cells of shared memory:

     cell 0                     holds 0; unused fields of a record point to it
     cells 2 .. 2 + ring - 1    results of this chunk: step s, lane l is in cell 2 + (s * width + l) % ring
     cells from 2 + ring        imports: results of other chunks, and results of this chunk that have left the ring

   Steps are grouped into stages. A stage is the unit in which records are copied to shared memory.
*/
#ifndef TRSV_SCHEDULE_H
#define TRSV_SCHEDULE_H

#include "analysis/analysis.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CHUNK_LATE        = 2,    /* the last dependencies of a record, which may be one step old; all others are older */
  CHUNK_COMPLEX_MAX = 5,    /* dependencies of a record with complex values at most, which take four times the work */
  CHUNK_CELL        = 2,    /* the first cell of the ring */
  CHUNK_BATCH       = 128,  /* imports that a warp fetches together */
  CHUNK_FRONT       = 1024, /* bytes of shared memory before the ring: barriers, counters, cell 0 */
  CHUNK_SHARED = 99 * 1024, /* bytes of shared memory that a block has at least, from compute capability 8.0 on */
  CHUNK_LEAST  = 4          /* minimum of stages in shared memory, and in the ring */
};

/* A record of K dependencies holds K values of `size` bytes, the right-hand side (1/d until that is multiplied in), the
   export word, and K cells of 16 bits. It is cut into quads of 16 bytes; quad i of all lanes of a step is contiguous.
   CHUNK_ROWS: records of a stage. CHUNK_STEPS: its steps. CHUNK_HEADER: bytes before its records, which name its first
   export. CHUNK_STAGE: its bytes. */
#define CHUNK_QUADS(K, size)    (((K) * ((size) + 2) + (size) + 4 + 15) / 16)
#define CHUNK_ROWS(K, size)     ((K) <= 8 && (size) <= 8 ? 256 : 128)
#define CHUNK_STEPS(K, W, size) (CHUNK_ROWS(K, size) / (W))
#define CHUNK_HEADER            16
#define CHUNK_STAGE(K, size)    (CHUNK_HEADER + CHUNK_ROWS(K, size) * CHUNK_QUADS(K, size) * 16)

typedef struct {
  int chunks;
  int length;          /* dependencies of a record: 2, 3, 5, or with real values 13 */
  int width;           /* records of a step: 8 (for records of 2 or 3 dependencies) or 32 */
  int cluster;         /* chunks of a cluster, whose neighbors push results into each other's shared memory; 1: none */
  int ring;            /* cells for results: a power of two, at least 4 stages */
  int stages;          /* stages in shared memory */
  int import_lifetime; /* stages after which the cell of an import is reused; -1: each import has its own cell */
  int steps_l2;        /* steps that a result takes to another chunk, through L2 */
  int steps_cluster;   /* steps that a result takes to the next chunk of the cluster */
} TrsvChunkSettings;

typedef struct {
  TrsvChunkSettings settings; /* as used: all but width and steps may differ from those asked for */
  int               chunks;
  int               cells; /* for imports, in each block */
  int               stages, imports, exports, batches, records;
  int               steps; /* of a solve, crossings between chunks included, as the schedule estimates them */
} ChunkSummary;

enum {
  CHUNK_CHOICES = 10 /* settings that are ranked for a triangle, at most */
};

/* Ranks settings for a triangle with such values by the predicted seconds of a solve on such a device, the best
   first; returns their number. */
int    TrsvChunkSettingsRank(const TrsvStatistics *, int multiprocessors, TrsvDeviceLimits, TrsvPrecision,
                             TrsvChunkSettings choice[CHUNK_CHOICES], double time[CHUNK_CHOICES]);
double TrsvChunkSettingsSeconds(const TrsvStatistics *, const TrsvChunkSettings *);

/* How many times as long a solve is predicted to take within these limits as within an H200's. */
double TrsvChunkSettingsSlowdown(const TrsvStatistics *, TrsvDeviceLimits, TrsvPrecision);

/* Prints settings in words. */
void TrsvChunkSettingsPrint(const TrsvChunkSettings *, char *line, size_t size);

#ifdef __cplusplus
}
#endif
#endif
