/* No deadlock is reported where the poller readies the last thread between two looks of the vp that finds nothing: the
 * deadline passes, or the descriptor's other end writes, while the vp counts kernel threads. One is reported where a
 * kernel thread wants its thread (handler_mask.h), and looks for it now and then. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "handler_mask.h"
#include "os.h"
#include "psthread.h"
#include "sync_support.h"
#include "tls.h"
#include "vp_tls.h"

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

/* --- wanted --- */

static _Atomic unsigned wanted;

bool __real_ps_team_rests(struct vp *vp, const struct uth_tls *block);
bool __wrap_ps_team_rests(struct vp *vp, const struct uth_tls *block);
/* The kernel thread looks nearly all the time. */
bool __wrap_ps_team_rests(struct vp *vp, const struct uth_tls *block)
{
    ps_add_seq(&wanted, 1);
    pause_ms(100);
    return __real_ps_team_rests(vp, block);
}

/* As where a handler has changed the mask in its frame. */
static void *waits_for_good(void *sem)
{
    ucontext_t frame;
    CHECK(getcontext(&frame) == 0);
    frame.uc_stack.ss_flags = SS_DISABLE;
    uint64_t mask = os_frame_mask(&frame);
    os_frame_set_mask(&frame, mask ^ UINT64_C(1) << (SIGUSR2 - 1));
    ps_handler_left_mask(&frame, mask, mask);
    while (uth_tls_current() && !ps_load_seq(&wanted))
        pause_ms(1);
    psthread_sem_wait(sem);
    return NULL;
}

static void wait_for_good(void)
{
    psthread_t other;
    psthread_sem_t sem;
    psthread_config_t config = {.num_vps = 1, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0 && psthread_sem_init(&sem, 0) == 0);
    CHECK(psthread_create(&other, NULL, waits_for_good, &sem) == 0);
    CHECK(psthread_enqueue(other, PSTHREAD_VP_ANY) == 0);
    psthread_join(other, NULL);
    abort();
}

static void is_reported_where_one_is_wanted(void)
{
    int ends[2], status;
    /* Kernel threads of the tool, of an emulator, or of the port, one for each stack: nothing is ever reported. */
    if (PS_TSAN || CPU_CARRIES_TLS || __real_os_count_kernel_threads() != 1) {
        fputs("SKIPPED: other kernel threads keep each report back; a thread that is wanted was not tested\n", stderr);
        return;
    }
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        wait_for_good();
    }
    close(ends[1]);
    size_t n = 0;
    while (!strstr(said, "deadlock")) {
        ssize_t more = read(ends[0], said + n, sizeof said - 1 - n);
        CHECK(more > 0);
        n += (size_t)more;
    }
    close(ends[0]);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    memset(said, 0, sizeof said);
}

int main(void)
{
    is_reported_where_one_is_wanted();
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
        polled |= psthread_poll(ends[0], POLLIN, NULL, psthread_now() + 30000000) != ETIMEDOUT;
        if (strstr(what_was_said(), "deadlock")) /* said once, and then nobody looks and writes */
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
