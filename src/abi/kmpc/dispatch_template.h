/* LLVM entry points of loops for which compiled code asks for one chunk after the other, over one type of bounds.
 * dispatch.c includes this file four times. Before each it defines:
 *   DISPATCH_NAME(x)  the function x of this type
 *   BOUND             the type of bounds
 *   WIDTH             the unsigned type of the same width
 *   STEP              the signed type of the same width */
PS_EXPORT void DISPATCH_NAME(__kmpc_dispatch_init)(struct kmpc_location *at, PS_UNUSED int32_t gtid, int32_t schedule,
                                                   BOUND lower, BOUND upper, STEP step, STEP chunk)
{
    if (step == 0)
        kmpc_fatal(at, __func__, "the increment is 0");
    start_dispatch(at, __func__, schedule, (uint64_t)lower, (uint64_t)(int64_t)step,
                   KMPC_TRIP(WIDTH, lower, upper, step), chunk);
}
/* For distribute parallel for: begins a loop over the team's part of the range. The team's threads take chunks of this
 * part. */
PS_EXPORT void DISPATCH_NAME(__kmpc_dist_dispatch_init)(struct kmpc_location *at, PS_UNUSED int32_t gtid,
                                                        int32_t schedule, int32_t *last, BOUND lower, BOUND upper,
                                                        STEP step, STEP chunk)
{
    if (step == 0)
        kmpc_fatal(at, __func__, "the increment is 0");
    const struct ort_group *league = ort_self()->team->contention;
    uint64_t trip = KMPC_TRIP(WIDTH, lower, upper, step), n = league->num_teams, id = league->team_num;
    uint64_t q = trip / n, r = trip % n, from = q * id + (id < r ? id : r), count = q + (id < r);
    if (last != NULL)
        *last = count != 0 && from + count == trip;
    start_dispatch(at, __func__, schedule, (uint64_t)lower + from * (uint64_t)(int64_t)step, (uint64_t)(int64_t)step,
                   count, chunk);
}
static PS_ALWAYS_INLINE int32_t DISPATCH_NAME(give_chunk)(uint64_t lo, uint64_t hi, uint64_t step, bool is_last,
                                                          int32_t *last, BOUND *lower, BOUND *upper, STEP *stride)
{
    *lower = (BOUND)lo;
    *upper = (BOUND)(hi - step);
    if (stride != NULL)
        *stride = (STEP)step;
    if (last != NULL)
        *last = is_last;
    return 1;
}
/* Called when the member's batch has no further chunk. Gets a batch from the core, stores its first chunk and returns
 * 1; if there is none, leaves the loop and returns 0. */
static PS_NOIPA int32_t DISPATCH_NAME(used_up)(struct ort_thread *t, PS_UNUSED int32_t gtid, int32_t *last,
                                               BOUND *lower, BOUND *upper, STEP *stride)
{
    const struct ort_loop_desc *d = t->loop.desc;
    uint64_t lo, hi;
    if (!ort_batch_used_up(t, &t->batch, &lo, &hi))
        return loop_over(t);
    return DISPATCH_NAME(give_chunk)(lo, hi, d->step, hi == d->end, last, lower, upper, stride);
}
/* Stores the next chunk of a loop that is not a plain dynamic one, or has no work-share slot, and returns 1. Returns 0
 * if no chunk is left, or the caller is in no loop. */
static PS_NOIPA int32_t DISPATCH_NAME(next_chunk)(struct ort_thread *t, PS_UNUSED int32_t gtid, int32_t *last,
                                                  BOUND *lower, BOUND *upper, STEP *stride)
{
    const struct ort_loop_desc *d = t->loop.desc;
    struct ort_workshare *ws = t->loop.ws;
    uint64_t lo, hi;
    if (ws == NULL && d != &t->loop.own)
        return 0;
    if (t->loop.uncontended) {
        if (PS_UNLIKELY(!ort_claim_uncontended(&t->loop, &t->batch, d, &lo)))
            return DISPATCH_NAME(used_up)(t, gtid, last, lower, upper, stride);
        return DISPATCH_NAME(give_chunk)(lo, lo + t->batch.stride, d->step, false, last, lower, upper, stride);
    }
    if (!(PS_LIKELY(d->plain == ORT_PLAIN_GUIDED) ? ort_next_plain_guided(ws, d, t->team->n, &lo, &hi)
                                                  : ort_loop_next(t, &lo, &hi)))
        return loop_over(t);
    uint64_t step = d->step;
    if (PS_UNLIKELY(t->loop.unit != 1))
        step = (uint64_t)((int64_t)step / (int64_t)t->loop.unit);
    return DISPATCH_NAME(give_chunk)(lo, hi, step, hi == d->end, last, lower, upper, stride);
}
/* Called if the calling kernel thread is no OpenMP thread, or if a bound's pointer is NULL. In the first case returns
 * 0: there is no chunk. In the second case ends the program. */
static PS_NOIPA int32_t DISPATCH_NAME(next_of_none)(struct kmpc_location *at, PS_UNUSED int32_t gtid,
                                                    PS_UNUSED int32_t *last, BOUND *lower, BOUND *upper,
                                                    PS_UNUSED STEP *stride)
{
    return no_loop(at, DISPATCH_TEXT(DISPATCH_NAME(__kmpc_dispatch_next)), lower == NULL || upper == NULL);
}
/* Called when a claim has reached the loop's end; the claim is of the numbers from `at` on. If `at` is in the loop,
 * stores the loop's last chunk and returns 1. Otherwise leaves the loop and returns 0. */
static PS_NOIPA int32_t DISPATCH_NAME(last_chunk)(struct ort_thread *t, uint64_t at, int32_t *last, BOUND *lower,
                                                  BOUND *upper, STEP *stride)
{
    const struct ort_loop_desc *d = &t->loop.ws->desc;
    if (at >= d->n)
        return loop_over(t);
    return DISPATCH_NAME(give_chunk)(d->start + at * d->step, d->end, d->step, true, last, lower, upper, stride);
}
PS_EXPORT int32_t DISPATCH_NAME(__kmpc_dispatch_next)(struct kmpc_location *at, int32_t gtid, int32_t *last,
                                                      BOUND *lower, BOUND *upper, STEP *stride)
{
    struct ort_thread *t = ee_local_inline();
    if (PS_UNLIKELY(t == NULL) || PS_UNLIKELY(lower == NULL))
        return DISPATCH_NAME(next_of_none)(at, gtid, last, lower, upper, stride);
    /* Keeps the compiler from joining the tests of the two pointers, which would take more instructions. */
    __asm__("" : "+r"(upper));
    if (PS_UNLIKELY(upper == NULL))
        return DISPATCH_NAME(next_of_none)(at, gtid, last, lower, upper, stride);
    struct ort_workshare *ws = t->loop.ws;
    if (PS_UNLIKELY(ws == NULL) || ws->desc.plain != ORT_PLAIN_DYNAMIC)
        return DISPATCH_NAME(next_chunk)(t, gtid, last, lower, upper, stride);
    const struct ort_loop_desc *d = &ws->desc;
    uint64_t chunk = d->chunk, n = d->n, a = ps_add_relaxed(&ws->next, chunk);
    /* In a plain loop neither n nor a exceeds 2^63, so the difference may be compared as signed. */
    if (PS_UNLIKELY((int64_t)(n - a) <= (int64_t)chunk))
        return DISPATCH_NAME(last_chunk)(t, a, last, lower, upper, stride);
    uint64_t lo = d->start + a * d->step;
    return DISPATCH_NAME(give_chunk)(lo, lo + ws->reach, d->step, false, last, lower, upper, stride);
}
PS_EXPORT void DISPATCH_NAME(__kmpc_dispatch_fini)(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid) {}
