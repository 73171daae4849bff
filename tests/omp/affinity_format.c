/* affinity-format-var and every field of a format: widths, alignment, long names, cut buffers. */
#include "check.h"
#include "respawn.h"

static char out[1024];

static void expect(const char *format, const char *wanted)
{
    memset(out, '?', sizeof out);
    size_t n = omp_capture_affinity(out, sizeof out, format);
    if (n != strlen(wanted) || strcmp(out, wanted) != 0)
        fprintf(stderr, "\"%s\": \"%s\", wanted \"%s\"\n", format, out, wanted);
    CHECK(n == strlen(wanted) && strcmp(out, wanted) == 0);
}

static void variable(void)
{
    char text[64];
    CHECK(omp_get_affinity_format(text, sizeof text) == strlen("level %L thread %i affinity %A"));
    CHECK(strcmp(text, "level %L thread %i affinity %A") == 0);
    omp_set_affinity_format("n=%n N=%N");
    CHECK(omp_get_affinity_format(NULL, 0) == 9);
    memset(text, '?', sizeof text);
    CHECK(omp_get_affinity_format(text, 4) == 9 && strcmp(text, "n=%") == 0 && text[4] == '?');
    expect(NULL, "n=0 N=1");
    expect("", "n=0 N=1");
    omp_set_affinity_format("");
    CHECK(omp_get_affinity_format(text, sizeof text) == 0 && text[0] == '\0');
}

static void fields(void)
{
    char pid[32], wanted[64];
    expect("plain", "plain");
    expect("%%%%", "%%");
    expect("%L|%n|%N|%a|%t|%T", "0|0|1|-1|0|1");
    expect("%{nesting_level}|%{thread_num}|%{num_threads}|%{ancestor_tnum}|%{team_num}|%{num_teams}", "0|0|1|-1|0|1");
    expect("<%5N>", "<1    >");
    expect("<%.5N>", "<    1>");
    expect("<%0.5N>", "<00001>");
    expect("<%0.5a>", "<-0001>");
    expect("<%.5a>", "<   -1>");
    expect("<%1a>", "<-1>");
    sprintf(pid, "%d", (int)getpid());
    sprintf(wanted, "%s.%s", pid, pid);
    expect("%P.%{process_id}", wanted);
    CHECK(omp_capture_affinity(out, sizeof out, "%H") > 0);
    CHECK(omp_capture_affinity(out, sizeof out, "%40{host}") >= 40);
    CHECK(omp_capture_affinity(out, sizeof out, "%i") > 0 &&
          omp_capture_affinity(out, sizeof out, "%{native_thread_id}") > 0);
    CHECK(omp_capture_affinity(out, sizeof out, "%A") > 0 && out[0] >= '0' && out[0] <= '9');
    CHECK(omp_capture_affinity(out, sizeof out, "%.64{thread_affinity}") >= 64);
}

static void cut(void)
{
    char text[16];
    memset(text, '?', sizeof text);
    CHECK(omp_capture_affinity(text, 4, "abc%0.5N") == 8 && strcmp(text, "abc") == 0 && text[4] == '?');
    CHECK(omp_capture_affinity(NULL, 0, "abc%0.5N") == 8);
}

/* Members that exist at once have numbers of their own, in inner teams too. */
static void native_numbers(void)
{
    enum { N = 3 };
    char number[N * N][32];
    static int told;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(N)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(N)
        {
            char *mine = number[outer * N + omp_get_thread_num()];
            CHECK(omp_capture_affinity(mine, 32, "%i") < 32);
            __atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&told, __ATOMIC_SEQ_CST) < N * N)
                usleep(100);
        }
    }
    for (int i = 0; i < N * N; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(number[i], number[k]) != 0);
}

static int respawned(void)
{
    omp_display_affinity(NULL);
    omp_display_affinity("%N!");
    omp_set_max_active_levels(2);
    char format[700];
    memset(format, 'x', sizeof format);
    strcpy(format + sizeof format - 8, "%L.%n.\n");
#pragma omp parallel num_threads(2)
#pragma omp critical
    omp_display_affinity(format);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "display") == 0)
        return respawned();
    char text[8192];
    CHECK(respawn(text, sizeof text, "display", "OMP_AFFINITY_FORMAT=[%0.3L]", NULL) == 0);
    CHECK(strncmp(text, "[000]\n1!\nxxx", 12) == 0);
    CHECK(occurrences(text, "x1.0.\n") == 1 && occurrences(text, "x1.1.\n") == 1);
    unsetenv("OMP_AFFINITY_FORMAT");
    variable();
    fields();
    cut();
    native_numbers();
#pragma omp parallel num_threads(3)
    {
        char mine[64], wanted[64];
        size_t n = omp_capture_affinity(mine, sizeof mine, "%L %n/%N of %a");
        sprintf(wanted, "1 %d/3 of 0", omp_get_thread_num());
        CHECK(n == strlen(wanted) && strcmp(mine, wanted) == 0);
    }
    return 0;
}
