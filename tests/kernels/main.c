/*
   The tests of src/kernels over the SIMT executor: one line for each test. Arguments name suites; without any, all run.
*/
#include <stdbool.h>
#include "check.h"
#include "cuda_runtime.h"

static const struct {
  const char *name;
  void (*run)(void);
  int shards; /* how many processes share it; 0: it is one */
} suites[] = {
  {"executor",  TestExecutor   },
  {"planted",   TestPlanted    },
  {"analysis",  TestAnalysis   },
  {"device",    TestOnDevice   },
  {"pool",      TestPool       },
  {"pinned",    TestPinned     },
  {"heights",   TestHeights    },
  {"solve",     TestSolve      },
  {"complex",   TestComplex    },
  {"schedules", TestSchedules  },
  {"chunk",     TestChunk      },
  {"roles",     TestRoles      },
  {"early",     TestEarly      },
  {"planes",    TestPlanes     },
  {"inverse",   TestInverse    },
  {"papers",    TestPapers     },
  {"ag",        TestAg         },
  {"recblock",  TestRecblock   },
  {"dense",     TestDense      },
  {"settings",  TestSettings   },
  {"pairs",     TestPairs      },
  {"lockstep",  TestLockStep   },
  {"together",  TestTogether   },
  {"tune",      TestTune       },
  {"numbers",   TestNumbers    },
  {"growth",    TestGrowth     },
  {"waits",     TestWaits      },
  {"factor",    TestFactor, 4  },
  {"factor-complex", TestFactorComplex},
  {"factor-refused", TestFactorRefused},
  {"orders",    TestFactorOrder},
  {"ilu",       TestIlu        },
  {"memory",    TestMemory     },
  {"sell",      TestSell       },
  {"thread",    TestThread     },
  {"select",    TestSelect     },
  {"ordering",  TestOrdering   },
  {"matrices",  TestMatrices, 6},
  {"families",  TestFamilies   },
  {"krylov",    TestKrylov     },
  {"patterns",  TestPatterns   },
  {"both",      TestBoth       },
  {"state",     TestState      },
  {"lost",      TestLost       },
};

enum {
  ALL = sizeof(suites) / sizeof(suites[0])
};

/* The suite of an argument, NAME or NAME:K/N for a shard; ALL if there is none of this name. */
static int FindSuite(const char *argument, int *shard, int *shards)
{
  const size_t length = strcspn(argument, ":");
  char         more;
  int          s = 0;

  *shard = *shards = 1;
  while (s < ALL && (strncmp(argument, suites[s].name, length) || suites[s].name[length])) s++;
  if (!argument[length] || s == ALL) return s;
  if (sscanf(argument + length, ":%d/%d%c", shard, shards, &more) != 2) return ALL;
  return *shard >= 1 && *shard <= *shards ? s : ALL;
}

static void PrintSuites(void)
{
  for (int s = 0; s < ALL; s++) {
    if (!suites[s].shards) puts(suites[s].name);
    for (int k = 1; k <= suites[s].shards; k++) printf("%s:%d/%d\n", suites[s].name, k, suites[s].shards);
  }
}

/* Runs the suites that the arguments name, or all; the argument `suites` prints the names. */
int main(int argc, char **argv)
{
  int shard, shards;

  for (int i = 1; i < argc; i++) {
    const int listed = !strcmp(argv[i], "suites");

    if (!listed && FindSuite(argv[i], &shard, &shards) < ALL) continue;
    if (!listed) fprintf(stderr, "no suite %s; there are:\n", argv[i]);
    PrintSuites();
    return listed ? 0 : 2;
  }
  SimtPieceBytes = 0;
  for (int s = 0; s < ALL && argc == 1; s++) suites[s].run();
  for (int i = 1; i < argc; i++) {
    const int s = FindSuite(argv[i], &shard, &shards);

    Shard(shard, shards);
    suites[s].run();
  }
  return Failures() != 0;
}
