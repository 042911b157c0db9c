/*
   The tests of src/kernels over the SIMT executor: one line for each test. Arguments name suites; without any, all run.
*/
#include "check.h"

static const struct {
  const char *name;
  void (*run)(void);
} suites[] = {
  {"executor",  TestExecutor   },
  {"planted",   TestPlanted    },
  {"analysis",  TestAnalysis   },
  {"device",    TestOnDevice   },
  {"pool",      TestPool       },
  {"pinned",    TestPinned     },
  {"heights",    TestHeights     },
  {"solve",     TestSolve      },
  {"schedules", TestSchedules  },
  {"chunk",     TestChunk      },
  {"planes",    TestPlanes     },
  {"inverse",   TestInverse    },
  {"papers",    TestPapers     },
  {"ag",        TestAg         },
  {"recblock",  TestRecblock   },
  {"dense",     TestDense      },
  {"settings",  TestSettings   },
  {"pairs",     TestPairs      },
  {"interleave", TestInterleave  },
  {"tune",      TestTune       },
  {"numbers",   TestNumbers    },
  {"growth",    TestGrowth     },
  {"waits",     TestWaits      },
  {"factor",    TestFactor     },
  {"orders",    TestFactorOrder},
  {"ilu",       TestIlu        },
  {"memory",    TestMemory     },
  {"sell",      TestSell       },
  {"thread",    TestThread     },
  {"select",    TestSelect     },
  {"ordering",  TestOrdering   },
  {"matrices",  TestMatrices   },
  {"families",  TestFamilies   },
};

/* The suites that are named, or all; "suites" names them. */
int main(int argc, char **argv)
{
  const size_t all = sizeof(suites) / sizeof(suites[0]);

  for (int i = 1; i < argc; i++) {
    size_t s = 0;

    while (s < all && strcmp(argv[i], suites[s].name)) s++;
    if (s < all) continue;
    if (strcmp(argv[i], "suites")) fprintf(stderr, "no suite %s; there are:\n", argv[i]);
    for (s = 0; s < all; s++) puts(suites[s].name);
    return strcmp(argv[i], "suites") ? 2 : 0;
  }
  for (size_t s = 0; s < all; s++) {
    int asked = argc == 1;

    for (int i = 1; i < argc; i++) asked = asked || !strcmp(argv[i], suites[s].name);
    if (asked) suites[s].run();
  }
  return Failures() != 0;
}
