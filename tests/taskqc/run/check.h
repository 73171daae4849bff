/* A check that ends the program, which must be true. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(what) ((what) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #what), exit(1)))
