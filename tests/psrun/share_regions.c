/* Opens regions until it is killed. SIGUSR1: from then on it computes, and opens no region. */
#include <omp.h>
#include <signal.h>

static volatile sig_atomic_t sequential;

static void on_signal(int signal)
{
    (void)signal;
    sequential = 1;
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    while (!sequential) {
#pragma omp parallel
        {
            double end = omp_get_wtime() + 0.001;
            while (omp_get_wtime() < end)
                ;
        }
    }
    for (;;)
        ;
}
