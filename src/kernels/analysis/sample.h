/*
   sample.h: the sample of entries that the statistic `shared` is made of, the same on a host and on a device.
*/
#ifndef TRSV_SAMPLE_H
#define TRSV_SAMPLE_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* The n-th entry of the sample: one of each of so many stretches, not always at the same place of it, as rows may be of
   equal length. */
TRSV_BOTH int TrsvSample(int n, int entries)
{
  const int stretch = entries / TrsvSamples(entries);

  return n * stretch + (int)(TrsvHash((unsigned)n) % (unsigned)stretch);
}

TRSV_BOTH int TrsvBin(int column) { return (int)(TrsvHash((unsigned)column) % TRSV_BINS); }

/* Of a bin with so many entries of the sample: how many dependencies are shared, times the size of the sample. */
TRSV_BOTH unsigned long long TrsvSharedIn(unsigned count, int entries)
{
  const unsigned long long all = (unsigned long long)count * (unsigned)entries, once = (unsigned long long)TRSV_SHARED
  *(unsigned)TrsvSamples(entries);

  return count >= TRSV_OFTEN && all > once ? all - once : 0;
}

TRSV_BOTH double TrsvShared(unsigned long long of_all_bins, int entries, int off)
{
  const double share = off > 0 ? (double)of_all_bins / TrsvSamples(entries) / off : 0;

  return share < 1 ? share : 1;
}

#ifdef __cplusplus
}
#endif
#endif
