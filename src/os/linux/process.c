/* Looks at a process from outside, or at this one as if from outside: reads its memory without a fault, counts its
 * kernel threads. These functions take no lock and allocate nothing, because they serve reports on programs that are
 * stuck. Also here: what os.h takes over from the C library and the kernel as it is (stat, once, fork handlers, system
 * calls). */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "file.h"
#include "raw.h"

int os_read_memory(int pid, uintptr_t address, void *to, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)address, bytes};
    /* For this process the caller's own number is used: getpid() is the number of the initial thread, and the call
     * fails once the initial thread has ended. */
    ssize_t got = process_vm_readv(pid == getpid() ? os_thread_id() : pid, &local, 1, &remote, 1, 0);
    if (got == (ssize_t)bytes)
        return 0;
    int why = got < 0 ? errno : EFAULT;
    if (pid != getpid() || (why != EPERM && why != ENOSYS))
        return why;
    /* A sandbox may forbid this call even for the own process. Then the bytes go through a pipe: write returns EFAULT
     * instead of causing a fault. */
    int ends[2];
    if (bytes > 4096 || pipe2(ends, O_CLOEXEC) != 0)
        return why;
    bool all = write(ends[1], (void *)address, bytes) == (ssize_t)bytes && read(ends[0], to, bytes) == (ssize_t)bytes;
    close(ends[0]);
    close(ends[1]);
    return all ? 0 : EFAULT;
}

bool os_main_thread_gone(void)
{
    char path[48], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    file_text(path, text, sizeof text);
    const char *name_end = strrchr(text, ')'); /* the file has "pid (name) state ..." */
    return name_end != NULL && name_end[1] == ' ' && (name_end[2] == 'Z' || name_end[2] == 'X');
}

/* On supported processors the C library's struct stat is the kernel's. */
int os_fstat(int fd, struct stat *about) { return (int)raw_call(SYS_fstat, fd, (long)about, 0, 0); }
int os_stat(const char *path, struct stat *about)
{
    return (int)raw_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)about, 0);
}

uint32_t os_pid_space(void)
{
    struct stat s = {.st_ino = 0};
    return os_stat("/proc/self/ns/pid", &s) == 0 ? (uint32_t)s.st_ino : 0;
}

unsigned os_count_kernel_threads(void)
{
    struct stat s = {.st_nlink = 0};
    return os_stat("/proc/self/task", &s) == 0 && s.st_nlink > 2 ? (unsigned)s.st_nlink - 2 : 0;
}

_Static_assert(sizeof(os_once_flag) == sizeof(pthread_once_t) && OS_ONCE_INIT == PTHREAD_ONCE_INIT, "the same flag");
void os_once(os_once_flag *flag, void (*fn)(void)) { pthread_once(flag, fn); }

void os_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void))
{
    pthread_atfork(before, after, in_child);
}

long os_system_call(long number, long a, long b, long c, long d, long e, long f)
{
    return raw_call6(number, a, b, c, d, e, f);
}
