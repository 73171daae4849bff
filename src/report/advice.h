/* What could be done about a profile: rules, each with what has to be measured before it speaks. No advice is given
 * where nothing is wrong. */
#ifndef PS_REPORT_ADVICE_H
#define PS_REPORT_ADVICE_H

#include "profile.h"

#define ADVICE_MOST 5

struct advice {
    const char *rule;          /* its name in JSON */
    const struct place *place; /* NULL: of the whole program */
    double number;             /* what was measured, in the rule's unit */
    double loss;               /* vps' time that it costs: the largest comes first */
    char text[400];
};

/* The answer is how many there are. */
unsigned advice_find(const struct profile *p, struct advice found[ADVICE_MOST]);

#endif
