/* Finds the files that a process has mapped: see maps.h. */
#include "maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens the mapped file with the number `inode`. The name is tried in the process's root folder, then in psrun's own.
 * Returns NULL if neither is the file, or it is no ELF file. */
static struct elf *open_mapped(int pid, const char *name, unsigned long inode)
{
    char theirs[4500];
    snprintf(theirs, sizeof theirs, "/proc/%d/root%s", pid, name);
    const char *const names[] = {theirs, name};
    struct elf *e = malloc(sizeof *e);
    for (unsigned i = 0; e && i < 2; i++) {
        if (elf_open(e, names[i]) != ELF_OK)
            continue;
        char *path = e->ino == inode ? strdup(name) : NULL;
        if (path) {
            free(e->path);
            e->path = path;
            return e;
        }
        elf_close(e);
    }
    free(e);
    return NULL;
}

/* A process that has ended, and that its parent has not waited for, has an empty list of maps: then no line is read,
 * and the result is false. */
bool maps_each(int pid, bool (*visit)(void *arg, struct elf *e, uintptr_t start), void *arg)
{
    char path[64], line[4400];
    bool any = false, more = true;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && more && fgets(line, sizeof line, maps)) {
        unsigned long start, offset, inode;
        int name = 0;
        any = true;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%lx-%*x %*s %lx %*s %lu %n", &start, &offset, &inode, &name) < 3 || offset != 0 || !name ||
            line[name] != '/')
            continue;
        struct elf *e = open_mapped(pid, line + name, inode);
        more = !e || visit(arg, e, start);
    }
    if (maps)
        fclose(maps);
    return any;
}
