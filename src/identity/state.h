/* What the files about a kernel thread's state share: state.c for the caller and for kernel threads' numbers, handles.c
 * for handles. */
#ifndef PS_STATE_H
#define PS_STATE_H

#include <stddef.h>
#include <time.h>

/* Called when signals are to be sent to kernel thread `number` from now on: its thread becomes dedicated. Returns the
 * number to which to send. */
int calls_number_to_signal(int number);
/* Reads or writes the name of kernel thread `number`. Returns 0, or an error number. */
int calls_set_name(int number, const char *name);
int calls_get_name(int number, char *to, size_t bytes);
/* Returns the clock of the processor time that kernel thread `number` has used. */
clockid_t calls_clock_of(int number);
/* Turns a system call's answer into that of the C library's syscall: -1 and errno for an error. */
long calls_told(long result);

#endif
