/*
   pool.h: which pieces of the device's memory are in use, and by whom those that are not were used last. Nothing here
   calls the device: memory.cu does, and locks.

   A call of the driver for memory takes 0.1 ms where there is much of it, and so does one that gives it back, so that a
   set-up would wait for these a third of its time. What the driver gives is a slab; slabs are cut into pieces.
*/
#ifndef TRSV_POOL_H
#define TRSV_POOL_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Slabs of a kind of their own for pieces of less than 1 MB, so that one of these does not keep a large slab from the
   driver (as in the allocator of PyTorch). */
typedef enum {
  TRSV_POOL_SMALL,
  TRSV_POOL_LARGE,
  TRSV_POOL_ANY /* for who asks */
} TrsvPoolKind;

/* All pieces; those of a slab follow each other, by address. */
typedef struct TrsvPiece TrsvPiece;
struct TrsvPiece {
  char      *memory;
  size_t     bytes;
  int        device;
  TrsvPoolKind kind;  /* of its slab */
  int        first;   /* of its slab? */
  int        used;
  int        settled; /* if not used: is there nothing under way that uses it? If there may be: */
  TrsvStream stream;  /* where it was used, */
  size_t     turn;    /* and the number of the release, */
  TrsvPiece *before, *after;
};

typedef struct {
  TrsvPiece *pieces;
  size_t     in_use, most_in_use; /* bytes */
  size_t     spare;               /* bytes of slabs of which nothing is in use */
  size_t     open;                /* pieces that are neither used nor settled */
  size_t     turns;               /* releases */
} TrsvPool;

/* A new slab, of which nothing is in use. 0 where the host has no memory for a note of it. */
int TrsvPoolAdd(TrsvPool *, int device, TrsvPoolKind, void *memory, size_t bytes);

/* So many bytes, not 0, of a slab of the kind, that are settled, or, where mine, were used in the stream last; NULL
   where there are none. Who wants aligned pieces asks for multiples of the alignment. The smallest piece that will do
   is cut (best fit: Knuth, The Art of Computer Programming 1, Section 2.5). */
void *TrsvPoolTake(TrsvPool *, int device, TrsvPoolKind, size_t bytes, int mine, TrsvStream);

/* Takes back what TrsvPoolTake gave: settled, or used in the stream last. What is not in use is left alone. */
void TrsvPoolGive(TrsvPool *, void *memory, int settled, TrsvStream);

/* Where what TrsvPoolTake gave is; -1 if it is not of the pool. */
int TrsvPoolDevice(const TrsvPool *, const void *memory);

/* Who has waited for the device's stream, or for all of the device, settles what was released there before: turns as it
   was before the wait. */
void TrsvPoolSettle(TrsvPool *, int device, TrsvStream, size_t turns);
void TrsvPoolSettleDevice(TrsvPool *, int device, size_t turns);

/* Takes a slab, of which nothing is in use, out of the pool, for the driver, as long as there are more than so many
   spare bytes; NULL where there is none. */
void *TrsvPoolSpare(TrsvPool *, size_t most);

#ifdef __cplusplus
}
#endif
#endif
