/*
   sample.h: the statistic hub_fraction from a sample of the entries, the same on the host and on a device.
*/
#ifndef TRSV_SAMPLE_H
#define TRSV_SAMPLE_H

#include "base/base.h"

/* Sampled entries are counted in bins by a hash of their columns. */
enum {
  TRSV_SAMPLES  = 4096,
  TRSV_BINS     = 4096,
  TRSV_BIN_MIN  = 8,   /* bins with fewer sampled entries do not count: they may be chance */
  TRSV_HUB_ROWS = 120 /* a row with more dependents is a hub: nearly all chunks import it, so more add no imports */
};

/* Chris Wellons' lowbias32 (hash-prospector, public domain). */
TRSV_HOST_DEVICE unsigned TrsvHash(unsigned v)
{
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

TRSV_HOST_DEVICE int TrsvSamples(int entries) { return entries < TRSV_SAMPLES ? entries : TRSV_SAMPLES; }

/* The n-th entry of the sample: one of each of TrsvSamples ranges of entries. Its place in the range is a hash, because
   rows may have equal lengths. */
TRSV_HOST_DEVICE int TrsvSample(int n, int entries)
{
  const int stretch = entries / TrsvSamples(entries);

  return n * stretch + (int)(TrsvHash((unsigned)n) % (unsigned)stretch);
}

TRSV_HOST_DEVICE int TrsvBin(int column) { return (int)(TrsvHash((unsigned)column) % TRSV_BINS); }

/* The dependencies on hubs in a bin of `count` sampled entries, beyond TRSV_HUB_ROWS, times the size of the sample. */
TRSV_HOST_DEVICE unsigned long long TrsvHubEntries(unsigned count, int entries)
{
  const unsigned long long all  = (unsigned long long)count * (unsigned)entries,
                           base = (unsigned long long)TRSV_HUB_ROWS * (unsigned)TrsvSamples(entries);

  return count >= TRSV_BIN_MIN && all > base ? all - base : 0;
}

/* hub_entries: the sum over all bins; off: entries off the diagonal. */
TRSV_HOST_DEVICE double TrsvHubFraction(unsigned long long hub_entries, int entries, int off)
{
  const double fraction = off > 0 ? (double)hub_entries / TrsvSamples(entries) / off : 0;

  return fraction < 1 ? fraction : 1;
}

#endif
