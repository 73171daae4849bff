/* See places.h. */
#include "places.h"

#include "check.h"
#include "ee.h"
#include "os.h"

#include <stdlib.h>
#include <string.h>

__thread uint32_t places_here __attribute__((tls_model("initial-exec")));
/* The mask that the calling kernel thread had before it was bound. */
static __thread struct os_cpuset *own_mask __attribute__((tls_model("initial-exec")));

/* The table of places, set once. A kernel thread is bound while it runs as a bound member. A worker that it makes
 * meanwhile begins with the mask that the maker had before it was bound (worker_new in ee.c). */
static struct {
    unsigned n;
    const unsigned *first, *cpu;
} places;

bool ee_places(unsigned n, const unsigned *first, const unsigned *cpu)
{
    places.first = first;
    places.cpu = cpu;
    places.n = n;
    return n > 0;
}

static void move_to(const struct os_cpuset *mask)
{
    static _Atomic uint32_t said;
    int error = os_affinity_set(mask);
    if (error && !ps_xchg_acq_rel(&said, 1))
        ps_warn("the system does not let a thread be bound to its place (%s): it runs where it may (said once)",
                strerror(error));
}

static void place_mask(uint32_t place, struct os_cpuset *mask)
{
    os_cpuset_zero(mask);
    for (unsigned i = places.first[place - 1]; i < places.first[place]; i++)
        os_cpuset_add(mask, places.cpu[i]);
}

void places_move(uint32_t place)
{
    struct os_cpuset from, to;
    if (!own_mask && (own_mask = malloc(sizeof *own_mask)) == NULL)
        return;
    if (!places_here && os_affinity_get(own_mask))
        os_affinity_at_start(own_mask);
    from = to = *own_mask;
    if (places_here)
        place_mask(places_here, &from);
    if (place)
        place_mask(place, &to);
    if (memcmp(&from, &to, sizeof to) != 0)
        move_to(&to);
    places_here = place;
}

void places_forget(void)
{
    free(own_mask);
    own_mask = NULL;
    places_here = 0;
}
