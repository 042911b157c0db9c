/*
   result_fields.h: the end of a line of results.
*/
#pragma once

#include <stdio.h>
#include <stdlib.h>

/* Ends a line of JSON with the fields of RESULT_FIELDS in the environment, if any: the GPU, its driver, the sources. */
static inline void EndResult(FILE *f)
{
  const char *about = getenv("RESULT_FIELDS");

  (void)fprintf(f, "%s%s}\n", about ? ", " : "", about ? about : "");
}
