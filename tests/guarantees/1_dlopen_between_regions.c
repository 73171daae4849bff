/* Libraries that are opened between two regions. The regions are short and alike, so the runtime keeps them to their
 * parent, and looks around in few of them. The next region's members have the initial values of their thread-local
 * variables, in the blocks that they have had for long. */
#include "check.h"
#include <dlfcn.h>

static void short_regions(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp parallel num_threads(2)
        __asm__ volatile("");
    }
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    short_regions(3000);
    for (int i = 1; i < argc; i++) {
        short_regions(100 + i);
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            fprintf(stderr, "%s\n", dlerror());
        CHECK(library);
        int (*initial)(void) = (int (*)(void))dlsym(library, "library_initial");
        int (*set)(int) = (int (*)(int))dlsym(library, "library_set");
        CHECK(initial && set);
        int right = 0, kept = 0;
#pragma omp parallel num_threads(2) reduction(+ : right, kept)
        if (omp_get_thread_num() == 1) { /* the other one has run the constructor, which has set them */
            right += initial();
            kept += set(i) == i;
        }
        CHECK(right == 1 && kept == 1);
    }
    return 0;
}
