/* psrun top: shows the processes that share the processors (docs/sharing.md), from the file that they share.
 *
 * It only reads the file. On a terminal the table is redrawn every second. Elsewhere one table follows another, without
 * control characters. Processor times are from /proc, and unknown for processes of another container. */
#include "psrun.h"

#include "share_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS 1000
#define ONCE_MS 200 /* time between the two reads of processor time for a single table */
#define COMMAND_BYTES 32

struct row {
    uint32_t pid, weight, wanted, allowed;
    char command[COMMAND_BYTES]; /* "": the process is in another container */
    double now, all;             /* processors used: since the last read, and since the start; negative: unknown */
    double lent, borrowed;       /* processor time that the process lent to others and borrowed, in seconds */
};

static struct {
    const struct share_table *table;
    uint64_t at_ns, used_ns[SHARE_SLOTS]; /* values of the last read */
    uint32_t pid[SHARE_SLOTS];
} last;

static struct row rows[SHARE_SLOTS];

/* Reads the command's name and the processor time from /proc/PID/stat. Returns false if the process is not visible
 * here. */
static bool process_of(uint32_t pid, char command[COMMAND_BYTES], uint64_t *used_ns)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    unsigned long user, system;
    if (!name || !end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return false;
    *end = '\0';
    snprintf(command, COMMAND_BYTES, "%s", name + 1);
    for (char *c = command; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            *c = '?';
    *used_ns = (user + system) * UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    return true;
}

static double cores(uint64_t used_ns, uint64_t passed_ns)
{
    return passed_ns ? (double)used_ns / (double)passed_ns : 0;
}

/* Reads the file's slots into `rows`, one for each process that lives. Returns the number of rows. */
static unsigned read_rows(void)
{
    uint64_t now_ns = os_now_ns();
    unsigned n = 0;
    for (unsigned i = 0; i < share_used(last.table); i++) {
        const struct share_slot *s = &last.table->slot[i];
        uint64_t used_ns = 0, begun_ns = ps_load_relaxed(&s->begun_ns);
        uint32_t owner = ps_load_relaxed(&s->owner), pid = ps_load_relaxed(&s->pid);
        if (!owner || owner == OS_WORD_LEFT)
            continue;
        struct row *r = &rows[n];
        bool seen = ps_load_relaxed(&s->space) == os_pid_space() && process_of(pid, r->command, &used_ns);
        if (!seen && !share_is_live(s, now_ns))
            continue;
        n++;
        r->pid = pid;
        r->weight = ps_load_relaxed(&s->weight);
        r->wanted = ps_load_relaxed(&s->wanted);
        r->allowed = ps_load_relaxed(&s->allowed);
        r->lent = (double)ps_load_relaxed(&s->lent_us) / 1e6;
        r->borrowed = (double)ps_load_relaxed(&s->borrowed_us) / 1e6;
        bool before = last.at_ns && last.pid[i] == pid && used_ns >= last.used_ns[i];
        r->now = seen && before ? cores(used_ns - last.used_ns[i], now_ns - last.at_ns) : -1;
        r->all = seen && now_ns > begun_ns ? cores(used_ns, now_ns - begun_ns) : -1;
        if (!seen)
            r->command[0] = '\0';
        last.pid[i] = pid;
        last.used_ns[i] = used_ns;
    }
    last.at_ns = now_ns;
    return n;
}

static void print_number(double n) { n < 0 ? printf("      -") : printf(" %6.2f", n); }

/* Prints the table, in lines of at most `width` characters if that is at least 37. In a narrow table LENT and BORROWED
 * are left out, then ALL too. The command is cut. */
static void print_table(unsigned n, unsigned width)
{
    bool totals = width >= 70, all = width >= 50;
    int room = (int)width - 36 - (all ? 7 : 0) - (totals ? 20 : 0);
    if (room < 1)
        room = 1;
    printf("    PID WEIGHT WANTS ALLOWED    NOW%s%s %.*s\n", all ? "    ALL" : "", totals ? "      LENT  BORROWED" : "",
           room, "COMMAND");
    for (unsigned i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        printf("%7u %6u %5u %7u", r->pid, r->weight, r->wanted, r->allowed);
        print_number(r->now);
        if (all)
            print_number(r->all);
        if (totals)
            printf(" %8.1fs %8.1fs", r->lent, r->borrowed);
        printf(" %.*s\n", room, r->command[0] ? r->command : "?");
    }
    if (!n)
        puts("no process shares processors");
}

static void print_member(const char *name, double n)
{
    n < 0 ? printf(",\"%s\":null", name) : printf(",\"%s\":%.3f", name, n);
}

/* Prints one JSON object, on one line. */
static void print_object(unsigned n)
{
    printf("{\"processes\":[");
    for (unsigned i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        printf("%s{\"pid\":%u,\"command\":\"%s\",\"weight\":%u,\"wanted\":%u,\"allowed\":%u", i ? "," : "", r->pid,
               r->command, r->weight, r->wanted, r->allowed);
        print_member("processors_now", r->now);
        print_member("processors", r->all);
        print_member("lent_seconds", r->lent);
        print_member("borrowed_seconds", r->borrowed);
        printf("}");
    }
    puts("]}");
}

static unsigned terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

/* Maps the shared file. Returns false, after a message, if it cannot be used. */
static bool open_table(void)
{
    static const struct share_table none;
    void *map;
    const char *wrong;
    last.table = &none;
    int err = os_shared_file(SHARE_FILE, sizeof none, false, &map, &wrong);
    if (err == ENOENT)
        return true; /* no process has shared yet: an empty table */
    if (err) {
        fprintf(stderr, "psrun: top: the file that processes share is of no use: %s\n",
                err == EINVAL ? wrong : strerror(err));
        return false;
    }
    uint64_t magic = ps_load_relaxed(&((const struct share_table *)map)->magic);
    if (magic && magic != SHARE_MAGIC) { /* 0: a process has just made the file */
        fprintf(stderr, "psrun: top: the file that processes share is another version's, or damaged\n");
        return false;
    }
    last.table = map;
    return true;
}

int top(char **options)
{
    bool json = false, once = false, screen;
    for (; *options; options++) {
        json |= strcmp(*options, "--json") == 0;
        once |= strcmp(*options, "--once") == 0;
        if (strcmp(*options, "--json") != 0 && strcmp(*options, "--once") != 0) {
            fprintf(stderr, "psrun: top: wanted nothing, --json or --once, not %s\n", *options);
            return EXIT_USAGE;
        }
    }
    screen = isatty(STDOUT_FILENO) && !json && !once;
    if (!open_table())
        return 1;
    read_rows();
    do {
        pause_ms(once || !last.at_ns ? ONCE_MS : PERIOD_MS);
        unsigned n = read_rows();
        if (screen)
            printf("\033[H\033[J");
        if (json)
            print_object(n);
        else
            print_table(n, terminal_width());
        if (!screen && !json && !once)
            puts("");
        if (fflush(stdout) != 0 || ferror(stdout)) {
            fprintf(stderr, "psrun: top: cannot write: %s\n", strerror(errno));
            return 1;
        }
    } while (!once);
    return 0;
}
