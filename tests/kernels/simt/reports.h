/*
   reports.h: helpers and parts of the tests of the executor.
*/
#ifndef TEST_REPORTS_H
#define TEST_REPORTS_H

#include <vector>
#include "check.h"
#include "device/sync.cuh"

/* Runs a launch and expects these words in the report; NULL: no report. */
static inline bool Reports(const char *words)
{
  const TrsvError error = TrsvDeviceCheckLaunch("test");

  if (!words) return Expect(!error, "%s", TrsvErrorMessage());
  return Expect(error == TRSV_ERR_DEVICE && strstr(TrsvErrorMessage(), words), "not reported as '%s': %s", words,
                error ? TrsvErrorMessage() : "no error");
}

#define UNDER_ALL_SCHEDULES           for (unsigned k = 0; SimtSchedule(k), k < 24; k++)
#define RUN(kernel, grid, block, ...) TRSV_LAUNCH(kernel, grid, block, 0, (TrsvStream)NULL, __VA_ARGS__)

#define REPORTS(name, words, ...) \
  Begin("executor: " name); \
  for (unsigned k = 0; SimtSchedule(k), k < 8; k++) { \
    __VA_ARGS__; \
    Reports(words); \
  } \
  End()

/* Parts of TestExecutor() */
void TestCopies(void);      /* copies.cu: bulk copies and clusters */
void TestLaunches(void);    /* launches.cu: early ones, graphs */
void TestVisibility(void);  /* visibility.cu: when stores are seen; waits that never end */
void TestEarlyFaults(void); /* planted_early.cu */

#endif
