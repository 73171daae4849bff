/* Files of the system, for the runtime. The C library's open and read are cancellation points. A thread of the program
 * that is cancelled in such a call would leave the runtime in the middle of its work, with its locks held. The
 * functions here are no cancellation points, and keep errno. */
#ifndef PS_OS_LINUX_FILE_H
#define PS_OS_LINUX_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

#include "raw.h"

/* Opens the file for reading. Returns its descriptor, or a negative number if it cannot be opened. */
static inline int file_open(const char *path)
{
    return (int)raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

/* Returns how many bytes were read; 0 at the end; a negative number on an error. */
static inline long file_read(int file, void *to, size_t bytes)
{
    long got;
    do
        got = raw_call(SYS_read, file, (long)to, (long)bytes, 0);
    while (got == -EINTR);
    return got;
}

static inline void file_close(int file) { raw_call(SYS_close, file, 0, 0, 0); }

/* Reads the beginning of the file as text (at most bytes - 1). Returns its length; 0 if the file is empty or cannot be
 * read. */
static inline size_t file_text(const char *path, char *text, size_t bytes)
{
    int file = file_open(path);
    long got = file < 0 ? -1 : file_read(file, text, bytes - 1);
    if (file >= 0)
        file_close(file);
    size_t length = got > 0 ? (size_t)got : 0;
    text[length] = '\0';
    return length;
}

#endif
