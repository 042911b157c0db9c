/*
   settings.h: settings of the published algorithms, for benchmarks and tests.

   Settings are words "name=value", separated by spaces. A program requests them before it makes a plan. The algorithm
   of the plan reads its settings and chooses the others. */
#ifndef TRSV_SETTINGS_H
#define TRSV_SETTINGS_H

#include "base/base.h"

TRSV_C_BEGIN

/* A name, a description of valid values (for messages), and a parser, which returns 1 if a value is valid and, if `to`
   is not NULL, stores it there. A list ends with a setting without a name. */
typedef struct {
  const char *name, *values;
  int (*parse)(const char *value, void *to);
} TrsvSetting;

/* Requests settings for all later plans of the calling thread; NULL: none. The words must stay valid. */
void TrsvSettingsRequest(const char *words);

/* TRSV_ERR_ARGUMENT: the request is not valid for an algorithm with these settings; the message lists valid ones. */
TrsvError TrsvSettingsCheck(const char *algorithm, const TrsvSetting *);

/* Returns 1 if the setting was requested; *to then gets its value. */
int TrsvSettingsGet(const TrsvSetting *, const char *name, void *to);

TRSV_C_END
#endif
