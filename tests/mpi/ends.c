/* How a job ends. Argument:
 *   abort   a thread that waits beside others calls MPI_Abort
 *   killed  a rank is killed while others wait for it
 *   exit    a rank leaves without MPI_Finalize
 *   inside  MPI_Finalize while threads of another region compute
 *   fork    a child beside threads that wait */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void wait_for_what_never_comes(int what)
{
#pragma omp parallel num_threads(4)
    {
        int in;
        if (omp_get_thread_num() == 3 && check_rank == 1) {
            usleep(50000);
            if (what == 'a')
                MPI_Abort(MPI_COMM_WORLD, 7);
            else if (what == 'k')
                raise(SIGKILL);
            else
                exit(9);
        }
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void fork_beside_waiting(void)
{
    int in = 0, out = 1, status;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        MPI_Recv(&in, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        usleep(20000);
        pid_t child = fork();
        if (child == 0)
            _exit(3);
        CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
        MPI_Send(&out, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD);
    }
    CHECK(in == 1);
}

static void *compute(void *arg)
{
    volatile int *go = arg;
    double sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    for (int i = 0; *go && i < 100000000; i++)
        sum += i;
    return sum < 0 ? arg : NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (strcmp(how, "fork") == 0)
        fork_beside_waiting();
    else if (strcmp(how, "inside") != 0)
        wait_for_what_never_comes(how[0]);
    else {
        static volatile int go = 1;
        pthread_t other;
        CHECK(pthread_create(&other, NULL, compute, (void *)&go) == 0);
        usleep(10000);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        go = 0;
        pthread_join(other, NULL);
        if (check_rank == 0)
            puts("all is well");
        return 0;
    }
    return end();
}
