/* Data movement between main memory and what stands near the cores that work on it. On the platform: a transfer by the
 * cluster's DMA, into a piece of the cluster's scratchpad (TCDM). On the host: memcpy into memory of malloc.
 *
 * A piece is taken from the scratchpad of the calling core's cluster; where that is full, from the next one's, which
 * the DMA of the caller's cluster cannot reach: the core copies then itself. Transfers of a cluster happen in order.
 * A channel (0 to MOVE_CHANNELS - 1) belongs to the core that uses it. Addresses, sizes and strides are
 * multiples of 4 bytes on the platform. */
#ifndef MOVE_H
#define MOVE_H

#include <stddef.h>
#include <stdint.h>

enum { MOVE_CHANNELS = 2 };

#if defined(__riscv) && !defined(__linux__)
#define MOVE_PLATFORM 1
#else
#define MOVE_PLATFORM 0
#endif

/* Copies rows of `bytes` each, or begins to. near: a place in a piece; the other one may be anywhere. */
void move_in(void *near, const void *far, uint32_t bytes, uint32_t rows, uint32_t near_stride, uint32_t far_stride);
void move_out(void *far, const void *near, uint32_t bytes, uint32_t rows, uint32_t far_stride, uint32_t near_stride);
/* A mark behind all transfers of the cluster so far; the wait is for the core's last mark on the channel. Every mark is
 * waited for before the next one on its channel. */
void move_mark(unsigned channel);
void move_wait(unsigned channel);

/* A piece, aligned to 64 bytes; NULL: no room. remote: clusters further than the own one (0: the own). */
void *move_take(uint32_t bytes, unsigned remote);
/* Takes a piece back. */
void move_give(void *piece);
/* Bytes of pieces that fit into one cluster. */
uint32_t move_room(void);

/* Cycles on the platform, nanoseconds on the host, since some moment. */
uint64_t move_time(void);
/* The lower half of it, cheaper. */
uint32_t move_ticks(void);
/* Clusters, and cores in each; 0 on the host. */
unsigned move_clusters(void);
unsigned move_cores(void);

#endif
