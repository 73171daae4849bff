/* private, firstprivate, lastprivate, linear, collapse and reduction on loops. */
#include "check.h"

int main(void)
{
    for (int n = 1; n < 60; n += 7) {
        int first = 42, last = -1, line = 100, c = 0;
        double product = 1;
        unsigned bits = 0;
        int least = 1 << 30;
#pragma omp parallel for firstprivate(first) lastprivate(last) linear(line : 3) schedule(dynamic, 2)
        for (int i = 0; i < n; i++) {
            CHECK(first == 42 + 0 * i);
            last = i;
            line += 3;
        }
        CHECK(last == n - 1 && line == 100 + 3 * n);
#pragma omp parallel for collapse(3) reduction(+ : c) schedule(guided)
        for (int i = 0; i < n; i++)
            for (int j = n; j > 0; j -= 2)
                for (long k = 0; k < 3; k++)
                    c += (int)(j - j + k);
        CHECK(c == n * ((n + 1) / 2) * 3);
#pragma omp parallel for reduction(* : product) reduction(| : bits) reduction(min : least)
        for (int i = 0; i < n; i++) {
            product *= i % 2 ? 2 : 0.5;
            bits |= 1u << i % 32;
            if ((i * 37 + 5) % 61 < least)
                least = (i * 37 + 5) % 61;
        }
        CHECK(product == (n % 2 ? 0.5 : 1));
        int expected = 1 << 30;
        unsigned expected_bits = 0;
        for (int i = 0; i < n; i++) {
            if ((i * 37 + 5) % 61 < expected)
                expected = (i * 37 + 5) % 61;
            expected_bits |= 1u << i % 32;
        }
        CHECK(least == expected && bits == expected_bits);
    }
    return 0;
}
