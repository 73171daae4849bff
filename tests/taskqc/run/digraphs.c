/* clang-format off */ /* C by digraphs. */
%:include "check.h"
int main(void)
<%
    int x = 0;
%:pragma omp parallel taskq
    <%
%: pragma omp task
        x = 1;
    %>
    CHECK(x == 1);
    return 0;
%>
