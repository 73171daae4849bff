/* The state of a process as text. Used by the deadlock report (deadlock.c), by PSTHREADS_DUMP (dump_request.c), and by
 * psrun dump PID, which is another process and compiles this same file.
 *
 * Reads memory by os_read_memory only and knows no structure but by the names in the layout tables, so that one way
 * serves both cases, a process of another build included. Takes no lock, allocates nothing and stops no thread. What
 * moves meanwhile may be seen twice, or half. A pointer that leads nowhere ends what follows it, never the process. Of
 * a process that ends meanwhile nothing can be read: this is not told as if all were 0.
 * Lists are followed up to MOST steps.
 * Callers: any thread, one at a time in a process (the buffers are static).
 *
 * Where a thread waits: the innermost return address on its stack that follows a call instruction and lies in neither
 * the runtime nor the C library. The address is shown as OBJECT+OFFSET for addr2line, with the function's name where
 * the object has one. The dump searches and does not unwind; gdb shows the whole stack (tools/gdb). Rejected: the
 * unwinder of libgcc_s (takes the dynamic linker's lock, and only sees this process). */
#include "dump.h"
#include "quota_park.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debug_layout.h"
#include "os.h"
#include "steal.h"

#define MOST 100000
#define FIELDS_MAX 256
#define MAPS_MAX 1024
#define SCAN_BYTES 16384 /* of a stack, from where it was left */

struct map {
    uintptr_t start, end, offset;
    char path[128];
};

static struct {
    const struct dump_process *process;
    dump_line_fn *line;
    void *context;
    struct ps_debug_field field[FIELDS_MAX], openmp[FIELDS_MAX];
    unsigned num_fields, num_openmp, num_maps;
    struct map map[MAPS_MAX];
    uintptr_t runtime_start, runtime_end; /* of the object that the table is in */
    unsigned waiting;
    char text[768]; /* the line */
} d;

/* --- reading --- */

static int copy(uintptr_t address, void *to, size_t bytes)
{
    return address < 4096 ? EFAULT : os_read_memory(d.process->pid, address, to, bytes);
}

static uint64_t read_target_number(uintptr_t address, size_t bytes)
{
    uint64_t value = 0; /* little-endian, as every processor that the runtime knows */
    return copy(address, &value, bytes) == 0 ? value : 0;
}
static uintptr_t pointer(uintptr_t address) { return (uintptr_t)read_target_number(address, sizeof(uintptr_t)); }
static uint32_t read_target_word(uintptr_t address) { return (uint32_t)read_target_number(address, 4); }

static uintptr_t find_field(const struct ps_debug_field *field, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(field[i].name, name))
            return (uintptr_t)field[i].value;
    return 0;
}
static uintptr_t field_offset(const char *name) { return find_field(d.field, d.num_fields, name); }
/* The field of that name in what is at `at`. */
static uintptr_t pointer_in(uintptr_t at, const char *name) { return pointer(at + field_offset(name)); }
static uint32_t word_in(uintptr_t at, const char *name) { return read_target_word(at + field_offset(name)); }
static uint8_t byte_in(uintptr_t at, const char *name)
{
    return (uint8_t)read_target_number(at + field_offset(name), 1);
}
static uintptr_t openmp_offset(const char *name) { return find_field(d.openmp, d.num_openmp, name); }

static int load_table(uintptr_t address, struct ps_debug_field *field, unsigned *n)
{
    struct ps_debug_layout head;
    int err = copy(address, &head, sizeof head);
    if (err)
        return err;
    if (memcmp(head.magic, PS_DEBUG_MAGIC, sizeof head.magic) != 0 || head.version != PS_DEBUG_VERSION ||
        head.field_size != sizeof *field)
        return EPROTO;
    for (*n = 0; *n < FIELDS_MAX; ++*n) {
        err = copy(address + sizeof head + *n * sizeof *field, &field[*n], sizeof *field);
        if (err || !field[*n].name[0])
            return err;
        field[*n].name[sizeof field->name - 1] = '\0';
    }
    return 0;
}

/* --- writing --- */

#define say(...) (snprintf(d.text, sizeof d.text, __VA_ARGS__), d.line(d.context, d.text))

/* --- where --- */

static void add_map(char *line)
{
    unsigned long start, end, offset;
    int path = 0;
    char mode[8];
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, mode, &offset, &path) < 4 || path == 0)
        return;
    if (strchr(mode, 'x') == NULL || d.num_maps == MAPS_MAX)
        return;
    struct map *map = &d.map[d.num_maps++];
    map->start = start;
    map->end = end;
    map->offset = offset;
    snprintf(map->path, sizeof map->path, "%.*s", (int)sizeof map->path - 1, line + path);
}

static void load_maps(void)
{
    char path[40], buffer[1024];
    size_t used = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", d.process->pid);
    d.num_maps = 0;
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
            used = 0; /* a line longer than any that is wanted */
    }
    close(file);
}

static const struct map *map_at(uintptr_t address)
{
    for (unsigned i = 0; i < d.num_maps; i++)
        if (address >= d.map[i].start && address < d.map[i].end)
            return &d.map[i];
    return NULL;
}

static bool read_file_at(int file, uint64_t offset, void *to, size_t bytes)
{
    return pread(file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* The function around `offset` (a virtual address of the object) in one symbol table. */
static bool name_in(int file, const ElfW(Shdr) * table, const ElfW(Shdr) * strings, uintptr_t address, char *name,
                    size_t bytes)
{
    ElfW(Sym) chunk[64];
    uint64_t found = 0;
    bool some = false;
    for (uint64_t done = 0; done < table->sh_size; done += sizeof chunk) {
        size_t part = table->sh_size - done < sizeof chunk ? table->sh_size - done : sizeof chunk;
        if (!read_file_at(file, table->sh_offset + done, chunk, part))
            break;
        for (size_t i = 0; i < part / sizeof chunk[0]; i++) {
            const ElfW(Sym) *s = &chunk[i];
            if ((s->st_info & 15) == STT_FUNC && s->st_shndx != SHN_UNDEF && address >= s->st_value &&
                address < s->st_value + s->st_size) {
                found = s->st_name;
                some = true;
            }
        }
    }
    if (!some)
        return false;
    memset(name, 0, bytes);
    return pread(file, name, bytes - 1, (off_t)(strings->sh_offset + found)) > 0 && name[0];
}

/* From the file, by its static symbols or else its dynamic ones. */
static bool function_name(const char *path, uintptr_t address, char *name, size_t bytes)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) table, strings;
    bool some = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (read_file_at(file, 0, &head, sizeof head) && !memcmp(head.e_ident, ELFMAG, SELFMAG))
        for (unsigned wanted = SHT_SYMTAB; !some && wanted; wanted = wanted == SHT_SYMTAB ? SHT_DYNSYM : 0)
            for (unsigned i = 0; i < head.e_shnum && !some; i++)
                some = read_file_at(file, head.e_shoff + (uint64_t)i * head.e_shentsize, &table, sizeof table) &&
                       table.sh_type == wanted &&
                       read_file_at(file, head.e_shoff + (uint64_t)table.sh_link * head.e_shentsize, &strings,
                                    sizeof strings) &&
                       name_in(file, &table, &strings, address, name, bytes);
    close(file);
    return some;
}

/* The object's virtual address of what is mapped at `address`. */
static uintptr_t link_address(const struct map *map, uintptr_t address)
{
    uintptr_t offset = address - map->start + map->offset;
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    int file = open(map->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return offset;
    if (read_file_at(file, 0, &head, sizeof head))
        for (unsigned i = 0; i < head.e_phnum; i++)
            if (read_file_at(file, head.e_phoff + (uint64_t)i * head.e_phentsize, &segment, sizeof segment) &&
                segment.p_type == PT_LOAD && offset >= segment.p_offset &&
                offset < segment.p_offset + segment.p_filesz) {
                offset = offset - segment.p_offset + segment.p_vaddr;
                break;
            }
    close(file);
    return offset;
}

static void name_code_place(uintptr_t address, char *text, size_t bytes)
{
    const struct map *map = map_at(address);
    char name[80];
    if (!map) {
        snprintf(text, bytes, "%#lx", (unsigned long)address);
        return;
    }
    uintptr_t in_object = link_address(map, address);
    const char *base = strrchr(map->path, '/');
    int used = snprintf(text, bytes, "%s+%#lx", base ? base + 1 : map->path, (unsigned long)in_object);
    if (function_name(map->path, in_object, name, sizeof name))
        snprintf(text + used, bytes - (size_t)used, " (%s)", name);
}

static bool is_library(const struct map *map)
{
    const char *base = strrchr(map->path, '/');
    base = base ? base + 1 : map->path;
    return (map->start < d.runtime_end && map->end > d.runtime_start) || !strncmp(base, "libc.so", 7) ||
           !strncmp(base, "ld-", 3) || base[0] == '[';
}

static bool follows_call(uintptr_t address)
{
#if defined(__x86_64__)
    uint8_t code[8];
    if (copy(address - sizeof code, code, sizeof code) != 0)
        return false;
    if (code[3] == 0xe8)
        return true;
    for (unsigned i = 1; i < 7; i++) /* call through a register or memory: ff /2, 2 to 7 bytes */
        if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
            return true;
    return false;
#else
    return address % 2 == 0;
#endif
}

/* The innermost frame of the program's on the stack that was left in context ctx. */
static void where(uintptr_t uth, char *text, size_t bytes)
{
    static uintptr_t stack[SCAN_BYTES / sizeof(uintptr_t)];
    uintptr_t sp = pointer_in(uth, "uth.ctx");
    size_t got = sizeof stack;
    snprintf(text, bytes, "an unknown place");
    if (!sp || !field_offset("reg.cfa"))
        return;
    while (got > 256 && copy(sp, stack, got) != 0) /* the stack may end before */
        got /= 2;
    for (size_t i = 0; i < got / sizeof stack[0]; i++) {
        const struct map *map = map_at(stack[i]);
        if (map && !is_library(map) && follows_call(stack[i])) {
            name_code_place(stack[i] - 1, text, bytes);
            return;
        }
    }
}

/* --- threads --- */

static void identity(uintptr_t thread, char *text, size_t bytes)
{
    uintptr_t uth = pointer_in(thread, "psthread.uth"), local = 0, team;
    uint8_t flags = byte_in(thread, "psthread.flags");
    bool root = flags & field_offset("flag.root");
    if (uth || flags & field_offset("flag.member")) /* else it has not begun: its argument stands there */
        local = pointer_in(thread, "psthread.local");
    text[0] = '\0';
    if (d.num_openmp && local && (team = pointer(local + openmp_offset("ort_thread.team"))) != 0)
        snprintf(text, bytes, "OpenMP thread %u of %u, level %u%s",
                 read_target_word(local + openmp_offset("ort_thread.id")),
                 read_target_word(team + openmp_offset("ort_team.n")),
                 read_target_word(team + openmp_offset("ort_team.level")), root ? ", on a root's stack" : "");
    else
        snprintf(text, bytes, root ? "root" : "level %u", word_in(thread, "psthread.level"));
    char name[32] = ""; /* uth.h: the name of the thread on top */
    uintptr_t waits = uth ? pointer_in(uth + field_offset("uth.wait"), "uth_wait.thread") : 0;
    if (uth && (!waits || waits == thread) && field_offset("uth.name") &&
        copy(uth + field_offset("uth.name"), name, sizeof name) == 0 && name[0]) {
        size_t used = strlen(text);
        name[sizeof name - 1] = '\0';
        snprintf(text + used, bytes - used, ", \"%s\"", name);
    }
}

static const char *wait_name(uint32_t kind)
{
    static const struct {
        const char *field, *name;
    } names[] = {{"wait.join", "the end of thread"},
                 {"wait.children", "the end of the threads made by"},
                 {"wait.mutex", "mutex"},
                 {"wait.cond", "condition variable"},
                 {"wait.barrier", "barrier"},
                 {"wait.workqueue", "work queue"},
                 {"wait.word", "OpenMP's word (lock, critical, ordered, task)"},
                 {"wait.team_barrier", "the barrier of team"},
                 {"wait.team_end", "the members of team"},
                 {"wait.sem", "semaphore"},
                 {"wait.rwlock", "read-write lock"},
                 {"wait.fd", "file descriptor"},
                 {"wait.time", "a moment, at"},
                 {"wait.outside", "MPI, request of"}};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (field_offset(names[i].field) == kind)
            return names[i].name;
    return "something";
}

/* A member is linked to others while it waits in its team's barrier, too: until the phase is over. */
static bool is_ready(uintptr_t thread, uintptr_t wait)
{
    if (word_in(wait, "uth_wait.kind") == field_offset("wait.team_barrier")) {
        uint64_t barrier = read_target_number(pointer_in(wait, "uth_wait.object") + field_offset("ps_team.barrier"), 8);
        return (uint32_t)(barrier >> field_offset("barrier.phase_shift")) != word_in(wait, "uth_wait.turn");
    }
    return pointer_in(thread + field_offset("ps_item.link"), "ps_list.next") != 0;
}

/* What is known of the object that a thread waits for. */
static void describe_object(uint32_t kind, uintptr_t object, char *text, size_t bytes)
{
    char who[120];
    text[0] = '\0';
    if (kind == field_offset("wait.join") && byte_in(object, "psthread.state") == field_offset("state.made")) {
        snprintf(text, bytes, " (never enqueued)");
    } else if (kind == field_offset("wait.children")) {
        snprintf(text, bytes, " (%ld left)", (long)read_target_number(object + field_offset("psthread.children"), 8));
    } else if (kind == field_offset("wait.mutex")) {
        uintptr_t holder = pointer_in(object, "ps_mutex.owner");
        if (!(word_in(object, "ps_mutex.state") & field_offset("mutex.locked")))
            return;
        if (!holder) {
            snprintf(text, bytes, " (held by a kernel thread that was no thread of the library yet)");
            return;
        }
        if (byte_in(holder, "psthread.state") >= field_offset("state.ended"))
            snprintf(who, sizeof who, "which has ended");
        else
            identity(holder, who, sizeof who);
        snprintf(text, bytes, " (held by thread %#lx, %s)", (unsigned long)holder, who);
    }
}

/* The threads below `thread` on the stack uth: each waits for the end of the one that it has called there. */
static void say_callers(uintptr_t thread, uintptr_t uth)
{
    for (unsigned steps = 0; steps < MOST && !(byte_in(thread, "psthread.flags") & field_offset("flag.member"));
         steps++) {
        uintptr_t caller = pointer_in(thread, "psthread.join");
        char who[120];
        if (caller <= field_offset("join.last"))
            caller = pointer_in(thread, "psthread.parent");
        if (!caller || pointer_in(caller, "psthread.uth") != uth ||
            byte_in(caller, "psthread.state") != field_offset("state.running"))
            return;
        d.waiting++;
        identity(caller, who, sizeof who);
        say("thread %#lx (%s): waits for the end of thread %#lx, which it has called", (unsigned long)caller, who,
            (unsigned long)thread);
        thread = caller;
    }
}

/* The thread with the context saved on uth, if it waits, and those below it. */
static void say_waiting(uintptr_t uth, uintptr_t pinned)
{
    uintptr_t wait = uth + field_offset("uth.wait"), thread = pointer_in(wait, "uth_wait.thread");
    char who[120], place_text[200], about[160];
    uint32_t kind = word_in(wait, "uth_wait.kind");
    uintptr_t object = pointer_in(wait, "uth_wait.object");
    if (!thread || word_in(uth, "uth.running") || is_ready(thread, wait) || thread == pinned)
        return;
    d.waiting++;
    identity(thread, who, sizeof who);
    where(uth, place_text, sizeof place_text);
    describe_object(kind, object, about, sizeof about);
    say("thread %#lx (%s): waits for %s %#lx%s at %s", (unsigned long)thread, who, wait_name(kind),
        (unsigned long)object, about, place_text);
    say_callers(thread, uth);
}

static uintptr_t vp_at(unsigned i)
{
    return pointer(field_offset("&ps_rt") + field_offset("ps_runtime.vp") + i * sizeof(uintptr_t));
}

static unsigned for_each_stack(void (*each)(uintptr_t uth, uintptr_t pinned))
{
    unsigned stacks = 0, steps = 0, slots = (unsigned)field_offset("uth_chunk.slots");
    for (unsigned i = 0, n = word_in(field_offset("&ps_rt"), "ps_runtime.num_slots"); i < n && i < MOST; i++)
        if (vp_at(i) && word_in(vp_at(i), "vp.attached"))
            each(vp_at(i) + field_offset("vp.native"), pointer_in(vp_at(i), "vp.pinned"));
    for (uintptr_t chunk = field_offset("&uth_registry"); chunk && steps++ < MOST;
         chunk = pointer_in(chunk, "uth_chunk.next"))
        for (unsigned i = 0; i < slots; i++) {
            uintptr_t uth = pointer(chunk + field_offset("uth_chunk.slot") + i * sizeof(uintptr_t));
            if (uth) {
                stacks++;
                each(uth, 0);
            }
        }
    return stacks;
}

static void say_queue(const char *whose, uintptr_t queue)
{
    uintptr_t head = queue + field_offset("ps_queue.items"), node = pointer(head);
    for (unsigned steps = 0; node && node != head && steps < MOST; steps++, node = pointer_in(node, "ps_list.next")) {
        uintptr_t item = node - field_offset("ps_item.link");
        char who[120];
        if (byte_in(item, "ps_item.kind") == field_offset("kind.team")) {
            uint32_t n = word_in(item, "ps_team.n"), next = word_in(item, "ps_team.next");
            say("  %s team %#lx: %u of %u members not begun", whose, (unsigned long)item, next < n ? n - next : 0, n);
        } else {
            identity(item, who, sizeof who);
            say("  %s thread %#lx (%s): ready%s", whose, (unsigned long)item, who,
                pointer_in(item, "psthread.uth") ? "" : ", not begun");
        }
    }
}

/* "l3 12, machine 5"; empty: none. A process of another build may have other levels, or count nothing. */
static void list_thefts(uintptr_t vp, char *text, size_t bytes)
{
    size_t used = 0;
    unsigned levels = (unsigned)field_offset("steal.levels");
    text[0] = '\0';
    for (unsigned i = 0; levels != 0 && levels <= PS_STEAL_LEVELS && i <= levels; i++) {
        unsigned long thefts = read_target_number(vp + field_offset("vp.thefts") + i * sizeof(uint64_t), 8);
        char name[8] = "";
        if (!thefts || used >= bytes)
            continue;
        if (i == levels)
            memcpy(name, "guests", sizeof "guests");
        else
            copy(field_offset("&ps_rt") + field_offset("ps_runtime.level_name") + i * sizeof name, name, sizeof name);
        used += (size_t)snprintf(text + used, bytes - used, "%s%.7s %lu", used ? ", " : "", name[0] ? name : "machine",
                                 thefts);
    }
}

static void say_vp(unsigned i, uintptr_t vp, uint64_t ticks)
{
    uintptr_t current = pointer_in(vp, "vp.current");
    uintptr_t queue = vp + field_offset("vp.queue");
    uint32_t tid = word_in(vp, "vp.tid"), ready = word_in(queue, "ps_queue.count");
    bool parked =
        read_target_number(field_offset("&ps_idle") + field_offset("ps_idle.bits") + i / 64 * 8, 8) >> i % 64 & 1;
    uint64_t handoff = read_target_number(vp + field_offset("vp.handoff"), 8);
    const char *kind = word_in(vp, "vp.special") & field_offset("special.spare") ? "spare"
                       : byte_in(vp, "vp.is_guest")                              ? "guest"
                                                                                 : "regular";
    char who[120] = "", thefts[32 * (PS_STEAL_LEVELS + 1)];
    list_thefts(vp, thefts, sizeof thefts);
    if (!word_in(vp, "vp.attached")) {
        if (word_in(vp, "vp.rest") == PS_RESTS)
            say("vp %u (%s, LWP %u): rests, above what the system allows; %u ready", i, kind, tid, ready);
        else if (thefts[0] || ready)
            say("vp %u (%s): no kernel thread; %u ready", i, kind, ready);
    } else if (current) {
        identity(current, who, sizeof who);
        say("vp %u (%s, LWP %u): runs thread %#lx (%s)%s; %u ready", i, kind, tid, (unsigned long)current, who,
            read_target_number(vp + field_offset("vp.ticks"), 8) == ticks ? ", no scheduling point in the last 20 ms"
                                                                          : "",
            ready);
    } else {
        say("vp %u (%s, LWP %u): %s; %u ready%s", i, kind, tid, parked ? "sleeps" : "looks for work", ready,
            handoff > 1 ? "; a member waits in its handoff slot" : "");
    }
    if (pointer_in(vp, "vp.pinned") && word_in(vp, "vp.rest") == PS_REST_NO)
        say("  its root is ready");
    if (thefts[0])
        say("  steals by distance: %s", thefts);
    say_queue("in its queue:", queue);
}

/* "vp 0, vp 2" */
static void list_homes(uintptr_t place, char *text, size_t bytes)
{
    uintptr_t homes = pointer_in(place, "ps_place.homes");
    unsigned n = word_in(place, "ps_place.num_homes");
    size_t used = (size_t)snprintf(text, bytes, "%s", n ? "" : "none");
    for (unsigned i = 0; i < n && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%svp %u", i ? ", " : "",
                                 (unsigned)read_target_number(homes + i * sizeof(uint16_t), sizeof(uint16_t)));
}

/* The queues of places that have something in them. A process of a build without these fields has none. */
static void say_places(void)
{
    uintptr_t all = pointer_in(field_offset("&ps_rt"), "ps_runtime.places");
    size_t bytes = field_offset("sizeof.ps_place");
    if (!bytes || !field_offset("ps_runtime.places") || !all)
        return;
    bool open = word_in(all, "ps_places.open") != 0;
    uintptr_t first = pointer_in(all, "ps_places.place");
    for (unsigned i = 0, n = word_in(all, "ps_places.n"); i < n && i < MOST; i++) {
        uintptr_t place = first + i * bytes, queue = place + field_offset("ps_place.queue");
        uint32_t ready = word_in(queue, "ps_queue.count");
        char homes[60];
        if (ready == 0)
            continue;
        list_homes(place, homes, sizeof homes);
        say("place %u (at home: %s): %u ready%s", i, homes, ready, open ? "; every vp looks there" : "");
        say_queue("in its queue:", queue);
    }
}

/* --- the whole --- */

static int begin_dump(const struct dump_process *process, dump_line_fn *line, void *context)
{
    d.process = process;
    d.line = line;
    d.context = context;
    d.num_openmp = d.waiting = 0;
    int err = load_table(process->layout, d.field, &d.num_fields);
    if (err)
        return err;
    if (process->openmp)
        load_table(process->openmp, d.openmp, &d.num_openmp);
    load_maps();
    /* The runtime's code: the executable mapping next below its data. */
    d.runtime_start = d.runtime_end = 0;
    for (unsigned i = 0; i < d.num_maps; i++)
        if (d.map[i].start < process->layout && d.map[i].start > d.runtime_start) {
            d.runtime_start = d.map[i].start;
            d.runtime_end = d.map[i].end;
        }
    return 0;
}

/* Still: what was read before is what the process had. */
static bool process_is_there(void)
{
    char magic[sizeof((struct ps_debug_layout *)0)->magic];
    return copy(d.process->layout, magic, sizeof magic) == 0;
}

unsigned dump_waiting(const struct dump_process *process, dump_line_fn *line, void *context)
{
    if (begin_dump(process, line, context) == 0)
        for_each_stack(say_waiting);
    return d.waiting;
}

int dump_state(const struct dump_process *process, dump_line_fn *line, void *context)
{
    static uint64_t ticks[4096];
    int err = begin_dump(process, line, context);
    if (err)
        return err;
    unsigned slots = word_in(field_offset("&ps_rt"), "ps_runtime.num_slots");
    slots = slots < 4096 ? slots : 4096;
    for (unsigned i = 0; i < slots; i++)
        ticks[i] = vp_at(i) ? read_target_number(vp_at(i) + field_offset("vp.ticks"), 8) : 0;
    usleep(20000);
    uint64_t idle = read_target_number(field_offset("&ps_idle") + field_offset("ps_idle.word"), 8);
    uint32_t vps = word_in(field_offset("&ps_rt"), "ps_runtime.num_vps");
    uint32_t spares = word_in(field_offset("&ps_watchdog"), "ps_watchdog.spares");
    bool starves = word_in(field_offset("&ps_watchdog"), "ps_watchdog.starving") != 0;
    bool shares_tls = !byte_in(field_offset("&ps_rt"), "ps_runtime.tls");
    if (!process_is_there())
        return ESRCH;
    say("psthreads: process %d: %u virtual processors, %u slots in use; %u search for work, %u sleep or were never "
        "needed; %u spares%s",
        process->pid, vps, slots, (unsigned)(uint32_t)idle, (unsigned)(idle >> 32), spares,
        starves ? ", something starves" : "");
    if (shares_tls)
        say("threads share their kernel threads' thread-local storage");
    for (unsigned i = 0; i < slots; i++)
        if (vp_at(i))
            say_vp(i, vp_at(i), ticks[i]);
    if (byte_in(field_offset("&ps_rt"), "ps_runtime.has_global"))
        say_queue("in the global queue:", field_offset("&ps_rt") + field_offset("ps_runtime.global"));
    say_places();
    unsigned stacks = for_each_stack(say_waiting);
    if (process_is_there())
        say("%u threads wait; %u stacks", d.waiting, stacks);
    else
        say("the process has ended meanwhile: more than the above is not known");
    return 0;
}
