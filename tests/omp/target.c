/* target on the host: data in place, firstprivate copies, nowait with dependences, a fresh initial thread. */
#include "check.h"

int main(void)
{
    int x = 3, a[10] = {0}, y = 5;
    double wide = 1.5;
    char small = 'a';
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp target map(tofrom : a, y) firstprivate(x, wide, small) nowait depend(out : y)
        {
            x++;
            wide *= 2;
            small++;
            y = omp_get_level() * 100 + omp_get_num_threads();
            for (int i = 0; i < 10; i++)
                a[i] = x + i + (wide == 3) + (small == 'b');
        }
#pragma omp target update to(a) nowait depend(inout : y)
#pragma omp task depend(in : y) shared(a, y)
        {
            CHECK(y == 1);
            a[0] = -1;
        }
#pragma omp taskwait
#pragma omp target firstprivate(x)
        x += 100;
    }
    CHECK(x == 3 && a[9] == 4 + 9 + 2 && a[0] == -1 && wide == 1.5 && small == 'a');
    int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    CHECK(sum == 4950);
#pragma omp target data map(tofrom : a)
#pragma omp target map(tofrom : a)
    a[1] = 7;
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(from : a)
    CHECK(a[1] == 7 && omp_get_num_devices() == 0 && omp_is_initial_device());
    return 0;
}
