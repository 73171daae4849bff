/* A folder of made-up files of /proc and /sys, for one test. made_root_make and made_root_remove are cmocka's setup and
 * teardown. */
#ifndef PS_OS_MADE_ROOT_H
#define PS_OS_MADE_ROOT_H

#include "test.h"

#include "compiler.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

static int made_root_make(void **state)
{
    (void)state;
    strcpy(root, "/dev/shm/ps-root-XXXXXX"); /* in memory: on ext4 topology_peer took a minute, here two seconds */
    if (mkdtemp(root) != NULL)
        return 0;
    strcpy(root, "/tmp/ps-root-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int made_root_remove_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s;
    (void)type;
    (void)f;
    return remove(path);
}

static int made_root_remove(void **state)
{
    (void)state;
    return nftw(root, made_root_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, making its folders. */
static void made_root_put(const char *content, const char *format, ...) PS_PRINTF(2, 3);
static void made_root_put(const char *content, const char *format, ...)
{
    char whole[512];
    va_list args;
    va_start(args, format);
    int used = snprintf(whole, sizeof whole, "%s", root);
    vsnprintf(whole + used, sizeof whole - (size_t)used, format, args);
    va_end(args);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

#endif
