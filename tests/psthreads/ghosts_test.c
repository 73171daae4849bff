/* Forked children go on with the objects at which threads of the parent wait: those get nothing, keep nobody waiting,
 * and do not run there; in the parent they go on. By roots and by psthreads, and children of children, which find
 * ghosts of several generations. */
#include "ghosts.h"
#include "psthread.h"
#include "sync_support.h"

#include <pthread.h>

#define GHOSTS 5u
#define CREW 6u
#define NESTED 3
#define FAR (psthread_now() + UINT64_C(3600000000000))

static psthread_mutex_t mutex;
static psthread_cond_t cond;
static psthread_monitor_t monitor;
static psthread_sem_t sem;
static psthread_rwlock_t rwlock;
static psthread_barrier_t barrier;
static psthread_once_t once;
static psthread_workqueue_t queue;

static _Atomic unsigned coming; /* ghosts that are about to wait */
static unsigned counter;        /* guarded by the object in use */
static _Atomic unsigned shared_counter;
static bool is_open;
static unsigned tickets;

/* --- what is common --- */

struct ghost {
    void (*wait)(unsigned i);
    unsigned i;
};

static void *haunt(void *arg)
{
    const struct ghost *ghost = arg;
    pid_t mine = getpid();
    ghost->wait(ghost->i);
    CHECK(getpid() == mine); /* it has not been woken in a child */
    return NULL;
}

/* Threads come to wait until somebody releases them. */
static void raise_ghosts(unsigned n, void (*wait)(unsigned i))
{
    static struct ghost ghosts[GHOSTS];
    ps_store_relaxed(&coming, 0);
    for (unsigned i = 0; i < n; i++) {
        ghosts[i] = (struct ghost){wait, i};
        start(haunt, &ghosts[i]);
    }
    while (ps_load_acquire(&coming) < n)
        psthread_yield();
    for (int i = 0; i < 20; i++) { /* most of them wait by then; one that does not is a ghost in the middle of it */
        psthread_yield();
        usleep(50);
    }
}
static void comes(void) { ps_add_release(&coming, 1); }

/* --- mutex --- */

static void wait_for_mutex(unsigned i)
{
    comes();
    CHECK((i % 3 == 2 ? psthread_mutex_timedlock(&mutex, FAR) : psthread_mutex_lock(&mutex)) == 0);
    CHECK(psthread_mutex_unlock(&mutex) == 0);
}
static void hold_mutex(void)
{
    CHECK(psthread_mutex_lock(&mutex) == 0);
    raise_ghosts(GHOSTS, wait_for_mutex);
}
static void free_mutex(void) { CHECK(psthread_mutex_unlock(&mutex) == 0); }
static void use_mutex_in(unsigned id, void *arg)
{
    unsigned seed = id;
    (void)arg;
    for (int i = 0; i < 100; i++) {
        if (one_in(&seed, 3))
            CHECK(psthread_mutex_timedlock(&mutex, FAR) == 0);
        else if (one_in(&seed, 2) || psthread_mutex_trylock(&mutex) != 0)
            CHECK(psthread_mutex_lock(&mutex) == 0);
        counter++;
        if (one_in(&seed, 4))
            psthread_yield();
        CHECK(psthread_mutex_unlock(&mutex) == 0);
    }
}
static void use_mutex(void)
{
    counter = 0;
    run_crew(CREW, use_mutex_in, NULL);
    CHECK(counter == CREW * 100);
}
static void end_mutex(void) { CHECK(psthread_mutex_destroy(&mutex) == 0); }

/* --- condition variable --- */

static void wait_for_cond(unsigned i)
{
    CHECK(psthread_mutex_lock(&mutex) == 0);
    comes();
    while (!is_open)
        CHECK((i % 3 == 2 ? psthread_cond_timedwait(&cond, &mutex, FAR) : psthread_cond_wait(&cond, &mutex)) == 0);
    CHECK(psthread_mutex_unlock(&mutex) == 0);
}
static void wait_at_cond(void)
{
    is_open = false;
    raise_ghosts(GHOSTS, wait_for_cond);
    CHECK(psthread_mutex_lock(&mutex) == 0); /* they wait, as far as the condition variable is concerned */
}
static void open_cond(void)
{
    is_open = true;
    CHECK(psthread_cond_broadcast(&cond) == 0);
    CHECK(psthread_mutex_unlock(&mutex) == 0);
}
static void *take_ticket(void *arg)
{
    CHECK(psthread_mutex_lock(&mutex) == 0);
    counter++;
    while (!tickets)
        CHECK((arg ? psthread_cond_timedwait(&cond, &mutex, FAR) : psthread_cond_wait(&cond, &mutex)) == 0);
    tickets--;
    CHECK(psthread_mutex_unlock(&mutex) == 0);
    return NULL;
}
/* One signal for each thread that waits; then one for all of them. */
static void use_cond(void)
{
    for (int round = 0; round < 6; round++) {
        counter = tickets = 0;
        for (unsigned i = 0; i < CREW; i++)
            start(take_ticket, round % 3 == 2 ? &cond : NULL);
        for (bool all = false; !all; psthread_yield()) {
            CHECK(psthread_mutex_lock(&mutex) == 0);
            all = counter == CREW;
            CHECK(psthread_mutex_unlock(&mutex) == 0);
        }
        for (unsigned i = 0; i < (round % 2 ? 1 : CREW); i++) {
            CHECK(psthread_mutex_lock(&mutex) == 0);
            tickets += round % 2 ? CREW : 1;
            CHECK((round % 2 ? psthread_cond_broadcast(&cond) : psthread_cond_signal(&cond)) == 0);
            CHECK(psthread_mutex_unlock(&mutex) == 0);
        }
        CHECK(psthread_waitall() == 0);
        CHECK(tickets == 0);
    }
}
static void end_cond(void)
{
    CHECK(psthread_cond_destroy(&cond) == 0);
    end_mutex();
}

/* --- monitor --- */

static void wait_for_monitor(unsigned i)
{
    if (i < 2)
        comes(); /* waits for entry */
    CHECK(psthread_monitor_enter(&monitor) == 0);
    if (i >= 2)
        comes();
    while (i >= 2 && !is_open)
        CHECK(psthread_monitor_wait(&monitor) == 0);
    CHECK(psthread_monitor_leave(&monitor) == 0);
}
static void wait_at_monitor(void)
{
    is_open = false;
    raise_ghosts(GHOSTS, wait_for_monitor);
    CHECK(psthread_monitor_enter(&monitor) == 0);
}
static void open_monitor(void)
{
    is_open = true;
    CHECK(psthread_monitor_notify_all(&monitor) == 0);
    CHECK(psthread_monitor_leave(&monitor) == 0);
}
static void leave_monitor(void) { CHECK(psthread_monitor_leave(&monitor) == 0); }
static void *take_monitors_ticket(void *arg)
{
    CHECK(psthread_monitor_enter(&monitor) == 0);
    counter++;
    while (!tickets)
        CHECK(psthread_monitor_wait(&monitor) == 0);
    tickets--;
    CHECK(psthread_monitor_leave(&monitor) == 0);
    return arg;
}
static void use_monitor(void)
{
    for (int round = 0; round < 6; round++) {
        counter = tickets = 0;
        for (unsigned i = 0; i < CREW; i++)
            start(take_monitors_ticket, NULL);
        for (bool all = false; !all; psthread_yield()) {
            CHECK(psthread_monitor_enter(&monitor) == 0);
            all = counter == CREW;
            CHECK(psthread_monitor_leave(&monitor) == 0);
        }
        for (unsigned i = 0; i < CREW; i++) {
            CHECK(psthread_monitor_enter(&monitor) == 0);
            tickets++;
            CHECK(psthread_monitor_notify(&monitor) == 0);
            CHECK(psthread_monitor_leave(&monitor) == 0);
        }
        CHECK(psthread_waitall() == 0);
    }
}
static void end_monitor(void) { CHECK(psthread_monitor_destroy(&monitor) == 0); }

/* --- semaphore --- */

static void wait_for_sem(unsigned i)
{
    comes();
    CHECK((i % 2 ? psthread_sem_wait(&sem) : psthread_sem_timedwait(&sem, FAR)) == 0);
}
static void wait_at_sem(void) { raise_ghosts(GHOSTS, wait_for_sem); }
static void post_all(void)
{
    for (unsigned i = 0; i < GHOSTS; i++)
        CHECK(psthread_sem_post(&sem) == 0);
}
static void has_no_value(void)
{
    unsigned value;
    CHECK(psthread_sem_getvalue(&sem, &value) == 0 && value == 0);
    CHECK(psthread_sem_trywait(&sem) == EAGAIN);
}
static void use_sem_in(unsigned id, void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        CHECK(id % 2 ? psthread_sem_post(&sem) == 0
                     : (i % 2 ? psthread_sem_wait(&sem) : psthread_sem_timedwait(&sem, FAR)) == 0);
}
static void use_sem(void)
{
    run_crew(CREW, use_sem_in, NULL);
    has_no_value();
}
static void end_sem(void) { CHECK(psthread_sem_destroy(&sem) == 0); }

/* --- read-write lock --- */

static void wait_for_rwlock(unsigned i)
{
    comes();
    CHECK((i == 0   ? psthread_rwlock_wrlock(&rwlock)
           : i == 1 ? psthread_rwlock_timedwrlock(&rwlock, FAR)
           : i == 2 ? psthread_rwlock_rdlock(&rwlock)
           : i == 3 ? psthread_rwlock_timedrdlock(&rwlock, FAR)
                    : psthread_rwlock_wrlock(&rwlock)) == 0);
    CHECK(psthread_rwlock_unlock(&rwlock) == 0);
}
static void read_rwlock(void)
{
    CHECK(psthread_rwlock_rdlock(&rwlock) == 0);
    raise_ghosts(GHOSTS, wait_for_rwlock);
}
static void write_rwlock(void)
{
    CHECK(psthread_rwlock_wrlock(&rwlock) == 0);
    raise_ghosts(GHOSTS, wait_for_rwlock);
}
static void unlock_rwlock(void) { CHECK(psthread_rwlock_unlock(&rwlock) == 0); }
static void unlock_and_read(void)
{
    unlock_rwlock();
    CHECK(psthread_rwlock_tryrdlock(&rwlock) == 0); /* no writer of this process waits */
    CHECK(psthread_rwlock_tryrdlock(&rwlock) == 0);
    CHECK(psthread_rwlock_trywrlock(&rwlock) == EBUSY);
    unlock_rwlock();
    unlock_rwlock();
}
static void use_rwlock_in(unsigned id, void *arg)
{
    unsigned seed = id;
    (void)arg;
    for (int i = 0; i < 100; i++) {
        bool writes = one_in(&seed, 3);
        CHECK((writes ? psthread_rwlock_wrlock(&rwlock) : psthread_rwlock_timedrdlock(&rwlock, FAR)) == 0);
        if (writes)
            counter++;
        else
            ps_add_relaxed(&shared_counter, 1);
        if (one_in(&seed, 4))
            psthread_yield();
        unlock_rwlock();
    }
}
static void use_rwlock(void)
{
    counter = 0;
    ps_store_relaxed(&shared_counter, 0);
    run_crew(CREW, use_rwlock_in, NULL);
    CHECK(counter + ps_load_relaxed(&shared_counter) == CREW * 100);
}
static void end_rwlock(void) { CHECK(psthread_rwlock_destroy(&rwlock) == 0); }

/* --- barrier: two of four have come at the fork --- */

#define MEMBERS 4u
static void wait_for_barrier(unsigned i)
{
    comes();
    CHECK(psthread_barrier_wait(barrier, i) <= 0);
}
static void wait_at_barrier(void)
{
    _Atomic uint32_t *arrived = (_Atomic uint32_t *)(void *)((char *)barrier + PS_CACHE_LINE);
    raise_ghosts(2, wait_for_barrier);
    while (ps_load_relaxed(arrived) != 2)
        psthread_yield();
}
static void *come_third(void *arg)
{
    CHECK(psthread_barrier_wait(barrier, 2) <= 0);
    return arg;
}
static void come_to_barrier(void)
{
    psthread_t t = start(come_third, NULL);
    CHECK(psthread_barrier_wait(barrier, 3) <= 0);
    CHECK(psthread_join(t, NULL) == 0);
}
static void use_barrier_in(unsigned id, void *arg)
{
    (void)arg;
    for (unsigned phase = 1; phase <= 50; phase++) {
        ps_add_relaxed(&shared_counter, 1);
        CHECK(psthread_barrier_wait(barrier, id) <= 0);
        CHECK(ps_load_relaxed(&shared_counter) >= phase * MEMBERS);
    }
}
static void use_barrier(void)
{
    ps_store_relaxed(&shared_counter, 0);
    run_crew(MEMBERS, use_barrier_in, NULL);
    CHECK(ps_load_relaxed(&shared_counter) == 50 * MEMBERS);
}
static void end_barrier(void) { CHECK(psthread_barrier_destroy(barrier) == 0); }

/* --- once: a thread is in the function, others wait for it --- */

static void count_once(void)
{
    if (ps_load_relaxed(&coming) < 2) { /* the parent's first one */
        comes();
        comes();
        CHECK(psthread_mutex_lock(&mutex) == 0);
        CHECK(psthread_mutex_unlock(&mutex) == 0);
    }
    ps_add_relaxed(&shared_counter, 1);
}
static void wait_for_once(unsigned i)
{
    if (i > 0) {
        while (ps_load_relaxed(&coming) < 2)
            psthread_yield();
        comes();
    }
    CHECK(psthread_once(&once, count_once) == 0);
    CHECK(ps_load_relaxed(&shared_counter) == 1);
}
static void wait_at_once(void)
{
    once = (psthread_once_t)PSTHREAD_ONCE_INIT;
    ps_store_relaxed(&shared_counter, 0);
    CHECK(psthread_mutex_lock(&mutex) == 0);
    raise_ghosts(GHOSTS, wait_for_once);
}
static void use_once_in(unsigned id, void *arg)
{
    (void)id, (void)arg;
    CHECK(psthread_once(&once, count_once) == 0);
    CHECK(ps_load_relaxed(&shared_counter) == 1);
}
static void use_once(void) { run_crew(CREW, use_once_in, NULL); }

/* --- work-queue: work that runs, work that has not begun, and threads that wait for it --- */

static void count_piece(void *arg)
{
    (void)arg;
    ps_add_relaxed(&shared_counter, 1);
}
static void blocked_piece(void *arg)
{
    pid_t mine = getpid();
    (void)arg;
    comes();
    CHECK(psthread_mutex_lock(&mutex) == 0);
    CHECK(psthread_mutex_unlock(&mutex) == 0);
    CHECK(getpid() == mine);
    count_piece(NULL);
}
static void wait_for_queue(unsigned i)
{
    if (i < 2)
        CHECK(psthread_workqueue_add(queue, blocked_piece, NULL, 1) == 0);
    else
        comes();
    CHECK(psthread_workqueue_wait(queue) == 0);
}
static void wait_at_queue(void)
{
    ps_store_relaxed(&shared_counter, 0);
    CHECK(psthread_mutex_lock(&mutex) == 0);
    raise_ghosts(GHOSTS, wait_for_queue);
    for (int i = 0; i < 10; i++)
        CHECK(psthread_workqueue_add(queue, count_piece, NULL, i % 2) == 0);
}
static void queue_is_empty(void)
{
    free_mutex();
    ps_store_relaxed(&shared_counter, 0);
    CHECK(psthread_workqueue_wait(queue) == 0);
    CHECK(ps_load_relaxed(&shared_counter) == 0); /* that is done in the parent */
}
static void queue_is_done(void)
{
    free_mutex();
    CHECK(psthread_workqueue_wait(queue) == 0);
    CHECK(ps_load_relaxed(&shared_counter) == 12);
}
static void use_queue_in(unsigned id, void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 50; i++)
        CHECK(psthread_workqueue_add(queue, count_piece, NULL, (i + id) % 2) == 0);
    CHECK(psthread_workqueue_wait(queue) == 0);
}
static void use_queue(void)
{
    ps_store_relaxed(&shared_counter, 0);
    run_crew(CREW, use_queue_in, NULL);
    CHECK(ps_load_relaxed(&shared_counter) == CREW * 50);
}
static void end_queue(void) { CHECK(psthread_workqueue_destroy(queue) == 0); }

/* --- all of them --- */

static void nothing(void) {}

/* before the fork; then in the child, in the parent; whatever one does with the object; its end. */
static const struct kind {
    void (*before)(void), (*in_child)(void), (*in_parent)(void), (*use)(void), (*end)(void);
} kinds[] = {
    {hold_mutex, free_mutex, free_mutex, use_mutex, end_mutex},
    {wait_at_cond, free_mutex, open_cond, use_cond, end_cond},
    {wait_at_monitor, open_monitor, open_monitor, use_monitor, end_monitor},
    {wait_at_sem, has_no_value, post_all, use_sem, end_sem},
    {read_rwlock, unlock_and_read, unlock_rwlock, use_rwlock, end_rwlock},
    {write_rwlock, unlock_and_read, unlock_rwlock, use_rwlock, end_rwlock},
    {wait_at_barrier, come_to_barrier, come_to_barrier, use_barrier, end_barrier},
    {wait_at_once, free_mutex, free_mutex, use_once, nothing},
    {wait_at_queue, queue_is_empty, queue_is_done, use_queue, end_queue},
    /* given up as it is */
    {hold_mutex, free_mutex, free_mutex, nothing, end_mutex},
    {wait_at_cond, free_mutex, open_cond, nothing, end_cond},
    {wait_at_monitor, leave_monitor, open_monitor, nothing, end_monitor},
    {wait_at_sem, nothing, post_all, nothing, end_sem},
    {read_rwlock, unlock_rwlock, unlock_rwlock, nothing, end_rwlock},
    {wait_at_barrier, nothing, come_to_barrier, nothing, end_barrier},
    {wait_at_queue, free_mutex, queue_is_done, nothing, end_queue},
};

static void init_all(void)
{
    CHECK(psthread_mutex_init(&mutex) == 0 && psthread_cond_init(&cond) == 0);
    CHECK(psthread_monitor_init(&monitor) == 0 && psthread_sem_init(&sem, 0) == 0);
    CHECK(psthread_rwlock_init(&rwlock) == 0 && psthread_barrier_init(&barrier, MEMBERS) == 0);
    CHECK(psthread_workqueue_init(&queue) == 0);
}
static void end_all(void) { end_cond(), end_monitor(), end_sem(), end_rwlock(), end_barrier(), end_queue(); }

static void await_child(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void live(const struct kind *kind, int nested)
{
    kind->before();
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        kind->in_child();
        kind->use();
        if (nested > 0 && kind->use != nothing)
            live(kind, nested - 1);
        kind->end();
        _exit(0);
    }
    await_child(child);
    kind->in_parent();
    CHECK(psthread_waitall() == 0); /* its ghosts are threads here */
    kind->use();
}

static void *live_in_thread(void *kind)
{
    live(kind, NESTED);
    return NULL;
}

static void children_use_objects_on(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        init_all();
        live(&kinds[i], NESTED);
        CHECK(psthread_join(start(live_in_thread, (void *)(uintptr_t)&kinds[i]), NULL) == 0);
        end_all();
    }
}

/* What a thread had that is not there is nobody's to give back, as with kernel threads. */
static void *holds_all(void *arg)
{
    CHECK(psthread_mutex_lock(&mutex) == 0 && psthread_rwlock_wrlock(&rwlock) == 0);
    CHECK(psthread_monitor_enter(&monitor) == 0);
    ps_store_release((_Atomic bool *)arg, true);
    while (ps_load_acquire((_Atomic bool *)arg))
        psthread_yield();
    unlock_rwlock();
    CHECK(psthread_monitor_leave(&monitor) == 0);
    free_mutex();
    return NULL;
}
static void what_ghosts_hold_stays_held(void **state)
{
    (void)state;
    init_all();
    _Atomic bool held = false;
    psthread_t holder = start(holds_all, &held);
    while (!ps_load_acquire(&held))
        psthread_yield();
    for (int waited = 0; waited < 2; waited++) {
        if (waited)
            raise_ghosts(GHOSTS, wait_for_mutex);
        pid_t child = fork();
        if (child == 0) {
            alarm(100);
            for (int i = 0; i < 2; i++) {
                CHECK(psthread_mutex_trylock(&mutex) == EBUSY);
                CHECK(psthread_mutex_timedlock(&mutex, psthread_now() + 1000000) == ETIMEDOUT);
                CHECK(psthread_mutex_destroy(&mutex) == EBUSY);
                CHECK(psthread_monitor_destroy(&monitor) == EBUSY);
                CHECK(psthread_rwlock_tryrdlock(&rwlock) == EBUSY);
                CHECK(psthread_rwlock_timedwrlock(&rwlock, psthread_now() + 1000000) == ETIMEDOUT);
                CHECK(psthread_rwlock_destroy(&rwlock) == EBUSY);
            }
            _exit(0);
        }
        await_child(child);
    }
    ps_store_release(&held, false);
    CHECK(psthread_join(holder, NULL) == 0);
    CHECK(psthread_waitall() == 0);
    end_all();
}

/* --- roots as ghosts: the C library gives their stacks to the child's next kernel threads --- */

static void *root_waits(void *arg)
{
    (*(void (**)(unsigned))arg)(0);
    return NULL;
}
static void *root_uses(void *arg)
{
    volatile char room[16384];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = 0x5a;
    (*(void (**)(void))arg)();
    return room[0] ? NULL : arg;
}

static void stacks_of_roots_are_used_again(void **state)
{
    (void)state;
    static void (*const wait[])(unsigned) = {wait_for_mutex, wait_for_cond};
    static void (*const use[])(void) = {use_mutex, use_cond};
    pthread_t root[3];
    for (int kind = 0; kind < 2; kind++) {
        init_all();
        ps_store_relaxed(&coming, 0);
        is_open = false;
        CHECK(kind == 1 || psthread_mutex_lock(&mutex) == 0);
        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&root[i], NULL, root_waits, (void *)(uintptr_t)&wait[kind]) == 0);
        while (ps_load_acquire(&coming) < 3)
            usleep(100);
        usleep(1000);
        CHECK(kind == 0 || psthread_mutex_lock(&mutex) == 0);
        pid_t child = fork();
        if (child == 0) {
            alarm(100);
            free_mutex();
            for (int i = 0; i < 3; i++)
                CHECK(pthread_create(&root[i], NULL, root_uses, (void *)(uintptr_t)&use[kind]) == 0 &&
                      pthread_join(root[i], NULL) == 0);
            end_cond();
            _exit(0);
        }
        await_child(child);
        open_cond();
        for (int i = 0; i < 3; i++)
            CHECK(pthread_join(root[i], NULL) == 0);
        end_all();
    }
}

/* --- forks in the middle of things --- */

static _Atomic bool stop;

/* All objects at once, until it is told to stop. */
static void disturb(unsigned id, void *arg)
{
    unsigned seed = id;
    (void)arg;
    while (!ps_load_relaxed(&stop)) {
        if (psthread_mutex_timedlock(&mutex, psthread_now() + 20000) == 0) {
            if (one_in(&seed, 2))
                (void)psthread_cond_timedwait(&cond, &mutex, psthread_now() + 20000);
            CHECK(psthread_mutex_unlock(&mutex) == 0);
        }
        (void)psthread_cond_signal(&cond);
        (void)psthread_sem_timedwait(&sem, psthread_now() + 20000);
        (void)psthread_sem_post(&sem);
        if ((id % 2 ? psthread_rwlock_timedwrlock(&rwlock, psthread_now() + 20000)
                    : psthread_rwlock_timedrdlock(&rwlock, psthread_now() + 20000)) == 0) {
            psthread_yield();
            unlock_rwlock();
        }
        CHECK(psthread_workqueue_add(queue, count_piece, NULL, id % 2) == 0);
        CHECK(psthread_workqueue_wait(queue) == 0);
        psthread_yield();
    }
}
static void *disturb_barrier(void *arg)
{
    static bool ends;
    unsigned id = (unsigned)(uintptr_t)arg;
    do {
        CHECK(psthread_barrier_wait(barrier, id) <= 0);
        if (id == 0)
            ends = ps_load_relaxed(&stop);
        CHECK(psthread_barrier_wait(barrier, id) <= 0);
        psthread_yield();
    } while (!ends);
    return NULL;
}
static void *disturb_all(void *arg)
{
    disturb((unsigned)(uintptr_t)arg, NULL);
    return NULL;
}

static void use_what_is_held(void)
{
    free_mutex();
    unlock_and_read();
    use_mutex();
    use_cond();
    while (psthread_sem_trywait(&sem) == 0)
        continue;
    use_sem();
    use_rwlock();
    CHECK(psthread_workqueue_wait(queue) == 0);
    use_queue();
    end_all();
}

static void forks_come_in_the_middle(void **state)
{
    (void)state;
    init_all();
    ps_store_relaxed(&stop, false);
    for (unsigned i = 0; i < CREW; i++)
        start(disturb_all, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < MEMBERS; i++)
        start(disturb_barrier, (void *)(uintptr_t)i);
    for (int i = 0; i < 25; i++) {
        CHECK(psthread_mutex_lock(&mutex) == 0);
        CHECK(psthread_rwlock_wrlock(&rwlock) == 0); /* to read: a ghost might hold it as well, for good */
        pid_t child = fork();
        if (child == 0) {
            alarm(100);
            use_what_is_held();
            _exit(0);
        }
        unlock_rwlock();
        free_mutex();
        await_child(child);
        psthread_yield();
    }
    ps_store_relaxed(&stop, true);
    CHECK(psthread_waitall() == 0);
    while (psthread_sem_trywait(&sem) == 0)
        continue;
    end_all();
}

/* A ghost holds the short lock inside. Their places: mutex.c, cond.c. */
static void short_locks_of_ghosts_are_free(void **state)
{
    (void)state;
    init_all();
    _Atomic uint32_t *mutex_lock = (_Atomic uint32_t *)(void *)&mutex + 1,
                     *cond_lock = (_Atomic uint32_t *)(void *)&cond;
    wait_at_cond();
    for (uint32_t none = 0; !ps_cas_acquire(mutex_lock, &none, ps_generation + 1); none = 0)
        continue;
    for (uint32_t none = 0; !ps_cas_acquire(cond_lock, &none, ps_generation + 1); none = 0)
        continue;
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        free_mutex();
        use_mutex();
        use_cond();
        end_cond();
        _exit(0);
    }
    await_child(child);
    ps_store_release(mutex_lock, 0);
    ps_store_release(cond_lock, 0);
    open_cond();
    CHECK(psthread_waitall() == 0);
    end_all();
}

/* --- the forking thread goes on with what it is in the middle of --- */

static bool goes_on_in_child;

static void *check_piece_in_child(void *arg)
{
    CHECK(psthread_workqueue_wait(queue) == 0); /* not before the piece that has forked is through */
    CHECK(goes_on_in_child);
    CHECK(ps_load_relaxed(&shared_counter) == 3);
    use_queue();
    end_queue();
    _exit(0);
    return arg;
}
static pid_t forked;
static void rest_in_child(void)
{
    while (forked == 0)
        psthread_yield();
}
static void forking_piece(void *arg)
{
    CHECK(psthread_workqueue_wait(queue) == EDEADLK);
    goes_on_in_child = false;
    ps_store_relaxed(&shared_counter, 0);
    forked = fork();
    if (forked != 0)
        return;
    alarm(100);
    start(check_piece_in_child, NULL);
    for (int i = 0; i < 3; i++)
        CHECK(psthread_workqueue_add(queue, count_piece, NULL, i % 2) == 0);
    for (int i = 0; arg && i < 20; i++)
        psthread_yield();
    CHECK(psthread_workqueue_destroy(queue) == EBUSY);
    CHECK(psthread_workqueue_wait(queue) == EDEADLK);
    goes_on_in_child = true;
}

static void pieces_may_fork(void **state)
{
    (void)state;
    for (int stack = 0; stack < 2; stack++) {
        init_all();
        CHECK(psthread_workqueue_add(queue, forking_piece, stack ? &queue : NULL, stack) == 0);
        CHECK(psthread_workqueue_wait(queue) == 0);
        rest_in_child();
        await_child(forked);
        use_queue();
        end_all();
    }
}

static void *check_once_in_child(void *arg)
{
    CHECK(psthread_once(&once, count_once) == 0);
    CHECK(goes_on_in_child);
    CHECK(ps_load_relaxed(&shared_counter) == 1);
    _exit(0);
    return arg;
}
static void fork_once(void)
{
    goes_on_in_child = false;
    forked = fork();
    if (forked == 0) {
        alarm(100);
        start(check_once_in_child, NULL);
        for (int i = 0; i < 20; i++)
            psthread_yield();
        goes_on_in_child = true;
    }
    ps_add_relaxed(&shared_counter, 1);
}
static void functions_of_once_may_fork(void **state)
{
    (void)state;
    once = (psthread_once_t)PSTHREAD_ONCE_INIT;
    ps_store_relaxed(&shared_counter, 0);
    ps_store_relaxed(&coming, 2);
    CHECK(psthread_once(&once, fork_once) == 0);
    rest_in_child();
    await_child(forked);
    use_once();
}

int main(void)
{
    if (PS_TSAN) /* a forked child may have no second thread there */
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_use_objects_on),        cmocka_unit_test(what_ghosts_hold_stays_held),
        cmocka_unit_test(stacks_of_roots_are_used_again), cmocka_unit_test(forks_come_in_the_middle),
        cmocka_unit_test(short_locks_of_ghosts_are_free), cmocka_unit_test(pieces_may_fork),
        cmocka_unit_test(functions_of_once_may_fork),
    };
    return RUN_ON_VPS(tests, "ghosts");
}
