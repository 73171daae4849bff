/* isalpha, tolower and the like as functions of the C library, not as its macros. The macros read a table inside the C
 * library. Objects that are built here for bare metal are linked to another version of the C library, in which that
 * table may have another name (as in picolibc). */
#ifndef PS_LETTERS_H
#define PS_LETTERS_H

#include <ctype.h>

#undef isalnum
#undef isalpha
#undef isdigit
#undef isspace
#undef tolower

#endif
