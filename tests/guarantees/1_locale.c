/* Each thread's own locale in nested members: what uselocale set is what conversions use, over barriers, tasks and
 * inner regions. */
#define _GNU_SOURCE
#include "check.h"
#include <locale.h>
#include <wchar.h>

static locale_t utf8, plain;

/* How long "e acute" is in the locale of the calling thread: 2 bytes in UTF-8, not a character in C's own. */
static int length_here(void)
{
    mbstate_t state;
    memset(&state, 0, sizeof state);
    return (int)mbrlen("\xc3\xa9", 2, &state);
}

static void own(int id)
{
    int wanted = id % 2 ? 2 : -1;
    locale_t before = uselocale(id % 2 ? utf8 : plain);
    for (int i = 0; i < 5; i++) {
        CHECK(length_here() == wanted);
#pragma omp barrier
        CHECK(length_here() == wanted);
#pragma omp critical
        CHECK(length_here() == wanted);
    }
    uselocale(before);
}

int main(void)
{
    utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
    plain = newlocale(LC_ALL_MASK, "C", NULL);
    if (!utf8 || !plain) {
        puts("skipped: no locale C.UTF-8");
        return 77;
    }
    omp_set_max_active_levels(2);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(4)
        {
            int outer = omp_get_thread_num();
            own(outer);
            locale_t before = uselocale(outer % 2 ? utf8 : plain);
#pragma omp parallel num_threads(3)
            own(outer + omp_get_thread_num());
            CHECK(length_here() == (outer % 2 ? 2 : -1));
            uselocale(before);
        }
    }
    return 0;
}
