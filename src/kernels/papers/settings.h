/*
   settings.h: settings of the published algorithms, for benchmarks and tests.

   Settings are words "name=value", separated by spaces. A program requests them before it makes a plan. The algorithm
   of the plan reads its settings and chooses those that are missing. */
#ifndef TRSV_SETTINGS_H
#define TRSV_SETTINGS_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A name, a description of valid values (for messages), and a parser, which returns whether a value is valid and, if
   `to` is not NULL, stores it there. A list ends with a setting without a name. */
typedef struct {
  const char *name, *values;
  int (*parse)(const char *value, void *to);
} TrsvSetting;

/* Requests settings for plans that the calling thread makes from now on; NULL: none. The caller keeps the words. */
void TrsvSettingsRequest(const char *words);

/* TRSV_ERR_ARGUMENT if the request is not valid for an algorithm with these settings; the message says what is. */
TrsvError TrsvSettingsCheck(const char *algorithm, const TrsvSetting *);

/* Was the setting requested? Then *to is its value. */
int TrsvSettingsGet(const TrsvSetting *, const char *name, void *to);

#ifdef __cplusplus
}
#endif
#endif
