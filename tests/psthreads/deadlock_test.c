/* No deadlock is reported where the poller readies the last thread between two looks of the vp that finds nothing: the
 * deadline passes, or the descriptor's other end writes, while the vp counts kernel threads. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os.h"
#include "psthread.h"
#include "sync_support.h"

unsigned __real_os_count_kernel_threads(void);
unsigned __wrap_os_count_kernel_threads(void);

static int writes_to = -1;
static _Atomic unsigned looks;

static void pause_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

unsigned __wrap_os_count_kernel_threads(void)
{
    unsigned n = __real_os_count_kernel_threads();
    looks++;
    if (writes_to >= 0 && write(writes_to, "x", 1) != 1)
        abort();
    writes_to = -1;
    pause_ms(60);
    return n;
}

static char said[4096];
static int log_fd;

static const char *what_was_said(void)
{
    ssize_t n = pread(log_fd, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    return said;
}

static psthread_sem_t ended;

static void *waits_for_main(void *arg)
{
    psthread_sem_wait(&ended);
    return arg;
}

int main(void)
{
    psthread_t other;
    char name[] = "deadlock-XXXXXX";
    int ends[2], err = dup(STDERR_FILENO);
    psthread_config_t config = {.num_vps = 1, .max_spares = PSTHREAD_NO_SPARES};
    log_fd = mkstemp(name);
    CHECK(log_fd >= 0 && unlink(name) == 0 && pipe(ends) == 0 && psthread_init(&config) == 0);
    CHECK(psthread_sem_init(&ended, 0) == 0 && psthread_create(&other, NULL, waits_for_main, NULL) == 0);
    CHECK(psthread_enqueue(other, PSTHREAD_VP_ANY) == 0);
    dup2(log_fd, STDERR_FILENO);
    int slept = 0, polled = 0, read_it = 0;
    for (int i = 0; i < 2; i++) {
        slept |= psthread_sleep(psthread_now() + 30000000);
        struct pollfd at = {.fd = ends[0], .events = POLLIN};
        polled |= psthread_poll(&at, 1, psthread_now() + 30000000);
        if (strstr(what_was_said(), "deadlock")) /* said once, and then no thread looks and writes */
            break;
        char c;
        writes_to = ends[1];
        read_it |= psthread_read(ends[0], &c, 1) != 1;
    }
    dup2(err, STDERR_FILENO);
    CHECK(looks > 0 && !slept && !polled && !read_it);
    CHECK(strstr(what_was_said(), "deadlock") == NULL);
    CHECK(psthread_sem_post(&ended) == 0 && psthread_join(other, NULL) == 0);
    CHECK(psthread_finalize() == 0);
    return 0;
}
