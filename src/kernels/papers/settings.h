/*
   settings.h: settings of the published algorithms that have any, for benchmarks and tests.

   Settings are words "name=value" with spaces between them. A program requests them before it makes a plan; the
   algorithm of that plan takes its own and chooses what they leave open.
*/
#ifndef TRSV_SETTINGS_H
#define TRSV_SETTINGS_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A name, what the value may be (for messages), and a function that returns whether a value is valid; where `to` is not
   NULL, the function stores there what the value means. A list ends with a setting without a name. */
typedef struct {
  const char *name, *values;
  int (*parse)(const char *value, void *to);
} TrsvSetting;

/* Settings of the plans that the calling thread makes from now on; NULL: none. The words must stay until then. */
void TrsvSettingsRequest(const char *words);

/* TRSV_SUCCESS if an algorithm with such settings can take what was requested; else TRSV_ERR_ARGUMENT, and the message
   says what it can take. */
TrsvError TrsvSettingsCheck(const char *algorithm, const TrsvSetting *);

/* Was the setting requested? Then *to is what its value means. */
int TrsvSettingsGet(const TrsvSetting *, const char *name, void *to);

#ifdef __cplusplus
}
#endif
#endif
