/* LLVM entry points of loops whose chunks are asked for one by one, over one type of bounds. dispatch.c includes this
 * file four times, each time after it has defined:
 *   DISPATCH_NAME(x)  the function x of this type
 *   BOUND             the type of bounds
 *   WIDTH             the unsigned type as wide
 *   STEP              the signed type as wide */
PS_EXPORT void DISPATCH_NAME(__kmpc_dispatch_init)(struct kmpc_location *at, PS_UNUSED int32_t gtid, int32_t schedule,
                                                   BOUND lower, BOUND upper, STEP step, STEP chunk)
{
    if (step == 0)
        kmpc_fatal(at, __func__, "the increment is 0");
    start_dispatch(at, __func__, schedule, (uint64_t)lower, (uint64_t)(int64_t)step,
                   KMPC_TRIP(WIDTH, lower, upper, step), chunk);
}
/* distribute parallel for: the team's part of the range, of which its threads take chunks. */
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
static PS_NOIPA int32_t DISPATCH_NAME(next_chunk)(struct ort_thread *t, PS_UNUSED int32_t gtid, int32_t *last,
                                                  BOUND *lower, BOUND *upper, STEP *stride)
{
    const struct ort_loop_desc *d = t->loop.desc;
    uint64_t lo, hi;
    if (t->loop.ws == NULL && d != &t->loop.own)
        return 0;
    if (!(PS_LIKELY(d->plain == ORT_PLAIN_GUIDED) ? ort_next_plain_guided(t->loop.ws, d, t->team->n, &lo, &hi)
                                                  : ort_loop_next(t, &lo, &hi)))
        return loop_over(t);
    uint64_t step = d->step;
    if (PS_UNLIKELY(t->loop.unit != 1))
        step = (uint64_t)((int64_t)step / (int64_t)t->loop.unit);
    return DISPATCH_NAME(give_chunk)(lo, hi, step, hi == d->end, last, lower, upper, stride);
}
static PS_NOIPA int32_t DISPATCH_NAME(used_up)(struct ort_thread *t, PS_UNUSED int32_t gtid, int32_t *last,
                                               BOUND *lower, BOUND *upper, STEP *stride)
{
    const struct ort_loop_desc *d = t->loop.desc;
    uint64_t lo, hi;
    if (!ort_batch_used_up(t, &t->batch, &lo, &hi))
        return loop_over(t);
    return DISPATCH_NAME(give_chunk)(lo, hi, d->step, hi == d->end, last, lower, upper, stride);
}
PS_EXPORT int32_t DISPATCH_NAME(__kmpc_dispatch_next)(struct kmpc_location *at, int32_t gtid, int32_t *last,
                                                      BOUND *lower, BOUND *upper, STEP *stride)
{
    struct ort_thread *t = ee_local_inline();
    if (PS_UNLIKELY(lower == NULL) || PS_UNLIKELY(upper == NULL) || PS_UNLIKELY(t == NULL))
        return no_loop(at, __func__, lower == NULL || upper == NULL);
    struct ort_workshare *ws = t->loop.ws;
    uint64_t lo, hi;
    if (t->loop.alone) {
        if (PS_UNLIKELY(!ort_claim_alone(&t->loop, &t->batch, &ws->desc, &lo)))
            return DISPATCH_NAME(used_up)(t, gtid, last, lower, upper, stride);
        return DISPATCH_NAME(give_chunk)(lo, lo + t->batch.stride, ws->desc.step, false, last, lower, upper, stride);
    }
    if (ws == NULL || ws->desc.plain != ORT_PLAIN_DYNAMIC || PS_UNLIKELY(t->loop.unit != 1))
        return DISPATCH_NAME(next_chunk)(t, gtid, last, lower, upper, stride);
    bool is_last;
    if (PS_UNLIKELY(!ort_claim_plain_dynamic(ws, &ws->desc, &lo, &hi, &is_last)))
        return loop_over(t);
    return DISPATCH_NAME(give_chunk)(lo, hi, ws->desc.step, is_last, last, lower, upper, stride);
}
PS_EXPORT void DISPATCH_NAME(__kmpc_dispatch_fini)(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid) {}
