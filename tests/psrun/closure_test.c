/* closure_test DROPIN-FOLDER FOLDER-OF-PROGRAMS: where a program's closure is read without the loader, the loader says
 * the same of it: the same files, by the same names, in the same order. Other programs are left to the loader. */
#include "closure.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, PROGRAMS_MAX = 1000 };

static bool is_same_object(const struct object *a, const struct object *b)
{
    return strcmp(a->name, b->name) == 0 && b->found && a->elf.dev == b->elf.dev && a->elf.ino == b->elf.ino &&
           strcmp(a->elf.path, b->elf.path) == 0 && a->runtime == b->runtime && a->ours == b->ours;
}

/* Object 0 is the program, which the loader is told by its real name. */
static bool is_same(const struct closure *a, const struct closure *b, const char *program)
{
    bool same = a->num == b->num;
    for (unsigned i = 1; same && i < a->num; i++)
        same = is_same_object(a->object[i], b->object[i]);
    for (unsigned i = 1; !same && i < (a->num > b->num ? a->num : b->num); i++)
        printf("%s: %u: %s, the loader: %s\n", program, i, i < a->num ? a->object[i]->elf.path : "-",
               i < b->num ? (b->object[i]->found ? b->object[i]->elf.path : b->object[i]->name) : "-");
    return same;
}

/* With another variable of the loader's set, the same program is left to it. */
static bool heeds_variables(const char *interp, const char *program, const char *folder, const struct elf *dropin)
{
    static const char *const names[] = {"LD_AUDIT", "LD_BIND_NOW", "LD_NOBODY_KNOWS", "GLIBC_TUNABLES"};
    bool all = true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct closure c;
        setenv(names[i], "", 1);
        if (closure_read(&c, interp, program, folder, dropin)) {
            printf("%s: read with %s set\n", program, names[i]);
            closure_free(&c);
            all = false;
        }
        unsetenv(names[i]);
    }
    return all;
}

int main(int argc, char **argv)
{
    struct elf dropin;
    char path[PATH_MAX];
    DIR *programs = argc == 3 ? opendir(argv[2]) : NULL;
    snprintf(path, sizeof path, "%s/libgomp.so.1", argc == 3 ? argv[1] : "");
    if (!programs || elf_open(&dropin, path) != ELF_OK) {
        fprintf(stderr, "closure_test DROPIN-FOLDER FOLDER-OF-PROGRAMS\n");
        return 2;
    }
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("LD_PRELOAD");
    unsigned read = 0, asked = 0, wrong = 0;
    for (struct dirent *d; read + asked < PROGRAMS_MAX && (d = readdir(programs));) {
        struct elf e;
        struct closure ours, loaders;
        snprintf(path, sizeof path, "%s/%s", argv[2], d->d_name);
        if (elf_open(&e, path) != ELF_OK)
            continue;
        if (e.interp && !closure_read(&ours, e.interp, path, argv[1], &dropin)) {
            asked++;
        } else if (e.interp) {
            if (closure_trace(&loaders, e.interp, path, argv[1], "", &dropin) == 0) {
                wrong += !is_same(&ours, &loaders, path);
                closure_free(&loaders);
            }
            wrong += read++ == 0 && !heeds_variables(e.interp, path, argv[1], &dropin);
            closure_free(&ours);
        }
        elf_close(&e);
    }
    closedir(programs);
    elf_close(&dropin);
    printf("closure_test: %u programs read, %u left to the loader, %u wrong\n", read, asked, wrong);
    if (read == 0)
        return access("/etc/ld.so.cache", R_OK) == 0 ? 1 : SKIPPED;
    return wrong ? 1 : 0;
}
