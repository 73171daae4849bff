/* What tasks see of the function around them, type by type. Each check ends the program where it fails. */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) ((what) ? (void)0 : (printf("line %d: %s\n", __LINE__, #what), exit(1)))

struct pair {
    int a, b;
};
static int global = 5;
static int twice(int x) { return 2 * x; }
typedef int (*function)(int);

/* Declared in the queue's block: each task has its own copy. */
static void copies(void)
{
    int sum[10] = {0};
#pragma omp parallel taskq
    for (int i = 0; i < 10; i++) {
        struct pair p = {i, 2 * i};
        int row[4] = {i, i + 1, i + 2, i + 3};
        const int twice_i = 2 * i;
        double complex z = i + 1.0 * I;
#pragma omp task
        sum[i] = p.a + p.b + row[3] + twice_i + (int)creal(z) + (int)cimag(z);
        p.a = -1000; /* too late to be seen */
        row[3] = -1000;
    }
    for (int i = 0; i < 10; i++)
        CHECK(sum[i] == 7 * i + 4);
}

/* Shared: one object. Arrays whose lengths are known at run time, in every position. */
static void shared_things(int n, int m, double a[n][m], double flat[n * m])
{
    int vla[n], cube[n][m][3];
    double(*rows)[m] = a;
    static int counted;
    _Bool flag = 0;
    long double wide = 0;
    volatile int seen = 0;
    memset(cube, 0, sizeof cube);
    for (int i = 0; i < n; i++)
        vla[i] = i;
    counted = 0;
#pragma omp parallel taskq
    {
        for (int i = 0; i < n; i++) {
            int own[m];
            for (int j = 0; j < m; j++)
                own[j] = 100 * i + j;
#pragma omp task
            {
                for (int j = 0; j < m; j++) {
                    rows[i][j] = vla[i] + own[j];
                    cube[i][j][2] = (int)(sizeof cube[0] / sizeof(int));
                    flat[i * m + j] += a[i][j] > 0;
                }
#pragma omp critical
                {
                    counted++;
                    seen = seen + 1;
                }
            }
            for (int j = 0; j < m; j++)
                own[j] = -1;
        }
#pragma omp task
        {
            flag = 1;
            wide = 1.5L;
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            CHECK(cube[i][j][2] == 3 * m);
    CHECK(counted == n && seen == n && flag && wide == 1.5L);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            CHECK(flat[i * m + j] == 101 * i + j + (101 * i + j > 0));
}

static int apply(int callback(int), int values[3], int k)
{
    int result = 0;
    int declared_here(int);
    extern int defined_below;
    function local = callback;
    function table[2] = {twice, callback};
#pragma omp parallel taskq
    {
#pragma omp task
        result = callback(k) + local(values[1]) + table[0](k) + declared_here(1) + defined_below;
    }
    return result;
}
int defined_below = 1000;
int declared_here(int x);
int declared_here(int x) { return x + 10000; }

/* Types that the function declares. */
static int local_types(int n)
{
    struct node {
        int value;
        struct node *next;
    } nodes[3] = {{1, 0}, {2, 0}, {3, 0}};
    typedef struct {
        struct node *head;
        union {
            int i;
            float f;
        } u;
    } list;
    typedef int row[n];
    enum colour { RED = 7, GREEN };
    struct {
        int x;
        enum colour c;
    } nameless = {4, GREEN};
    list l = {nodes, {0}};
    row r;
    enum colour chosen = RED;
    int total = 0;
    nodes[0].next = &nodes[1];
    nodes[1].next = &nodes[2];
    for (int i = 0; i < n; i++)
        r[i] = i;
#pragma omp parallel taskq
    {
        list copy = l;
#pragma omp task
        {
            row mine;
            list *again = &copy;
            memcpy(mine, r, sizeof(row));
            for (struct node *at = again->head; at; at = at->next)
                total += at->value;
            total += mine[n - 1] + (int)(sizeof(row) / sizeof(int)) + nameless.x + (int)nameless.c + (chosen == RED) +
                     (int)GREEN;
            nameless.x = 50;
        }
    }
    return total + nameless.x;
}

/* Names that hide others, and a variable of the file's as a task's own. */
static void hidden(void)
{
    int i = 3, seen[4] = {0}, sum = 0;
#pragma omp parallel taskq
    for (int k = 0; k < 4; k++) {
#pragma omp task captureprivate(global, i)
        {
            int before = i;
            for (int i = 0; i < 5; i++)
                before += i;
            {
                struct pair i = {1, 2};
                before += i.a + i.b;
            }
            i = 77;
            global += k;
            seen[k] = before + global;
        }
    }
    for (int k = 0; k < 4; k++)
        sum += seen[k];
    CHECK(sum == 4 * (3 + 10 + 3 + 5) + 6);
    CHECK(i == 3 && global == 5);
}

/* A task in a queue in a task: what is shared twice, and what is copied on the way. */
static void nested(void)
{
    int outer = 0, table[3][4];
#pragma omp parallel taskq shared(table)
    for (int i = 0; i < 3; i++) {
#pragma omp task
        {
            int middle = 10 * i;
#pragma omp taskq
            for (int j = 0; j < 4; j++) {
#pragma omp task
                {
                    table[i][j] = middle + j;
#pragma omp atomic
                    outer += 1;
                }
            }
            middle = -1;
        }
    }
    CHECK(outer == 12);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            CHECK(table[i][j] == 10 * i + j);
}

int main(void)
{
    double a[7][5], flat[35] = {0};
    int values[3] = {1, 2, 3};
    copies();
    shared_things(7, 5, a, &a[0][0]);
    (void)flat;
    CHECK(apply(twice, values, 4) == 8 + 4 + 8 + 10001 + 1000);
    CHECK(local_types(6) == 6 + 5 + 6 + 4 + 8 + 1 + 8 + 50);
    hidden();
    nested();
    return 0;
}
