/* A stand-in for the scheduler, for tests of what is built on it: each thread of the library is a kernel thread.
 *
 * The stand-in keeps the letter of scheduler.h (one ps_ready for each ps_block, in any order) and as much of
 * psthread.h as the tests of the synchronisation half use. Nothing is shared with the product's scheduler, so a test
 * that fails on both blames the synchronisation object, one that fails on one of them blames that side; and race
 * detectors see plain kernel threads.
 *
 * ps_spin_useful says yes and no by turns, so that both halves of every hybrid wait are met whatever the machine. */
#include "address_wait.h"
#include "check.h"
#include "current.h"
#include "exit.h"
#include "key.h"
#include "os.h"
#include "psthread.h"
#include "scheduler.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)128 * 1024)
#define SPIN_LIMIT 40

struct psthread {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned tokens;   /* ps_ready minus ps_block; guarded by mutex */
    unsigned holds;    /* reasons to keep the descriptor: it runs, it can be joined; guarded by mutex */
    unsigned children; /* submitted and not ended; guarded by mutex */
    bool ended;        /* guarded by mutex */
    bool submitted;
    unsigned flags, level, turn;
    void *(*fn)(void *);
    void *arg, *result, *keys;
    struct psthread *parent;
};

static _Thread_local struct psthread *current;
static unsigned num_vps = 4;

static struct psthread *thread_new(unsigned holds)
{
    struct psthread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->holds = holds;
    return t;
}

static void thread_drop(struct psthread *t)
{
    pthread_mutex_lock(&t->mutex);
    bool last = --t->holds == 0;
    pthread_mutex_unlock(&t->mutex);
    if (!last)
        return;
    pthread_mutex_destroy(&t->mutex);
    pthread_cond_destroy(&t->changed);
    free(t);
}

/* --- scheduler.h --- */

struct psthread *ps_current(void) { return current; }

/* No thread carries a vp here. */
__thread struct vp *ee_here;
struct vp *ps_vp(void) { return NULL; }

struct psthread *ps_self(void)
{
    if (!current) {
        current = thread_new(1);
        PS_CHECK(current, "the stand-in scheduler has no memory");
    }
    return current;
}

void ps_block(struct psthread *self, enum ps_wait kind, const volatile void *object)
{
    (void)kind, (void)object;
    PS_CHECK(self == current, "ps_block for another thread");
    PS_CHECK(!(self->flags & PSTHREAD_ATTR_NOSTACK), "a thread without a stack tried to block");
    pthread_mutex_lock(&self->mutex);
    while (self->tokens == 0)
        pthread_cond_wait(&self->changed, &self->mutex);
    self->tokens--;
    pthread_mutex_unlock(&self->mutex);
}

bool ps_in_handler(void) { return false; }

void ps_ready(struct psthread *t, enum ps_end end)
{
    (void)end;
    pthread_mutex_lock(&t->mutex);
    PS_CHECK(t->tokens++ == 0, "a thread was readied twice for one wait");
    pthread_cond_broadcast(&t->changed); /* a joiner may wait on it too */
    pthread_mutex_unlock(&t->mutex);
}

void ps_ready_many(struct psthread *const *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ps_ready(t[i], PS_BACK);
}

/* There are no vps. */
struct ps_gatherer ps_gather(struct ps_gathered *gathered, size_t apart, unsigned num)
{
    (void)gathered, (void)apart, (void)num;
    return (struct ps_gatherer){.self = ps_self()};
}
unsigned ps_ready_gathered(struct ps_gathered *g, unsigned id, const struct psthread *except)
{
    (void)g, (void)id, (void)except;
    return 0;
}

bool ps_yield(void)
{
    os_yield();
    return true;
}

unsigned ps_spin_limit(void) { return SPIN_LIMIT; }
bool ps_spin_useful(void) { return ps_self()->turn++ / 3 % 2; }
void **ps_thread_keys_slot(struct psthread *self) { return &self->keys; }

static _Thread_local struct ps_exits exits;
struct ps_exits *ps_exits(void) { return &exits; }
void psthread_exit(void *result)
{
    PS_CHECK(exits.innermost, "the stand-in's threads end in a point of exit.h only");
    ps_exit_leave(result, pthread_exit);
}

/* --- psthread.h --- */

int psthread_init(const psthread_config_t *config)
{
    num_vps = config && config->num_vps ? config->num_vps : 4;
    ps_self();
    return 0;
}

int psthread_finalize(void)
{
    psthread_waitall();
    ps_keys_run_destructors(&current->keys);
    thread_drop(current);
    current = NULL;
    return 0;
}

unsigned psthread_num_vps(void) { return num_vps; }
unsigned psthread_vp_self(void) { return 0; }
unsigned psthread_level(void) { return ps_self()->level; }
psthread_t psthread_self(void) { return ps_self(); }
void psthread_yield(void) { os_yield(); }
uint64_t psthread_now(void) { return os_now_ns(); }
int psthread_sleep(uint64_t deadline_ns)
{
    _Atomic uint32_t nobody_wakes = 0;
    while (os_now_ns() < deadline_ns)
        ps_wait_on_until(&nobody_wakes, 0, PS_WAIT_TIME, deadline_ns);
    return 0;
}

int psthread_create(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    struct psthread *t = thread_new(attr && attr->flags & PSTHREAD_ATTR_DETACHED ? 1 : 2);
    if (!t)
        return ENOMEM;
    t->flags = attr ? attr->flags : 0;
    t->fn = fn;
    t->arg = arg;
    t->parent = ps_self();
    t->level = t->parent->level + 1;
    *thread = t;
    return 0;
}

static void thread_end(struct psthread *t, void *result)
{
    struct psthread *parent = t->parent;
    ps_keys_run_destructors(&t->keys);
    pthread_mutex_lock(&t->mutex);
    t->result = result;
    t->ended = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->mutex);
    thread_drop(t);
    pthread_mutex_lock(&parent->mutex);
    parent->children--;
    pthread_cond_broadcast(&parent->changed);
    pthread_mutex_unlock(&parent->mutex);
    thread_drop(parent);
}

static void *thread_main(void *thread)
{
    struct psthread *t = current = thread;
    thread_end(t, t->fn(t->arg));
    return NULL;
}

int psthread_enqueue(psthread_t t, int vp)
{
    pthread_t handle;
    pthread_attr_t attr;
    (void)vp;
    if (t->submitted)
        return EINVAL;
    t->submitted = true;
    pthread_mutex_lock(&t->parent->mutex);
    t->parent->children++;
    t->parent->holds++;
    pthread_mutex_unlock(&t->parent->mutex);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    int error;
    while ((error = pthread_create(&handle, &attr, thread_main, t)) == EAGAIN)
        os_yield();
    pthread_attr_destroy(&attr);
    return error;
}

int psthread_join(psthread_t t, void **result)
{
    pthread_mutex_lock(&t->mutex);
    while (!t->ended)
        pthread_cond_wait(&t->changed, &t->mutex);
    if (result)
        *result = t->result;
    pthread_mutex_unlock(&t->mutex);
    thread_drop(t);
    return 0;
}

int psthread_waitall(void)
{
    struct psthread *self = ps_self();
    pthread_mutex_lock(&self->mutex);
    while (self->children)
        pthread_cond_wait(&self->changed, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
    return 0;
}
