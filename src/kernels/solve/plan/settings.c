/*
   Settings as words, "name=value" with spaces between them: looked for, checked against what a row of the table of
   algorithms allows.

   Every algorithm knows the word rank=N, which stands for its own choice N by predicted time, 0 the best. Other words
   are in its row.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "solve/plan/plan.h"

enum {
  VALUE = 96 /* characters of a value */
};

static int ParseRank(const char *value, void *to)
{
  char      *end;
  const long n = strtol(value, &end, 10);

  if (to) *(int *)to = (int)n;
  return *value >= '0' && *value <= '9' && !*end && n < 1000000;
}

static const TrsvSetting rank = {"rank", "a number: 0 is what is predicted to be the best", ParseRank};

/* The value of the next word, and which setting it is of: NULL where the algorithm has no such; the rest. "" has no
   word. */
static int Word(const TrsvAlgorithm *a, const char **words, const TrsvSetting **setting, char value[VALUE])
{
  const char *const word = *words + strspn(*words, " ");
  const size_t      length = strcspn(word, " "), name = strcspn(word, "= ");

  *words   = word + length;
  *setting = NULL;
  if (!length) return 0;
  for (const TrsvSetting *s = a->settings; s && s->name; s++)
    if (strlen(s->name) == name && !strncmp(s->name, word, name)) *setting = s;
  if (name == 4 && !strncmp(rank.name, word, name)) *setting = &rank;
  const size_t n = length > name ? length - name - 1 : 0;
  (void)snprintf(value, VALUE, "%.*s%s", (int)(n < VALUE ? n : VALUE - 4), word + name + (length > name),
                 n < VALUE ? "" : "..."); /* which nothing may end with */
  return 1;
}

/* What can be set, for a message. */
static void Names(const TrsvAlgorithm *a, char *names, size_t size)
{
  size_t end = 0;

  *names = 0;
  for (const TrsvSetting *s = a->settings; s && s->name && end < size; s++) {
    (void)snprintf(names + end, size - end, "%s%s", end ? ", " : "", s->name);
    end = strlen(names);
  }
}

TrsvError TrsvAlgorithmCheck(const TrsvAlgorithm *a, const char *settings)
{
  const TrsvSetting *s;
  char               value[VALUE], names[128];

  for (const char *at = settings ? settings : "", *word = at; Word(a, &at, &s, value); word = at) {
    if (s && s->parse(value, NULL)) continue;
    if (s) return TrsvFail(TRSV_ERR_ARGUMENT, "%s: %s cannot be '%s'; it is %s", a->name, s->name, value, s->values);
    Names(a, names, sizeof(names));
    word += strspn(word, " ");
    return TrsvFail(TRSV_ERR_ARGUMENT, "%s: there is no setting '%.*s'; there %s", a->name, (int)strcspn(word, "= "),
                    word, *names ? names : "are none");
  }
  return TRSV_SUCCESS;
}

const char *TrsvAlgorithmSetting(const TrsvAlgorithm *a, int i, const char **values)
{
  for (const TrsvSetting *s = a->settings; s && s->name; s++)
    if (!i--) {
      if (values) *values = s->values;
      return s->name;
    }
  return NULL;
}

int TrsvSettingGet(const TrsvAlgorithm *a, const char *settings, const char *name, void *to)
{
  const TrsvSetting *s;
  char               value[VALUE];
  int                found = 0;

  for (const char *at = settings ? settings : ""; Word(a, &at, &s, value);)
    if (s && !strcmp(s->name, name)) found = s->parse(value, to);
  return found;
}
