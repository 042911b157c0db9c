/*
   Blocks whose threads read the entries of rows in parallel (triangle_view.cuh), up to the last entry that 32 bits
   can number; the number of blocks and of bits.
*/
#include "check.h"
#include "analysis/triangle_view.cuh"

enum { THREADS = 64 };

static __global__ void each_entry(int begin, int end, unsigned *visits)
{
  entries_each<THREADS>(begin, end, [&](int k) { (void)atomicAdd(visits + (k - begin), 1u); });
}

static __global__ void each_row(const int *offsets, int rows, unsigned *visits)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  const int loaded = rows_load(offsets, rows, 0, start);

  rows_each(start, loaded, [&](int m, int k) { (void)atomicAdd(visits + (k - start[0]), (unsigned)m + 1); });
}

static void CheckCounts(void)
{
  static const struct {
    long largest;
    int  bits;
  } cases[] = {{-1, 1}, {0, 1}, {1, 1}, {2, 2}, {3, 2}, {255, 8}, {256, 9}, {INT_MAX, 31}, {1l << 33, 31}};

  Begin("device: how many bits, and blocks");
  for (const auto &c : cases) Expect(TrsvBits(c.largest) == c.bits, "%d bits for %ld", TrsvBits(c.largest), c.largest);
  Expect(TrsvBlocks(0, 256) == 0 && TrsvBlocks(1, 256) == 1 && TrsvBlocks(256, 256) == 1 && TrsvBlocks(257, 256) == 2 &&
           TrsvBlocks(INT_MAX, 256) == 1u << 23,
         "other blocks");
  End();
}

void TestEntries(void)
{
  static const int before[] = {0, 1, 63, 64, 65, 300};

  CheckCounts();

  Begin("device: entries up to the last that there can be");
  for (int n : before)
    for (int last = 0; last < 2; last++) {
      const int begin = last ? INT_MAX - n : 7, offsets[] = {begin, begin + n / 3, begin + n};
      unsigned  visits[2][301] = {{0}}, *there;
      int      *rows;

      for (int i = 0; i < 2; i++) {
        ExpectError(UploadNew(visits[i], sizeof(visits[i]), &there), TRSV_SUCCESS, "UploadNew");
        ExpectError(UploadNew(offsets, sizeof(offsets), &rows), TRSV_SUCCESS, "UploadNew");
        if (i) TRSV_LAUNCH(each_row, 1, ROWS_BLOCK, 0, (TrsvStream)NULL, rows, 2, there);
        else TRSV_LAUNCH(each_entry, 1, THREADS, 0, (TrsvStream)NULL, begin, begin + n, there);
        ExpectError(TrsvDeviceCheckLaunch("entries"), TRSV_SUCCESS, "a launch");
        ExpectError(TrsvDeviceDownload(visits[i], there, sizeof(visits[i]), NULL), TRSV_SUCCESS, "TrsvDeviceDownload");
        TrsvDeviceFree(there);
        TrsvDeviceFree(rows);
        for (int k = 0; k <= 300; k++)
          Expect(visits[i][k] == (k >= n            ? 0u
                                  : i && k >= n / 3 ? 2u
                                                    : 1u),
                 "%s: entry %d of %d from %d on: %u", i ? "rows_each" : "entries_each", k, n, begin, visits[i][k]);
      }
    }
  End();
}
