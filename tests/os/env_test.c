/* Environment values: what is read, and what is said about what cannot be. */
#define _GNU_SOURCE
#include "test.h"

#include "os.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "PS_ENV_TEST"

static int real_stderr, captured;

static void capture(void)
{
    captured = memfd_create("stderr", MFD_CLOEXEC);
    assert_true(captured >= 0);
    real_stderr = dup(STDERR_FILENO);
    dup2(captured, STDERR_FILENO);
}
/* What was written since capture(). */
static const char *captured_text(void)
{
    static char text[4096];
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    ssize_t n = pread(captured, text, sizeof text - 1, 0);
    close(captured);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

/* Exactly one line that names variable, value and what is used instead. */
static void assert_complains(const char *text, const char *value)
{
    char quoted[256];
    snprintf(quoted, sizeof quoted, NAME "=\"%s\"", value);
    assert_non_null(strstr(text, quoted));
    assert_non_null(strstr(text, "using 42 instead\n"));
    assert_int_equal(strncmp(text, "psthreads: ", 11), 0);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void missing_and_empty_are_silent(void **state)
{
    (void)state;
    unsigned long number = 9;
    size_t bytes = 9;
    capture();
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            unsetenv(NAME);
        else
            setenv(NAME, "", 1);
        assert_null(os_env(NAME));
        assert_false(os_env_unsigned(NAME, 0, 10, &number, "42"));
        assert_false(os_env_size(NAME, 1, &bytes, "42"));
    }
    assert_string_equal(captured_text(), "");
    assert_int_equal(number, 9);
    assert_int_equal(bytes, 9);
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned long min, max, value;
        bool good;
    } cases[] = {
        {"0", 0, 10, 0, true},
        {"10", 0, 10, 10, true},
        {"  7\t", 0, 10, 7, true},
        {"007", 0, 10, 7, true},
        {"18446744073709551615", 0, ~0ul, ~0ul, sizeof(long) == 8},
        {"18446744073709551616", 0, ~0ul, 0, false},
        {"99999999999999999999999", 0, ~0ul, 0, false},
        {"11", 0, 10, 0, false},
        {"0", 1, 10, 0, false},
        {"-1", 0, ~0ul, 0, false},
        {"+1", 0, 10, 0, false},
        {"0x1", 0, 10, 0, false},
        {"1.5", 0, 10, 0, false},
        {"3 4", 0, 10, 0, false},
        {"4k", 0, 10, 0, false},
        {" ", 0, 10, 0, false},
        {"four", 0, 10, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned long value = 12345;
        setenv(NAME, cases[i].text, 1);
        capture();
        bool good = os_env_unsigned(NAME, cases[i].min, cases[i].max, &value, "42");
        const char *said = captured_text();
        assert_int_equal(good, cases[i].good);
        assert_int_equal(value, good ? cases[i].value : 12345);
        if (good)
            assert_string_equal(said, "");
        else
            assert_complains(said, cases[i].text);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t unit;
        unsigned long long value; /* 1: unreadable */
    } cases[] = {
        {"100", 1024, 102400},
        {"100", 1, 100},
        {" 100 ", 1024, 102400},
        {"64B", 1024, 64},
        {"2 k", 1, 2048},
        {"2K ", 1, 2048},
        {"3m", 1024, 3ull << 20},
        {"1G", 1024, 1ull << 30},
        {"2 t", 1024, 2ull << 40},
        {"2kb", 1024, 2048},
        {"2 mB ", 1024, 2 << 20},
        {"2 k b", 1024, 1},
        {"1MiB", 1024, 1},
        {"1bk", 1024, 1},
        {"1z", 1024, 1},
        {"k", 1024, 1},
        {"-2k", 1024, 1},
        {"2.5k", 1024, 1},
        {"2x", 1024, 1},
        {"18446744073709551615k", 1024, 1},
        {"18446744073709551615", 1024, 1},
        {"99999999999999999999999999B", 1024, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t value = 12345;
        setenv(NAME, cases[i].text, 1);
        capture();
        bool good = os_env_size(NAME, cases[i].unit, &value, "42");
        const char *said = captured_text();
        assert_int_equal(good, cases[i].value != 1);
        assert_int_equal(value, good ? cases[i].value : 12345);
        if (good)
            assert_string_equal(said, "");
        else
            assert_complains(said, cases[i].text);
    }
}

/* However long the value, one line. */
static void monstrous_value(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    setenv(NAME, text, 1);
    unsigned long value = 1;
    capture();
    assert_false(os_env_unsigned(NAME, 0, 10, &value, "42"));
    const char *said = captured_text();
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    assert_int_equal(value, 1);
}

/* What a process sees whose user is another one than its starter. */
static int sees_what_is_trusted(void) { return os_env(NAME) != NULL && os_env_trusted(NAME) == NULL ? 0 : 1; }

static void copy_of_this_program(int to)
{
    char buf[65536];
    ssize_t n;
    int from = open("/proc/self/exe", O_RDONLY);
    assert_true(from >= 0);
    while ((n = read(from, buf, sizeof buf)) > 0)
        assert_int_equal(write(to, buf, (size_t)n), n);
    assert_int_equal(n, 0);
    close(from);
}

static void more_rights_less_trust(void **state)
{
    (void)state;
    char path[] = "env_test.XXXXXX";
    setenv(NAME, "x", 1);
    assert_string_equal(os_env_trusted(NAME), "x");
    if (geteuid() != 0)
        skip(); /* no other user can make a program another user's */
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    copy_of_this_program(fd);
    assert_int_equal(fchown(fd, 65534, (gid_t)-1), 0);
    assert_int_equal(fchmod(fd, 04755), 0);
    close(fd);
    pid_t child = fork();
    if (child == 0) {
        execl(path, path, "trusted", NULL);
        _exit(2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    unlink(path);
    assert_int_equal(status, 0);
}

static void switches(void **state)
{
    (void)state;
    static const char *const off[] = {"", "0", "no", "OFF", "False"}, *const on[] = {"1", "yes", "on", "00", "verbose"};
    for (unsigned i = 0; i < 5; i++) {
        setenv(NAME, off[i], 1);
        assert_false(os_env_switch(NAME));
        setenv(NAME, on[i], 1);
        assert_true(os_env_switch(NAME));
    }
    unsetenv(NAME);
    assert_false(os_env_switch(NAME));
}

static void misspelled_names(void **state)
{
    (void)state;
    static const char *const names[] = {"PS_ENV_TEST_NUM", "PS_ENV_TEST_STACK", "PS_ENV_TEST_NUM_MORE"};
    setenv("PS_ENV_TEST_NUM", "1", 1);
    setenv("PS_ENV_TEST_NUM_MORE", "1", 1);
    capture();
    os_env_check_names("PS_ENV_TEST", names, 3);
    assert_string_equal(captured_text(), "");
    setenv("PS_ENV_TEST_STAKC", "1", 1);
    capture();
    os_env_check_names("PS_ENV_TEST", names, 3);
    assert_string_equal(captured_text(), "psthreads: PS_ENV_TEST_STAKC is no variable of psthreads, and is ignored; is "
                                         "PS_ENV_TEST_STACK meant?\n");
    unsetenv("PS_ENV_TEST_STAKC");
    setenv("PS_ENV_TEST_0123456789012345678901234567890123456789", "", 1); /* longer than what is compared */
    capture();
    os_env_check_names("PS_ENV_TEST", names, 3);
    assert_non_null(strstr(captured_text(), "is ignored"));
    unsetenv("PS_ENV_TEST_0123456789012345678901234567890123456789");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "trusted") == 0)
        _exit(sees_what_is_trusted()); /* a sanitizer cannot look at such a process at its end */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_and_empty_are_silent),
        cmocka_unit_test(numbers),
        cmocka_unit_test(sizes),
        cmocka_unit_test(monstrous_value),
        cmocka_unit_test(more_rights_less_trust),
        cmocka_unit_test(switches),
        cmocka_unit_test(misspelled_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
