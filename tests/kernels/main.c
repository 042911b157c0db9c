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
  {"across",    TestAcross     },
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
  {"together",  TestTogether   },
  {"tune",      TestTune       },
  {"numbers",   TestNumbers    },
  {"waits",     TestWaits      },
  {"factor",    TestFactor     },
  {"orders",    TestFactorOrder},
  {"memory",    TestMemory     },
  {"sell",      TestSell       },
  {"recompute", TestRecompute  },
  {"select",    TestSelect     },
  {"ordering",  TestOrdering   },
  {"matrices",  TestMatrices   },
  {"families",  TestFamilies   },
};

int main(int argc, char **argv)
{
  for (size_t s = 0; s < sizeof(suites) / sizeof(suites[0]); s++) {
    int asked = argc == 1;

    for (int i = 1; i < argc; i++) asked = asked || !strcmp(argv[i], suites[s].name);
    if (asked) suites[s].run();
  }
  return Failures() != 0;
}
