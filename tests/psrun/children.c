/* Says whether the process had children before it became this program: psrun's, since psrun becomes the program. */
#include <stdio.h>
#include <sys/resource.h>

int main(void)
{
    int in_team = 0;
    struct rusage of_children;
    getrusage(RUSAGE_CHILDREN, &of_children);
#pragma omp parallel reduction(+ : in_team)
    in_team++;
    printf("children: %s\n", of_children.ru_minflt > 0 ? "some" : "none");
    return in_team == 0;
}
