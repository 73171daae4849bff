/* Opened into a namespace of its own, with a C library of its own there. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread int value __attribute__((tls_model("initial-exec"))) = 7;
static __thread int *constructed;
static int made; /* by the constructor */

static int use_library(void)
{
    char *text = malloc(100);
    if (!text)
        return 0;
    snprintf(text, 100, "%d %.1f", 12, 1.5);
    int right = strcmp(text, "12 1.5") == 0;
    free(text);
    errno = 0;
    return right && strtol("99999999999999999999999", NULL, 10) > 0 && errno == ERANGE;
}

__attribute__((constructor)) static void construct(void)
{
    constructed = &made;
    made = use_library() && isdigit('1') && !isdigit('a') && toupper('b') == 'B';
}

int namespace_constructed(void);
int namespace_use(void);
int namespace_share(void);
int namespace_value(void);
void namespace_set(int to);

int namespace_constructed(void) { return made && constructed == &made; }
int namespace_use(void) { return use_library() && isalpha('x') && !isalpha('1'); }
/* Without character tables, which the opening thread has alone, also among kernel threads. */
int namespace_share(void)
{
    char *text = malloc(100);
    if (!text)
        return 0;
    int right = strlen(strcpy(text, "shared")) == 6;
    free(text);
    return right;
}
int namespace_value(void) { return value; }
void namespace_set(int to) { value = to; }
