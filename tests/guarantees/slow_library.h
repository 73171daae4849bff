/* Between 9_loader and the libraries that it loads. */
#ifndef PS_GUARANTEES_SLOW_LIBRARY_H
#define PS_GUARANTEES_SLOW_LIBRARY_H

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void library_begins(int *constructed); /* the program's */
EXPORTED void library_ends(int *constructed);
EXPORTED int library_constructed(void); /* the library's: its constructor is through */

#endif
