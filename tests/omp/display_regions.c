/* For display_beside.py: with "regions", the same region twice and a wider one, so that OMP_DISPLAY_AFFINITY has
 * something to show. Not nested: libgomp makes an inner team's threads anew each time, and shows them again each
 * time. */
#include <string.h>

#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = {2, 2, 4};
    int members = 0;
    if (argc < 2 || strcmp(argv[1], "regions") != 0)
        return 0;
    omp_set_dynamic(0);
    for (int i = 0; i < 3; i++)
#pragma omp parallel num_threads(sizes[i]) reduction(+ : members)
        members++;
    CHECK(members == 8);
    return 0;
}
