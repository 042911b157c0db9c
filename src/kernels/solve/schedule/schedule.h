/*
   schedule.h: settings of the algorithm `chunk`, and the summary of a schedule.

   The rows of a triangle in solve order are cut into chunks; a thread block solves a chunk. A row with more than
   `length` dependencies gets partial sums: additional rows without a right-hand side. Each row or partial sum is a
   record. A chunk is a sequence of steps of at most `width` records. In a step each lane of one warp computes one
   record. It reads only cells of shared memory:

     cell 0                     holds 0; unused fields of a record refer to it
     cells 2 .. 2 + ring - 1    results of this chunk: step s, lane l is in cell 2 + (s * width + l) % ring
     cells from 2 + ring        imports: results of other chunks, and results of this chunk that have left the ring

   Steps are grouped into stages. Records are copied to shared memory by stages.
*/
#ifndef TRSV_SCHEDULE_H
#define TRSV_SCHEDULE_H

#include "analysis/analysis.h"
#include "device/device.h"

TRSV_C_BEGIN

enum {
  CHUNK_LATE        = 2,    /* dependencies of a record, at most, that are computed in the step just before it */
  CHUNK_COMPLEX_MAX = 5,    /* dependencies of a record with complex values, at most: they take four times the work */
  CHUNK_CELL        = 2,    /* the first cell of the ring */
  CHUNK_BATCH       = 128,  /* imports that a warp fetches together */
  CHUNK_FRONT       = 1024, /* bytes of shared memory before the ring: barriers, counters, cell 0 */
  CHUNK_SHARED = 99 * 1024, /* bytes of shared memory that a block has at least, from compute capability 8.0 on */
  CHUNK_LEAST  = 4,         /* stages in shared memory, and in the ring, at least */
  CHUNK_CHOICES = 10        /* settings that are ranked for a triangle, at most */
};

/* A record of K dependencies holds K values of `size` bytes, the right-hand side (at first 1/d, later b/d), the export
   word (chunk.h), and K cells of 16 bits. It is cut into quads of 16 bytes; quads i of all lanes of a step are
   contiguous. CHUNK_ROWS: records of a stage. CHUNK_HEADER: bytes before its records, which hold the number of its
   first export. CHUNK_STAGE: its bytes. */
#define CHUNK_QUADS(K, size) (((K) * ((size) + 2) + (size) + 4 + 15) / 16)
#define CHUNK_ROWS(K, size)  ((K) <= 8 && (size) <= 8 ? 256 : 128)
#define CHUNK_HEADER         16
#define CHUNK_STAGE(K, size) (CHUNK_HEADER + CHUNK_ROWS(K, size) * CHUNK_QUADS(K, size) * 16)

typedef struct {
  int chunks;
  int length;          /* dependencies of a record: 2, 3, 5, or with real values 13 */
  int width;           /* records of a step: 8 (for records of 2 or 3 dependencies) or 32 */
  int cluster;         /* chunks of a cluster: each stores results in the shared memory of the next; 1: no clusters */
  int ring;            /* cells for results: a power of two, at least 4 stages */
  int stages;          /* stages in shared memory */
  int import_lifetime; /* stages after which the cell of an import is reused; -1: each import has its own cell */
  int steps_l2;        /* estimated steps from a result to its use in another chunk, through L2 */
  int steps_cluster;   /* the same in the next chunk of the cluster */
} TrsvChunkSettings;

typedef struct {
  TrsvChunkSettings settings; /* as used: only width, steps_l2 and steps_cluster are always as requested */
  int               cells; /* for imports, in each block */
  int               stages, imports, exports;
  int               steps; /* of a solve, as estimated by the schedule, with waits for other chunks */
} ChunkSummary;

/* Ranks settings for a triangle by the predicted seconds of a solve on a device with these limits, the best first;
   returns their number. TrsvChunkSettingsSeconds: the prediction. TrsvChunkScheduleSeconds: the same by the steps of a
   schedule. */
int    TrsvChunkSettingsRank(const TrsvStatistics *, int multiprocessors, TrsvDeviceLimits, TrsvPrecision,
                             TrsvChunkSettings choice[CHUNK_CHOICES], double time[CHUNK_CHOICES]);
double TrsvChunkSettingsSeconds(const TrsvStatistics *, const TrsvChunkSettings *);
double TrsvChunkScheduleSeconds(const TrsvChunkSettings *, int steps);

/* The predicted time of a solve within these limits over that within the limits of an H200, at least 1. */
double TrsvChunkSettingsSlowdown(const TrsvStatistics *, TrsvDeviceLimits, TrsvPrecision);

/* Prints settings in words. */
void TrsvChunkSettingsPrint(const TrsvChunkSettings *, char *line, size_t size);

TRSV_C_END
#endif
