/*
   chunk_graph.cuh: what the kernels that make a schedule of the algorithm `chunk` see of a triangle, and of what they
   make of it.

   Rows go by position: their place in solve order, in which each follows all it depends on.
*/
#ifndef TRSV_CHUNK_GRAPH_CUH
#define TRSV_CHUNK_GRAPH_CUH

#include <limits.h>
#include "analysis/analysis.h"
#include "device/setup.cuh"
#include "solve/schedule/schedule.h"

enum {
  CHUNK_ITEMS = 32, /* dependencies of a position at most; longer rows are cut */
  CHUNK_BLOCK = 256 /* threads of a block where each works for itself */
};

struct ChunkGraph {
  int        n;        /* positions: rows, and, where rows are too long, partial sums of them */
  int        lower;    /* position p is row p of the arrays, or n - 1 - p */
  int        stored;   /* is the diagonal? */
  const int *offsets, *columns;
  const int *source;   /* [entries] the caller's, or, where there are owners, as a record's: 1 one, 2 + where */
  const int *owner;    /* [n] by position: the row, -1 - row for a partial sum of it; NULL: rows only */
  const int *diagonal; /* [n] where there are owners, as a record's: 1 one, 2 + where */
};

/* The entries off the diagonal of a position are [begin, begin + n). */
struct ChunkRow {
  int begin, n;
};

static __device__ __forceinline__ ChunkRow chunk_row(const ChunkGraph &G, int p)
{
  const int row = G.lower ? p : G.n - 1 - p, begin = G.offsets[row] + (G.stored && !G.lower);

  return {begin, G.offsets[row + 1] - (G.stored && G.lower) - begin};
}

/* The position that an entry names, and where its value comes from. */
static __device__ __forceinline__ int chunk_position(const ChunkGraph &G, int k)
{
  return G.lower ? G.columns[k] : G.n - 1 - G.columns[k];
}
static __device__ __forceinline__ int chunk_source(const ChunkGraph &G, int k)
{
  return G.owner ? G.source[k] : 2 + (G.source ? G.source[k] : k);
}

/* Where the diagonal of a position comes from; negative for a partial sum. */
static __device__ __forceinline__ int chunk_diagonal(const ChunkGraph &G, int p)
{
  if (G.owner) return G.owner[p] < 0 ? -G.diagonal[p] : G.diagonal[p];
  if (!G.stored) return 1;
  const int k = G.lower ? G.offsets[p + 1] - 1 : G.offsets[G.n - 1 - p];
  return 2 + (G.source ? G.source[k] : k);
}

static __device__ __forceinline__ int chunk_own_row(const ChunkGraph &G, int p)
{
  return G.owner ? G.owner[p] : G.lower ? p : G.n - 1 - p;
}

/* How many records of K dependencies a position with n of them takes: all but the last are partial sums. */
static __host__ __device__ __forceinline__ int chunk_records(int n, int K)
{
  return n <= K ? 1 : 1 + (n - 2) / (K - 1);
}

/* A triangle made ready for schedules: the graph, and the heights of its positions. */
struct ChunkHeights {
  ChunkGraph graph;
  int        entries;     /* of the graph, the diagonal's among them */
  int        longest;     /* dependencies of a position at most */
  int        stored;      /* is the diagonal of the triangle? */
  int        toward;      /* where in its values the others of a row are: 1: behind its diagonal, -1: before it */
  int       *height;      /* [n] how many steps the longest chain of dependents behind each position has */
  int        bits;        /* of a height */
  unsigned  *words;       /* of the launch that finds them: whether it has given up is asked once they have been used */
  void      *memory;      /* that holds them */
  void      *extended;    /* that holds the graph, where rows were cut */
};

TrsvError TrsvChunkFindHeights(const TrsvMatrix *, const TrsvAnalysis *, const int *source, ChunkHeights *);
void      TrsvChunkHeightsFree(ChunkHeights *);
TrsvError TrsvChunkSplitRows(ChunkHeights *); /* the graph, with long rows cut */

/* When everything happens. */
struct ChunkSchedule {
  TrsvChunkSettings settings;      /* chunks may be fewer than asked for */
  int               nodes, times;  /* records; 1 + the last time */
  int              *cuts;          /* [chunks + 1] the first position of each chunk */
  int              *first;         /* [n + 1] the first record of each position, NULL where each has one; where not: */
  int *taken; /* [nodes] of a record of a position that has several: how many of its dependencies those before take */
  unsigned char    *sorted;        /* [entries] dependencies of such a position by readiness */
  void             *memory;        /* that holds these */
  int              *time;          /* [nodes] */
  unsigned         *spare[2];      /* [nodes] room for whoever comes next */
  void             *early;         /* that holds these: nobody needs them once imports have cells that fit */
};

TrsvError TrsvChunkPlace(const ChunkHeights *, const TrsvChunkSettings *, ChunkSchedule *);
void      TrsvChunkScheduleFree(ChunkSchedule *);

/* The chunk of a position: chunks have equally many records, whose number is at the end of first. */
static __device__ __forceinline__ int chunk_of(int p, int n, const int *first, int chunks)
{
  return first ? (int)((long long)first[p] * chunks / first[n]) : (int)((long long)p * chunks / n);
}

/* Cells for imports that fit beside the ring and so many stages. */
static inline int ChunkCapacity(const TrsvChunkSettings *s, int stages, int size)
{
  const int fit  = (CHUNK_SHARED - CHUNK_FRONT - s->ring * size - stages * CHUNK_STAGE(s->length, size)) / size,
            most = 65536 - CHUNK_CELL - s->ring; /* what 16 bits can name */

  return (fit < most ? fit : most) / 16 * 16;
}

/* Can so many be numbered, and a place among them be told as a source, 2 + where? Else another algorithm is to be
   taken. */
static inline TrsvError ChunkCount(size_t count, const char *what)
{
  return count >= INT_MAX ? TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: %zu %s are too many for 32-bit indices", count, what)
                          : TRSV_SUCCESS;
}

/* Words that the blocks of one launch share. */
enum {
  CHUNK_TICKET,
  CHUNK_ABORT_DEVICE,
  CHUNK_PROGRESS,
  CHUNK_ABORT_HOST,
  CHUNK_LAST, /* a maximum */
  CHUNK_NODES,
  CHUNK_IMPORTS,
  CHUNK_EXPORTS,
  CHUNK_BATCHES,
  CHUNK_WORDS
};

static inline TrsvSync ChunkSync(unsigned *words)
{ return {words + CHUNK_TICKET, words + CHUNK_ABORT_DEVICE, words + CHUNK_ABORT_HOST, TrsvTimeoutLimit()}; }

/* What a launch has left in the words; an error if a wait was given up. */
static inline TrsvError ChunkWordsRead(const unsigned *words, unsigned now[CHUNK_WORDS])
{
  TrsvCall(TrsvDeviceDownload(now, words, sizeof(unsigned) * CHUNK_WORDS, NULL));
  return now[CHUNK_ABORT_DEVICE]
           ? TrsvFail(TRSV_ERR_TIMEOUT, "the schedule of chunk waited longer than %g s for one row and gave up",
                      1e-9 * (double)TrsvTimeoutLimit())
           : TRSV_SUCCESS;
}

#endif
