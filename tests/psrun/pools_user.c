/* pools_user WHAT LIBRARY...: loads the libraries, says "ready" and does WHAT: a number, its exit status; "kill";
 * "_exit"; "rest", for ever; "wait", until its input ends; "fork", with two children that end as it does. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (!dlopen(argv[i], RTLD_NOW)) {
            fprintf(stderr, "%s\n", dlerror());
            return 99;
        }
    }
    puts("ready");
    fflush(stdout);
    const char *what = argc > 1 ? argv[1] : "0";
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "_exit") == 0)
        _exit(6);
    while (strcmp(what, "rest") == 0)
        pause();
    if (strcmp(what, "wait") == 0)
        return getchar() == EOF ? 0 : 1;
    if (strcmp(what, "fork") == 0) {
        for (int i = 0; i < 2; i++)
            if (fork() == 0)
                return 0;
        while (wait(NULL) > 0)
            ;
    }
    return atoi(what);
}
