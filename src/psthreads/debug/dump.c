/* The state of a process as text. Used by the deadlock report (deadlock.c), by PSTHREADS_DUMP (dump_request.c), and by
 * psrun dump PID: psrun compiles the same files, and reads another process.
 *
 * Memory is read as dump_target.h says. The process runs on meanwhile, so an object that moves may be shown twice, or
 * half. A pointer that leads nowhere ends that list, never the process that reads. If the process that is read ends
 * meanwhile, dump_state returns ESRCH, or its last line says so. Lists are followed up to MOST steps. Callers: any
 * thread, one at a time in a process. */
#include "dump.h"
#include "dump_target.h"
#include "quota_park.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os.h"
#include "steal.h"

#define MOST 100000

static struct {
    dump_line_fn *line;
    void *context;
    unsigned waiting;
    char text[768]; /* the line that is written */
} d;

static uintptr_t pointer(uintptr_t address) { return (uintptr_t)dump_number(address, sizeof(uintptr_t)); }
static uint32_t read_target_word(uintptr_t address) { return (uint32_t)dump_number(address, 4); }
/* The next three read the field `name` of the structure at address `at`. */
static uintptr_t pointer_in(uintptr_t at, const char *name) { return pointer(at + dump_field(name)); }
static uint32_t word_in(uintptr_t at, const char *name) { return read_target_word(at + dump_field(name)); }
static uint8_t byte_in(uintptr_t at, const char *name) { return (uint8_t)dump_number(at + dump_field(name), 1); }

#define say(...) (snprintf(d.text, sizeof d.text, __VA_ARGS__), d.line(d.context, d.text))

/* --- threads --- */

static void identity(uintptr_t thread, char *text, size_t bytes)
{
    uintptr_t uth = pointer_in(thread, "psthread.uth"), local = 0, team;
    uint8_t flags = byte_in(thread, "psthread.flags");
    bool root = flags & dump_field("flag.root");
    /* otherwise the thread has not begun, and `local` holds its argument */
    if (uth || flags & dump_field("flag.member"))
        local = pointer_in(thread, "psthread.local");
    text[0] = '\0';
    if (dump_target.num_openmp && local && (team = pointer(local + dump_openmp_field("ort_thread.team"))) != 0)
        snprintf(text, bytes, "OpenMP thread %u of %u, level %u%s",
                 read_target_word(local + dump_openmp_field("ort_thread.id")),
                 read_target_word(team + dump_openmp_field("ort_team.n")),
                 read_target_word(team + dump_openmp_field("ort_team.level")), root ? ", on a root's stack" : "");
    else
        snprintf(text, bytes, root ? "root" : "level %u", word_in(thread, "psthread.level"));
    char name[32] = ""; /* uth.h: a stack has the name of the innermost thread that runs on it */
    uintptr_t waits = uth ? pointer_in(uth + dump_field("uth.wait"), "uth_wait.thread") : 0;
    if (uth && (!waits || waits == thread) && dump_field("uth.name") &&
        dump_copy(uth + dump_field("uth.name"), name, sizeof name) == 0 && name[0]) {
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
        if (dump_field(names[i].field) == kind)
            return names[i].name;
    return "something";
}

/* Returns whether `thread`, which has waited, is ready already. A ready thread is in a queue, so its link is set. The
 * link of a member that waits in its team's barrier is set, too: it is ready once the barrier's phase is over. */
static bool is_ready(uintptr_t thread, uintptr_t wait)
{
    if (word_in(wait, "uth_wait.kind") == dump_field("wait.team_barrier")) {
        uint64_t barrier = dump_number(pointer_in(wait, "uth_wait.object") + dump_field("ps_team.barrier"), 8);
        return (uint32_t)(barrier >> dump_field("barrier.phase_shift")) != word_in(wait, "uth_wait.turn");
    }
    return pointer_in(thread + dump_field("ps_item.link"), "ps_list.next") != 0;
}

/* Writes what is known of the object that a thread waits for. */
static void describe_object(uint32_t kind, uintptr_t object, char *text, size_t bytes)
{
    char who[120];
    text[0] = '\0';
    if (kind == dump_field("wait.join") && byte_in(object, "psthread.state") == dump_field("state.made")) {
        snprintf(text, bytes, " (never enqueued)");
    } else if (kind == dump_field("wait.children")) {
        snprintf(text, bytes, " (%ld left)", (long)dump_number(object + dump_field("psthread.children"), 8));
    } else if (kind == dump_field("wait.mutex")) {
        uintptr_t holder = pointer_in(object, "ps_mutex.owner");
        if (!(word_in(object, "ps_mutex.state") & dump_field("mutex.locked")))
            return;
        if (!holder) {
            snprintf(text, bytes, " (held by a kernel thread that was no thread of the library yet)");
            return;
        }
        if (byte_in(holder, "psthread.state") >= dump_field("state.ended"))
            snprintf(who, sizeof who, "which has ended");
        else
            identity(holder, who, sizeof who);
        snprintf(text, bytes, " (held by thread %#lx, %s)", (unsigned long)holder, who);
    }
}

/* Lists the threads whose frames are below those of `thread` on the stack uth. Each of them has called the thread above
 * it, and waits until that thread ends. */
static void say_callers(uintptr_t thread, uintptr_t uth)
{
    for (unsigned steps = 0; steps < MOST && !(byte_in(thread, "psthread.flags") & dump_field("flag.member"));
         steps++) {
        uintptr_t caller = pointer_in(thread, "psthread.join");
        char who[120];
        if (caller <= dump_field("join.last"))
            caller = pointer_in(thread, "psthread.parent");
        if (!caller || pointer_in(caller, "psthread.uth") != uth ||
            byte_in(caller, "psthread.state") != dump_field("state.running"))
            return;
        d.waiting++;
        identity(caller, who, sizeof who);
        say("thread %#lx (%s): waits for the end of thread %#lx, which it has called", (unsigned long)caller, who,
            (unsigned long)thread);
        thread = caller;
    }
}

/* Lists the thread whose context is saved on uth, if it waits, and the threads below it on that stack. pinned: the
 * thread that is ready in the vp's pinned slot. */
static void say_waiting(uintptr_t uth, uintptr_t pinned)
{
    uintptr_t wait = uth + dump_field("uth.wait"), thread = pointer_in(wait, "uth_wait.thread");
    char who[120], place_text[200], about[160];
    uint32_t kind = word_in(wait, "uth_wait.kind");
    uintptr_t object = pointer_in(wait, "uth_wait.object");
    if (!thread || word_in(uth, "uth.running") || is_ready(thread, wait) || thread == pinned)
        return;
    d.waiting++;
    identity(thread, who, sizeof who);
    dump_where(uth, place_text, sizeof place_text);
    describe_object(kind, object, about, sizeof about);
    say("thread %#lx (%s): waits for %s %#lx%s at %s", (unsigned long)thread, who, wait_name(kind),
        (unsigned long)object, about, place_text);
    say_callers(thread, uth);
}

static uintptr_t vp_at(unsigned i)
{
    return pointer(dump_field("&ps_rt") + dump_field("ps_runtime.vp") + i * sizeof(uintptr_t));
}

static unsigned for_each_stack(void (*each)(uintptr_t uth, uintptr_t pinned))
{
    unsigned stacks = 0, steps = 0, slots = (unsigned)dump_field("uth_chunk.slots");
    for (unsigned i = 0, n = word_in(dump_field("&ps_rt"), "ps_runtime.table_size"); i < n && i < MOST; i++)
        if (vp_at(i) && word_in(vp_at(i), "vp.attached"))
            each(vp_at(i) + dump_field("vp.native"), pointer_in(vp_at(i), "vp.pinned"));
    for (uintptr_t chunk = dump_field("&uth_registry"); chunk && steps++ < MOST;
         chunk = pointer_in(chunk, "uth_chunk.next"))
        for (unsigned i = 0; i < slots; i++) {
            uintptr_t uth = pointer(chunk + dump_field("uth_chunk.slot") + i * sizeof(uintptr_t));
            if (uth) {
                stacks++;
                each(uth, 0);
            }
        }
    return stacks;
}

static void say_queue(const char *whose, uintptr_t queue)
{
    uintptr_t head = queue + dump_field("ps_queue.items"), node = pointer(head);
    for (unsigned steps = 0; node && node != head && steps < MOST; steps++, node = pointer_in(node, "ps_list.next")) {
        uintptr_t item = node - dump_field("ps_item.link");
        char who[120];
        if (byte_in(item, "ps_item.kind") == dump_field("kind.team")) {
            uint32_t n = word_in(item, "ps_team.n"), next = word_in(item, "ps_team.next");
            say("  %s team %#lx: %u of %u members not begun", whose, (unsigned long)item, next < n ? n - next : 0, n);
        } else {
            identity(item, who, sizeof who);
            say("  %s thread %#lx (%s): ready%s", whose, (unsigned long)item, who,
                pointer_in(item, "psthread.uth") ? "" : ", not begun");
        }
    }
}

/* Writes how many thefts a vp has made at each level, as "l3 12, machine 5"; an empty text if it has made none. A
 * process of another build may have other levels, or no counters: then the text is empty, too. */
static void list_thefts(uintptr_t vp, char *text, size_t bytes)
{
    size_t used = 0;
    unsigned levels = (unsigned)dump_field("steal.levels");
    text[0] = '\0';
    for (unsigned i = 0; levels != 0 && levels <= PS_STEAL_LEVELS && i <= levels; i++) {
        unsigned long thefts = dump_number(vp + dump_field("vp.thefts") + i * sizeof(uint64_t), 8);
        char name[8] = "";
        if (!thefts || used >= bytes)
            continue;
        if (i == levels)
            memcpy(name, "guests", sizeof "guests");
        else
            dump_copy(dump_field("&ps_rt") + dump_field("ps_runtime.level_name") + i * sizeof name, name, sizeof name);
        used += (size_t)snprintf(text + used, bytes - used, "%s%.7s %lu", used ? ", " : "", name[0] ? name : "machine",
                                 thefts);
    }
}

static void say_vp(unsigned i, uintptr_t vp, uint64_t ticks)
{
    uintptr_t current = pointer_in(vp, "vp.current");
    uintptr_t queue = vp + dump_field("vp.queue");
    uint32_t tid = word_in(vp, "vp.tid"), ready = word_in(queue, "ps_queue.count");
    bool parked = dump_number(dump_field("&ps_idle") + dump_field("ps_idle.bits") + i / 64 * 8, 8) >> i % 64 & 1;
    uint64_t handoff = dump_number(vp + dump_field("vp.handoff"), 8);
    const char *kind = word_in(vp, "vp.special") & dump_field("special.spare") ? "spare"
                       : byte_in(vp, "vp.is_guest")                            ? "guest"
                                                                               : "regular";
    char who[120] = "", thefts[32 * (PS_STEAL_LEVELS + 1)];
    list_thefts(vp, thefts, sizeof thefts);
    if (!word_in(vp, "vp.attached")) {
        if (word_in(vp, "vp.offline") == PS_OFFLINE)
            say("vp %u (%s, LWP %u): offline, above what the system allows; %u ready", i, kind, tid, ready);
        else if (thefts[0] || ready)
            say("vp %u (%s): no kernel thread; %u ready", i, kind, ready);
    } else if (current) {
        identity(current, who, sizeof who);
        say("vp %u (%s, LWP %u): runs thread %#lx (%s)%s; %u ready", i, kind, tid, (unsigned long)current, who,
            dump_number(vp + dump_field("vp.ticks"), 8) == ticks ? ", no scheduling point in the last 20 ms" : "",
            ready);
    } else {
        say("vp %u (%s, LWP %u): %s; %u ready%s", i, kind, tid, parked ? "sleeps" : "looks for work", ready,
            handoff > 1 ? "; a member waits in its handoff slot" : "");
    }
    if (pointer_in(vp, "vp.pinned") && word_in(vp, "vp.offline") == PS_ONLINE)
        say("  its root is ready");
    if (thefts[0])
        say("  steals by distance: %s", thefts);
    say_queue("in its queue:", queue);
}

/* Writes the vps of a place, as "vp 0, vp 2". */
static void list_homes(uintptr_t place, char *text, size_t bytes)
{
    uintptr_t homes = pointer_in(place, "ps_place.homes");
    unsigned n = word_in(place, "ps_place.num_homes");
    size_t used = (size_t)snprintf(text, bytes, "%s", n ? "" : "none");
    for (unsigned i = 0; i < n && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%svp %u", i ? ", " : "",
                                 (unsigned)dump_number(homes + i * sizeof(uint16_t), sizeof(uint16_t)));
}

/* Lists the queues of places that are not empty. A process of a build without these fields has none. */
static void say_places(void)
{
    uintptr_t all = pointer_in(dump_field("&ps_rt"), "ps_runtime.places");
    size_t bytes = dump_field("sizeof.ps_place");
    if (!bytes || !dump_field("ps_runtime.places") || !all)
        return;
    bool open = word_in(all, "ps_places.open") != 0;
    uintptr_t first = pointer_in(all, "ps_places.place");
    for (unsigned i = 0, n = word_in(all, "ps_places.n"); i < n && i < MOST; i++) {
        uintptr_t place = first + i * bytes, queue = place + dump_field("ps_place.queue");
        uint32_t ready = word_in(queue, "ps_queue.count");
        char homes[60];
        if (ready == 0)
            continue;
        list_homes(place, homes, sizeof homes);
        say("place %u (at home: %s): %u ready%s", i, homes, ready, open ? "; every vp looks there" : "");
        say_queue("in its queue:", queue);
    }
}

/* --- the whole state --- */

static int begin_dump(const struct dump_process *process, dump_line_fn *line, void *context)
{
    d.line = line;
    d.context = context;
    d.waiting = 0;
    return dump_target_begin(process);
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
    unsigned all = word_in(dump_field("&ps_rt"), "ps_runtime.table_size");
    all = all < 4096 ? all : 4096;
    for (unsigned i = 0; i < all; i++)
        ticks[i] = vp_at(i) ? dump_number(vp_at(i) + dump_field("vp.ticks"), 8) : 0;
    usleep(20000);
    uint64_t idle = dump_number(dump_field("&ps_idle") + dump_field("ps_idle.word"), 8);
    uint32_t vps = word_in(dump_field("&ps_rt"), "ps_runtime.num_vps");
    uint32_t spares = word_in(dump_field("&ps_watchdog"), "ps_watchdog.spares");
    bool starves = word_in(dump_field("&ps_watchdog"), "ps_watchdog.starving") != 0;
    bool shares_tls = !byte_in(dump_field("&ps_rt"), "ps_runtime.tls");
    if (!dump_target_is_there())
        return ESRCH;
    say("psthreads: process %d: %u virtual processors, %u vps in all; %u search for work, %u sleep or were never "
        "needed; %u spares%s",
        process->pid, vps, all, (unsigned)(uint32_t)idle, (unsigned)(idle >> 32), spares,
        starves ? ", something starves" : "");
    if (shares_tls)
        say("threads share their kernel threads' thread-local storage");
    for (unsigned i = 0; i < all; i++)
        if (vp_at(i))
            say_vp(i, vp_at(i), ticks[i]);
    if (byte_in(dump_field("&ps_rt"), "ps_runtime.has_global"))
        say_queue("in the global queue:", dump_field("&ps_rt") + dump_field("ps_runtime.global"));
    say_places();
    unsigned stacks = for_each_stack(say_waiting);
    if (dump_target_is_there())
        say("%u threads wait; %u stacks", d.waiting, stacks);
    else
        say("the process has ended meanwhile: more than the above is not known");
    return 0;
}
