/* Says which OpenMP runtimes are in the process, and how many threads regions have. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static void print_runtimes(void)
{
    char line[4096], last[4096] = "";
    FILE *f = fopen("/proc/self/maps", "re");
    printf("runtimes:");
    while (f && fgets(line, sizeof line, f)) {
        char *slash = strrchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (slash && (strstr(slash, "gomp") || strstr(slash, "omp.so") || strstr(slash, "omp5.so")) &&
            strcmp(slash, last)) {
            printf(" %s", slash + 1);
            strcpy(last, slash);
        }
    }
    printf("\n");
    if (f)
        fclose(f);
}

int main(void)
{
    int size = 0, came = 0, inner_size = 0, inner_came = 0;
#pragma omp parallel reduction(+ : came) reduction(max : size)
    {
        size = omp_get_num_threads();
        came = 1;
    }
    omp_set_max_active_levels(2);
#pragma omp parallel reduction(+ : inner_came) reduction(+ : inner_size)
    {
        int mine = 0, team = 0;
#pragma omp parallel reduction(+ : mine) reduction(max : team)
        {
            team = omp_get_num_threads();
            mine = 1;
        }
        inner_came = mine;
        inner_size = team;
    }
    print_runtimes();
    printf("threads: %d of %d\nnested: %d of %d\n", came, size, inner_came, inner_size);
    return 0;
}
