/* Prints a profile: for people, on one screen, and for programs, as JSON. */
#ifndef PS_REPORT_PROFILE_PRINT_H
#define PS_REPORT_PROFILE_PRINT_H

#include <stdio.h>

#include "profile.h"

/* Prints lines of at most 80 columns, about 50 at most. */
void profile_print(const struct profile *p, FILE *out);
/* Prints JSON; docs/seeing.md has the names. */
void profile_print_json(const struct profile *p, FILE *out);

#endif
