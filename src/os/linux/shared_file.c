/* A small file that the processes of one user share as memory, and words in it that a kernel thread holds.
 *
 * Does: opens, checks and maps the file; lets a kernel thread hold a word. Does not: know what the words mean.
 * The file is in XDG_RUNTIME_DIR, else in /dev/shm. Only a plain file of this user's, which no other user may open,
 * and of the expected size, is mapped. An empty one has just been made, and gets its size from any process that finds
 * it. What its words say is for the caller to check.
 *
 * A held word has the number of its kernel thread. When that ends, in whatever way, the kernel puts OS_WORD_LEFT into
 * the word: the robust lists of futexes, set_robust_list(2). That needs no file that stays open, no lock, and no number
 * of another process, so it works across containers. The list is empty but for the lock that is "about to be taken",
 * which the kernel looks at too. It replaces the C library's list of the kernel thread's robust mutexes. So a holder is
 * one of the library's kernel threads, which uses none while it holds the word (as it ends it may: fork_gate.c).
 * Rejected: a lock on the open file (programs close files that they do not know; a child of fork has it too); a process
 * number (other containers have others).
 * Limit: a program of the user's that truncates the file while it is mapped kills the processes that share, as it may
 * do by signals. */
#include "file.h"
#include "os.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 512

static bool path_of(char path[PATH_BYTES], const char *name)
{
    const char *folder = os_env_trusted("XDG_RUNTIME_DIR");
    struct stat about;
    if (!folder || folder[0] != '/' || os_stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        folder = "/dev/shm";
    return snprintf(path, PATH_BYTES, "%s/%s-%lu", folder, name, (unsigned long)geteuid()) < PATH_BYTES;
}

/* Returns what is wrong with the file, or NULL. */
static const char *file_defect(int file, size_t bytes, bool make)
{
    struct stat about;
    if (os_fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return "it is no plain file";
    if (about.st_uid != geteuid() || about.st_mode & 077 || about.st_nlink != 1)
        return "it is not this user's alone";
    if (make && about.st_size == 0 && raw_call(SYS_ftruncate, file, (long)bytes, 0, 0) == 0)
        about.st_size = (off_t)bytes;
    if ((size_t)about.st_size != bytes)
        return "its size is wrong";
    /* The first touch of a page for which there is no room would end the process. */
    return make && raw_call(SYS_fallocate, file, 0, 0, (long)bytes) == -ENOSPC ? "its file system is full" : NULL;
}

int os_shared_file(const char *name, size_t bytes, bool make, void **map, const char **wrong)
{
    char path[PATH_BYTES];
    int flags = (make ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    if (!path_of(path, name))
        return ENAMETOOLONG;
    int file = (int)raw_call(SYS_openat, AT_FDCWD, (long)path, flags, 0600), err = 0;
    *wrong = file == -ELOOP ? "it is no plain file" : "it cannot be opened";
    if (file < 0)
        return file == -ELOOP ? EINVAL : -file;
    *wrong = file_defect(file, bytes, make);
    if (*wrong)
        err = EINVAL;
    else if ((*map = mmap(NULL, bytes, make ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0)) == MAP_FAILED)
        err = ENOMEM;
    file_close(file);
    return err;
}

/* --- a word that is held --- */

bool os_word_hold(struct os_word_holder *h, _Atomic uint32_t *word)
{
    uint32_t seen = ps_load_relaxed(word), own = (uint32_t)os_thread_id();
    if (seen != 0 && seen != OS_WORD_LEFT)
        return false;
    h->before = os_robust_list();
    h->head = h; /* no mutex is held */
    h->offset = (intptr_t)word - (intptr_t)h;
    h->pending = h; /* from here on the kernel looks at the word, and lets it be while it has another number */
    ps_fence_compiler();
    if (raw_call(SYS_set_robust_list, (long)h, 3 * sizeof(void *), 0, 0) != 0)
        return false;
    bool held = ps_cas_acq_rel(word, &seen, own);
    if (!held)
        os_set_robust_list(h->before);
    return held;
}

void os_word_leave(struct os_word_holder *h, _Atomic uint32_t *word)
{
    ps_store_release(word, OS_WORD_LEFT);
    os_word_forget(h);
}

void os_word_forget(struct os_word_holder *h) { os_set_robust_list(h->before); }
