/*
   Settings of the published algorithms: the request of a thread, and how it is read.
*/
#include <stdio.h>
#include <string.h>
#include "papers/settings.h"

enum {
  VALUE = 96 /* characters of a value */
};

static _Thread_local const char *requested;

void TrsvSettingsRequest(const char *words) { requested = words; }

/* The value of the next word, and its setting, NULL where the list does not have it; advances *words. Returns 0 behind
   the last word. */
static int ReadWord(const TrsvSetting *list, const char **words, const TrsvSetting **setting, char value[VALUE])
{
  const char *const word   = *words + strspn(*words, " ");
  const size_t      length = strcspn(word, " "), name = strcspn(word, "= ");
  const size_t      n      = length > name ? length - name - 1 : 0;

  *words   = word + length;
  *setting = NULL;
  if (!length) return 0;
  for (const TrsvSetting *s = list; s->name; s++)
    if (strlen(s->name) == name && !strncmp(s->name, word, name)) *setting = s;
  (void)snprintf(value, VALUE, "%.*s%s", (int)(n < VALUE ? n : VALUE - 4), word + name + (length > name),
                 n < VALUE ? "" : "..."); /* no valid value ends so */
  return 1;
}

static void PrintNames(const TrsvSetting *list, char *names, size_t size)
{
  size_t end = 0;

  *names = 0;
  for (const TrsvSetting *s = list; s->name && end < size; s++) {
    (void)snprintf(names + end, size - end, "%s%s", end ? ", " : "", s->name);
    end = strlen(names);
  }
}

TrsvError TrsvSettingsCheck(const char *algorithm, const TrsvSetting *list)
{
  const TrsvSetting *s;
  char               value[VALUE], names[128];

  for (const char *at = requested ? requested : "", *word = at; ReadWord(list, &at, &s, value); word = at) {
    if (s && s->parse(value, NULL)) continue;
    if (s) return TrsvFail(TRSV_ERR_ARGUMENT, "%s: %s cannot be '%s'; it is %s", algorithm, s->name, value, s->values);
    PrintNames(list, names, sizeof(names));
    word += strspn(word, " ");
    return TrsvFail(TRSV_ERR_ARGUMENT, "%s: there is no setting '%.*s'; there are %s", algorithm,
                    (int)strcspn(word, "= "), word, names);
  }
  return TRSV_SUCCESS;
}

int TrsvSettingsGet(const TrsvSetting *list, const char *name, void *to)
{
  const TrsvSetting *s;
  char               value[VALUE];
  int                found = 0;

  for (const char *at = requested ? requested : ""; ReadWord(list, &at, &s, value);)
    if (s && !strcmp(s->name, name)) found = s->parse(value, to);
  return found;
}
