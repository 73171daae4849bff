/* The smallest OpenMP program. With --rss it tells the memory that it has in the end, in KB. See whole_process.c. */
#include "sample.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int said = 0;
#pragma omp parallel reduction(+ : said)
    said += omp_get_thread_num() >= 0;
    if (argc > 1 && strcmp(argv[1], "--rss") == 0) {
        double kb = (double)sample_resident_bytes() / 1024;
        sample_print("resident", "KB", &kb, 1);
    }
    return said > 0 ? 0 : 1;
}
