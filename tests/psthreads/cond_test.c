/* Condition variables and monitors: no signal is lost, one wakes one, memory is given up right after a broadcast. */
#include "sync_support.h"

/* A bounded buffer between producers and consumers, on either kind of object. */
struct buffer {
    bool on_monitor;
    psthread_mutex_t mutex;
    psthread_cond_t not_full, not_empty;
    psthread_monitor_t monitor;
    unsigned size, used, next_in, next_out, items, producers, finished;
    unsigned ring[16];
    unsigned long sum;
};

static void enter(struct buffer *b)
{
    CHECK((b->on_monitor ? psthread_monitor_enter(&b->monitor) : psthread_mutex_lock(&b->mutex)) == 0);
}
static void leave(struct buffer *b)
{
    CHECK((b->on_monitor ? psthread_monitor_leave(&b->monitor) : psthread_mutex_unlock(&b->mutex)) == 0);
}
static void await_change(struct buffer *b, psthread_cond_t *cond)
{
    CHECK((b->on_monitor ? psthread_monitor_wait(&b->monitor) : psthread_cond_wait(cond, &b->mutex)) == 0);
}
/* One condition for all on the monitor: each change must reach everybody. */
static void tell(struct buffer *b, psthread_cond_t *cond)
{
    CHECK((b->on_monitor ? psthread_monitor_notify_all(&b->monitor) : psthread_cond_signal(cond)) == 0);
}

static void produce(struct buffer *b, unsigned id)
{
    for (unsigned i = 0; i < b->items; i++) {
        enter(b);
        while (b->used == b->size)
            await_change(b, &b->not_full);
        b->ring[b->next_in++ % b->size] = id * b->items + i;
        b->used++;
        tell(b, &b->not_empty);
        leave(b);
    }
    enter(b);
    if (++b->finished == b->producers)
        CHECK((b->on_monitor ? psthread_monitor_notify_all(&b->monitor) : psthread_cond_broadcast(&b->not_empty)) == 0);
    leave(b);
}

static void consume(struct buffer *b)
{
    for (;;) {
        enter(b);
        while (b->used == 0 && b->finished < b->producers)
            await_change(b, &b->not_empty);
        if (b->used == 0) {
            leave(b);
            return;
        }
        b->sum += b->ring[b->next_out++ % b->size];
        b->used--;
        tell(b, &b->not_full);
        leave(b);
    }
}

static void produce_or_consume(unsigned id, void *arg)
{
    struct buffer *b = arg;
    if (id < b->producers)
        produce(b, id);
    else
        consume(b);
}

static void run_buffer(bool on_monitor, unsigned size, unsigned producers, unsigned consumers, unsigned items)
{
    struct buffer b = {.on_monitor = on_monitor, .size = size, .producers = producers, .items = items};
    unsigned long total = (unsigned long)producers * items;
    run_crew(producers + consumers, produce_or_consume, &b);
    assert_int_equal(b.sum, total * (total - 1) / 2);
    assert_int_equal(psthread_cond_destroy(&b.not_empty), 0);
    assert_int_equal(psthread_cond_destroy(&b.not_full), 0);
    assert_int_equal(psthread_mutex_destroy(&b.mutex), 0);
    assert_int_equal(psthread_monitor_destroy(&b.monitor), 0);
}

static void test_buffer(void **state)
{
    (void)state;
    run_buffer(false, 1, 1, 1, 2000);
    run_buffer(false, 16, 3, 5, 1000);
    run_buffer(false, 2, MANY / 4, MANY / 8, 5);
}
static void test_buffer_monitor(void **state)
{
    (void)state;
    run_buffer(true, 1, 1, 1, 2000);
    run_buffer(true, 3, 4, 4, 300);
}

/* Threads wait for their turn; each turn is announced by a broadcast, or exactly one thread is signalled. */
struct gate {
    psthread_mutex_t mutex;
    psthread_cond_t cond;
    psthread_monitor_t monitor;
    unsigned waiting, tickets, passed;
    bool open;
};
static void await_open(unsigned id, void *arg)
{
    struct gate *g = arg;
    (void)id;
    psthread_mutex_lock(&g->mutex);
    g->waiting++;
    while (!g->open)
        CHECK(psthread_cond_wait(&g->cond, &g->mutex) == 0);
    g->passed++;
    psthread_mutex_unlock(&g->mutex);
}
static void open_or_await(unsigned id, void *arg)
{
    struct gate *g = arg;
    if (id) {
        await_open(id, arg);
        return;
    }
    psthread_mutex_lock(&g->mutex);
    while (g->waiting < g->tickets) {
        psthread_mutex_unlock(&g->mutex);
        psthread_yield();
        psthread_mutex_lock(&g->mutex);
    }
    CHECK(psthread_cond_destroy(&g->cond) == EBUSY);
    g->open = true;
    psthread_cond_broadcast(&g->cond);
    CHECK(psthread_cond_destroy(&g->cond) == 0); /* all were woken: no thread may touch it any more */
    memset(&g->cond, 0xff, sizeof g->cond);
    psthread_mutex_unlock(&g->mutex);
}
static void test_broadcast(void **state)
{
    (void)state;
    const unsigned sizes[] = {1, 2, 7, MANY};
    for (unsigned i = 0; i < 4; i++) {
        struct gate g = {.tickets = sizes[i]};
        run_crew(sizes[i] + 1, open_or_await, &g);
        assert_int_equal(g.passed, sizes[i]);
    }
}

static void pass_one(unsigned id, void *arg)
{
    struct gate *g = arg;
    (void)id;
    psthread_mutex_lock(&g->mutex);
    g->waiting++;
    while (g->tickets == 0)
        psthread_cond_wait(&g->cond, &g->mutex);
    g->tickets--;
    g->passed++;
    psthread_mutex_unlock(&g->mutex);
}
/* As many signals as threads let all of them pass. */
static void signal_each(unsigned id, void *arg)
{
    struct gate *g = arg;
    if (id % 2) {
        pass_one(id, arg);
        return;
    }
    psthread_mutex_lock(&g->mutex);
    g->tickets++;
    psthread_mutex_unlock(&g->mutex);
    psthread_cond_signal(&g->cond); /* not under the mutex: allowed */
}
static void test_signal(void **state)
{
    (void)state;
    struct gate g = {.tickets = 0};
    run_crew(MANY / 2 * 2, signal_each, &g);
    assert_int_equal(g.passed, MANY / 2);
    assert_int_equal(g.tickets, 0);
}

static void test_nobody_waits(void **state)
{
    (void)state;
    psthread_cond_t c;
    psthread_monitor_t m;
    assert_int_equal(psthread_cond_init(&c), 0);
    assert_int_equal(psthread_cond_signal(&c), 0);
    assert_int_equal(psthread_cond_broadcast(&c), 0);
    assert_int_equal(psthread_cond_destroy(&c), 0);
    assert_int_equal(psthread_monitor_init(&m), 0);
    assert_int_equal(psthread_monitor_enter(&m), 0);
    assert_int_equal(psthread_monitor_notify(&m), 0);
    assert_int_equal(psthread_monitor_destroy(&m), EBUSY);
    assert_int_equal(psthread_monitor_leave(&m), 0);
    assert_int_equal(psthread_monitor_destroy(&m), 0);
}

static void test_wrong_use(void **state)
{
    (void)state;
    psthread_cond_t c = PSTHREAD_COND_INITIALIZER;
    psthread_mutex_t m = PSTHREAD_MUTEX_INITIALIZER;
    psthread_monitor_t monitor = PSTHREAD_MONITOR_INITIALIZER;
    assert_int_equal(psthread_cond_wait(&c, &m), EPERM);
    assert_int_equal(psthread_monitor_leave(&monitor), EPERM);
    assert_int_equal(psthread_monitor_wait(&monitor), EPERM);
}

/* Two threads take turns by a monitor: each notify must reach the other. */
struct turns {
    psthread_monitor_t monitor;
    unsigned turn, left;
};
static void take_turns(unsigned id, void *arg)
{
    struct turns *t = arg;
    psthread_monitor_enter(&t->monitor);
    while (t->left) {
        while (t->turn % 2 != id && t->left)
            CHECK(psthread_monitor_wait(&t->monitor) == 0);
        t->turn++;
        t->left -= t->left > 0;
        psthread_monitor_notify(&t->monitor);
    }
    psthread_monitor_leave(&t->monitor);
}
static void test_turns(void **state)
{
    (void)state;
    struct turns t = {.left = 3000};
    run_crew(2, take_turns, &t);
    assert_int_equal(t.left, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_waits), cmocka_unit_test(test_buffer), cmocka_unit_test(test_buffer_monitor),
        cmocka_unit_test(test_broadcast),    cmocka_unit_test(test_signal), cmocka_unit_test(test_turns),
        cmocka_unit_test(test_wrong_use),
    };
    return RUN_ON_VPS(tests, "condition variable and monitor");
}
