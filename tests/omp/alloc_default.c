/* The default allocator: OMP_ALLOCATOR, the routines, the threads that a change concerns; the allocate clause. */
#include "check.h"
#include "respawn.h"

static int respawned(const char *mode)
{
    if (strcmp(mode, "high") == 0)
        CHECK(omp_get_default_allocator() == omp_high_bw_mem_alloc);
    else
        CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
    return 0;
}

int main(int argc, char **argv)
{
    char text[4096];
    if (argc > 1)
        return respawned(argv[1]);
    CHECK(respawn(text, sizeof text, "high", "OMP_ALLOCATOR= OMP_high_bw_mem_alloc ", NULL) == 0);
    CHECK(text[0] == '\0');
    CHECK(respawn(text, sizeof text, "default", "OMP_ALLOCATOR=heap", NULL) == 0);
    CHECK(strstr(text, "OMP_ALLOCATOR") != NULL);

    omp_alloctrait_t trait = {omp_atk_alignment, 1024};
    omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 1, &trait);
    omp_set_default_allocator(a);
    CHECK(omp_get_default_allocator() == a);
#pragma omp parallel num_threads(4)
    {
        CHECK(omp_get_default_allocator() == a); /* inherited */
        void *p = omp_alloc(10, omp_null_allocator);
        CHECK((unsigned long)p % 1024 == 0);
        omp_free(p, omp_null_allocator);
        omp_set_default_allocator((omp_allocator_handle_t)(omp_default_mem_alloc + omp_get_thread_num()));
#pragma omp barrier
        CHECK(omp_get_default_allocator() == (omp_allocator_handle_t)(omp_default_mem_alloc + omp_get_thread_num()));
    }
    CHECK(omp_get_default_allocator() == a);
    omp_set_default_allocator(omp_null_allocator);
    CHECK(omp_get_default_allocator() == omp_default_mem_alloc);

    int x = 42;
#pragma omp parallel num_threads(4) firstprivate(x) allocate(a : x)
    {
        CHECK(x == 42 && (unsigned long)&x % 8 == 0);
        x = omp_get_thread_num();
#pragma omp barrier
        CHECK(x == omp_get_thread_num());
    }
    omp_destroy_allocator(a);
    return 0;
}
