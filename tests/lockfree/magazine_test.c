/* Magazines and their depot: what an owner keeps, what passes to others and in which portions, and that no piece is
 * lost or given out twice. */
#include "magazine.h"

#include "check.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

#define BATCH 4
#define PIECES 100

static struct ps_depot depot;
static struct ps_magazine a, b;
static struct ps_piece pieces[PIECES];
static bool seen[PIECES];

static int set_up(void **state)
{
    (void)state;
    memset(&depot, 0, sizeof depot);
    a = b = (struct ps_magazine){0};
    memset(seen, 0, sizeof seen);
    return 0;
}

static void push_piece(struct ps_magazine *m, struct ps_piece *piece)
{
    if (ps_magazine_push(m, piece, BATCH))
        ps_magazine_spill(m, &depot, BATCH);
}
static void push(struct ps_magazine *m, unsigned i) { push_piece(m, &pieces[i]); }

static void expect(struct ps_piece *piece)
{
    assert_in_range((size_t)(piece - pieces), 0, PIECES - 1);
    assert_false(seen[piece - pieces]);
    seen[piece - pieces] = true;
}

/* All that m and then the depot have. */
static unsigned empty(struct ps_magazine *m)
{
    unsigned n = 0;
    for (; m->free != NULL || ps_magazine_refill(m, &depot, BATCH); n++)
        expect(ps_magazine_pop(m));
    assert_int_equal(m->n, 0);
    return n;
}

static void what_was_used_last_comes_first(void **state)
{
    (void)state;
    push(&a, 0);
    push(&a, 1);
    assert_ptr_equal(ps_magazine_pop(&a), &pieces[1]);
    assert_ptr_equal(ps_magazine_pop(&a), &pieces[0]);
    assert_null(a.free);
    assert_false(ps_magazine_refill(&a, &depot, BATCH));
}

static void a_full_magazine_keeps_the_newest(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * BATCH; i++)
        push(&a, i);
    assert_int_equal(a.n, BATCH);
    assert_int_equal(ps_depot_count(&depot, BATCH), BATCH);
    for (unsigned i = 2 * BATCH; i-- > BATCH;)
        assert_ptr_equal(ps_magazine_pop(&a), &pieces[i]);
    assert_null(a.free);
    assert_true(ps_magazine_refill(&b, &depot, BATCH)); /* another owner gets the others */
    assert_int_equal(b.n, BATCH);
    assert_int_equal(empty(&b), BATCH);
    for (unsigned i = 0; i < BATCH; i++)
        assert_true(seen[i]);
}

static void single_pieces_become_batches(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * BATCH + 1; i++)
        ps_depot_give(&depot, &pieces[i], BATCH);
    assert_int_equal(ps_load_relaxed(&depot.num_batches), 2);
    assert_int_equal(ps_load_relaxed(&depot.num_loose), 1);
    assert_true(ps_magazine_refill(&a, &depot, BATCH));
    assert_int_equal(a.n, BATCH);
    assert_int_equal(empty(&a), 2 * BATCH + 1);
}

static void single_pieces_come_out(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * BATCH; i++)
        ps_depot_give(&depot, &pieces[i], BATCH);
    for (unsigned i = 0; i < 2 * BATCH; i++)
        expect(ps_depot_take(&depot, BATCH));
    assert_null(ps_depot_take(&depot, BATCH));
    assert_int_equal(ps_depot_count(&depot, BATCH), 0);
}

static void an_owner_that_ends_leaves_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PIECES; i++)
        push(&a, i);
    ps_magazine_drain(&a, &depot, BATCH);
    assert_null(a.free);
    assert_int_equal(ps_depot_count(&depot, BATCH), PIECES);
    assert_int_equal(empty(&b), PIECES);
}

static void a_forked_child_forgets(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PIECES; i++)
        push(&a, i);
    ps_spin_lock(&depot.lock); /* by a kernel thread that is gone */
    ps_depot_forget(&depot);
    assert_int_equal(ps_depot_count(&depot, BATCH), 0);
    ps_depot_give(&depot, &pieces[0], BATCH);
    assert_ptr_equal(ps_depot_take(&depot, BATCH), &pieces[0]);
}

/* --- several owners --- */

#define OWNERS 3
#define ROUNDS 20000

/* Takes some, marks each as its own for a while, and gives them back: to its magazine or one by one. */
static void *own(void *arg)
{
    struct ps_magazine m = {0};
    uint32_t held_n = 0, number = (uint32_t)(uintptr_t)arg, random = number;
    struct ps_piece *held[PIECES];
    static _Atomic uint32_t owner[PIECES];
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (next_random(&random) % 2 && held_n < PIECES) {
            if (m.free == NULL && !ps_magazine_refill(&m, &depot, BATCH))
                continue;
            struct ps_piece *piece = ps_magazine_pop(&m);
            uint32_t none = 0;
            PS_CHECK(ps_cas_relaxed(&owner[piece - pieces], &none, number), "a piece was given out twice");
            held[held_n++] = piece;
        } else if (held_n > 0) {
            struct ps_piece *piece = held[--held_n];
            ps_store_relaxed(&owner[piece - pieces], 0);
            if (random / 2 % 8)
                push_piece(&m, piece);
            else
                ps_depot_give(&depot, piece, BATCH);
        }
    }
    while (held_n > 0) {
        ps_store_relaxed(&owner[held[held_n - 1] - pieces], 0);
        push_piece(&m, held[--held_n]);
    }
    ps_magazine_drain(&m, &depot, BATCH);
    return NULL;
}

static void no_piece_is_lost_or_twice(void **state)
{
    (void)state;
    pthread_t threads[OWNERS];
    for (unsigned i = 0; i < PIECES; i++)
        ps_depot_give(&depot, &pieces[i], BATCH);
    for (uintptr_t i = 0; i < OWNERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, own, (void *)(i + 1)),
                         0); // NOLINT(performance-no-int-to-ptr)
    for (unsigned i = 0; i < OWNERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(empty(&a), PIECES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_was_used_last_comes_first, set_up),
        cmocka_unit_test_setup(a_full_magazine_keeps_the_newest, set_up),
        cmocka_unit_test_setup(single_pieces_become_batches, set_up),
        cmocka_unit_test_setup(single_pieces_come_out, set_up),
        cmocka_unit_test_setup(an_owner_that_ends_leaves_all, set_up),
        cmocka_unit_test_setup(a_forked_child_forgets, set_up),
        cmocka_unit_test_setup(no_piece_is_lost_or_twice, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
