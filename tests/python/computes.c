/* A library as a wheel has it: it opens regions, and is linked to a copy of an OpenMP runtime under a name of its own
 * (copied_runtime.c). */
int members(int n);

int members(int n)
{
    int count = 0;
#pragma omp parallel num_threads(n)
    {
#pragma omp atomic
        count++;
    }
    return count;
}
