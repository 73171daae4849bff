/* What the C library keeps for each thread behind calls is the member's own, in a program without thread-local
 * variables too: the loader's last error, texts of unknown errors and signals, texts of addresses. The program does not
 * ask for errno either. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <arpa/inet.h>
#include <dlfcn.h>

#define N 6
#define ROUNDS 5

static void of_the_loader(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < ROUNDS; i++) {
        char name[40];
        int id = omp_get_thread_num();
        snprintf(name, sizeof name, "/nowhere/library%d-%d.so", id, i);
        CHECK(dlopen(name, RTLD_NOW) == NULL);
        wait_in_all_ways();
        const char *text = dlerror();
        CHECK(text && strstr(text, name));
        wait_in_all_ways();
        CHECK(strstr(text, name) && dlerror() == NULL);
        wait_in_all_ways();
        if (id % 2)
            CHECK(dlsym(RTLD_DEFAULT, "no_such_symbol") == NULL);
        wait_in_all_ways();
        CHECK((dlerror() != NULL) == id % 2);
    }
}

static void of_errors(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < ROUNDS; i++) {
        char number[20];
        int error = 1000 * (omp_get_thread_num() + 1) + i;
        snprintf(number, sizeof number, " %d", error);
        const char *text = strerror(error);
        CHECK(strstr(text, number));
        wait_in_all_ways();
        CHECK(strstr(text, number));
    }
}

static void of_signals(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < ROUNDS; i++) {
        char number[20];
        int signal_number = 1000 * (omp_get_thread_num() + 1) + i;
        snprintf(number, sizeof number, " %d", signal_number);
        const char *text = strsignal(signal_number);
        CHECK(strstr(text, number));
        wait_in_all_ways();
        CHECK(strstr(text, number));
    }
}

static void of_addresses(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < ROUNDS; i++) {
        char expected[20];
        int id = omp_get_thread_num();
        struct in_addr address = {htonl(0x0a000000u + 256u * (unsigned)id + (unsigned)i)};
        snprintf(expected, sizeof expected, "10.0.%d.%d", id, i);
        const char *text = inet_ntoa(address);
        CHECK(!strcmp(text, expected));
        wait_in_all_ways();
        CHECK(!strcmp(text, expected));
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"of_the_loader", of_the_loader},
                                           {"of_errors", of_errors},
                                           {"of_signals", of_signals},
                                           {"of_addresses", of_addresses}};

    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
