/*
   sync.cuh: how a thread passes a value to another thread of a device kernel, and how a thread waits for a value.

   A passed value is its own flag: one word, written once, that holds NOT_READY until then. No second location has to be
   ordered with the value, so relaxed accesses of gpu scope are enough. A complex value is two such words, in no order
   with each other: complex.cuh.
*/
#ifndef TRSV_SYNC_CUH
#define TRSV_SYNC_CUH

#include "device/threads.cuh"

/* The index of a thread in its launch. */
static TRSV_INLINE int trsv_index() { return (int)(blockIdx.x * blockDim.x + threadIdx.x); }

/* The first index in [begin, end) for which holds(index) is true, as it is for all later ones; end if there is none. */
template <class Holds> static TRSV_INLINE int trsv_first(int begin, int end, Holds holds)
{
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;

    if (holds(middle)) end = middle;
    else begin = middle + 1;
  }
  return begin;
}

/* The sum over the lanes of a warp, in every lane. */
template <class T> static TRSV_INLINE T warp_sum(T v)
{
  for (int half = 16; half; half /= 2) v += __shfl_xor_sync(~0u, v, half);
  return v;
}

/* Adds up each sum over a block of BLOCK threads, in its thread 0. The order of a sum depends only on BLOCK. */
template <int BLOCK, int N> static TRSV_INLINE void trsv_block_sum(double (&sum)[N])
{
  TRSV_SHARED(double, of_warp, N *BLOCK / 32);
  const unsigned warp = threadIdx.x / 32;

  for (int n = 0; n < N; n++) sum[n] = warp_sum(sum[n]);
  __syncthreads(); /* of_warp may still be read for an earlier sum */
  if (threadIdx.x % 32 == 0)
    for (int n = 0; n < N; n++) of_warp[n * (BLOCK / 32) + (int)warp] = sum[n];
  __syncthreads();
  if (threadIdx.x == 0)
    for (int n = 0; n < N; n++) {
      sum[n] = 0;
      for (int w = 0; w < BLOCK / 32; w++) sum[n] += of_warp[n * (BLOCK / 32) + w];
    }
}

/* The number of blocks for n threads or rows, `size` in a block. */
static inline unsigned TrsvBlocks(long n, int size) { return (unsigned)((n + size - 1) / size); }

/* The bits of a word that is not written yet: a NaN that arithmetic does not produce and trsv_publish never stores. */
template <class T> struct TrsvWord;
template <> struct TrsvWord<double> {
  static constexpr unsigned long long not_ready = 0xfff8deadbeef0001ull, nan = 0x7ff8000000000000ull;
};
template <> struct TrsvWord<float> {
  static constexpr unsigned not_ready = 0xffc0dead, nan = 0x7fc00000;
};

/* The value whose words all have these bits: a complex value has two. */
template <class T, class Bits> static TRSV_INLINE T trsv_of_words(Bits bits)
{
  const auto word = trsv_from_bits(bits);
  if constexpr (sizeof(T) == sizeof(word)) return word;
  else return {word, word};
}

template <class T> static TRSV_INLINE T    trsv_not_ready() { return trsv_of_words<T>(TrsvWord<T>::not_ready); }
template <class T> static TRSV_INLINE T    trsv_nan() { return trsv_of_words<T>(TrsvWord<T>::nan); }
template <class T> static TRSV_INLINE bool trsv_is_ready(T v) { return trsv_bits(v) != TrsvWord<T>::not_ready; }

template <class T> static TRSV_INLINE T trsv_from_words(unsigned low, unsigned high)
{
  if constexpr (sizeof(T) == 4) return trsv_from_bits(low);
  else return trsv_from_bits((unsigned long long)high << 32 | low);
}

/* The 32 bits of NOT_READY that a value is compared with. If they differ, the value is ready; if not, it may be. */
template <class T> static TRSV_INLINE unsigned trsv_mark()
{
  return (unsigned)(TrsvWord<T>::not_ready >> (8 * sizeof(TrsvWord<T>::not_ready) - 32));
}
static TRSV_INLINE unsigned trsv_mark_of(double v) { return (unsigned)(trsv_bits(v) >> 32); }
static TRSV_INLINE unsigned trsv_mark_of(float v) { return trsv_bits(v); }

/* The 32 bits of a value in shared memory that are compared with the mark: a complex value has the mark if one half
   has. */
template <class T> static TRSV_INLINE unsigned trsv_shared_mark(unsigned address)
{
  const unsigned first = trsv_shared_load<unsigned>(address + (unsigned)sizeof(TrsvWord<T>::not_ready) - 4);
  if constexpr (sizeof(T) == sizeof(TrsvWord<T>::not_ready)) return first;
  const unsigned last = trsv_shared_load<unsigned>(address + (unsigned)sizeof(T) - 4);
  return first == trsv_mark<T>() ? first : last;
}

/* trsv_is_marked: the value has the mark of NOT_READY. trsv_unmarked: the value, or NaN if it has the mark. */
template <class T> static TRSV_INLINE bool trsv_is_marked(T v) { return trsv_mark_of(v) == trsv_mark<T>(); }
template <class T> static TRSV_INLINE T    trsv_unmarked(T v) { return trsv_is_marked(v) ? trsv_nan<T>() : v; }

/* Replaces any NaN by one fixed NaN. Arithmetic on the result never produces NOT_READY: its NaN is that of an operand
   or the NaN of the hardware. */
template <class T> static TRSV_INLINE T trsv_canonical(T v) { return v == v ? v : trsv_nan<T>(); }

/* Stores a value for other threads. A NaN in the user's data with the bits of NOT_READY becomes another NaN. */
template <class T> static TRSV_INLINE T trsv_publish(T *p, T v)
{
  if (!trsv_is_ready(v)) v = trsv_nan<T>();
  trsv_store(p, v);
  return v;
}

#include "device/complex.cuh"

/* A ticket of a launch that takes `many`, one for each block, or cluster, or block of one triangle: 0 .. many - 1, in
   the order in which they start. turn: 0 or 1 in alternate launches. All with smaller tickets have started. The counter
   is 0 again after two launches, so nothing is reset and every launch has the same arguments. One thread of each calls
   this. */
static TRSV_INLINE unsigned trsv_ticket(const TrsvSync &sync, unsigned many, unsigned *turn)
{
  const unsigned t = atomicInc(sync.ticket, 2 * many - 1);
  *turn = t >= many;
  return *turn ? t - many : t;
}

/* Ends all waits of the plan's launch, and reports a timeout to the host. */
static TRSV_INLINE void trsv_give_up(const TrsvSync &sync)
{
  trsv_store(sync.abort_device, 1u);
  trsv_store_host(sync.abort_host, 1u);
}

/* Nanoseconds in the unit in which launches note their progress: 2^20 ns, modulo 2^32. */
static TRSV_INLINE unsigned trsv_progress_time(unsigned long long nanoseconds) { return (unsigned)(nanoseconds >> 20); }

/* A block calls this after a part of its work if other blocks may wait for its values until the end of the launch. */
static TRSV_INLINE void trsv_note_progress(const TrsvSync &sync)
{
  trsv_store(sync.abort_device + 1, trsv_progress_time(trsv_nanoseconds()));
}

#ifndef TRSV_POLLS /* tests/simt/sizes.h has a smaller one */
  #define TRSV_POLLS 1024 /* polls between two looks of a thread at the clock */
#endif

/* Bounds one wait; each wait needs a new object. A thread calls more() after each poll that found nothing. more()
   returns false after a wait exceeded its limit, in this or another thread of the plan: the thread then publishes NaN
   as its value, which ends waits for it. progress: the blocks of this launch note progress. The limit then counts from
   the last progress of any block: if all blocks run from the start, the last one may wait for its first value as long
   as the launch takes. Without progress a wait with a limit below 52 days ends, whatever the clock shows. */
struct TrsvSpinLimit {
  unsigned           polls = 0;
  unsigned long long since = 0;

  TRSV_INLINE bool more(const TrsvSync &sync, bool progress = false)
  {
    trsv_pause();
    if (++polls % TRSV_POLLS) return true;
    if (trsv_load(sync.abort_device)) return false;
    const unsigned long long now = trsv_nanoseconds();
    if (!since) since = now;
    if (now - since <= sync.timeout) return true;
    if (progress) { /* noted is 0 before the first note; clocks of multiprocessors may differ by less than 64 units */
      const unsigned noted = trsv_load(sync.abort_device + 1),
                     ago   = trsv_progress_time(trsv_nanoseconds()) - noted + 64;
      if (ago <= (sync.timeout >> 20) + 65) return true;
    }
    trsv_give_up(sync);
    return false;
  }
};

#endif
