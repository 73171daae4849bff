/* What the programs share that waiting.py runs: which teams there are, the clock, and the printed line. */
#ifndef BENCH_REGIONS_H
#define BENCH_REGIONS_H

enum { REGIONS_TEAMS_MAX = 32, REGIONS_MEMBERS_MAX = 64, REGIONS_MAX = 100000 };

/* Opens a region of `members` and returns after its end. Teams that are there at the same time have different numbers,
 * from 0. */
typedef void regions_team(unsigned team, unsigned members);

/* Measures so many regions, the first one apart from the later ones; fewer where these take more than a second. The
 * shape is
 *   "4"     regions of 4 members, by the calling thread
 *   "2x4"   regions of 2 members, each of which opens one of 4; the outer regions are measured
 *   "2r4"   two threads of the program's own at the same time, each with regions of 4
 * Prints a line of JSON: bench (the name), shape, unit, regions (so many, of each thread), and in ms
 *   first         the first region
 *   median, mean  of the later regions
 *   total         of all later regions, by the wall clock
 *   cpu           the processor time of the process, user and system, for each later region
 * Returns 0; else 1, or 2 where shape or number are none, and says so on standard error. */
int regions_measure(const char *name, const char *shape, const char *number, regions_team *open);
/* Returns how many teams of how many members a shape has at the same time; 0 where it is none. */
unsigned regions_shape(const char *shape, unsigned *members);

#endif
