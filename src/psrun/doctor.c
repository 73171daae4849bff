/* psrun doctor: reports the thread pools of a program, from its files or from a run, or those of a running process. See
 * doctor.h. */
#include "doctor.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "file_pools.h"
#include "maps.h"
#include "plan_parts.h"

static const char usage[] =
    "psrun [options] doctor [--json] [-o FILE] [--run|--until-idle] program [arguments...]\n"
    "psrun [options] doctor [--json] [-o FILE] --static program-or-library\n"
    "psrun doctor [--json] [-o FILE] --pid N\n"
    "\n"
    "Lists the thread pools of a program: which run on psthreads, which could, and what to do for it. With arguments\n"
    "or --run the program runs to its end under psrun, and all its processes are looked at. A program alone, or a\n"
    "library, is not run: its files tell what it loads when it starts, and not what it loads later.\n"
    "\n"
    "      --run          run the program, which has no arguments\n"
    "      --until-idle   run it until it has rested for a second, and then end it (SIGTERM): servers, notebooks\n"
    "      --static       do not run it, whatever follows\n"
    "      --pid N        look at process N, which goes on undisturbed\n"
    "      --json         JSON instead of a table\n"
    "  -o, --output FILE  write the report to this file; the default is standard output, behind the program's own\n"
    "  -h, --help         print this\n"
    "\n"
    "Exit status: 0 the program runs on psthreads, or there is nothing to replace; 1 it does not; 125 doctor was used\n"
    "wrongly. The exit status of a program that was run stands in the report.\n";

struct wanted {
    bool json, run, until_idle, files;
    const char *pid, *output;
};

static int read_doctor_options(int argc, char **argv, struct wanted *w)
{
    enum { OPT_JSON = 256, OPT_RUN, OPT_UNTIL_IDLE, OPT_STATIC, OPT_PID };
    static const struct option options[] = {
        {"json", no_argument, NULL, OPT_JSON},
        {"run", no_argument, NULL, OPT_RUN},
        {"until-idle", no_argument, NULL, OPT_UNTIL_IDLE},
        {"static", no_argument, NULL, OPT_STATIC},
        {"pid", required_argument, NULL, OPT_PID},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "+o:h", options, NULL)) != -1;) {
        switch (c) {
        case OPT_JSON:
            w->json = true;
            break;
        case OPT_RUN:
            w->run = true;
            break;
        case OPT_UNTIL_IDLE:
            w->until_idle = true;
            break;
        case OPT_STATIC:
            w->files = true;
            break;
        case OPT_PID:
            w->pid = optarg;
            break;
        case 'o':
            w->output = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fprintf(stderr, "psrun: try psrun doctor --help\n");
            return EXIT_USAGE;
        }
    }
    return GO_ON;
}

static int say_wrong_use(const char *what)
{
    fprintf(stderr, "psrun: doctor: %s; try psrun doctor --help\n", what);
    return EXIT_USAGE;
}

/* Opens the report's file; name NULL: standard output. Returns NULL, after a message, if it cannot be written. */
static FILE *open_output(const char *name)
{
    FILE *out = name ? fopen(name, "we") : stdout;
    if (!out)
        fprintf(stderr, "psrun: doctor: %s: %s\n", name, strerror(errno));
    return out;
}

static int close_output(FILE *out, const char *name, int status)
{
    bool failed = ferror(out) != 0;
    failed |= out == stdout ? fflush(out) != 0 : fclose(out) != 0;
    if (failed)
        fprintf(stderr, "psrun: doctor: %s: the report cannot be written\n", name ? name : "standard output");
    return failed ? EXIT_USAGE : status;
}

/* --- JSON --- */

/* Prints the report as JSON. p NULL: the report is that of a running process (--pid). ended: the program's status from
 * waitpid; NULL: psrun did not run the program. */
static void print_json(const struct plan *p, const char *source, const int *ended, const struct report *r, FILE *out)
{
    char *runtime = p && p->dropin_dir ? plan_text("%s/libgomp.so.1", p->dropin_dir) : NULL;
    const struct {
        const char *name, *text;
    } texts[] = {{"program", p ? p->file : NULL},
                 {"runtime", runtime},
                 {"entities", p ? p->entities : NULL},
                 {"source", source},
                 {"verdict", !p          ? NULL
                             : p->status ? "no"
                             : p->alone  ? "nothing to replace"
                                         : "yes"},
                 {"why", !p          ? NULL
                         : p->status ? p->why
                                     : p->alone}};
    fputs("{", out);
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fprintf(out, "\"%s\": ", texts[i].name);
        report_print_json_text(out, texts[i].text);
        fputs(",\n ", out);
    }
    fputs("\"exit_status\": ", out);
    fprintf(out, ended && WIFEXITED(*ended) ? "%d" : "null", ended ? WEXITSTATUS(*ended) : 0);
    fputs(",\n \"signal\": ", out);
    fprintf(out, ended && WIFSIGNALED(*ended) ? "%d" : "null", ended ? WTERMSIG(*ended) : 0);
    fputs(",\n \"processes\": ", out);
    report_print_json(r, out);
    fputs("}\n", out);
    free(runtime);
}

/* --- the three sources: files, a run, a process --- */

static int examine_files(const struct plan *p, bool json, FILE *out)
{
    struct report r = {0};
    doctor_read_files(p, &r, json);
    if (json)
        print_json(p, "files", NULL, &r, out);
    else
        doctor_print_files(p, &r, out);
    return p->status ? 1 : 0;
}

static int examine_run(struct plan *p, const struct wishes *w, char **argv, const struct wanted *wanted, FILE *out)
{
    struct report r = {0};
    int ended = 0;
    int pid = doctor_run(p, w, argv, wanted->until_idle, &r, &ended);
    if (!pid)
        return EXIT_USAGE;
    if (wanted->json) {
        print_json(p, "run", &ended, &r, out);
        return 0;
    }
    doctor_print_program(p, out);
    doctor_print_verdict(p, out);
    if (wanted->until_idle && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGTERM)
        fprintf(out, "ended          at rest, by doctor\n");
    else if (WIFSIGNALED(ended))
        fprintf(out, "ended          by signal %d (%s)\n", WTERMSIG(ended), strsignal(WTERMSIG(ended)));
    else
        fprintf(out, "ended          with exit status %d\n", WEXITSTATUS(ended));
    bool told = false;
    for (unsigned i = 0; i < r.num; i++)
        told |= r.process[i].pid == pid;
    if (!told)
        fprintf(out,
                "not seen       process %d: it is linked statically, or has ended by _exit or a signal before it told "
                "of its pools\n",
                pid);
    report_print(&r, out);
    return 0;
}

struct mapped {
    const struct elf **file;
    unsigned num;
    bool runtime, takes_jobs;
};

static bool keep_mapped(void *arg, struct elf *e, uintptr_t start)
{
    struct mapped *m = arg;
    (void)start;
    const struct elf **grown = realloc(m->file, (m->num + 1) * sizeof *grown);
    if (!grown)
        return false;
    m->file = grown;
    m->file[m->num++] = e;
    m->runtime |= elf_defines(e, "ort_layer", NULL);
    m->takes_jobs |= elf_defines(e, "psthreads_pools_census", NULL);
    return true;
}

static void read_process(struct process *to, int pid)
{
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %ld", &to->kernel_threads) == 1)
            break;
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    f = fopen(path, "re");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    while (n > 0 && line[n - 1] == '\0')
        n--;
    for (size_t i = 0; i < n; i++)
        line[i] = line[i] == '\0' || line[i] == '\n' ? ' ' : line[i];
    line[n] = '\0';
    to->command = plan_text("%s", line);
}

static int examine_process(int pid, bool json, FILE *out)
{
    struct mapped m = {0};
    struct report r = {0};
    if (!maps_each(pid, keep_mapped, &m)) {
        fprintf(stderr, "psrun: doctor: %d: there is no such process, or it has ended, or it may not be looked at\n",
                pid);
        return 1;
    }
    struct process *process = report_process(&r, pid);
    read_process(process, pid);
    file_pools_add(process, m.file, m.num, &(struct file_pools_facts){m.runtime, m.runtime, m.runtime && m.takes_jobs});
    if (json) {
        print_json(NULL, "process", NULL, &r, out);
        return 0;
    }
    fprintf(out, "process        %d: %s\nkernel threads %ld\n", pid, process->command, process->kernel_threads);
    report_print(&r, out);
    fprintf(out,
            "not all        files tell no versions and no numbers of threads, and not what was set in the program\n");
    return 0;
}

int doctor(int argc, char **argv, const struct wishes *w)
{
    struct wanted wanted = {0};
    int status = read_doctor_options(argc, argv, &wanted);
    if (status != GO_ON)
        return status;
    int pid = wanted.pid ? read_pid(wanted.pid) : 0;
    if (wanted.pid && !pid) {
        fprintf(stderr, "psrun: doctor --pid %s: wanted a process's number\n", wanted.pid);
        return EXIT_USAGE;
    }
    if (wanted.run + wanted.until_idle + wanted.files + (pid != 0) > 1)
        return say_wrong_use("--run, --until-idle, --static and --pid exclude one another");
    if (pid && optind < argc)
        return say_wrong_use("--pid takes no program");
    if (!pid && optind >= argc)
        return say_wrong_use("no program given");
    bool run = wanted.run || wanted.until_idle || (optind + 1 < argc && !wanted.files);
    FILE *out = open_output(wanted.output);
    if (!out)
        return EXIT_USAGE;
    if (pid)
        return close_output(out, wanted.output, examine_process(pid, wanted.json, out));
    static struct plan plan;
    start_options(&plan, w);
    plan_make(&plan, argv[optind], w->entities, w->dropin_dir, true, !run);
    status = run && !plan.status ? examine_run(&plan, w, argv + optind, &wanted, out)
                                 : examine_files(&plan, wanted.json, out);
    return close_output(out, wanted.output, status);
}
