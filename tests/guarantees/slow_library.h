/* Between 9_loader and the libraries that it loads. */
#ifndef PS_GUARANTEES_SLOW_LIBRARY_H
#define PS_GUARANTEES_SLOW_LIBRARY_H

void library_begins(int *constructed), library_ends(int *constructed); /* the program's */
int library_constructed(void);                                         /* the library's: its constructor is through */

#endif
