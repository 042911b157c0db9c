/*
   The pool of device memory (src/kernels/device/pool.h), without a device: pieces in use never overlap, nobody gets what somebody else may still use, and whatever
   has been done, slabs are whole again when all is given back.
*/
#include "check.h"
#include "device/pool.h"

enum {
  UNIT    = 256,
  SLABS   = 5,
  UNITS   = 64, /* of a slab */
  STREAMS = 3,
  DEVICES = 2
};

/* What a unit of memory is, as the test knows it. */
typedef struct {
  int    used;    /* by which piece, 0: none */
  int    settled;
  int    stream;
  size_t turn;
} Unit;

typedef struct {
  TrsvPool pool;
  char    *slab[SLABS]; /* NULL: the driver has it */
  Unit     unit[SLABS][UNITS];
  void    *piece[SLABS * UNITS + 1]; /* [1..] what is in use */
  int      pieces;
} Model;

static char streams[STREAMS];

/* What stands for a stream: nobody looks inside. */
static TrsvStream Stream(int i) { return (TrsvStream)(void *)&streams[i]; }

static int DeviceOf(int slab) { return slab % DEVICES; }

static int Kind(int slab) { return slab / DEVICES % 2 ? TRSV_POOL_LARGE : TRSV_POOL_SMALL; }

/* May who asks for the kind have the slab? */
static int Suits(int slab, int device, TrsvPoolKind kind) { return DeviceOf(slab) == device && (kind == TRSV_POOL_ANY || Kind(slab) == (int)kind); }

static void Add(Model *m, int slab)
{
  if (m->slab[slab]) return;
  m->slab[slab] = aligned_alloc(UNIT, (size_t)UNIT * UNITS);
  for (int u = 0; u < UNITS; u++) m->unit[slab][u] = (Unit){.settled = 1};
  Expect(TrsvPoolAdd(&m->pool, DeviceOf(slab), (TrsvPoolKind)Kind(slab), m->slab[slab], (size_t)UNIT * UNITS), "a slab was not added");
}

/* Where a piece is */
static int Slab(const Model *m, const void *memory, int *unit)
{
  *unit = -1;
  for (int s = 0; s < SLABS; s++)
    if (m->slab[s] && (const char *)memory >= m->slab[s] && (const char *)memory < m->slab[s] + (size_t)UNIT * UNITS) {
      *unit = (int)(((const char *)memory - m->slab[s]) / UNIT);
      return s;
    }
  return -1;
}

static int Free(const Unit *u, int mine, int stream) { return !u->used && (u->settled || (mine && u->stream == stream)); }

/* May so many units that follow each other be had somewhere? */
static int Possible(const Model *m, int device, TrsvPoolKind kind, int units, int mine, int stream)
{
  for (int s = 0; s < SLABS; s++)
    for (int u = 0, run = 0; m->slab[s] && Suits(s, device, kind) && u < UNITS; u++) {
      const Unit *now = &m->unit[s][u];

      run = !Free(now, mine, stream) ? 0 : run && now->settled == now[-1].settled ? run + 1 : 1; /* what is settled and what is not stay apart */
      if (run == units) return 1;
    }
  return 0;
}

static void Take(Model *m, Random *r)
{
  const int device = RandomBelow(r, DEVICES), mine = RandomBelow(r, 2), stream = RandomBelow(r, STREAMS), units = 1 + RandomBelow(r, RandomBelow(r, 4) ? 6 : UNITS);
  const TrsvPoolKind kind = (TrsvPoolKind)RandomBelow(r, 3);
  int       unit, slab, all = 1;
  void     *p = TrsvPoolTake(&m->pool, device, kind, (size_t)UNIT * (size_t)units, mine, Stream(stream));

  Expect(!p == !Possible(m, device, kind, units, mine, stream), "%d units are %s", units, p ? "there, where there are none" : "not found");
  if (!p) return;
  slab = Slab(m, p, &unit);
  if (!Expect(slab >= 0 && Suits(slab, device, kind) && ((char *)p - m->slab[slab]) % UNIT == 0 && unit + units <= UNITS, "it is somewhere else")) return;
  Expect(TrsvPoolDevice(&m->pool, p) == device, "another device");
  m->piece[++m->pieces] = p;
  for (int u = unit; u < unit + units; u++) {
    all                  = all && Free(&m->unit[slab][u], mine, stream);
    m->unit[slab][u].used = m->pieces;
  }
  Expect(all, "it is somebody else's yet");
}

static void Give(Model *m, int piece, int settled, int stream)
{
  const size_t turn = m->pool.turns;

  TrsvPoolGive(&m->pool, m->piece[piece], settled, Stream(stream));
  for (int s = 0; s < SLABS; s++)
    for (int u = 0; u < UNITS; u++) {
      Unit *const at = &m->unit[s][u];

      if (at->used == piece) *at = (Unit){.settled = settled, .stream = stream, .turn = turn};
      else if (at->used == m->pieces) at->used = piece; /* the last takes its number */
    }
  m->piece[piece] = m->piece[m->pieces--];
  for (int s = 0; s < SLABS; s++) /* neighbours that are alike are one piece, which is as late as its latest part */
    for (int k = 0; k < 2 * UNITS - 2; k++) {
      const int   u  = k < UNITS - 1 ? k : 2 * UNITS - 2 - k;
      Unit *const at = &m->unit[s][u], *const by = k < UNITS - 1 ? at + 1 : at - 1;

      if (!at->used && !at->settled && !by->used && !by->settled && at->stream == by->stream && by->turn < at->turn) by->turn = at->turn;
    }
}

/* stream: STREAMS for all of the device */
static void Settle(Model *m, int device, int stream, size_t turns)
{
  if (stream == STREAMS) TrsvPoolSettleDevice(&m->pool, device, turns);
  else TrsvPoolSettle(&m->pool, device, Stream(stream), turns);
  for (int s = 0; s < SLABS; s++)
    for (int u = 0; u < UNITS; u++) {
      Unit *const at = &m->unit[s][u];

      if (DeviceOf(s) == device && !at->used && (stream == STREAMS || at->stream == stream) && at->turn < turns) at->settled = 1;
    }
}

/* Returns how many slabs went to the driver. */
static int Spare(Model *m, size_t most)
{
  int n = 0;

  for (void *p; (p = TrsvPoolSpare(&m->pool, most)); n++) {
    int unit, slab = Slab(m, p, &unit), used = 0;

    if (!Expect(slab >= 0 && unit == 0, "no slab")) return n;
    for (int u = 0; u < UNITS; u++) used += m->unit[slab][u].used != 0;
    Expect(!used, "%d units of it are in use", used);
    free(m->slab[slab]);
    m->slab[slab] = NULL;
  }
  Expect(m->pool.spare <= most, "%zu spare bytes are left", m->pool.spare);
  return n;
}

static void Count(const Model *m)
{
  size_t used = 0;

  for (int s = 0; s < SLABS; s++)
    for (int u = 0; m->slab[s] && u < UNITS; u++) used += m->unit[s][u].used ? UNIT : 0;
  Expect(m->pool.in_use == used && m->pool.most_in_use >= used, "%zu bytes in use, %zu counted", used, m->pool.in_use);
}

static void Anything(unsigned seed, int steps)
{
  Model *m = calloc(1, sizeof(*m));
  Random r = seed;
  int    slabs = 0;

  for (int i = 0; i < steps; i++) {
    const int what = RandomBelow(&r, 16);

    if (what < 7) Take(m, &r);
    else if (what < 13 && m->pieces) Give(m, 1 + RandomBelow(&r, m->pieces), RandomBelow(&r, 3) == 0, RandomBelow(&r, STREAMS));
    else if (what == 13) Settle(m, RandomBelow(&r, DEVICES), RandomBelow(&r, STREAMS + 1), m->pool.turns - (size_t)RandomBelow(&r, 2) * (m->pool.turns > 3 ? 3 : 0));
    else if (what == 14) Add(m, RandomBelow(&r, SLABS));
    else if (what == 15 && RandomBelow(&r, 8) == 0) (void)Spare(m, (size_t)RandomBelow(&r, 3) * UNIT * UNITS);
    Count(m);
  }
  while (m->pieces) Give(m, m->pieces, 0, RandomBelow(&r, STREAMS));
  for (int d = 0; d < DEVICES; d++)
    for (int s = 0; s < STREAMS; s++) Settle(m, d, s, m->pool.turns);
  for (int s = 0; s < SLABS; s++) slabs += m->slab[s] != NULL;
  Expect(m->pool.spare == (size_t)slabs * UNIT * UNITS && !m->pool.in_use && !m->pool.open, "%zu bytes of %d slabs are spare, %zu in use, %zu pieces open", m->pool.spare, slabs, m->pool.in_use, m->pool.open);
  Expect(Spare(m, 0) == slabs && !m->pool.pieces, "slabs are left");
  free(m);
}

/* The smallest piece that will do is taken, of slabs of the kind; what is not the pool's, or not in use, is left alone. */
static void Fits(void)
{
  static char slab[2][16 * UNIT];
  TrsvPool    pool = {NULL, 0, 0, 0, 0, 0};
  char       *p, *q, *rest;

  Begin("pool: the piece that fits best");
  Expect(!TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, UNIT, 1, NULL) && !TrsvPoolSpare(&pool, 0), "something out of nothing");
  Expect(TrsvPoolAdd(&pool, 0, TRSV_POOL_SMALL, slab[1], 4 * UNIT) && TrsvPoolAdd(&pool, 0, TRSV_POOL_SMALL, slab[0], 16 * UNIT), "slabs"); /* the larger is looked at first */
  Expect(!TrsvPoolTake(&pool, 0, TRSV_POOL_LARGE, UNIT, 0, NULL), "a slab of another kind");
  p = TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, 3 * UNIT, 0, NULL);
  q = TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, 5 * UNIT, 0, NULL);
  Expect(p == slab[1] && q == slab[0] && pool.in_use == 8 * UNIT && !pool.spare, "not the smaller slab for the smaller piece");
  TrsvPoolGive(&pool, slab[0] + UNIT, 1, NULL);
  TrsvPoolGive(&pool, slab[0] + 5 * UNIT, 1, NULL); /* not in use */
  TrsvPoolGive(&pool, NULL, 1, NULL);
  Expect(pool.in_use == 8 * UNIT && TrsvPoolDevice(&pool, NULL) == -1 && TrsvPoolDevice(&pool, slab[0] + UNIT) == -1, "what is not the pool's");
  rest = TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, 11 * UNIT, 0, NULL);
  Expect(rest == slab[0] + 5 * UNIT, "not what the first left");
  TrsvPoolGive(&pool, p, 0, Stream(0));
  Expect(!TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, 3 * UNIT, 0, Stream(0)) && !TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, 3 * UNIT, 1, Stream(1)) && !TrsvPoolTake(&pool, 1, TRSV_POOL_SMALL, UNIT, 1, Stream(0)), "what somebody may still use");
  Expect(TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, 3 * UNIT, 1, Stream(0)) == p, "not what the same stream used before");
  TrsvPoolGive(&pool, p, 0, Stream(0));
  TrsvPoolSettle(&pool, 0, Stream(0), pool.turns - 1);
  Expect(!TrsvPoolTake(&pool, 0, TRSV_POOL_SMALL, 4 * UNIT, 0, NULL), "what was released during a wait is not waited for");
  TrsvPoolSettle(&pool, 0, Stream(0), pool.turns);
  Expect(pool.spare == 4 * UNIT && !TrsvPoolSpare(&pool, 4 * UNIT), "a slab that may be kept");
  Expect(TrsvPoolSpare(&pool, 3 * UNIT) == slab[1] && !TrsvPoolSpare(&pool, 0), "a slab that is spare");
  TrsvPoolGive(&pool, q, 1, NULL);
  TrsvPoolGive(&pool, rest, 1, NULL);
  Expect(TrsvPoolSpare(&pool, 0) == slab[0] && !pool.pieces && !pool.in_use && pool.most_in_use == 19 * UNIT, "slabs are left, or %zu bytes were the most", pool.most_in_use);
  End();
}

void TestPool(void)
{
  Fits();
  for (unsigned seed = 1; seed <= (Reduced() ? 4u : 20u); seed++) {
    Begin("pool: anything in any order, seed %u", seed);
    Anything(seed, 4000);
    End();
  }
}
