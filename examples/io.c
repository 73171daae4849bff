/* An echo server and its clients in one process: a hundred connections, a thread at each end, on however few kernel
 * threads. */
#include <psthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 100 };

static void *serves(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char text[64];
    for (ssize_t got; (got = psthread_read(fd, text, sizeof text)) > 0;)
        if (psthread_write(fd, text, (size_t)got) != got)
            break;
    close(fd);
    return NULL;
}

static void *asks(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char text[64], answer[64];
    int right = 0;
    for (int i = 0; i < 10; i++) {
        int length = snprintf(text, sizeof text, "message %d of connection %d", i, fd);
        psthread_sleep(psthread_now() + 1000000); /* a millisecond */
        if (psthread_write(fd, text, (size_t)length) == length && psthread_read(fd, answer, sizeof answer) == length)
            right += memcmp(text, answer, (size_t)length) == 0;
    }
    close(fd);
    return (void *)(intptr_t)right;
}

int main(void)
{
    psthread_t clients[CLIENTS], server;
    int right = 0;
    for (int i = 0; i < CLIENTS; i++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
            psthread_create(&server, NULL, serves, (void *)(intptr_t)ends[0]) ||
            psthread_create(&clients[i], NULL, asks, (void *)(intptr_t)ends[1]))
            return 1;
        psthread_enqueue(server, PSTHREAD_VP_ANY);
        psthread_enqueue(clients[i], PSTHREAD_VP_ANY);
    }
    for (int i = 0; i < CLIENTS; i++) {
        void *result;
        psthread_join(clients[i], &result);
        right += (int)(intptr_t)result;
    }
    printf("%d of %d answers are right\n", right, 10 * CLIENTS);
    return psthread_finalize() || right != 10 * CLIENTS;
}
