/* Kinds of letters, by functions of the C library. Its macros read a table of its own: what is built here for bare
 * metal is linked to the C library of another day, whose table may have another name (picolibc's has). */
#ifndef PS_LETTERS_H
#define PS_LETTERS_H

#include <ctype.h>

#undef isalnum
#undef isalpha
#undef isdigit
#undef isspace
#undef tolower

#endif
