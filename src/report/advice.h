/* Advice about a profile: rules, each with what must be measured before it applies. A profile without a problem gets no
 * advice. */
#ifndef PS_REPORT_ADVICE_H
#define PS_REPORT_ADVICE_H

#include "profile.h"

#define ADVICE_MOST 5

struct advice {
    const char *rule;          /* the rule's name in JSON */
    const struct place *place; /* NULL: the advice is for the whole program */
    double number;             /* the measured value, in the rule's unit */
    double loss;               /* time of vps that the problem costs, in ns */
    char text[400];
};

/* Fills in `found`, the largest loss first. Returns how many there are. */
unsigned advice_find(const struct profile *p, struct advice found[ADVICE_MOST]);

#endif
