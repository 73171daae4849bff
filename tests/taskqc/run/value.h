/* What includes.c needs. */
#define VALUE 42
