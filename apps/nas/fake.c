/* nas-fake: a benchmark that solves nothing, for the tests of the report. Class S finds what is published, W is off by
 * three times epsilon, A finds no number, B compares nothing. */
#include "nas.h"

#include <math.h>
#include <stdio.h>

static void solve(const struct nas_run *run, struct nas_result *result)
{
    result->seconds = 2;
    result->operations = 6e6;
    result->epsilon = 1e-8;
    if (run->class == 'B')
        return;
    nas_compare(result, "right", 0, 3, 3);
    nas_compare(result, "tried", 1, run->class == 'S' ? 3 : run->class == 'W' ? 3 + 9e-8 : NAN, 3);
}

static void describe(char class, char *text, size_t size) { snprintf(text, size, "nothing of class %c", class); }

int main(int argc, char **argv)
{
    static const char *const variants[] = {"one", "other", NULL};
    static const struct nas_program program = {"fake", variants, describe, solve};

    return nas_main(&program, argc, argv);
}
