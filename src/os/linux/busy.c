/* How long processors were busy, from /proc/stat.
 *
 * Does: sums up what the kernel counts of each processor. Does not: know processes.
 * Callers: any thread, on a stack of 8 KiB or more. No shared state, no malloc.
 * Failures: what cannot be read counts as 0. Cost: some 50 us on two processors, more on a machine with many, since the
 * kernel writes the whole file.
 *
 * A processor's line:   cpuN user nice system idle iowait irq softirq steal ...     in units of 1 / _SC_CLK_TCK seconds
 * Counted are user, system, irq and softirq. Programs with a nice value above 0 are in `nice`, and do not count:
 * their user wants them to give way. (The kernel does not say what programs of the policies SCHED_IDLE and
 * SCHED_BATCH used.) `steal` is what other virtual machines used. The lines of processors come first, behind one of
 * their sum. */
#include "busy.h"
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, COLUMNS };

/* Returns what the line says, in the file's unit, if it is that of a processor in `of`; else 0. */
static uint64_t busy_of_line(const char *line, const struct os_cpuset *of)
{
    uint64_t column[COLUMNS];
    char *at;
    const char *number = line + strlen("cpu");
    unsigned long cpu = *number >= '0' && *number <= '9' ? strtoul(number, &at, 10) : OS_MAX_CPUS;
    if (cpu >= OS_MAX_CPUS || !os_cpuset_has(of, (unsigned)cpu))
        return 0;
    for (unsigned i = 0; i < COLUMNS; i++)
        column[i] = strtoull(at, &at, 10);
    return column[USER] + column[SYSTEM] + column[IRQ] + column[SOFTIRQ];
}

uint64_t os_busy_ns_below(const char *root, const struct os_cpuset *of)
{
    char text[4096], *line;
    uint64_t busy = 0;
    snprintf(text, sizeof text, "%s/proc/stat", root);
    int file = file_open(text);
    if (file < 0)
        return 0;
    size_t kept = 0; /* the beginning of a line whose end is not read yet */
    for (long got; (got = file_read(file, text + kept, sizeof text - 1 - kept)) > 0; kept = strlen(line)) {
        text[kept + (size_t)got] = '\0';
        line = text;
        for (char *end; *line == 'c' && (end = strchr(line, '\n')) != NULL; line = end + 1)
            busy += busy_of_line(line, of);
        if (*line != 'c' && *line != '\0')
            break; /* behind the lines of processors */
        line = memmove(text, line, strlen(line) + 1);
    }
    file_close(file);
    return busy * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t os_busy_ns(const struct os_cpuset *of) { return os_busy_ns_below("", of); }
