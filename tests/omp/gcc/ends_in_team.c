/* Kernel threads of the program that end in a team of a league, by pthread_exit; regions go on afterwards. Not under
 * libomp, which hangs there. */
#include "../check.h"

#include <pthread.h>

static void *ends_in_team(void *arg)
{
#pragma omp teams num_teams(1)
    pthread_exit(arg);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 5; round++) {
        pthread_t thread;
        void *answer = NULL;
        CHECK(pthread_create(&thread, NULL, ends_in_team, &round) == 0);
        CHECK(pthread_join(thread, &answer) == 0 && answer == &round);
        int count = 0;
#pragma omp parallel num_threads(3) reduction(+ : count)
        count++;
        CHECK(count == 3);
    }
    return 0;
}
