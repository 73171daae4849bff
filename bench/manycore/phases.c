/* One nested region for the trace: as many masters as clusters, each with a team of its own. Twice before it, so that
 * caches are filled and teams mapped.
 * Argument: threads of an inner team. Compiled with manycore-cc --phases. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include <manycore.h>

static MC_LOCAL volatile unsigned seen[16];

int main(int argc, char **argv)
{
    unsigned inner = argc > 1 ? (unsigned)atoi(argv[1]) : mc_cores(), clusters = mc_clusters();
    for (int round = 0; round < 3; round++) {
        mc_region("INIT");
#pragma omp parallel num_threads(clusters) proc_bind(spread)
        {
            mc_region("INIT");
#pragma omp parallel num_threads(inner) proc_bind(close)
            seen[mc_core()]++;
            mc_region("BODY");
        }
        mc_region("OUT");
    }
    unsigned sum = 0;
    for (unsigned c = 0; c < clusters; c++)
        for (unsigned i = 0; i < mc_cores(); i++)
            sum += *(volatile unsigned *)mc_global((void *)&seen[i], c);
    if (sum != 3 * clusters * inner) {
        fprintf(stderr, "phases: %u threads checked in, %u expected\n", sum, 3 * clusters * inner);
        return 1;
    }
    return 0;
}
