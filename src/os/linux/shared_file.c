/* A small file that the processes of one user share as memory, and words in it that a kernel thread holds.
 *
 * Does: opens, checks and maps the file; lets a kernel thread hold a word. Does not: know what the words mean.
 * The file is in XDG_RUNTIME_DIR, otherwise in /dev/shm. It is mapped only if it is a plain file of this user, which no
 * other user may open, of the expected size. An empty file has just been made; any process that finds it gives it its
 * size. The caller checks what the words say.
 *
 * A held word contains the number of its kernel thread. When that thread ends, in whatever way, the kernel puts
 * OS_WORD_LEFT into the word, by the robust lists of futexes, set_robust_list(2). That needs no open file, no lock, and
 * no number of another process, so it works across containers. The list itself is empty. The word is named in the
 * list's field for a lock that is "about to be taken", which the kernel also handles. This list replaces the C
 * library's list of the kernel thread's robust mutexes. So only the library's kernel threads hold words: they use no
 * robust mutex meanwhile (except that of fork_gate.c, as they end). Rejected: a lock on the open file (programs close
 * files that they do not know; a forked child has the lock too); a process number (other containers have other
 * numbers).
 * Limit: a program of the user that truncates the mapped file kills the processes that share it, as it could by
 * signals. */
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

static const char empty[] = "it is empty"; /* a process has just made it */

/* Returns NULL if the file is good, otherwise words that say what is wrong with it. */
static const char *file_defect(int file, size_t bytes, bool make)
{
    struct stat about;
    if (os_fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return "it is no plain file";
    if (about.st_uid != geteuid() || about.st_mode & 077 || about.st_nlink != 1)
        return "it is not this user's alone";
    if (make && about.st_size == 0 && raw_call(SYS_ftruncate, file, (long)bytes, 0, 0) == 0)
        about.st_size = (off_t)bytes;
    if (!make && about.st_size == 0)
        return empty;
    if ((size_t)about.st_size != bytes)
        return "its size is wrong";
    /* If the file system is full, the first touch of a page would kill the process. */
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
        err = *wrong == empty ? ENOENT : EINVAL;
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
    h->head = h; /* the list is empty: no mutex is held */
    h->offset = (intptr_t)word - (intptr_t)h;
    h->pending = h; /* from the system call on the kernel handles the word, if it has this thread's number */
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
