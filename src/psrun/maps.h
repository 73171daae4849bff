/* The files that another process has mapped, as far as they are ELF files. */
#ifndef PSRUN_MAPS_H
#define PSRUN_MAPS_H

#include "elf_file.h"

/* Calls visit for each file that the process has mapped, with the address of its beginning, until visit returns false.
 * The file's path is the one that the process knows. visit owns e: elf_close, free. False: there is no such process, or
 * it has ended, or it may not be looked at. */
bool maps_each(int pid, bool (*visit)(void *arg, struct elf *e, uintptr_t start), void *arg);

#endif
