/* Prepares the lists of victims. See victims.h. */
#include "victims.h"

#include "os.h"
#include "psthread.h"
#include "run.h"
#include "runtime.h"
#include "steal.h"

#include <errno.h>
#include <string.h>

/* The sizes of the user's groups, innermost level first, and the number of levels: 0 if the user gave none. */
static unsigned group_size[OS_MAX_LEVELS], num_levels;
/* 1: the lists are prepared, or a thread has begun to prepare them. */
static _Atomic uint32_t victims_prepared;
static uint16_t *victim_orders; /* the lists of all vps, one behind the other; written by the preparing thread */
#define ORDERS_BYTES(n) ((size_t)(n) * (n) * sizeof(uint16_t))

int victims_read_groups(const psthread_config_t *config, unsigned num_vps)
{
    unsigned levels = config ? config->num_levels : 0;
    if (levels > OS_MAX_LEVELS || (levels && !config->group_size))
        return EINVAL;
    for (unsigned i = 0; i < levels; i++) {
        unsigned size = config->group_size[i];
        if (!size || size > num_vps || (i && size < config->group_size[i - 1]))
            return EINVAL;
        group_size[i] = size;
    }
    num_levels = levels;
    return 0;
}

/* Names the levels of distance for reports (ps_rt.level_name). */
static void name_levels(const struct os_topology *topo)
{
    char(*name)[sizeof ps_rt.level_name[0]] = ps_rt.level_name;
    memset(name, 0, sizeof ps_rt.level_name);
    for (unsigned i = 0; i < num_levels; i++) {
        memcpy(name[i], "group", sizeof "group");
        name[i][sizeof "group" - 1] = (char)('1' + i);
    }
    if (!num_levels) {
        memcpy(name[0], "cpu", sizeof "cpu");
        for (unsigned i = 0; i + 1 < topo->num_levels; i++)
            strncpy(name[i + 1], topo->level[i].kind, sizeof name[0] - 1);
    }
    memcpy(name[PS_STEAL_LEVELS - 1], "machine", sizeof "machine");
}

bool ps_victims_prepared(void) { return ps_load_relaxed(&victims_prepared); }

void ps_prepare_victims(void)
{
    uint32_t no = 0;
    unsigned n = ps_rt.num_vps;
    if (PS_LIKELY(ps_load_relaxed(&victims_prepared)) || !ps_cas_acq_rel(&victims_prepared, &no, 1) || n <= 2)
        return;
    uint16_t *orders = os_map(ORDERS_BYTES(n));
    if (!orders)
        return;
    victim_orders = orders;
    struct os_topology topo;
    bool have_topo = !num_levels && os_topology_read(&topo) != ENOMEM;
    for (unsigned id = 0; id < n; id++) {
        uint16_t *order = orders + (size_t)id * n;
        if (num_levels)
            ps_steal_order(id, n, group_size, num_levels, order, vp_thief(ps_vp_at(id))->victims_end);
        else if (have_topo)
            ps_steal_order_topology(id, n, &topo, order, vp_thief(ps_vp_at(id))->victims_end);
        else
            break;
        ps_store_release(&vp_thief(ps_vp_at(id))->victims, order);
    }
    if (num_levels || have_topo)
        name_levels(&topo);
    if (have_topo)
        os_topology_free(&topo);
}

bool victims_are_given(void) { return num_levels != 0; }

void victims_reset(void) { ps_store_relaxed(&victims_prepared, 0); }

void victims_forget(void)
{
    if (victim_orders)
        os_unmap(victim_orders, ORDERS_BYTES(ps_rt.num_vps));
    victim_orders = NULL;
}
