/* Reading a process's memory by the names in its tables: see dump_target.h. */
#include "dump_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os.h"

struct dump_target dump_target;

int dump_copy(uintptr_t address, void *to, size_t bytes)
{
    return address < 4096 ? EFAULT : os_read_memory(dump_target.process->pid, address, to, bytes);
}

uint64_t dump_number(uintptr_t address, size_t bytes)
{
    uint64_t value = 0; /* little-endian, like every processor that the runtime supports */
    return dump_copy(address, &value, bytes) == 0 ? value : 0;
}
static uintptr_t find_field(const struct ps_debug_field *field, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(field[i].name, name))
            return (uintptr_t)field[i].value;
    return 0;
}
uintptr_t dump_field(const char *name) { return find_field(dump_target.field, dump_target.num_fields, name); }
uintptr_t dump_openmp_field(const char *name) { return find_field(dump_target.openmp, dump_target.num_openmp, name); }

static int load_table(uintptr_t address, struct ps_debug_field *field, unsigned *n)
{
    struct ps_debug_layout head;
    int err = dump_copy(address, &head, sizeof head);
    if (err)
        return err;
    if (memcmp(head.magic, PS_DEBUG_MAGIC, sizeof head.magic) != 0 || head.version != PS_DEBUG_VERSION ||
        head.field_size != sizeof *field)
        return EPROTO;
    for (*n = 0; *n < DUMP_FIELDS_MAX; ++*n) {
        err = dump_copy(address + sizeof head + *n * sizeof *field, &field[*n], sizeof *field);
        if (err || !field[*n].name[0])
            return err;
        field[*n].name[sizeof field->name - 1] = '\0';
    }
    return 0;
}

static void add_map(char *line)
{
    unsigned long start, end, offset;
    int path = 0;
    char mode[8];
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, mode, &offset, &path) < 4 || path == 0)
        return;
    if (strchr(mode, 'x') == NULL || dump_target.num_maps == DUMP_MAPS_MAX)
        return;
    struct dump_map *map = &dump_target.map[dump_target.num_maps++];
    map->start = start;
    map->end = end;
    map->offset = offset;
    snprintf(map->path, sizeof map->path, "%.*s", (int)sizeof map->path - 1, line + path);
}

static void load_maps(void)
{
    char path[40], buffer[1024];
    size_t used = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", dump_target.process->pid);
    dump_target.num_maps = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    for (ssize_t got; (got = read(file, buffer + used, sizeof buffer - 1 - used)) > 0;) {
        used += (size_t)got;
        buffer[used] = '\0';
        char *line = buffer;
        for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            add_map(line);
        }
        used -= (size_t)(line - buffer);
        memmove(buffer, line, used);
        if (used == sizeof buffer - 1)
            used = 0; /* drops a line that is longer than any needed one */
    }
    close(file);
}

int dump_target_begin(const struct dump_process *process)
{
    struct dump_target *t = &dump_target;
    t->process = process;
    t->num_openmp = 0;
    int err = load_table(process->layout, t->field, &t->num_fields);
    if (err)
        return err;
    if (process->openmp)
        load_table(process->openmp, t->openmp, &t->num_openmp);
    load_maps();
    /* The runtime's code is the last executable mapping before its data. */
    t->runtime_start = t->runtime_end = 0;
    for (unsigned i = 0; i < t->num_maps; i++)
        if (t->map[i].start < process->layout && t->map[i].start > t->runtime_start) {
            t->runtime_start = t->map[i].start;
            t->runtime_end = t->map[i].end;
        }
    return 0;
}

bool dump_target_is_there(void)
{
    char magic[sizeof((struct ps_debug_layout *)0)->magic];
    return dump_copy(dump_target.process->layout, magic, sizeof magic) == 0;
}
