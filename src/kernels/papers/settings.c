/*
   Settings of the published algorithms: the request of a thread, and its parser.
*/
#include <stdio.h>
#include <string.h>
#include "papers/settings.h"

enum {
  VALUE_MAX = 96 /* characters of a value */
};

static _Thread_local const char *requested;

void TrsvSettingsRequest(const char *words) { requested = words; }

/* Reads the next word: its value, and its setting, NULL if the list has no setting of that name. Advances *words;
   returns 0 after the last word. */
static int ReadWord(const TrsvSetting *list, const char **words, const TrsvSetting **setting, char value[VALUE_MAX])
{
  const char *const word   = *words + strspn(*words, " ");
  const size_t      length = strcspn(word, " "), name = strcspn(word, "= ");
  const size_t      n      = length > name ? length - name - 1 : 0;

  *words   = word + length;
  *setting = NULL;
  if (!length) return 0;
  for (const TrsvSetting *s = list; s->name; s++)
    if (strlen(s->name) == name && !strncmp(s->name, word, name)) *setting = s;
  (void)snprintf(value, VALUE_MAX, "%.*s%s", (int)(n < VALUE_MAX ? n : VALUE_MAX - 4), word + name + (length > name),
                 n < VALUE_MAX ? "" : "..."); /* makes a long value invalid */
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
  char               value[VALUE_MAX], names[128];

  for (const char *at = requested ? requested : "", *word = at; ReadWord(list, &at, &s, value); word = at) {
    if (s && s->parse(value, NULL)) continue;
    if (s) return TrsvFail(TRSV_ERR_ARGUMENT, "%s: %s cannot be '%s'; use %s", algorithm, s->name, value, s->values);
    PrintNames(list, names, sizeof(names));
    word += strspn(word, " ");
    return TrsvFail(TRSV_ERR_ARGUMENT, "%s has no setting '%.*s'; its settings are %s", algorithm,
                    (int)strcspn(word, "= "), word, names);
  }
  return TRSV_SUCCESS;
}

int TrsvSettingsGet(const TrsvSetting *list, const char *name, void *to)
{
  const TrsvSetting *s;
  char               value[VALUE_MAX];
  int                found = 0;

  for (const char *at = requested ? requested : ""; ReadWord(list, &at, &s, value);)
    if (s && !strcmp(s->name, name)) found = s->parse(value, to);
  return found;
}
