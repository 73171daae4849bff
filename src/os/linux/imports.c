/* Which functions the loaded objects want from others.
 *
 * Does: read the objects' own symbol tables. What an object wants stands in front of what it offers: the hash table has
 * the number of the first symbol that it offers. An old hash table has the number of all symbols. Where it offers none,
 * its relocations tell.
 * Does not: see what is looked up by dlsym. */
#include "loaded_object.h"
#include "os.h"

struct wanted {
    const char *name;
    bool found;
};

static int look_into_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct wanted *w = arg;
    struct ps_loaded object = ps_loaded_of(info);
    (void)bytes;
    w->found = ps_loaded_wants(&object, w->name) != 0;
    return w->found;
}

bool os_objects_want(const char *name)
{
    struct wanted w = {name, false};
    os_objects_visit(look_into_object, &w);
    return w.found;
}
