/* Counts what a program's threads do on a modelled machine: instructions, system calls, and transfers of cache lines
 * between processors. A plugin of qemu-user (Debian 12's 7.2; its interface, version 1).
 *
 *   qemu-x86_64 -plugin transfers.so,processors=N,out=FILE program
 *
 * The machine has N processors with a cache each, of any size. A transfer is an access to a line which another
 * processor's cache has, and which this one's does not have, or has only to read while it is written (MESI). An
 * instruction takes a cycle, `pause` PAUSE_CYCLES, a transfer TRANSFER_CYCLES, a system call SYSCALL_CYCLES. The
 * processor whose clock is least runs next, so what threads do depends neither on this machine's processors nor on its
 * load. A processor's threads take turns: where one waits in the kernel, yields, or has run for SLICE_CYCLES. A thread
 * that becomes ready goes to an idle processor if its own has another thread.
 * One thread runs at a time: it has the turn. A thread gives the turn up before it waits in the kernel, and asks for
 * it again afterwards. All state below is its holder's, or under `lock`.
 * The program sees the model's time, in clock_gettime as in rdtsc (which PR_SET_TSC makes a fault), and N processors.
 * A timeout in the kernel is made STRETCH times as long, about what the model is slower. If it ends early nevertheless,
 * the thread is held back until the model's time has come.
 * The first thread that the program makes runs beside the model: qemu stops all threads then, which it could not do
 * with one that waits for the turn. model_processors.c makes one that does nothing.
 * Not modelled: fetches of instructions, prefetch, and what the kernel does with memory. Writes FILE when the program
 * ends: totals, then the addresses of instructions that had transfers, most first. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* What is used of qemu's interface for plugins; Debian does not package its header. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*cb)(plugin_id id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned vcpu, void *data), int flags,
                                          void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*cb)(unsigned vcpu, void *data),
                                            int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                      void (*cb)(unsigned vcpu, uint32_t info, uint64_t address, void *data), int flags,
                                      int which, void *data);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, void (*cb)(plugin_id id, unsigned vcpu, int64_t number,
                                                                   uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                                                                   uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8));
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id id,
                                              void (*cb)(plugin_id id, unsigned vcpu, int64_t number, int64_t result));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(uint32_t info);
unsigned qemu_plugin_mem_size_shift(uint32_t info);

enum {
    PROCESSORS_MAX = 64,
    PAUSE_CYCLES = 40,
    TRANSFER_CYCLES = 200,
    SYSCALL_CYCLES = 400,
    SLICE_CYCLES = 1000000,
    AHEAD_CYCLES = 100, /* so far a processor may run ahead of the others before the turn goes on */
    CYCLES_PER_NS = 4,
    STRETCH = 200,
    SYSCALLS = 512,
    LINES = 1 << 20, /* powers of two */
    SITES = 1 << 18
};

struct thread {
    struct thread *next; /* of its processor's ready threads */
    unsigned processor;
    bool free; /* it needs no turn, and is not counted */
    pthread_cond_t turn;
    uint64_t held_until, wait_ends; /* in cycles; 0: not */
    uint64_t args[4];               /* of its system call */
    struct timespec *timeout, timeout_was;
};

static struct {
    uint64_t clock, instructions, slice_ends;
    struct thread *first, *last; /* ready or running */
    unsigned threads;
} processors[PROCESSORS_MAX];

struct site {
    uint64_t pc, transfers;
};

static struct {
    uint64_t line, holders;
} lines[LINES];

static struct site sites[SITES];
static unsigned num_processors = 2, num_lines;
static uint64_t num_transfers, num_syscalls, syscalls[SYSCALLS];
static const char *out_path;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *holder, *held; /* the thread that has the turn; threads held back, by `next` */
static _Atomic uint64_t run_until;   /* the holder passes the turn on once its clock has come here */
static _Thread_local struct thread *self;
static struct sigaction qemus_handler;

static void die(const char *why)
{
    fprintf(stderr, "transfers: %s\n", why);
    _exit(3);
}

/* ---- the turn ---- */

static void enqueue(struct thread *t)
{
    unsigned p = t->processor;
    for (unsigned i = 0; processors[p].first && i < num_processors; i++)
        if (!processors[i].first)
            p = i;
    if (p != t->processor) {
        processors[t->processor].threads--;
        processors[p].threads++;
        t->processor = p;
    }
    t->next = NULL;
    if (processors[p].first)
        processors[p].last->next = t;
    else
        processors[p].first = t;
    processors[p].last = t;
}

static void dequeue_first(unsigned p)
{
    processors[p].first = processors[p].first->next;
    processors[p].slice_ends = processors[p].clock + SLICE_CYCLES;
}

static bool least_clock(unsigned *found)
{
    bool any = false;
    for (unsigned i = 0; i < num_processors; i++)
        if (processors[i].first && (!any || processors[i].clock < processors[*found].clock))
            *found = i, any = true;
    return any;
}

static void release_held(void)
{
    for (;;) {
        unsigned p = 0;
        bool any = least_clock(&p);
        struct thread **next = NULL;
        for (struct thread **t = &held; *t; t = &(*t)->next)
            if ((any ? (*t)->held_until <= processors[p].clock : true) &&
                (!next || (*t)->held_until < (*next)->held_until))
                next = t;
        if (!next)
            return;
        struct thread *t = *next;
        *next = t->next;
        enqueue(t);
        if (processors[t->processor].clock < t->held_until)
            processors[t->processor].clock = t->held_until;
    }
}

/* Gives the turn to the next thread. Under the lock; nobody has the turn. */
static void pass_turn(void)
{
    unsigned p = 0, i;
    release_held();
    holder = NULL;
    if (!least_clock(&p))
        return;
    uint64_t until = processors[p].slice_ends;
    for (i = 0; i < num_processors; i++)
        if (i != p && processors[i].first && processors[i].clock + AHEAD_CYCLES < until)
            until = processors[i].clock + AHEAD_CYCLES;
    run_until = until;
    holder = processors[p].first;
    if (holder != self)
        pthread_cond_signal(&holder->turn);
}

/* The least clock of a processor that runs something: what an idle processor's clock goes to when it gets a thread. */
static void catch_up(struct thread *t)
{
    unsigned p = 0;
    uint64_t *clock = &processors[t->processor].clock;
    if (processors[t->processor].first == t && least_clock(&p)) {
        uint64_t others = UINT64_MAX;
        for (unsigned i = 0; i < num_processors; i++)
            if (i != t->processor && processors[i].first && processors[i].clock < others)
                others = processors[i].clock;
        if (others != UINT64_MAX && *clock < others)
            *clock = others;
        processors[t->processor].slice_ends = *clock + SLICE_CYCLES;
    }
}

/* Returns once the calling thread has the turn. Under the lock. */
static void await_turn(void)
{
    if (!holder)
        pass_turn();
    while (holder != self)
        pthread_cond_wait(&self->turn, &lock);
}

static void join(uint64_t held_until)
{
    pthread_mutex_lock(&lock);
    unsigned p = 0;
    if (held_until && (!least_clock(&p) || processors[p].clock < held_until)) {
        self->held_until = held_until;
        self->next = held;
        held = self;
    } else {
        enqueue(self);
        catch_up(self);
    }
    run_until = 0; /* the holder passes the turn on now */
    await_turn();
    pthread_mutex_unlock(&lock);
}

static void leave(void)
{
    pthread_mutex_lock(&lock);
    dequeue_first(self->processor);
    pass_turn();
    pthread_mutex_unlock(&lock);
}

static void look_for_next(void)
{
    pthread_mutex_lock(&lock);
    unsigned p = self->processor;
    if (processors[p].clock >= processors[p].slice_ends) {
        dequeue_first(p);
        enqueue(self);
    }
    pass_turn();
    await_turn();
    pthread_mutex_unlock(&lock);
}

/* ---- time ---- */

static uint64_t now_cycles(void) { return self ? processors[self->processor].clock : 0; }

static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)r[REG_RIP];
    bool plain = info->si_code == SI_KERNEL && code[0] == 0x0f && code[1] == 0x31;                          /* rdtsc */
    bool with_number = info->si_code == SI_KERNEL && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9; /* rdtscp */
    if (!plain && !with_number) {
        qemus_handler.sa_sigaction(number, info, context);
        return;
    }
    uint64_t cycles = now_cycles();
    r[REG_RAX] = (greg_t)(uint32_t)cycles;
    r[REG_RDX] = (greg_t)(cycles >> 32);
    if (with_number)
        r[REG_RCX] = 0;
    r[REG_RIP] += plain ? 2 : 3;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static uint64_t ns_of(struct timespec t) { return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec; }

/* Lengthens a timeout in the program's memory for the time of the call. */
static void stretch(struct timespec *t, bool absolute)
{
    if (!t)
        return;
    uint64_t now = now_cycles() / CYCLES_PER_NS, ns = ns_of(*t);
    if (absolute)
        ns = ns > now ? ns - now : 0;
    self->timeout = t;
    self->timeout_was = *t;
    self->wait_ends = now_cycles() + ns * CYCLES_PER_NS;
    struct timespec real = {0, 0};
    if (absolute)
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &real);
    *t = timespec_of(ns_of(real) + ns * STRETCH);
}

/* ---- what qemu calls ---- */

static void begin_thread(void)
{
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    static unsigned threads;
    pthread_mutex_lock(&first);
    bool beside = threads++ == 1;
    if (!qemus_handler.sa_sigaction) {
        struct sigaction ours;
        sigaction(SIGSEGV, NULL, &qemus_handler);
        ours = qemus_handler;
        ours.sa_sigaction = on_fault;
        sigaction(SIGSEGV, &ours, NULL);
    }
    pthread_mutex_unlock(&first);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    struct thread *t = calloc(1, sizeof *t);
    if (!t)
        die("no memory");
    t->free = beside;
    if (beside) {
        self = t;
        return;
    }
    pthread_cond_init(&t->turn, NULL);
    pthread_mutex_lock(&lock);
    for (unsigned i = 1; i < num_processors; i++)
        if (processors[i].threads < processors[t->processor].threads)
            t->processor = i;
    processors[t->processor].threads++;
    pthread_mutex_unlock(&lock);
    self = t;
    join(0);
}

static void on_block(unsigned vcpu, void *data)
{
    (void)vcpu;
    if (!self)
        begin_thread();
    if (self->free)
        return;
    unsigned p = self->processor;
    if (processors[p].clock >= run_until) {
        look_for_next();
        p = self->processor;
    }
    processors[p].clock += (uintptr_t)data;
    processors[p].instructions += (uintptr_t)data;
}

static void on_pause(unsigned vcpu, void *data)
{
    (void)vcpu, (void)data;
    if (self->free)
        return;
    processors[self->processor].clock += PAUSE_CYCLES;
}

static void touch(uint64_t line, bool store, struct site *site)
{
    uint64_t bit = UINT64_C(1) << self->processor;
    uint64_t at = (line * UINT64_C(0x9e3779b97f4a7c15)) >> 44;
    while (lines[at].line != line && lines[at].line)
        at = (at + 1) % LINES;
    if (!lines[at].line) {
        lines[at].line = line;
        if (++num_lines > LINES / 4 * 3)
            die("the program uses more memory than the model has lines");
    }
    uint64_t holders = lines[at].holders;
    if (store ? (holders & ~bit) != 0 : holders && !(holders & bit)) {
        num_transfers++;
        site->transfers++;
        processors[self->processor].clock += TRANSFER_CYCLES;
    }
    lines[at].holders = store ? bit : holders | bit;
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *data)
{
    (void)vcpu;
    if (self->free)
        return;
    bool store = qemu_plugin_mem_is_store(info);
    uint64_t last = (address + (UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1) >> 6;
    touch(address >> 6, store, data);
    if (last != address >> 6)
        touch(last, store, data);
}

static struct site *site_of(uint64_t pc)
{
    uint64_t at = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
    for (unsigned i = 0; i < SITES; i++, at = (at + 1) % SITES) {
        if (!sites[at].pc)
            sites[at].pc = pc; /* translation is under qemu's lock */
        if (sites[at].pc == pc)
            return &sites[at];
    }
    die("too many instructions");
    return NULL;
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    size_t n = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGISTERS, (void *)n);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, NO_REGISTERS, READS_AND_WRITES,
                                         site_of(qemu_plugin_insn_vaddr(insn)));
        if (qemu_plugin_insn_size(insn) == 2 && memcmp(qemu_plugin_insn_data(insn), "\xf3\x90", 2) == 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pause, NO_REGISTERS, NULL);
    }
}

static int by_transfers(const void *a, const void *b)
{
    uint64_t x = ((const struct site *)a)->transfers, y = ((const struct site *)b)->transfers;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void write_out(void)
{
    FILE *out = fopen(out_path, "w"), *maps = fopen("/proc/self/maps", "r");
    if (!out || !maps)
        die("cannot write the file that `out` names");
    uint64_t instructions = 0, cycles = 0;
    for (unsigned i = 0; i < num_processors; i++) {
        instructions += processors[i].instructions;
        cycles = processors[i].clock > cycles ? processors[i].clock : cycles;
    }
    fprintf(out, "instructions %" PRIu64 "\ncycles %" PRIu64 "\ntransfers %" PRIu64 "\nsyscalls %" PRIu64 "\n",
            instructions, cycles, num_transfers, num_syscalls);
    for (unsigned i = 0; i < SYSCALLS; i++)
        if (syscalls[i])
            fprintf(out, "syscall %u %" PRIu64 "\n", i, syscalls[i]);
    qsort(sites, SITES, sizeof sites[0], by_transfers);
    for (unsigned i = 0; i < SITES && sites[i].transfers; i++)
        fprintf(out, "site %" PRIx64 " %" PRIu64 "\n", sites[i].pc, sites[i].transfers);
    char line[512];
    while (fgets(line, sizeof line, maps))
        if (strstr(line, " /"))
            fprintf(out, "map %s", line);
    fclose(maps);
    fclose(out);
}

/* Says whether the call may wait for another thread, or for time. Notes its timeout. */
static bool waits(int64_t number, const uint64_t *a)
{
    switch (number) {
    case SYS_futex: {
        uint64_t operation = a[1] & FUTEX_CMD_MASK;
        if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)
            stretch((struct timespec *)a[3], operation == FUTEX_WAIT_BITSET); // NOLINT(performance-no-int-to-ptr)
        return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI;
    }
    case SYS_nanosleep:
        stretch((struct timespec *)a[0], false); // NOLINT(performance-no-int-to-ptr)
        return true;
    case SYS_clock_nanosleep:
        stretch((struct timespec *)a[2], a[1] & TIMER_ABSTIME); // NOLINT(performance-no-int-to-ptr)
        return true;
    case SYS_sched_yield:
    case SYS_clone:
    case SYS_clone3:
    case SYS_read:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_rt_sigtimedwait:
    case SYS_rt_sigsuspend:
    case SYS_exit:
        return true;
    default:
        return false;
    }
}

static void on_syscall(plugin_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                       uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number == SYS_exit)
        prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0); /* qemu blocks signals from here on, and asks for the time */
    if (self->free)
        return;
    if (number == SYS_exit_group) {
        write_out();
        _exit((int)a1); /* qemu's own end waits for threads that wait for the turn */
    }
    /* Those are none on a machine: the vDSO's, and a write of the thread pointer, for which there is an instruction. */
    if (number != SYS_clock_gettime && number != SYS_gettimeofday && number != SYS_arch_prctl) {
        num_syscalls++;
        syscalls[(uint64_t)number < SYSCALLS ? number : 0]++;
        processors[self->processor].clock += SYSCALL_CYCLES;
    }
    memcpy(self->args, (uint64_t[]){a1, a2, a3, a4}, sizeof self->args);
    self->timeout = NULL;
    self->wait_ends = 0;
    if (waits(number, self->args))
        leave();
    else
        self->wait_ends = UINT64_MAX; /* it still has the turn */
}

static void on_return(plugin_id id, unsigned vcpu, int64_t number, int64_t result)
{
    (void)id, (void)vcpu;
    if (self->free)
        return;
    if (self->timeout)
        *self->timeout = self->timeout_was;
    if (self->wait_ends != UINT64_MAX)
        join(result == -ETIMEDOUT || (result == 0 && number != SYS_futex) ? self->wait_ends : 0);
    if (number == SYS_clock_gettime && result == 0)
        *(struct timespec *)self->args[1] = timespec_of(now_cycles() / CYCLES_PER_NS); // NOLINT
    if (number == SYS_gettimeofday && result == 0) {
        struct timespec t = timespec_of(now_cycles() / CYCLES_PER_NS);
        *(struct timeval *)self->args[0] = (struct timeval){t.tv_sec, t.tv_nsec / 1000}; // NOLINT
    }
    if (number == SYS_sched_getaffinity && result > 0) {
        uint64_t mask = num_processors == 64 ? UINT64_MAX : (UINT64_C(1) << num_processors) - 1;
        memcpy((void *)self->args[2], &mask, sizeof mask); // NOLINT(performance-no-int-to-ptr)
    }
    if (number == SYS_getcpu && result == 0 && self->args[0])
        *(unsigned *)self->args[0] = self->processor; // NOLINT(performance-no-int-to-ptr)
}

__attribute__((visibility("default"))) const int qemu_plugin_version = 1;

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);
__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "processors=", 11))
            num_processors = (unsigned)atoi(argv[i] + 11);
        else if (!strncmp(argv[i], "out=", 4))
            out_path = strdup(argv[i] + 4);
    }
    if (!out_path || num_processors < 1 || num_processors > PROCESSORS_MAX)
        die("-plugin transfers.so,processors=(1 to 64),out=FILE");
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
    return 0;
}
