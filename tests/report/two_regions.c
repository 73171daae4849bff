/* Two regions that follow one another. Compilers give their calls the line of what stands before. */
static double a[100];

int main(void)
{
    for (int k = 0; k < 3; k++) {
#pragma omp parallel for /* first */
        for (int i = 0; i < 100; i++)
            a[i] += i;
#pragma omp parallel for /* second */
        for (int i = 0; i < 100; i++)
            a[i] *= k;
    }
    return a[1] > 1e6;
}
