/*
   pool.h: which pieces of the device's memory are in use, and by whom those that are not were used last. Nothing here calls the device: memory.cu does,
   and locks.

   A call of the driver for memory takes 0.1 ms where there is much of it, and so does one that gives it back, so that a set-up would wait for these a
   third of its time. What the driver gives is a slab; slabs are cut into pieces.
*/
#ifndef TRSV_POOL_H
#define TRSV_POOL_H

#include "trsv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is taken for so many bytes: pieces begin and end at multiples of 256, as the driver has it. */
#define TRSV_POOL_SIZE(bytes) ((bytes) ? ((bytes) + 255) / 256 * 256 : 256)

/* All pieces; those of a slab follow each other, by address. */
typedef struct TrsvPiece TrsvPiece;
struct TrsvPiece {
  char      *memory;
  size_t     bytes;
  int        device;
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
  size_t     turns;               /* releases */
} TrsvPool;

/* A new slab, of which nothing is in use. 0 where the host has no memory for a note of it. */
int TrsvPoolAdd(TrsvPool *, int device, void *memory, size_t bytes);

/* So many bytes, a TRSV_POOL_SIZE(), that are settled, or, where mine, were used in the stream last; NULL where there are none. The smallest piece that
   will do is cut (best fit: Knuth, The Art of Computer Programming 1, Section 2.5). */
void *TrsvPoolTake(TrsvPool *, int device, size_t bytes, int mine, TrsvStream);

/* Takes back what TrsvPoolTake gave: settled, or used in the stream last. NULL and what is not of the pool are left alone. */
void TrsvPoolGive(TrsvPool *, void *memory, int settled, TrsvStream);

/* Where what TrsvPoolTake gave is; -1 if it is not of the pool. */
int TrsvPoolDevice(const TrsvPool *, const void *memory);

/* Who has waited for the device's stream settles what was released there before: turns as it was before the wait. */
void TrsvPoolSettle(TrsvPool *, int device, TrsvStream, size_t turns);

/* Takes a slab, of which nothing is in use, out of the pool, for the driver, as long as there are more than so many spare bytes; NULL where there is none. */
void *TrsvPoolSpare(TrsvPool *, size_t most);

#ifdef __cplusplus
}
#endif
#endif
