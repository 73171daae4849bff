/* What is read of the system while the program runs is read by a kernel thread that has none of the program's open
 * files. See reader.c. */
#ifndef PS_OS_LINUX_READER_H
#define PS_OS_LINUX_READER_H

/* Calls fn(arg) there; on the calling kernel thread where there is none. */
void reader_call(void (*fn)(void *arg), void *arg);
/* 1: it is one of the process's kernel threads. */
unsigned reader_runs(void);

#endif
