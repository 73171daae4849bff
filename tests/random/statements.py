"""Statements of a random program's regions. Each is met by all threads of the region's team, `r` counts the
repetitions."""
from loops import Loops
from tasks import Tasks
from writer import MASK, mix


class Statements(Loops, Tasks):
    def p_sections(self, region):
        many, field = self.rng.randint(1, 7), self.name("sum")
        region.fields.append(f"u64 {field};")
        nowait = self.chance(0.4)
        last = not nowait and self.chance(0.4)
        value, clause, lines = 0, "", []
        if last:
            variable = self.name("last")
            region.before.append(f"int {variable} = -1;")
            clause = f" lastprivate({variable})"
        lines += [f"#pragma omp sections{clause}{' nowait' if nowait else ''}", "{"]
        for k in range(many):
            expression, known, price, _ = self.body(150)
            value += known
            region.cost += price + 2
            lines += ["#pragma omp section"] if k or self.chance(0.8) else []
            lines += ["    {", f"        add(&F->{field}, {expression});",
                      *([f"        {variable} = {k};"] if last else []),
                      "    }"]
        lines += ["}"]
        region.sum_is(field, value)
        if last:
            lines += [f'CHECK("lastprivate", {variable}, {many - 1});', "#pragma omp barrier"]
        return lines, not last

    def p_single(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(300)
        region.cost += price + 2
        if self.chance(0.4):
            constant = self.constant()
            region.sum_is(field, constant, each_thread=True)
            return ["{", "    u64 told = 0, other = 7;",
                    f"#pragma omp single copyprivate(told{self.pick('', ', other')})",
                    "    {", f'        CHECK("single", {expression}, {hex(known)}u);',
                    f"        told = {hex(constant)}u;",
                    "    }", "    (void)other;", f"    add(&F->{field}, told);", "}"], True
        region.sum_is(field, known)
        return [f"#pragma omp single{self.pick('', ' nowait')}", f"add(&F->{field}, {expression});"], True

    def p_masked(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(150)
        region.cost += price + 2
        if self.chance(0.5):
            region.sum_is(field, known)
            return [f"#pragma omp {self.pick('master', 'masked')}", f"add(&F->{field}, {expression});"], True
        who = self.rng.randint(0, 4)
        want = hex(known * region.repeats & MASK)
        region.after.append(f'CHECK("masked", F->{field}, n > {who} ? {want}u : 0);')
        return [f"#pragma omp masked filter({self.pick(who, f'{who} * always')})",
                f"add(&F->{field}, {expression});"], True

    def p_critical(self, region):
        field = self.name("plain")
        region.fields.append(f"u64 {field};")
        times = self.pick(1, 2, 10)
        # unnamed ones are one lock for the program: nothing that might want it is called
        named = self.chance(0.8)
        expression, known, price, _ = self.body(100, schedules=False) if named else ("1", 1, 1, False)
        hint = self.pick("", "", " hint(omp_sync_hint_contended)", " hint(omp_sync_hint_speculative)") if named else ""
        name = f"({self.name('lock_')})" if named else ""
        region.sum_is(field, known * times, each_thread=True)
        region.cost += 8 * times * (price + 3)
        return [f"for (int t = 0; t < {times}; t++) {{", f"#pragma omp critical {name}{hint}", "    {",
                f"        u64 was = F->{field};", f"        u64 more = {expression};",
                f"        F->{field} = was + more;",
                "    }", "}"], True

    def p_locks(self, region):
        lock, field, flag = self.name("lock"), self.name("plain"), self.chance(0.4)
        kind, stem = ("omp_nest_lock_t", "nest_lock") if flag else ("omp_lock_t", "lock")
        region.fields += [f"{kind} {lock};", f"u64 {field};"]
        region.before.append(f"omp_init_{stem}(&F->{lock});")
        region.after.append(f"omp_destroy_{stem}(&F->{lock});")
        times = self.pick(1, 2, 20)
        expression, known, price, _ = self.body(100, schedules=False)
        region.sum_is(field, known * times, each_thread=True)
        region.cost += 8 * times * (price + 3)
        take = [f"omp_set_{stem}(&F->{lock});"]
        if self.chance(0.3):
            take = [f"while (!omp_test_{stem}(&F->{lock}))", f"    compute({self.pick(0, 10, 500)});"]
        give = [f"omp_unset_{stem}(&F->{lock});"]
        if flag:
            take.append(f"omp_set_nest_lock(&F->{lock});")
            give *= 2
        return [f"for (int t = 0; t < {times}; t++) {{", *self.indent(take), f"    u64 was = F->{field};",
                f"    u64 more = {expression};", f"    F->{field} = was + more;", *self.indent(give), "}"], True

    def p_atomic(self, region):
        form = self.pick("ticket", "type", "max", "compare", *(["long double"] if self.compiler == "gcc" else []))
        field = self.name("sum")
        if form == "ticket":
            times, next_one = self.pick(1, 3, 20), self.name("next")
            region.fields += [f"u64 {field};", f"u64 {next_one};"]
            region.after.append(f'CHECK("atomic capture", F->{field}, {times * region.repeats}u * n * '
                                f"({times * region.repeats}u * n - 1) / 2);")
            order = self.pick("", " seq_cst", " acq_rel", " relaxed")
            return [f"for (int t = 0; t < {times}; t++) {{", "    u64 mine;", f"#pragma omp atomic capture{order}",
                    f"    mine = F->{next_one}++;", f"    add(&F->{field}, mine);", "}"], True
        if form == "long double":
            region.fields.append(f"long double {field};")
            region.after.append(f'CHECK("atomic long double", F->{field}, {2 * region.repeats}u * n);')
            return ["#pragma omp atomic", f"F->{field} += 2;"], True
        if form == "type":
            kind = self.pick("unsigned char", "unsigned short", "int", "unsigned", "long", "float", "double")
            region.fields.append(f"{kind} {field};")
            region.after.append(f'CHECK("atomic {kind}", F->{field}, ({kind})({3 * region.repeats}u * n));')
            return [f"#pragma omp atomic update{self.pick('', ' seq_cst')}", f"F->{field} = F->{field} + 3;"], True
        region.fields.append(f"u64 {field};")
        if form == "max":
            region.after.append(f'CHECK("critical max", F->{field}, n + {region.repeats - 1});')
            return [f"#pragma omp critical (max{field})", f"if (F->{field} < (u64)(me + r + 1))",
                    f"    F->{field} = (u64)(me + r + 1);"], True
        region.after.append(f'CHECK("atomic compare", F->{field}, n + {region.repeats - 1});')
        return ["{", "    u64 mine = (u64)(me + r + 1);", "#pragma omp atomic compare",
                f"    if (F->{field} < mine) {{ F->{field} = mine; }}", "}"], True

    def p_barrier(self, region):
        data, far = self.name("data"), self.rng.randint(1, 7)
        region.fields.append(f"u64 {data}[MOST];")
        region.cost += 16
        return [f"F->{data}[me] = mix((u64)me + (u64)r * 77);", "#pragma omp barrier",
                f'CHECK("barrier", F->{data}[(me + {far}) % n], mix((u64)((me + {far}) % n) + (u64)r * 77));',
                "#pragma omp barrier"], True

    def p_call(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(300)
        region.cost += 6 * price
        region.sum_is(field, known, each_thread=True)
        return [f"add(&F->{field}, {expression});"], True

    def p_tasks(self, region):
        field = self.name("sum")
        region.fields.append(f"u64 {field};")
        lines, value, cost = self.some_tasks(f"&F->{field}", 800)
        region.cost += 6 * cost
        who = self.pick("all", "single", "single nowait", "master", "sections")
        region.sum_is(field, value, each_thread=who == "all")
        if who == "all":
            code = ["{", *self.indent(lines), "}"]
        elif who == "sections":
            code = ["#pragma omp sections", "{", "#pragma omp section", "    {", *self.indent(lines, 2), "    }", "}"]
        else:
            code = [f"#pragma omp {who}", "{", *self.indent(lines), "}"]
        code += self.pick([], ["#pragma omp barrier"], ["#pragma omp taskwait"])
        return code, True

    def p_threadprivate(self, region):
        name = self.name("own")
        self.text += [f"static u64 {name};", f"#pragma omp threadprivate({name})"]
        constant = self.constant()
        lines = []
        if self.chance(0.5):
            region.clauses.append(f"copyin({name})")
            region.before.append(f"{name} = {hex(constant)}u;")
            lines += [f'CHECK("copyin", r || {name} == {hex(constant)}u, 1);', "#pragma omp barrier"]
        expression, known, price, _ = self.body(60)
        region.cost += 6 * price
        return [*lines, f"{name} = mix((u64)me + {hex(constant)}u);", "#pragma omp barrier",
                f'CHECK("call", {expression}, {hex(known)}u);',
                f'CHECK("threadprivate", {name}, mix((u64)me + {hex(constant)}u));', "#pragma omp barrier"], True

    def p_settings(self, region):
        expression, known, price, _ = self.body(60)
        region.cost += 6 * price
        return ["{", "    int was = omp_get_max_threads(), levels = omp_get_max_active_levels();",
                "    omp_set_num_threads(me % 3 + 1);",
                *self.pick(["#pragma omp barrier"], []),
                f'    CHECK("call", {expression}, {hex(known)}u);',
                '    CHECK("num_threads", omp_get_max_threads(), me % 3 + 1);',
                "    omp_set_num_threads(was);", '    CHECK("levels", omp_get_max_active_levels(), levels);', "}"], True

    def p_run_schedule(self, region):
        field, constant, count = self.name("sum"), self.constant(), self.rng.randint(1, 80)
        region.fields.append(f"u64 {field};")
        region.sum_is(field, sum(mix(i + constant) for i in range(count)))
        region.cost += 3 * count
        kind = self.pick("omp_sched_static", "omp_sched_dynamic", "omp_sched_guided", "omp_sched_auto",
                         "(omp_sched_t)(omp_sched_dynamic | omp_sched_monotonic)")
        return [f"omp_set_schedule({kind}, {self.rng.randint(0, 9)});", "#pragma omp for schedule(runtime) nowait",
                f"for (int i = 0; i < {count}; i++)", f"    add(&F->{field}, mix(i + {hex(constant)}u));"], True

    def p_cancel_for(self, region):
        space = self.space(kinds=("int", "unsigned", "long", "u64", "long long"))
        clause, _, _ = self.schedule(space)
        count = len(space.values)
        at = self.rng.randint(0, max(count, 1))
        field = self.name("begun")
        region.fields.append(f"u64 {field}[{count + 1}];")
        region.cost += 4 * count
        limit = region.repeats
        region.after += [f"for (u64 k = 0; k < {count}; k++) {{",
                         f'    CHECK("cancelled for", F->{field}[k] <= {limit}, 1);',
                         f'    CHECK("for", omp_get_cancellation() && {at} < {count} ? {limit} : F->{field}[k], '
                         f"{limit});",
                         "}"]
        point = ["#pragma omp cancellation point for"] if self.chance(0.7) else []
        return [f"#pragma omp for{clause}", space.head + " {", *point,
                f"    add(&F->{field}[{space.index('i') if count else 0}], 1);",
                f"    if ({space.index('i') if count else 0} == {at}) {{", "#pragma omp cancel for", "    }",
                f"    compute({self.pick(0, 10, 100)});", "}"], True

    def p_cancel_sections(self, region):
        many = self.rng.randint(1, 6)
        at, field = self.rng.randrange(many), self.name("begun")
        region.fields.append(f"u64 {field};")
        lines = ["#pragma omp sections", "{"]
        for k in range(many):
            lines += ["#pragma omp section", "    {", f"        add(&F->{field}, 1);"]
            if k == at:
                lines += [f"        if (always == {self.pick(0, 1)}) {{", "#pragma omp cancel sections", "        }"]
            else:
                lines += ["#pragma omp cancellation point sections"]
            lines += ["    }"]
        lines += ["}"]
        want = many * region.repeats
        region.after += [f'CHECK("cancelled sections", F->{field} <= {want}, 1);',
                         f'CHECK("sections", omp_get_cancellation() ? {want} : F->{field}, {want});']
        return lines, True

    STATEMENTS = {"loop": 10, "same_threads": 2, "reduction": 3, "array_reduction": 1, "scan": 1, "linear": 1,
                  "conditional": 1, "collapse": 3, "ordered": 4, "doacross": 3, "sections": 4, "single": 5, "masked": 2,
                  "critical": 3, "locks": 3, "atomic": 3, "barrier": 3, "call": 3, "tasks": 5, "threadprivate": 1,
                  "settings": 1, "run_schedule": 1, "cancel_for": 2, "cancel_sections": 1}

    def statement(self, region):
        # clang 19 computes inscan from memory that it has not written, and forgets which thread assigned last
        left_out = ("scan", "conditional") if self.compiler == "clang" else ()
        names = [n for n in self.STATEMENTS if (not self.only or n in self.only) and n not in left_out]
        names = names or ["loop"]
        name = self.rng.choices(names, [self.STATEMENTS[n] for n in names])[0]
        lines, may_be_orphan = getattr(self, "p_" + name)(region)
        if may_be_orphan and self.chance(0.4):
            orphan = f"orphan{self.number()}"
            self.orphans.append((orphan, region.name, lines))
            return [f"{orphan}(F, me, n, r);"]
        return lines
