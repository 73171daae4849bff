/* Nothing of the runtime can go on for a while, but something foreign comes. A kernel thread that the runtime knows
 * nothing of fulfills a detached task's event after half a second. Then a member sleeps in the kernel while the others
 * wait. No deadlock. Prints "done".
 *
 * With an argument, prints "ready" and never ends its sleep. With "fork" a child does that, whose number is printed
 * first. With "steal" another processor has robbed a queue before. */
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *foreign(void *event)
{
    usleep(500000);
    omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
    return NULL;
}

/* A member spins for one that stands in its own processor's queue. */
static void have_one_stolen(void)
{
    int runs = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1) {
#pragma omp atomic write seq_cst
            runs = 1;
        } else {
            for (int seen = 0; !seen;) {
#pragma omp atomic read seq_cst
                seen = runs;
            }
        }
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event)
        pthread_create(&thread, NULL, foreign, (void *)(uintptr_t)event);
#pragma omp taskwait
    }
    pthread_join(thread, NULL);
    if (argc > 1 && !strcmp(argv[1], "steal"))
        have_one_stolen();
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        pid_t child = fork();
        if (child) {
            printf("%d\n", child);
            fflush(stdout);
            waitpid(child, NULL, 0);
            return 0;
        }
    }
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 1) {
            if (argc > 1) {
                puts("ready");
                fflush(stdout);
                sleep(1000);
            }
            usleep(300000);
        }
#pragma omp barrier
    }
    puts("done");
    return 0;
}
