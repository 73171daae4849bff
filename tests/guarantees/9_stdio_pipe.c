/* Members print to one stream on a pipe whose reader is slow: the stream's owner blocks in the kernel, inside the
 * stream's lock. No line is lost, doubled or broken, in a program without thread-local variables too. 9_stdio_pipe
 * [loaded] */
#define _GNU_SOURCE
#include "contend.h"
#include "load.h"
#include <fcntl.h>
#include <pthread.h>

#define MEMBERS 4
#define LINES 40
#define ROUNDS 4

static int ends[2];
static FILE *out;
static int seen[ROUNDS][MEMBERS][LINES];
static int broken;

static void *read_slowly(void *arg)
{
    FILE *in = fdopen(ends[0], "r");
    char line[600];
    for (int n = 0; fgets(line, sizeof line, in); n++) {
        int round, member, number, length = 0;
        if (sscanf(line, "round %d member %d line %d %*[x]%n", &round, &member, &number, &length) == 3 &&
            line[length] == '\n' && length > 250)
            seen[round][member][number]++;
        else
            broken++;
        usleep(n % 64 ? 200 : 30000);
    }
    fclose(in);
    return arg;
}

static int round_now;
static void print(void)
{
    char x[250];
    memset(x, 'x', sizeof x);
    for (int i = 0; i < LINES; i++) {
        if (omp_get_thread_num() == contend.owner && i == 2)
            contend_came(); /* the pipe is about to be full */
        CHECK(fprintf(out, "round %d member %d line %d %.*s\n", round_now, omp_get_thread_num(), i, (int)sizeof x, x) >
              250);
    }
}

static void next_round(void) { round_now++; }

int main(int argc, char **argv)
{
    pthread_t reader;
    if (argc > 1 && !strcmp(argv[1], "loaded"))
        load_processors(1);
    CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 0);
    out = fdopen(ends[1], "w");
    CHECK(out && setvbuf(out, NULL, _IOLBF, 1000) == 0);
    CHECK(pthread_create(&reader, NULL, read_slowly, NULL) == 0);
    round_now = -1;
    contend_rounds(MEMBERS, ROUNDS, HOLD_COMPUTING, next_round, print);
    CHECK(fclose(out) == 0);
    pthread_join(reader, NULL);
    CHECK(broken == 0);
    for (int i = 0; i < ROUNDS * MEMBERS * LINES; i++)
        CHECK((&seen[0][0][0])[i] == 1);
    return 0;
}
