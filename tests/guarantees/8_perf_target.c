/* What perf looks at: two levels of regions whose members compute for a while. */
static volatile double sink;

__attribute__((noinline)) static void innermost(void)
{
    for (long i = 0; i < 60000000; i++)
        sink += (double)i;
}

int main(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        innermost();
    }
    return 0;
}
