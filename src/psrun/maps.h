/* The ELF files that another process has mapped. */
#ifndef PSRUN_MAPS_H
#define PSRUN_MAPS_H

#include "elf_file.h"

/* Calls visit for each ELF file that the process has mapped, until visit returns false. start: the address of the
 * file's beginning. The path in e is the one that the process knows. visit owns e, and must elf_close and free it.
 * Returns false if there is no such process, it has ended, or it may not be looked at. */
bool maps_each(int pid, bool (*visit)(void *arg, struct elf *e, uintptr_t start), void *arg);

#endif
