/* A library with thread-local storage that tls_test opens when blocks are already in use. */
static __thread int variable = 17;
__attribute__((visibility("default"))) int *late_variable(void);
int *late_variable(void) { return &variable; }
