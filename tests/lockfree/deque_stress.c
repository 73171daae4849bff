/* The deque with its owner and thieves at once: every item comes out exactly once, with what was written before its
 * push. */
#include "test.h"

/* Seldom gives the processor away in the middle of pop and steal; on few processors little else would meet there. */
static void window(void);
#define PS_DEQUE_WINDOW() window()

#include "deque.h"
#include "os.h"

#include <stdlib.h>
#include <string.h>

#define THIEVES 3
#define ITEMS 60000
#define RUN_NS UINT64_C(300000000) /* a busy machine, where each yield takes long, comes to fewer items */

struct item {
    unsigned check;         /* plain: written before the push, read by the taker */
    _Atomic unsigned taken; /* how often */
};

static struct ps_deque d;
static struct item *items;
static _Atomic uint32_t all_pushed;
static _Atomic unsigned num_taken;

static bool open_windows;
static bool gets_unfenced; /* the owner says so whenever it may */
static unsigned num_items = ITEMS;
static _Atomic bool fences_refused;
static _Atomic unsigned fences;

/* Linked in the place of the system's. */
bool __real_os_fence_all(void);
bool __wrap_os_fence_all(void);
bool __wrap_os_fence_all(void)
{
    ps_add_relaxed(&fences, 1);
    return !ps_load_relaxed(&fences_refused) && __real_os_fence_all();
}

static void window(void)
{
    static _Thread_local uint32_t random = 2463534242u;
    if (open_windows && next_random(&random) % 32 == 0)
        os_yield();
}

static void take(struct item *i)
{
    if (i->check != (unsigned)(i - items) + 7)
        abort();
    ps_add_relaxed(&i->taken, 1);
    ps_add_relaxed(&num_taken, 1);
}

static void *thief(void *arg)
{
    uintptr_t *stolen = arg;
    for (unsigned fruitless = 0;;) {
        bool last = ps_load_acquire(&all_pushed) != 0; /* before the look */
        struct item *i = ps_deque_steal_if(&d, NULL, NULL);
        if (i != NULL) {
            take(i);
            ++*stolen;
            fruitless = 0;
        } else if (last && ps_deque_seems_empty(&d)) {
            return NULL;
        } else if (++fruitless % 64 == 0) {
            os_yield();
        }
    }
}

/* burst: items pushed in a row at most; pops_of_8: out of 8, how many times the owner pops after that. */
static void run(unsigned burst, unsigned pops_of_8, bool windows)
{
    os_thread t[THIEVES];
    uintptr_t stolen[THIEVES] = {0};
    uint32_t random = 99 + burst;
    unsigned pushed = 0, bursts = 0;
    uint64_t until_ns = os_now_ns() + RUN_NS;
    items = calloc(ITEMS, sizeof *items);
    assert_non_null(items);
    memset(&d, 0, sizeof d);
    ps_store_relaxed(&all_pushed, 0);
    ps_store_relaxed(&num_taken, 0);
    open_windows = windows;
    for (int i = 0; i < THIEVES; i++)
        assert_int_equal(os_thread_start(&t[i], thief, &stolen[i], 0, true), 0);
    while (pushed < num_items && (++bursts % 64 != 0 || os_now_ns() < until_ns)) {
        for (unsigned n = 1 + next_random(&random) % burst; n > 0 && pushed < num_items; n--, pushed++) {
            items[pushed].check = pushed + 7;
            assert_true(ps_deque_push(&d, &items[pushed]));
            if (PS_UNLIKELY(!ps_deque_is_unfenced_owner(&d)))
                ps_deque_fence_owner(&d);
        }
        if (gets_unfenced && ps_deque_is_fenced(&d))
            ps_deque_unfence_owner(&d);
        for (unsigned n = 1 + next_random(&random) % burst; n > 0; n--) {
            if (next_random(&random) % 8 >= pops_of_8)
                continue;
            struct item *i = ps_deque_pop(&d);
            if (i == NULL)
                break;
            take(i);
        }
    }
    struct item *rest;
    while ((rest = ps_deque_pop(&d)) != NULL)
        take(rest);
    ps_deque_fence_owner(&d);
    assert_true(ps_deque_seems_empty(&d)); /* no thread pushes any more: for good */
    ps_store_release(&all_pushed, 1);
    for (int i = 0; i < THIEVES; i++)
        os_thread_join(t[i]);
    assert_int_equal(ps_load_relaxed(&num_taken), pushed);
    for (unsigned i = 0; i < pushed; i++)
        assert_int_equal(ps_load_relaxed(&items[i].taken), 1);
    ps_deque_fini(&d);
    free(items);
}

/* One item at a time: owner and thieves always meet at the last one. */
static void at_the_last_item(void **state)
{
    (void)state;
    run(1, 8, false);
    run(1, 8, true);
}
/* Two items: the owner takes one unchallenged while the thief is at the other. Catches a store to bottom that is
 * late. */
static void at_the_last_but_one(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++)
        run(2, 8, i % 4 == 3);
}
static void short_bursts(void **state)
{
    (void)state;
    run(5, 7, true);
}
static void long_bursts(void **state)
{
    (void)state;
    run(700, 4, true);
}
static void thieves_take_nearly_all(void **state)
{
    (void)state;
    run(40, 1, false);
}

/* An owner that is not at work with the deque answers no thief: the first thief makes the fence, those after it find
 * the deque fenced. */
static void unfenced_owner_away(void **state)
{
    (void)state;
    static struct item some[3];
    if (!os_fence_all_ready())
        skip();
    ps_store_relaxed(&fences_refused, false);
    memset(&d, 0, sizeof d);
    for (int i = 0; i < 3; i++)
        assert_true(ps_deque_push(&d, &some[i]));
    ps_deque_unfence_owner(&d);
    assert_true(ps_deque_is_unfenced_owner(&d));
    unsigned before = ps_load_relaxed(&fences);
    assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), &some[0]);
    assert_int_equal(ps_load_relaxed(&fences), before + 1);
    assert_false(ps_deque_is_unfenced_owner(&d));
    assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), &some[1]);
    assert_int_equal(ps_load_relaxed(&fences), before + 1);
    ps_deque_unfence_owner(&d);
    assert_ptr_equal(ps_deque_pop(&d), &some[2]);
    assert_null(ps_deque_steal_if(&d, NULL, NULL)); /* nothing there: no thread is troubled */
    assert_true(ps_deque_is_unfenced_owner(&d));
    ps_deque_fini(&d);
}

/* The tests above with an owner that has no fence of its own but when it must; then with thieves that have only its
 * answer to wait for. */
static void unfenced(void **state)
{
    if (!os_fence_all_ready())
        skip();
    gets_unfenced = true;
    for (int refused = 0; refused < 2; refused++) {
        num_items = refused ? ITEMS / 100 : ITEMS; /* then everybody yields a lot */
        ps_store_relaxed(&fences_refused, refused);
        at_the_last_but_one(state);
        at_the_last_item(state);
        short_bursts(state);
        thieves_take_nearly_all(state);
    }
    num_items = ITEMS;
    ps_store_relaxed(&fences_refused, false);
    gets_unfenced = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_last_item),
        cmocka_unit_test(at_the_last_but_one),
        cmocka_unit_test(short_bursts),
        cmocka_unit_test(long_bursts),
        cmocka_unit_test(thieves_take_nearly_all),
        cmocka_unit_test(unfenced),
        cmocka_unit_test(unfenced_owner_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
