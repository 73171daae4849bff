/* Kinds of one guarantee, each in a process of its own. */
#ifndef PS_GUARANTEES_KINDS_H
#define PS_GUARANTEES_KINDS_H

#include "check.h"
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls run(i) for each i below n in a process of its own, which meets everything for the first time. `only`: the name
 * of the one to call, or with a dash the names that are left out. The caller has opened no region yet. */
static inline void in_a_process_each(int n, const char *(*name)(int i), void (*run)(int i), const char *only)
{
    for (int i = 0; i < n; i++) {
        if (only && (only[0] == '-' ? strstr(only, name(i)) != NULL : strcmp(only, name(i)) != 0))
            continue;
        fprintf(stderr, "%s\n", name(i));
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            run(i);
            exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        if (status) {
            fprintf(stderr, "%s: failed, status %x\n", name(i), (unsigned)status);
            exit(1);
        }
    }
}

/* The same for functions by their names. */
struct kind_of {
    const char *name;
    void (*run)(void);
};
static const struct kind_of *kinds_of_all;
static inline const char *kinds_of_name(int i) { return kinds_of_all[i].name; }
static inline void kinds_of_run(int i) { kinds_of_all[i].run(); }
#define RUN_KINDS(kinds, only) \
    (kinds_of_all = (kinds), in_a_process_each(sizeof(kinds) / sizeof *(kinds), kinds_of_name, kinds_of_run, only))

/* A kind in the program's own thread, and in another one: its name there, and its run. */
static inline const char *kind_name_in(bool other, const char *name)
{
    static char text[64];
    snprintf(text, sizeof text, "%s%s", name, other ? "_of_thread" : "");
    return text;
}
static inline void kind_run_in(bool other, void *(*live)(void *))
{
    pthread_t thread;
    if (other)
        CHECK(pthread_create(&thread, NULL, live, NULL) == 0 && pthread_join(thread, NULL) == 0);
    else
        live(NULL);
}

#endif
