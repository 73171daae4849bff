/* A ring of the system's (io_uring) that a member makes is the member's: what it has asked for stays asked for while
 * the member waits and others run, and it may use a ring that is for one thread alone. By `syscall`; the instruction
 * itself is not answered. */
#define _GNU_SOURCE
#include "check.h"
#include "waits.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#if defined(__has_include)
#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif
#endif

#define N 5
#define ENTRIES 4

#if defined(IORING_OFF_SQES) && defined(SYS_io_uring_setup)
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif

struct ring {
    int file;
    char *queues;
    struct io_uring_sqe *wishes;
    struct io_uring_params at;
};

static int set_up(struct io_uring_params *at, unsigned flags)
{
    memset(at, 0, sizeof *at);
    at->flags = flags;
    return (int)syscall(SYS_io_uring_setup, ENTRIES, at);
}

static void open_ring(struct ring *ring, unsigned flags)
{
    const int how = PROT_READ | PROT_WRITE;
    ring->file = set_up(&ring->at, flags);
    CHECK(ring->file >= 0 && (ring->at.features & IORING_FEAT_SINGLE_MMAP));
    size_t wishes = ring->at.sq_off.array + ring->at.sq_entries * sizeof(unsigned);
    size_t results = ring->at.cq_off.cqes + ring->at.cq_entries * sizeof(struct io_uring_cqe);
    ring->queues = mmap(NULL, wishes > results ? wishes : results, how, MAP_SHARED, ring->file, IORING_OFF_SQ_RING);
    ring->wishes =
        mmap(NULL, ring->at.sq_entries * sizeof(struct io_uring_sqe), how, MAP_SHARED, ring->file, IORING_OFF_SQES);
    CHECK(ring->queues != MAP_FAILED && ring->wishes != MAP_FAILED);
}

static unsigned *word(struct ring *ring, unsigned offset) { return (unsigned *)(void *)(ring->queues + offset); }

static void ask_to_read(struct ring *ring, int from, char *to)
{
    unsigned *tail = word(ring, ring->at.sq_off.tail), i = *tail & *word(ring, ring->at.sq_off.ring_mask);
    ring->wishes[i] = (struct io_uring_sqe){
        .opcode = IORING_OP_READ, .fd = from, .addr = (unsigned long)to, .len = 1, .off = (__u64)-1};
    word(ring, ring->at.sq_off.array)[i] = i;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    long taken;
    do
        taken = syscall(SYS_io_uring_enter, ring->file, 1, 0, 0, NULL, 0);
    while (taken < 0 && errno == EINTR);
    CHECK(taken == 1);
}

static int result(struct ring *ring)
{
    unsigned *head = word(ring, ring->at.cq_off.head), *tail = word(ring, ring->at.cq_off.tail);
    while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head)
        CHECK(syscall(SYS_io_uring_enter, ring->file, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) >= 0 || errno == EINTR);
    const struct io_uring_cqe *all = (void *)(ring->queues + ring->at.cq_off.cqes);
    int bytes = all[*head & *word(ring, ring->at.cq_off.ring_mask)].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return bytes;
}

static void rings(unsigned flags)
{
#pragma omp parallel num_threads(N)
    {
        struct ring ring;
        int channel[2];
        char c;
        CHECK(pipe(channel) == 0);
        wait_in_a_barrier();
        open_ring(&ring, flags);
        for (int i = 0; i < 4; i++) {
            ask_to_read(&ring, channel[0], &c);
            wait_in_all_ways();
            if (omp_get_thread_num() % 2)
                usleep(30000);
            else
                waits_compute_us(25000); /* spare kernel threads come and go */
            wait_in_a_critical();
            CHECK(write(channel[1], "q", 1) == 1 && result(&ring) == 1);
        }
        close(ring.file);
        close(channel[0]);
        close(channel[1]);
    }
}

int main(void)
{
    struct io_uring_params at;
    int file = set_up(&at, 0);
    if (file < 0) {
        fprintf(stderr, "no io_uring here: %s\n", strerror(errno));
        return 77;
    }
    close(file);
    rings(0);
    file = set_up(&at, IORING_SETUP_SINGLE_ISSUER);
    if (file >= 0) { /* Linux 6.0 */
        close(file);
        rings(IORING_SETUP_SINGLE_ISSUER);
    }
    return 0;
}
#else
int main(void)
{
    fprintf(stderr, "built without io_uring\n");
    return 77;
}
#endif
