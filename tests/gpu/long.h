/*
   long.h: what the programs of long runs share: their arguments, and what they tell.
*/
#ifndef GPU_LONG_H
#define GPU_LONG_H

#include <stdio.h>
#include "subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of the argument -name, or what is meant without it. */
double      Number(int count, char **args, const char *name, double otherwise);
const char *Word(int count, char **args, const char *name);

/* A line of JSON to the file that -o names, if any: the fields of printf, and those of RESULT_FIELDS in the environment
   (the GPU, its driver, the sources). */
void Result(int count, char **args, const char *fields, ...) __attribute__((format(printf, 3, 4)));

size_t HostBytes(void); /* of memory that the process has; 0 where nobody knows */

#ifdef __cplusplus
}
#endif
#endif
