/* For 1_dlopen_in_region.c: thread-local variables in the static part of every thread (initial-exec), whose initial
 * values are not zero, one of them an address. A constructor looks at them, and leaves others there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

#define OWN static __thread __attribute__((tls_model("initial-exec")))
#define FIRST 42
static int global = 7;
OWN int number = FIRST;
OWN int *pointer = &global;
OWN int zero;
static int constructor_saw;

int library_constructor_saw(void);
int library_initial(void);
int library_set(int value);
int library_get(void);
int library_print(int value);

int library_initial(void) { return number == FIRST && pointer == &global && zero == 0; }
int library_get(void) { return pointer == &number && zero == -number ? number : 0; }
int library_set(int value)
{
    number = value;
    zero = -value;
    pointer = &number;
    return library_get();
}

/* By the C library of its namespace: text of its locale, memory. (What kind a character is, it can tell the loading
 * thread alone.) */
int library_print(int value)
{
    char expected[] = "00.25 x";
    char *text = malloc(20);
    if (!text)
        return 0;
    expected[0] = (char)('0' + value / 10);
    expected[1] = (char)('0' + value % 10);
    snprintf(text, 20, "%05.2f %c", value + 0.25, 'x');
    int right = strcmp(text, expected) == 0;
    free(text);
    return right;
}

__attribute__((constructor)) static void begin(void)
{
    constructor_saw = library_initial();
    library_set(1);
}

/* Whether the constructor saw initial values; what it left is the loading thread's. */
int library_constructor_saw(void) { return constructor_saw; }
