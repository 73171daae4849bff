/* The dynamic linker's lock is one thread's: constructors and destructors of libraries that members load and unload,
 * and the callbacks of dl_iterate_phdr, run one at a time, and no thread gets a library whose constructor is still at
 * work. 9_loader computing|blocked|runtime LIBRARY LIBRARY LIBRARY LIBRARY [loaded|KIND] */
#define _GNU_SOURCE
#include "contend.h"
#include "slow_library.h"
#include <dlfcn.h>
#include <link.h>

#define MEMBERS 4

static char **path;
static void *handle[MEMBERS];
static enum { QUICK, CONSTRUCTORS, DESTRUCTORS } slow;

void library_begins(int *constructed)
{
    if (slow == CONSTRUCTORS)
        contend_stay();
    *constructed = 1;
}

void library_ends(int *constructed)
{
    *constructed = 0;
    if (slow == DESTRUCTORS)
        contend_stay();
}

static void check_constructed(void *library)
{
    int (*constructed)(void) = (int (*)(void))dlsym(library, "library_constructed");
    CHECK(constructed && constructed() == 1);
}

static void open_own(void)
{
    int id = omp_get_thread_num();
    CHECK((handle[id] = dlopen(path[id], RTLD_NOW | RTLD_LOCAL)) != NULL);
    check_constructed(handle[id]);
}

static void open_same(void)
{
    int id = omp_get_thread_num();
    CHECK((handle[id] = dlopen(path[0], RTLD_LAZY | RTLD_LOCAL)) != NULL);
    check_constructed(handle[id]);
}

static void close_own(void)
{
    int id = omp_get_thread_num();
    CHECK(dlclose(handle[id]) == 0);
    handle[id] = NULL;
}

static int stay_once(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)info, (void)bytes, (void)arg;
    contend_stay();
    return 1;
}

static void iterate(void) { CHECK(dl_iterate_phdr(stay_once, NULL) == 1); }

static int count_objects(struct dl_phdr_info *info, size_t bytes, void *n)
{
    (void)info, (void)bytes;
    ++*(int *)n;
    return 0;
}

static void open_or_look(void)
{
    int id = omp_get_thread_num(), objects = 0;
    if (id == contend.owner) {
        open_own();
        return;
    }
    CHECK(dlsym(RTLD_DEFAULT, "library_begins") == (void *)library_begins);
    CHECK(dl_iterate_phdr(count_objects, &objects) == 0 && objects >= 3);
    CHECK((handle[id] = dlopen(path[id == 0 ? contend.owner : id], RTLD_NOW | RTLD_LOCAL)) != NULL);
    check_constructed(handle[id]);
}

static void close_all(void)
{
    slow = QUICK;
    for (int i = 0; i < MEMBERS; i++) {
        if (handle[i])
            dlclose(handle[i]);
        handle[i] = NULL;
    }
    slow = CONSTRUCTORS;
}

static void open_all(void)
{
    close_all();
    slow = QUICK;
    for (int i = 0; i < MEMBERS; i++)
        CHECK((handle[i] = dlopen(path[i], RTLD_NOW)) != NULL);
    slow = DESTRUCTORS;
}

static const struct kind {
    const char *name;
    void (*before)(void), (*visit)(void);
} kinds[] = {{"constructors", close_all, open_own},
             {"constructor_of_all", close_all, open_same},
             {"constructor_and_lookups", close_all, open_or_look},
             {"destructors", open_all, close_own},
             {"dl_iterate_phdr", close_all, iterate}};

static enum contend_hold hold;
static const char *name(int i) { return kinds[i].name; }
static void run(int i)
{
    contend_rounds(MEMBERS, 4, hold, kinds[i].before, kinds[i].visit);
    close_all();
}

int main(int argc, char **argv)
{
    CHECK(argc >= 6);
    path = argv + 2;
    const char *only = contend_arguments(argc, argv, 5, &hold);
    in_a_process_each(sizeof kinds / sizeof kinds[0], name, run, only);
    return 0;
}
