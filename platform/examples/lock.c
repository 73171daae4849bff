// Test-and-set: all cores of all clusters add to one number in cluster 0's TCDM, each a hundred times.
#include "manycore.h"
#include <stdio.h>

#define DONE 0
static volatile uint32_t lock, sum, cores_done;

static void add(void)
{
    for (int i = 0; i < 100; i++) {
        mc_lock(&lock);
        sum = sum + 1;
        mc_unlock(&lock);
    }
    __atomic_fetch_add(&cores_done, 1, __ATOMIC_SEQ_CST);
}

void mc_main_others(void)
{
    add();
    mc_hws_multicast(1, 1, DONE);
}

int main(void)
{
    add();
    while (cores_done != mc_clusters() * mc_cores())
        mc_hws_wait(DONE);
    printf("%lu\n", (unsigned long)sum);
    return sum != 100 * mc_clusters() * mc_cores();
}
