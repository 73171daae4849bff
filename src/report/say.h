/* Numbers for people. Each function writes the text into the buffer `to`, and returns it. */
#ifndef PS_REPORT_SAY_H
#define PS_REPORT_SAY_H

#include <stdbool.h>
#include <stdio.h>

/* A length of time with three digits: "1.23 s", "45.6 ms". */
static inline const char *say_ns(char to[16], double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    unsigned i = 0;
    while (i < 3 && ns < 0.9995 * units[i].ns)
        i++;
    double n = ns / units[i].ns;
    snprintf(to, 16, "%.*f %s", i == 3 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n, units[i].unit);
    return to;
}

/* A number with a space between groups of three digits; from ten millions on with three digits: "12.3 M". */
static inline const char *say_count(char to[24], double number)
{
    char digits[24];
    if (number >= 9999999.5) {
        bool large = number >= 999.5e6;
        snprintf(to, 24, "%.3g %s", number / (large ? 1e9 : 1e6), large ? "G" : "M");
        return to;
    }
    int n = snprintf(digits, sizeof digits, "%.0f", number), used = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            to[used++] = ' ';
        to[used++] = digits[i];
    }
    to[used] = '\0';
    return to;
}

#endif
