// Single-precision arithmetic of RISC-V on the host's own.
//
// Why it is bit-exact. Addition, subtraction, multiplication, division, square root and fused multiply-add are each one
// correctly rounded IEEE 754 operation. The host does the same operation on the same operands in the same rounding
// mode, and there is one right result. Its exception flags are read after each operation. x86-64 detects tininess after
// rounding and raises underflow only when inexact, as RISC-V does. Four things differ and are mended here. Some hosts
// (AArch64) detect tininess before rounding (tiny()). Every NaN result becomes the canonical one. A fused operation of
// infinity and zero is invalid even beside a quiet NaN. The fifth mode, to nearest with ties to the larger magnitude
// (RMM), does not exist on hosts.
//
// RMM differs from ties-to-even (RNE) only where the exact value v lies halfway between two neighbours. Such a v has at
// most 25 significant bits, so a double holds it. The operation is done once more in double. v is a tie only if that
// result is exact (the inexact flag stays clear), and lies in the middle between the RNE result and its neighbour away
// from zero. Then the neighbour is the result. At the overflow threshold and at the least normal number RNE rounds the
// tie away as well, so overflow and underflow are those of RNE.
//
// Invariant: between calls the host's flags invalid, division by zero, overflow and underflow are clear; inexact may be
// set from before.
#pragma once
#include "isa/host.h"
#include <bit>
#include <cmath>
#include <cstdint>
#ifdef MC_X86
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace mc::fp
{

enum : unsigned { NX = 1, UF = 2, OF = 4, DZ = 8, NV = 16 };
enum : unsigned { RNE, RTZ, RDN, RUP, RMM };
constexpr uint32_t kNaN = 0x7fc00000;

constexpr bool is_nan(uint32_t a) { return (a & 0x7fffffff) > 0x7f800000; }
constexpr bool is_snan(uint32_t a) { return is_nan(a) && !(a & 0x00400000); }
inline float as_float(uint32_t a) { return std::bit_cast<float>(a); }
inline uint32_t as_bits(float a) { return std::bit_cast<uint32_t>(a); }

#ifdef MC_X86
template <class T> inline void opaque(T &v) { asm volatile("" : "+x"(v)); }
inline unsigned host_flags() { return _mm_getcsr() & 0x3f; }
inline void host_clear() { _mm_setcsr(_mm_getcsr() & ~0x3fu); }
inline unsigned host_other(unsigned f)
{
    return f & 0x1d;
} // all but inexact (and denormal operand, which RISC-V has not)
inline bool host_inexact(unsigned f) { return f & 0x20; }
inline unsigned to_riscv(unsigned f)
{
    return (f & 0x20 ? NX : 0u) | (f & 0x10 ? UF : 0u) | (f & 8 ? OF : 0u) | (f & 4 ? DZ : 0u) | (f & 1 ? NV : 0u);
}
inline void host_round(unsigned rm)
{
    static const unsigned bits[4] = {0, 0x6000, 0x2000, 0x4000};
    _mm_setcsr((_mm_getcsr() & ~0x6000u) | bits[rm]);
}
#else
template <class T> inline void opaque(T &v) { asm volatile("" : "+m"(v)); }
inline unsigned host_flags() { return unsigned(fetestexcept(FE_ALL_EXCEPT)); }
inline void host_clear() { feclearexcept(FE_ALL_EXCEPT); }
inline unsigned host_other(unsigned f) { return f & ~unsigned(FE_INEXACT); }
inline bool host_inexact(unsigned f) { return f & FE_INEXACT; }
inline unsigned to_riscv(unsigned f)
{
    return (f & FE_INEXACT ? NX : 0u) | (f & FE_UNDERFLOW ? UF : 0u) | (f & FE_OVERFLOW ? OF : 0u) |
           (f & FE_DIVBYZERO ? DZ : 0u) | (f & FE_INVALID ? NV : 0u);
}
inline void host_round(unsigned rm)
{
    static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(modes[rm]);
}
#endif

struct Add {
    template <class T> static T of(T a, T b, T) { return a + b; }
};
struct Sub {
    template <class T> static T of(T a, T b, T) { return a - b; }
};
struct Mul {
    template <class T> static T of(T a, T b, T) { return a * b; }
};
struct Div {
    template <class T> static T of(T a, T b, T) { return a / b; }
};
struct Sqrt {
    template <class T> static T of(T a, T, T) { return std::sqrt(a); }
};
struct Fma {
    template <class T> static T of(T a, T b, T c) { return std::fma(a, b, c); }
};

// Whether a result of the least normal number's magnitude was less before it was rounded to a float of any exponent.
// The operation in double, times 2^24, is rounded to such a float. (To round twice changes no result of two operands,
// since a double has more than twice the bits.)
template <class O> inline bool tiny(float a, float b, float c)
{
    double x = a, y = b, z = c;
    opaque(x);
    opaque(y);
    opaque(z);
    double scaled = O::of(x, y, z) * 0x1p24;
    opaque(scaled);
    float r = float(scaled);
    opaque(r);
    return std::fabs(r) < 0x1p-102f;
}

// One operation in the host's present rounding mode; its flags join `flags`.
template <class O> inline uint32_t once(uint8_t &flags, float a, float b, float c)
{
    if (!(flags & NX) && host_inexact(host_flags()))
        host_clear();
    opaque(a);
    opaque(b);
    opaque(c);
    float r = O::of(a, b, c);
    opaque(r);
    unsigned f = host_flags();
    if (host_other(f) || (host_inexact(f) && !(flags & NX))) [[unlikely]] {
        unsigned raised = to_riscv(f);
        if ((raised & UF) && std::fabs(r) == 0x1p-126f && !tiny<O>(a, b, c))
            raised &= ~UF;
        flags |= uint8_t(raised);
        host_clear();
    }
    uint32_t bits = as_bits(r);
    return is_nan(bits) ? kNaN : bits;
}

// What RMM makes of the result `near` of RNE; `exact` is the operation in double, done with clear flags, and `is_exact`
// says whether it was.
uint32_t ties_away(uint32_t near, double exact, bool is_exact);
uint32_t slow(uint8_t &flags, unsigned rm, uint32_t (*rne)(uint8_t &, float, float, float),
              double (*twice)(double, double, double), float a, float b, float c);

template <class O> uint32_t arith(uint8_t &flags, unsigned rm, uint32_t a, uint32_t b, uint32_t c = 0)
{
    if (rm == RNE) [[likely]]
        return once<O>(flags, as_float(a), as_float(b), as_float(c));
    return slow(flags, rm, once<O>, O::template of<double>, as_float(a), as_float(b), as_float(c));
}

inline uint32_t fma(uint8_t &flags, unsigned rm, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = arith<Fma>(flags, rm, a, b, c), ma = a & 0x7fffffff, mb = b & 0x7fffffff;
    if (r == kNaN && ((ma == 0x7f800000 && mb == 0) || (mb == 0x7f800000 && ma == 0)))
        flags |= NV;
    return r;
}

uint32_t to_int(uint8_t &flags, unsigned rm, uint32_t a, bool is_unsigned);
uint32_t from_int(uint8_t &flags, unsigned rm, uint32_t a, bool is_unsigned);
uint32_t classify(uint32_t a);
uint32_t min_max(uint8_t &flags, uint32_t a, uint32_t b, bool max);
// 0: equal, 1: less, 2: less or equal
uint32_t compare(uint8_t &flags, uint32_t a, uint32_t b, int what);

} // namespace mc::fp
