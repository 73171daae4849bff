/* What a dump says of the queues of places: nothing while they are empty, their entries and their home while there are
 * some. The one virtual processor is the test's own, so nothing takes what stands in the queue. */
#include "bind.h"
#include "current.h"
#include "debug_layout.h"
#include "dump.h"
#include "os.h"
#include "runtime.h"
#include "team.h"

#include "psthread.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct ps_debug_layout ps_debug_layout;

enum { MEMBERS = 3 };
static struct {
    struct ps_team team;
    struct ps_member member[MEMBERS];
} t __attribute__((aligned(PS_CACHE_LINE)));

static void body(struct ps_member *m) { (void)m; }
static const struct ps_team_ops ops = {.body = body, .assist = body};

static char text[100000];
static void add_line(void *context, const char *line)
{
    size_t used = strlen(text);
    (void)context;
    snprintf(text + used, sizeof text - used, "%s\n", line);
}

static void dump_this_process(void)
{
    const struct dump_process self = {.pid = getpid(), .layout = (uintptr_t)&ps_debug_layout};
    text[0] = '\0';
    int err = dump_state(&self, add_line, NULL);
    if (err == EPERM || err == ENOSYS) /* the system lets no process read a process's memory in this way */
        skip();
    assert_int_equal(err, 0);
    assert_non_null(strstr(text, "vp 0 (regular"));
}

static void entries_of_a_place_are_listed(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 1, .max_spares = PSTHREAD_NO_SPARES};
    const unsigned first[] = {0, 1};
    struct os_cpuset mask;
    unsigned cpu = 0;
    assert_int_equal(os_affinity_get(&mask), 0);
    while (!os_cpuset_has(&mask, cpu))
        cpu++;
    assert_int_equal(psthread_init(&config), 0);
    ps_vp_attach();
    dump_this_process();
    assert_null(strstr(text, "place "));
    assert_true(ps_bind_places(1, first, &cpu));
    dump_this_process();
    assert_null(strstr(text, "place "));
    ps_team_init(&t.team, &ops, t.member, sizeof *t.member, MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        ps_member_bind(&t.member[i], 0);
    ps_team_bind(&t.team, 0, false);
    ps_team_fork(&t.team, MEMBERS, true);
    dump_this_process();
    char *place = strstr(text, "\nplace 0 (at home: vp 0): 1 ready\n  in its queue: team 0x");
    assert_non_null(place);
    assert_non_null(strstr(place, ": 2 of 3 members not begun\n"));
    ps_bind_starving(true);
    dump_this_process();
    assert_non_null(strstr(text, "\nplace 0 (at home: vp 0): 1 ready; every vp looks there\n"));
    ps_bind_starving(false);
    ps_team_join(&t.team);
    dump_this_process();
    assert_null(strstr(text, "place "));
    ps_team_fini(&t.team);
    assert_int_equal(psthread_finalize(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_of_a_place_are_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
