/*
   Slabs of device memory, cut into pieces: pool.h. Pieces are few, some hundred in a set-up, and gone through one by
   one.
*/
#include <stdlib.h>
#include "device/pool.h"

/* Is the piece a slab of which nothing is in use? */
static int Spare(const TrsvPiece *p) { return p->first && !p->used && (!p->after || p->after->first); }

static void Unlink(TrsvPool *pool, TrsvPiece *p)
{
  if (p->before) p->before->after = p->after;
  else pool->pieces = p->after;
  if (p->after) p->after->before = p->before;
  free(p);
}

int TrsvPoolAdd(TrsvPool *pool, int device, TrsvPoolKind kind, void *memory, size_t bytes)
{
  TrsvPiece *p = calloc(1, sizeof(*p));

  if (!p) return 0;
  p->memory  = memory;
  p->bytes   = bytes;
  p->device  = device;
  p->kind    = kind;
  p->first   = 1;
  p->settled = 1;
  p->after   = pool->pieces;
  if (p->after) p->after->before = p;
  pool->pieces = p;
  pool->spare += bytes;
  return 1;
}

/* What is more than so many bytes becomes a piece of its own, where the host has memory for a note of it. */
static void Cut(TrsvPool *pool, TrsvPiece *p, size_t bytes)
{
  TrsvPiece *rest = p->bytes > bytes ? malloc(sizeof(*rest)) : NULL;

  if (!rest) return;
  *rest        = *p;
  rest->memory = p->memory + bytes;
  rest->bytes  = p->bytes - bytes;
  rest->first  = 0;
  rest->before = p;
  if (rest->after) rest->after->before = rest;
  p->after = rest;
  p->bytes = bytes;
  pool->open += !rest->settled;
}

void *TrsvPoolTake(TrsvPool *pool, int device, TrsvPoolKind kind, size_t bytes, int mine, TrsvStream stream)
{
  TrsvPiece *best = NULL;

  for (TrsvPiece *p = pool->pieces; p; p = p->after)
    if (!p->used && p->device == device && (p->kind == kind || kind == TRSV_POOL_ANY) && p->bytes >= bytes &&
        (p->settled || (mine && p->stream == stream)) && (!best || p->bytes < best->bytes))
      best = p;
  if (!best) return NULL;
  if (Spare(best)) pool->spare -= best->bytes;
  Cut(pool, best, bytes);
  best->used = 1;
  pool->open -= !best->settled;
  pool->in_use += best->bytes;
  if (pool->in_use > pool->most_in_use) pool->most_in_use = pool->in_use;
  return best->memory;
}

/* One piece of two neighbours, where these are alike. */
static void Merge(TrsvPool *pool, TrsvPiece *p)
{
  TrsvPiece *const q = p->after;

  if (!q || q->first || p->used || q->used || p->settled != q->settled || (!p->settled && p->stream != q->stream))
    return;
  p->bytes += q->bytes;
  if (q->turn > p->turn) p->turn = q->turn;
  pool->open -= !p->settled;
  Unlink(pool, q);
  if (Spare(p)) pool->spare += p->bytes;
}

static TrsvPiece *Find(const TrsvPool *pool, const void *memory)
{
  TrsvPiece *p = pool->pieces;

  while (p && p->memory != memory) p = p->after;
  return p;
}

int TrsvPoolDevice(const TrsvPool *pool, const void *memory)
{
  const TrsvPiece *p = Find(pool, memory);

  return p ? p->device : -1;
}

void TrsvPoolGive(TrsvPool *pool, void *memory, int settled, TrsvStream stream)
{
  TrsvPiece *const p = Find(pool, memory);

  if (!p || !p->used) return;
  p->used    = 0;
  p->settled = settled;
  p->stream  = stream;
  p->turn    = pool->turns++;
  pool->in_use -= p->bytes;
  pool->open += !settled;
  if (Spare(p)) pool->spare += p->bytes;
  Merge(pool, p);
  if (p->before) Merge(pool, p->before);
}

/* stream: NULL for all; a stream itself may be NULL, too */
static void Settle(TrsvPool *pool, int device, const TrsvStream *stream, size_t turns)
{
  if (!pool->open) return; /* mostly: all who wait come here */
  for (TrsvPiece *p = pool->pieces; p; p = p->after) {
    if (!p->used && !p->settled && p->device == device && (!stream || p->stream == *stream) && p->turn < turns) {
      p->settled = 1;
      pool->open--;
    }
    if (!p->before) continue;
    TrsvPiece *const before = p->before;

    Merge(pool, before); /* p may be gone */
    if (before->after != p) p = before;
  }
}

void TrsvPoolSettle(TrsvPool *pool, int device, TrsvStream stream, size_t turns)
{
  Settle(pool, device, &stream, turns);
}

void TrsvPoolSettleDevice(TrsvPool *pool, int device, size_t turns) { Settle(pool, device, NULL, turns); }

void *TrsvPoolSpare(TrsvPool *pool, size_t most)
{
  TrsvPiece *p = pool->spare > most ? pool->pieces : NULL;

  while (p && !Spare(p)) p = p->after;
  if (!p) return NULL;
  void *const memory = p->memory;
  pool->spare -= p->bytes;
  pool->open -= !p->settled;
  Unlink(pool, p);
  return memory;
}
