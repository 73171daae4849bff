/* What the files about a kernel thread's state share: state.c for the caller and for numbers, handles.c for handles. */
#ifndef PS_STATE_H
#define PS_STATE_H

#include <stddef.h>
#include <time.h>

/* Prepares kernel thread `number` to be sent signals from now on. Returns the number to send to. */
int calls_number_to_signal(int number);
/* Reads or writes the name of kernel thread `number`. Returns 0, or an error number. */
int calls_set_name(int number, const char *name);
int calls_get_name(int number, char *to, size_t bytes);
/* The clock of what kernel thread `number` has used. */
clockid_t calls_clock_of(int number);
/* Turns a system call's answer into that of the C library's syscall: -1 and errno for an error. */
long calls_told(long result);

#endif
