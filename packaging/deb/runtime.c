/* Which OpenMP runtime runs this: the file of the library that answers. Built by the packages' test. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    Dl_info info;
    if (sum != 10 || !dladdr(dlsym(RTLD_DEFAULT, "omp_get_thread_num"), &info))
        return 1;
    puts(info.dli_fname);
    return 0;
}
