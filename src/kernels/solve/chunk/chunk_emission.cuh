/*
   chunk_emission.cuh: how a schedule becomes a plan of the algorithm `chunk`: what the kernels that write it down
   share.
*/
#ifndef TRSV_CHUNK_EMISSION_CUH
#define TRSV_CHUNK_EMISSION_CUH

#include "solve/chunk/chunk.h"
#include "solve/schedule/chunk_graph.cuh"

struct ChunkPlan; /* a plan: chunk.cuh */

/* What the emission of a schedule makes of the times, array by array. A use is a dependency that is read from a cell
   for imports. */
struct ChunkEmission {
  ChunkGraph           G;
  int                  K, W, chunks, cluster, ring, import_lifetime, capacity; /* capacity: cells for imports */
  int                  nodes, uses, stages, bits;                  /* bits of a time in key */
  int                  stored, toward;                             /* as in the order */
  int                  wide; /* is any value too far from its row's diagonal for a byte? */
  const int           *cuts, *first, *time, *taken;
  const unsigned char *sorted;

  /* by record: the position it belongs to (NULL: its own number), its place in its chunk (step * W + lane), its number
     in order of time, the cell of the next chunk that takes it */
  int            *owner, *at, *index;
  unsigned short *push;
  /* in order of chunk and time: chunk and time, record; sums over those before, [nodes + 1]: new steps, uses, exports,
     values that each needs, the diagonal's among them. Sums are made in place of what is summed up, and steps make room
     for exports. */
  unsigned *key;
  int      *node, *step, *use, *export_, *source;
  /* by chunk: its first record in order of time, its first stage, its first batch */
  int *begin, *stage, *batch;
  int *totals; /* [3] stages, uses, wide */
  int *stage_first, *stage_chunk; /* [stages + 1] the first record of each, in order of time; [stages] */
  /* by use: its cell; who uses; sums over those before of the first uses of new imports, and of those through L2 */
  unsigned short *cell;
  int            *user, *fresh, *import_;
  /* of uses sorted by what they use: which one, their group, an import, by number; by group: its cell */
  unsigned       *used;
  int            *sorted_use, *group;
  unsigned short *group_cell;
  ChunkImport    *imports; /* through L2: the record in order of time, the cell */
  int *group_import, *import_head, *import_last; /* where cells change hands. By group: its import; by import: its
                                                    group's first place in the sorted list, the last stage of a use */
  unsigned *words; /* that a launch's blocks share */
};

static __device__ __forceinline__ int emit_chunk(const ChunkEmission &e, int i) { return (int)(e.key[i] >> e.bits); }
static __device__ __forceinline__ int emit_rows(const ChunkEmission &e) { return CHUNK_ROWS(e.K); }
/* The stage in its chunk of a record in order of time. */
static __device__ __forceinline__ int emit_stage(const ChunkEmission &e, int i)
{
  return e.at[e.node[i]] / CHUNK_ROWS(e.K);
}

/* Calls f(record, from) for each dependency of a record; from: 1 one, 2 + where. */
template <class F> static __device__ __forceinline__ void emit_dependencies(const ChunkEmission &e, int node, F f)
{
  const int      p = e.owner ? e.owner[node] : node, records = e.first ? e.first[p + 1] - e.first[p] : 1;
  const ChunkRow row = chunk_row(e.G, p);
  int            begin = 0, end = row.n;

  if (records > 1) { /* as they were placed: those not from the queue of dependencies are from that of sums */
    const int r = node - e.first[p], take = r < records - 1 ? e.K : row.n + records - 1 - r * e.K;
    begin       = e.taken[node];
    end         = r < records - 1 ? e.taken[node + 1] : row.n;
    for (int x = end - begin, b = r * e.K - begin; x < take; x++, b++) f(e.first[p] + b, 1);
  }
  for (int j = begin; j < end; j++) {
    const int k = row.begin + (records > 1 ? e.sorted[row.begin + j] : j), c = chunk_position(e.G, k);
    f(e.first ? e.first[c + 1] - 1 : c, chunk_source(e.G, k));
  }
}

/* Calls f(record) for each of those that are uses: of other chunks, or too long ago for the ring. */
template <class F> static __device__ __forceinline__ void emit_uses(const ChunkEmission &e, int i, F f)
{
  const int node = e.node[i], from = e.cuts[emit_chunk(e, i)], first = e.first ? e.first[from] : from,
            step = e.at[node] / e.W;

  emit_dependencies(e, node, [&](int d, int) {
    if (d < first || (step - e.at[d] / e.W) * e.W > e.ring - 2 * e.W) f(d);
  });
}

/* Where the diagonal of a record's row stands, as sources of values have it, or, where it is not stored, the place
   before those of its dependencies, of which this is the first. */
static __device__ __forceinline__ int emit_diagonal(const ChunkEmission &e, int p, int first)
{
  const int d = e.stored ? chunk_diagonal(e.G, p) : first - 1;

  return d < 0 ? -d : d;
}

/* What records hold beside values, without gaps: as sources, cells for a record's dependencies, and in place of its
   diagonal the cell of the next chunk that takes the result; and by stage what it exports. */
struct ChunkDraft {
  unsigned short *cells;
  unsigned       *exports;
  void           *memory; /* that holds them */
};

#define CHUNK_EXPORTS_OF(rows) (1 + (rows) / 32)

/* Numbers places, then cells, then writes it all into the plan; in between, where cells change hands, whether they do
   so in time. What writing needs no more is in early, and what records are written from in the draft: their memory is
   asked for when all else has been given back. */
TrsvError TrsvChunkNumber(const ChunkHeights *, const ChunkSchedule *, ChunkEmission *, void **memory);
TrsvError TrsvChunkCells(ChunkEmission *, int blocks, ChunkHead *heads, ChunkSummary *, void *memory[2],
                         void *early[2]);
TrsvError TrsvChunkBatches(const ChunkEmission *, const ChunkSummary *, ChunkHead *heads, int *batch_of, int *after,
                           int *fits);
TrsvError TrsvChunkWrite(const ChunkEmission *, const ChunkSummary *, size_t sources, ChunkPlan *, ChunkDraft *);
TrsvError TrsvChunkRecords(const ChunkSummary *, TrsvPrecision, const ChunkDraft *, ChunkPlan *);

#endif
