/* Finds the runtime's folder, from psrun's own place or the one given. See plan_parts.h. */
#include "plan_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Writes the name of the folder of psrun's own file into self. Without /proc it is taken from the name by which psrun
 * was started. */
static bool own_folder(char self[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
    if (n > 0) {
        self[n] = '\0';
    } else {
        const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
        if (!name || !realpath(name, self))
            return false;
    }
    *strrchr(self, '/') = '\0';
    return true;
}

/* Returns the drop-in's folder. For build/bin/psrun that is build/lib/dropin; for prefix/bin/psrun it is
 * prefix/lib/psthreads/dropin. With kernel threads as entities it is dropin-pthreads there. Returns NULL, after
 * plan_fail, if there is no such folder. */
static char *find_dropin_dir(struct plan *p)
{
    char self[PATH_MAX];
    if (!own_folder(self)) {
        plan_fail(p, EXIT_USAGE,
                  "cannot tell where psrun stands (/proc/self/exe: %s); say where the runtime is: --dropin",
                  strerror(errno));
        return NULL;
    }
    static const char *const places[] = {"../lib", "../lib/psthreads"};
    const char *folder = strcmp(p->entities, "pthreads") == 0 ? "dropin-pthreads" : "dropin";
    for (unsigned i = 0; i < 2; i++) {
        char *dir = plan_text("%s/%s/%s", self, places[i], folder);
        char *link = plan_text("%s/" DROPIN_LINK, dir);
        bool there = access(link, R_OK) == 0;
        free(link);
        char *real = there ? realpath(dir, NULL) : NULL;
        free(dir);
        if (real)
            return real;
    }
    plan_fail(p, EXIT_USAGE,
              "there is no %s/" DROPIN_LINK " in %s/%s or %s/%s: build the runtime, or say where it is "
              "(--dropin FOLDER)",
              folder, self, places[0], self, places[1]);
    return NULL;
}

/* Returns the kind of entities of the drop-in in a given folder. User-level threads are recognised by a symbol, all
 * other kinds by the folder's name: dropin-NAME gives NAME. Returns "unknown" for other folders. */
static const char *entities_of(const struct plan *p)
{
    static const char prefix[] = "dropin-";
    const char *leaf = strrchr(p->dropin_dir, '/') + 1;
    if (elf_defines(&p->dropin, "ps_debug_layout", NULL))
        return "psthreads";
    return strncmp(leaf, prefix, sizeof prefix - 1) == 0 ? leaf + sizeof prefix - 1 : "unknown";
}

int plan_open_dropin(struct plan *p, const char *given)
{
    p->dropin_dir = given ? realpath(given, NULL) : find_dropin_dir(p);
    if (!p->dropin_dir)
        return p->status ? p->status : plan_fail(p, EXIT_USAGE, "%s: %s", given, strerror(errno));
    if (strpbrk(p->dropin_dir, ":; \t"))
        return plan_fail(p, EXIT_USAGE,
                         "the folder '%s' cannot be named to the loader (it has a blank, ':' or ';' in its name)",
                         p->dropin_dir);
    char *file = plan_text("%s/" DROPIN_LINK, p->dropin_dir);
    enum elf_status s = elf_open(&p->dropin, file);
    if (s != ELF_OK || (runtime_of(&p->dropin) != RUNTIME_GNU && runtime_of(&p->dropin) != RUNTIME_BOTH))
        plan_fail(p, EXIT_USAGE, "%s is not an OpenMP runtime", file);
    else if (given)
        p->entities = entities_of(p);
    free(file);
    return p->status;
}
