/* QEMU's virt machine: a thread a hart, one place, storage of each thread's own, the clock, main memory, arguments, and
 * the exit status. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#define BIG (64u << 20)

static int first = 7, own;
#pragma omp threadprivate(first, own)
static int harts[8];

static unsigned hart(void)
{
    unsigned number;
    __asm__ volatile("csrr %0, mhartid" : "=r"(number));
    return number;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3 && strcmp(argv[1], "one") == 0 && strcmp(argv[2], "two") == 0 && argv[3] == NULL);
    CHECK(omp_get_num_procs() == 8 && omp_get_max_threads() == 8);
    CHECK(omp_get_num_places() == 1 && omp_get_place_num_procs(0) == 8);
    for (int round = 1; round <= 3; round++) {
        float sum = 0;
#pragma omp parallel reduction(+ : sum)
        {
            CHECK(omp_get_num_threads() == 8 && hart() < 8);
            CHECK(round > 1 || (first == 7 && own == 0)); /* the image, and zeros */
            first = own = 100 * round + omp_get_thread_num();
            sum += 0.5f * (float)omp_get_thread_num(); /* each hart has its float registers */
#pragma omp atomic
            harts[hart()]++;
#pragma omp barrier
            CHECK(first == 100 * round + omp_get_thread_num() && own == first);
        }
        CHECK(sum == 14);
        for (int i = 0; i < 8; i++)
            CHECK(harts[i] == round);
    }
    double before = omp_get_wtime();
    usleep(20000);
    CHECK(omp_get_wtime() >= before + 0.02);

    char *big = malloc(BIG);
    CHECK(big != NULL);
    big[0] = big[BIG - 1] = 1;
    CHECK(malloc(0x7f000000) == NULL);
    free(big);
    return 5;
}
