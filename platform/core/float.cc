#include "core/float.h"

namespace mc::fp
{

uint32_t ties_away(uint32_t near, double exact, bool is_exact)
{
    double r = as_float(near);
    if (!is_exact || is_nan(near) || std::isinf(r) || std::fabs(r) >= std::fabs(exact))
        return near;
    // magnitude one up; where RNE gave a zero, the sign is that of the zero
    uint32_t up = near + 1;
    double u = as_float(up);
    return u - exact == exact - r ? up : near;
}

uint32_t slow(uint8_t &flags, unsigned rm, uint32_t (*rne)(uint8_t &, float, float, float),
              double (*twice)(double, double, double), float a, float b, float c)
{
    if (rm != RMM) {
        host_round(rm);
        uint32_t r = rne(flags, a, b, c);
        host_round(RNE);
        return r;
    }
    uint32_t near = rne(flags, a, b, c);
    host_clear();
    double x = a, y = b, z = c;
    opaque(x);
    opaque(y);
    opaque(z);
    double d = twice(x, y, z);
    opaque(d);
    bool exact = !host_inexact(host_flags());
    uint32_t r = ties_away(near, d, exact);
    host_clear();
    return r;
}

uint32_t to_int(uint8_t &flags, unsigned rm, uint32_t a, bool is_unsigned)
{
    uint32_t least = is_unsigned ? 0 : 0x80000000u, most = is_unsigned ? 0xffffffffu : 0x7fffffffu;
    if (is_nan(a) || (a & 0x7fffffff) >= 0x50000000) { // at least 2^33, which is out of every range
        flags |= NV;
        return !is_nan(a) && (a >> 31) ? least : most;
    }
    // |a| < 2^33: integer part and remainder by shifts of the significand
    int e = int((a >> 23) & 0xff) - 150;
    uint64_t m = (a & 0x7fffff) | ((a & 0x7f800000) ? 0x800000u : 0u), whole, rest;
    unsigned half; // the remainder beside one half: 0 less, 1 equal, 2 more
    if (e >= 0) {
        whole = m << e;
        rest = 0;
        half = 0;
    } else if (e < -25) {
        whole = 0;
        rest = m;
        half = 0;
    } else {
        whole = m >> -e;
        rest = m & ((uint64_t(1) << -e) - 1);
        uint64_t middle = uint64_t(1) << (-e - 1);
        half = rest == middle ? 1 : rest > middle ? 2 : 0;
    }
    bool negative = a >> 31;
    switch (rm) {
    case RNE:
        whole += half == 2 || (half == 1 && (whole & 1));
        break;
    case RDN:
        whole += negative && rest;
        break;
    case RUP:
        whole += !negative && rest;
        break;
    case RMM:
        whole += half >= 1;
        break;
    default:
        break;
    }
    int64_t v = negative ? -int64_t(whole) : int64_t(whole);
    if (is_unsigned ? v < 0 || v > 0xffffffffll : v < -0x80000000ll || v > 0x7fffffffll) {
        flags |= NV;
        return v < 0 ? least : most;
    }
    if (rest)
        flags |= NX;
    return uint32_t(v);
}

uint32_t from_int(uint8_t &flags, unsigned rm, uint32_t a, bool is_unsigned)
{
    bool negative = !is_unsigned && (a >> 31);
    uint32_t m = negative ? 0 - a : a;
    if (m == 0)
        return 0;
    int top = 31 - std::countl_zero(m);
    uint32_t r;
    if (top <= 23) {
        r = (m << (23 - top)) & 0x7fffff;
        r |= uint32_t(127 + top) << 23;
    } else {
        int drop = top - 23;
        uint32_t rest = m & ((1u << drop) - 1), middle = 1u << (drop - 1);
        bool up = false;
        switch (rm) {
        case RNE:
            up = rest > middle || (rest == middle && ((m >> drop) & 1));
            break;
        case RDN:
            up = negative && rest;
            break;
        case RUP:
            up = !negative && rest;
            break;
        case RMM:
            up = rest >= middle;
            break;
        default:
            break;
        }
        if (rest)
            flags |= NX;
        r = ((m >> drop) & 0x7fffff) | uint32_t(127 + top) << 23;
        r += up; // a carry out of the significand makes the exponent one larger, as it should
    }
    return r | uint32_t(negative) << 31;
}

uint32_t classify(uint32_t a)
{
    bool negative = a >> 31;
    uint32_t e = (a >> 23) & 0xff, m = a & 0x7fffff;
    if (e == 0xff)
        return m ? (m & 0x400000 ? 1u << 9 : 1u << 8) : negative ? 1u << 0 : 1u << 7;
    if (e == 0)
        return m ? (negative ? 1u << 2 : 1u << 5) : negative ? 1u << 3 : 1u << 4;
    return negative ? 1u << 1 : 1u << 6;
}

namespace
{
// Order of two numbers as integers: -0 before +0.
bool before(uint32_t a, uint32_t b)
{
    int32_t x = int32_t(a ^ (uint32_t(int32_t(a) >> 31) >> 1)), y = int32_t(b ^ (uint32_t(int32_t(b) >> 31) >> 1));
    return x < y;
}
} // namespace

uint32_t min_max(uint8_t &flags, uint32_t a, uint32_t b, bool max)
{
    if (is_snan(a) || is_snan(b))
        flags |= NV;
    if (is_nan(a))
        return is_nan(b) ? kNaN : b;
    if (is_nan(b))
        return a;
    return before(a, b) != max ? a : b;
}

uint32_t compare(uint8_t &flags, uint32_t a, uint32_t b, int what)
{
    if (is_nan(a) || is_nan(b)) {
        if (what != 0 || is_snan(a) || is_snan(b))
            flags |= NV;
        return 0;
    }
    bool zeros = ((a | b) & 0x7fffffff) == 0;
    if (what == 0)
        return a == b || zeros;
    if (zeros)
        return what == 2;
    return what == 1 ? before(a, b) : !before(b, a);
}

} // namespace mc::fp
