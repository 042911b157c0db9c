/*
   Two tasks in lock step: the order of their halves, their streams, and errors in each half.
*/
#include "check.h"

/* Two tasks that record the order of their halves, and their streams. Each half has work in its stream. */
typedef struct {
  int        begun, ended; /* the places in the order; 0: not called */
  TrsvError  fails[2];     /* what begin and end return */
  TrsvStream stream[2];
  unsigned  *word;
  int        alone; /* there is no second stream */
} Task;

static int calls;

static TrsvError RunHalf(Task *t, int half)
{
  *(half ? &t->ended : &t->begun) = ++calls;
  t->stream[half]                 = TrsvCurrentStream();
  Expect(TrsvDeviceSharing() == 2 - t->alone, "%d tasks share the device", TrsvDeviceSharing());
  ExpectError(TrsvDeviceClear(t->word, sizeof(*t->word), TrsvCurrentStream()), TRSV_SUCCESS, "TrsvDeviceClear");
  return t->fails[half] ? TrsvFail(t->fails[half], "half %d at place %d", half, calls) : TRSV_SUCCESS;
}

static TrsvError BeginTask(void *task) { return RunHalf(task, 0); }
static TrsvError EndTask(void *task) { return RunHalf(task, 1); }

static void ExpectPlaces(const Task *t, int begun, int ended, const char *which)
{
  Expect(t->begun == begun && t->ended == ended, "%s: begun as number %d, not %d, and ended as number %d, not %d",
         which, t->begun, begun, t->ended, ended);
  if (t->begun && t->ended) Expect(t->stream[0] == t->stream[1], "%s: halves in two streams", which);
}

/* Errors in each half, alone and together: end is called for each begin that has succeeded, and the first error is
   returned with its message. */
static void CheckOrder(void)
{
  enum { MEMORY = TRSV_ERR_MEMORY, OTHER = TRSV_ERR_STRUCTURE };
  static const struct {
    int first[2], second[2]; /* the errors of begin and end */
    int places[4];           /* of the first task's begin and end, and of the second task's */
    int error, half, place;  /* what is returned, and whose message */
  } cases[] = {
    {{0, 0}, {0, 0}, {1, 3, 2, 4}, 0, 0, 0},
    {{MEMORY, 0}, {0, 0}, {1, 0, 0, 0}, MEMORY, 0, 1},
    {{0, 0}, {MEMORY, 0}, {1, 3, 2, 0}, MEMORY, 0, 2},
    {{0, OTHER}, {0, 0}, {1, 3, 2, 4}, OTHER, 1, 3},
    {{0, 0}, {0, OTHER}, {1, 3, 2, 4}, OTHER, 1, 4},
    {{0, OTHER}, {0, MEMORY}, {1, 3, 2, 4}, OTHER, 1, 3},
    {{0, OTHER}, {MEMORY, 0}, {1, 3, 2, 0}, MEMORY, 0, 2},
  };
  unsigned *words;
  char      message[64];

  Begin("two tasks in lock step: order, streams and errors");
  ExpectError(TrsvDeviceAlloc(2 * sizeof(*words), &words), TRSV_SUCCESS, "TrsvDeviceAlloc");
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    Task first  = {.fails = {cases[c].first[0], cases[c].first[1]}, .word = words};
    Task second = {.fails = {cases[c].second[0], cases[c].second[1]}, .word = words + 1};

    calls = 0;
    ExpectError(TrsvRunInLockStep(BeginTask, EndTask, &first, &second), cases[c].error, "TrsvRunInLockStep");
    ExpectPlaces(&first, cases[c].places[0], cases[c].places[1], "the first");
    ExpectPlaces(&second, cases[c].places[2], cases[c].places[3], "the second");
    (void)snprintf(message, sizeof(message), "half %d at place %d", cases[c].half, cases[c].place);
    if (cases[c].error)
      Expect(!strcmp(TrsvErrorMessage(), message), "case %zu: the message is %s", c, TrsvErrorMessage());
    Expect(!first.stream[0], "the first has another stream than the caller");
    if (second.begun) {
      Expect(second.stream[0] != NULL, "both have one stream");
      Expect(!SimtUnfinished(second.stream[0]), "case %zu: no wait for the second", c);
    }
    Expect(!TrsvCurrentStream() && TrsvDeviceSharing() == 1, "case %zu: the caller's stream is another one", c);
  }
  TrsvDeviceFree(words);
  End();
}

/* The second stream does not wait for earlier work in the caller's stream, so the host does. */
static void CheckEarlierWork(void)
{
  Task      first = {.word = NULL}, second = {.word = NULL};
  unsigned *words;

  Begin("two tasks in lock step: after the earlier work in the caller's stream");
  ExpectError(TrsvScratchAlloc(2 * sizeof(*words), &words, NULL), TRSV_SUCCESS, "TrsvScratchAlloc");
  ExpectError(TrsvDeviceClear(words, 2 * sizeof(*words), NULL), TRSV_SUCCESS, "TrsvDeviceClear");
  Expect(SimtUnfinished(NULL), "the earlier work is over");
  first.word  = words;
  second.word = words + 1;
  ExpectError(TrsvRunInLockStep(BeginTask, EndTask, &first, &second), TRSV_SUCCESS, "TrsvRunInLockStep");
  TrsvScratchFree(words, NULL);
  End();
}

/* Without memory pools there is no second stream. */
static void CheckOneStream(void)
{
  Task      first = {.word = NULL}, second = {.word = NULL};
  unsigned *words;

  Begin("two tasks in lock step: one after the other without a second stream");
  TrsvDeviceFinalize();
  SimtWithoutPools(1);
  ExpectError(TrsvDeviceAlloc(2 * sizeof(*words), &words), TRSV_SUCCESS, "TrsvDeviceAlloc");
  first.word  = words;
  second.word = words + 1;
  first.alone = second.alone = 1;
  calls                      = 0;
  ExpectError(TrsvRunInLockStep(BeginTask, EndTask, &first, &second), TRSV_SUCCESS, "TrsvRunInLockStep");
  ExpectPlaces(&first, 1, 2, "the first");
  ExpectPlaces(&second, 3, 4, "the second");
  Expect(!second.stream[0], "a second stream");
  TrsvDeviceFree(words);
  TrsvDeviceFinalize();
  SimtWithoutPools(0);
  End();
}

typedef struct {
  Task task[2];
} Both;

static TrsvError DoNothing(void *both) { return both ? TRSV_SUCCESS : TRSV_ERR_ARGUMENT; }

static TrsvError RunBoth(void *both)
{
  return TrsvRunInLockStep(BeginTask, EndTask, &((Both *)both)->task[0], &((Both *)both)->task[1]);
}

/* The second of two tasks is already in the second stream: two within it come one after the other. */
static void CheckNested(void)
{
  unsigned *words;

  Begin("two tasks in lock step within one of two");
  ExpectError(TrsvDeviceAlloc(4 * sizeof(*words), &words), TRSV_SUCCESS, "TrsvDeviceAlloc");
  Both first  = {{{.word = words}, {.word = words + 1}}};
  Both second = {{{.word = words + 2}, {.word = words + 3}}};
  calls       = 0;
  ExpectError(TrsvRunInLockStep(DoNothing, RunBoth, &first, &second), TRSV_SUCCESS, "TrsvRunInLockStep");
  ExpectPlaces(&first.task[0], 1, 3, "the first of the first");
  ExpectPlaces(&first.task[1], 2, 4, "the second of the first");
  ExpectPlaces(&second.task[0], 5, 6, "the first of the second");
  ExpectPlaces(&second.task[1], 7, 8, "the second of the second");
  Expect(second.task[0].stream[0] == first.task[1].stream[0] && second.task[1].stream[0] == first.task[1].stream[0],
         "more than one second stream");
  TrsvDeviceFree(words);
  End();
}

void TestLockStep(void)
{
  CheckOrder();
  CheckEarlierWork();
  CheckOneStream();
  CheckNested();
}
