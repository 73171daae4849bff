/* cmocka wants these first, in this order. */
#ifndef PS_OS_TEST_H
#define PS_OS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
