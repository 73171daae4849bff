/* Whose code an address is. See code.c. */
#ifndef PS_OS_LINUX_CODE_H
#define PS_OS_LINUX_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* LIBRARY: what the runtime itself calls. LOADER: the dynamic linker, where it is an object of its own. */
enum code { CODE_NONE, CODE_PROGRAM, CODE_LIBRARY, CODE_LOADER, CODE_RUNTIME };

/* Looks what is loaded. One caller at a time, and not in a handler; with glibc any. */
void code_look(void);
/* As far as the last look knew. Takes no lock. */
enum code code_at(uintptr_t address);
/* It is in a function of the main program's that the runtime would call. */
bool code_replaced(uintptr_t address);

#endif
