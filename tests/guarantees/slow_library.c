/* A library whose constructor and destructor take as long as the program says. */
#include "slow_library.h"

static int constructed;
int library_constructed(void) { return constructed; }

__attribute__((constructor)) static void begin(void) { library_begins(&constructed); }
__attribute__((destructor)) static void end(void) { library_ends(&constructed); }
