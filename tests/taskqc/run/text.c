/* clang-format off */ /* The text around directives: macros, places of directives, jumps inside of blocks, C of GCC's. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) ((what) ? (void)0 : (printf("line %d: %s\n", __LINE__, #what), exit(1)))
#define AT(i, j) a[(i) * n + (j)]
#define EACH(i, to) for (int i = 0; i < (to); i++)
#define SHOW(x) (sprintf(shown, "%s=%d", #x, x), shown)
#define GLUE(x) x##_suffix
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define TWO_LINES(x, y) ((x) + \
                         (y))

static void macros(int n)
{
    int *a = calloc((size_t)(n * n), sizeof *a), name_suffix = 3, name = 4, ok = 0;
    char shown[40];
#pragma omp parallel taskq
    {
        EACH(i, n)
        {
#pragma omp task
            EACH(j, n) AT(i, j) = MAX(i, j) + TWO_LINES(n,
                                                        0);
        }
#pragma omp task
        {
            int *p = a;
            assert(GLUE(name) == 3 && name == 4);
            ok = strcmp(SHOW(name), "name=4") == 0 && __LINE__ == 33 && p != NULL && strcmp(__func__, "") != 0;
        }
    }
    CHECK(ok);
    EACH(i, n)
    EACH(j, n) CHECK(AT(i, j) == MAX(i, j) + n);
    free(a);
}

static int defined_inside(int k)
{
    int result = 0;
#define K_TIMES(x) ((x)*7)
#pragma omp parallel taskq
    {
#pragma omp task
        result = K_TIMES(6) + k;
    }
#undef K_TIMES
#define K_TIMES(x) (x)
    return result + K_TIMES(0);
}
#undef K_TIMES

static void goto_inside(int *result)
{
    __atomic_add_fetch(result, 1, __ATOMIC_SEQ_CST);
}

static int places(int which)
{
    int result = 0;
    if (which == 0)
#pragma omp parallel taskq
#pragma omp task
        result = 1;
    else if (which == 1)
#pragma omp parallel taskq
    {
#pragma omp task
        result = 2;
    }
    else
        switch (which) {
        case 2:
#pragma omp parallel taskq
            for (int i = 0; i < 3; i++)
#pragma omp task
            {
#pragma omp atomic
                result += i;
            }
            break;
        default:
            do
#pragma omp parallel /* a comment */ \
    taskq num_threads( \
        2) // another
            {
                for (int i = 0; i < 4; i++)
#   pragma   omp   task   shared ( result )
                    goto_inside(&result);
#pragma omp flush
            }
            while (result < 4);
        }
    return result;
}

static int jumps(int n)
{
    int total = 0;
#pragma omp parallel taskq reduction(+ : total)
    for (int i = 0; i < n; i++) {
        if (i % 2)
            continue;
        if (i > 10)
            break;
#pragma omp task
        {
            int j = 0;
        again:
            if (++j < 5)
                goto again;
            for (;;) {
                if (j++ > 8)
                    break;
                continue;
            }
            switch (j) {
            case 10:
                total += 1;
                break;
            default:
                total += 100;
            }
            total += ({
                int inner = 0;
                while (inner < 3)
                    inner++;
                inner;
            });
        }
    }
    return total;
}

static int gnu(int n, ...)
{
    __auto_type x = n + 1.5f;
    __typeof__(n) y = n;
    int seen = 0, table[] = {[0 ... 3] = 7, [4] = 9};
    unsigned char byte __attribute__((aligned(64))) = 200;
    typedef int four __attribute__((vector_size(16)));
    struct packed {
        char c;
        int i;
    } __attribute__((packed)) p = {1, 500};
    four v = {1, 2, 3, 4};
    va_list ap;
    va_start(ap, n);
#pragma omp parallel taskq
    {
#pragma omp task captureprivate(x)
        {
            int out;
            x += 1;
            __asm__("" : "=r"(out) : "0"(y));
            seen += out + (int)x + table[4] + table[2] + byte + v[3] + p.i + (int)sizeof(struct packed);
            seen += _Generic(y, int : 1000, default : 0) + (y ?: 5);
            seen += va_arg(ap, int);
        }
    }
    va_end(ap);
    CHECK(x == n + 1.5f);
    return seen;
}

/* What a directive may look like: by the operator, and left out by the preprocessor. */
static int other_spellings(void)
{
    int sum = 0;
    _Pragma("omp parallel taskq")
    {
        for (int i = 1; i < 4; i++) {
            _Pragma("intel omp task") __atomic_add_fetch(&sum, i, __ATOMIC_SEQ_CST);
        }
    }
#if 0
#pragma omp taskq nonsense(
    nor here
#endif
    /* #pragma omp taskq nonsense( */
    const char *text = "\
#pragma omp taskq";
    return sum + (text[0] == '#');
}

int old_style(a, b)
int a;
int b[];
{
    int sum = 0;
#pragma omp parallel taskq
    {
#pragma omp task
        sum = a + b[1];
    }
    return sum;
}

/* GCC's C that libclang does not accept, in functions without directives. */
static int not_clangs(int n)
{
    int add(int x) { return x + n; }
    struct {
        int row[n];
    } s;
    s.row[n - 1] = 3;
    return add(1) + s.row[n - 1];
}

int main(void)
{
    int b[2] = {1, 2};
    macros(6);
    CHECK(defined_inside(5) == 47);
    CHECK(places(0) == 1);
    CHECK(places(1) == 2);
    CHECK(places(2) == 3);
    CHECK(places(3) == 4);
    CHECK(jumps(20) == 6 * 4);
    CHECK(gnu(3, 50) == 3 + 5 + 9 + 7 + 200 + 4 + 500 + 5 + 1000 + 3 + 50);
    CHECK(other_spellings() == 7);
    CHECK(old_style(3, b) == 5);
    CHECK(not_clangs(4) == 8);
    return 0;
}
