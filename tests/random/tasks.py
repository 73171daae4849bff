"""Functions of a random program that are made of tasks."""
from writer import MASK, mix, Writer


class Tasks(Writer):
    def task_clauses(self, untied=True, final=True):
        clauses = ""
        if self.chance(0.15):
            clauses += f" if({self.pick('0', '1', 'always', '!always')})"
        if final and self.chance(0.12):
            clauses += f" final({self.pick('0', '1', 'always', '!always')})"
        if untied and self.chance(0.2):
            clauses += " untied"
        if self.chance(0.15):
            clauses += " mergeable"
        if self.chance(0.2):
            clauses += f" priority({self.rng.randint(0, 5)})"
        return clauses

    def some_tasks(self, target, budget):
        """Tasks that add to `target`: (lines, value, cost)"""
        lines, value, cost = [], 0, 0
        shared = " shared(x)" if target == "&x" else ""
        for _ in range(self.rng.randint(1, 6)):
            expression, known, price, _ = self.body(budget // 8)
            many = self.pick(1, 1, 2, 8, 30) if price < 10 else self.pick(1, 2)
            form = self.rng.random()
            task = [f"#pragma omp task firstprivate(t){shared}{self.task_clauses()}"]
            if form < 0.3:
                wide = self.pick(1, 3, 64, 300)  # data of this many longs is copied
                fill = self.constant()
                lines += ["{", f"    u64 block[{wide}];", f"    for (int b = 0; b < {wide}; b++)",
                          f"        block[b] = mix({hex(fill)}u + b);"]
                task = self.indent([f"for (int t = 0; t < {many}; t++) {{",
                                    f"#pragma omp task firstprivate(t, block){shared}{self.task_clauses()}", "{",
                                    f"    for (int b = 0; b < {wide}; b++)",
                                    f'        CHECK("firstprivate", block[b], mix({hex(fill)}u + b));',
                                    f"    add({target}, {expression} + t);", "}", "}"]) + ["}"]
                lines += task
            elif form < 0.45:  # tasks of tasks
                inner = self.rng.randint(1, 4)
                lines += [f"for (int t = 0; t < {many}; t++) {{", task[0], "{",
                          f"    for (int s = 0; s < {inner}; s++) {{",
                          f"#pragma omp task firstprivate(s){shared}{self.task_clauses()}",
                          f"        add({target}, {expression} + t);", "    }"]
                if self.chance(0.6):
                    lines += ["#pragma omp taskwait"]
                lines += ["}", "}"]
                value += inner * (known * many + many * (many - 1) // 2)
                cost += many * inner * (price + 3)
                continue
            else:
                lines += [f"for (int t = 0; t < {many}; t++) {{", task[0], "{"]
                if self.chance(0.2):
                    lines += ["#pragma omp taskyield"]
                if self.chance(0.2):
                    lines += [f"    compute({self.pick(10, 100, 1000)});"]
                lines += [f"    add({target}, {expression} + t);", "}", "}"]
            value += known * many + many * (many - 1) // 2
            cost += many * (price + 3)
            if self.chance(0.15):
                lines += ["#pragma omp taskyield"]
            if self.chance(0.15):
                lines += ["#pragma omp taskwait"]
        return lines, value, cost

    def f_tasks(self):
        lines, value, cost = self.some_tasks("&x", 1500)
        group = self.chance(0.4)
        code = ["u64 x = 0;"]
        if group:
            code += ["#pragma omp taskgroup", "{", *self.indent(lines), "}"]
        else:
            # descendants that no thread waited for are waited for by the group
            code += ["#pragma omp taskgroup", "{", *self.indent(lines), "#pragma omp taskwait", "}"]
        code += [f'CHECK("tasks", x, {hex(value & MASK)}u);']
        self.define(self.name("tasks"), code, value, cost + 10, True)

    def f_tree(self):
        """A recursive function of tasks."""
        depth, fan = self.pick((4, 3), (6, 2), (9, 1), (3, 5))
        name = self.name("tree")
        leaf = self.constant()
        value = leaf
        for level in range(1, depth + 1):
            value = mix(value * fan + level)
        clauses = self.task_clauses(final=False)
        if self.chance(0.3):
            clauses += f" final(depth == {depth // 2})"
        wait = self.pick("taskwait", "taskgroup")
        lines = [f"static u64 {name}_at(int depth)", "{", "    u64 x = 0;", "    if (depth == 0)",
                 f"        return {hex(leaf)}u;"]
        if wait == "taskgroup":
            lines += ["#pragma omp taskgroup", "    {"]
        lines += [f"    for (int c = 0; c < {fan}; c++) {{",
                  f"#pragma omp task shared(x) firstprivate(depth){clauses}",
                  f"        add(&x, {name}_at(depth - 1));", "    }"]
        lines += ["    }"] if wait == "taskgroup" else ["#pragma omp taskwait"]
        lines += ["    return mix(x + (u64)depth);", "}"]
        self.text += lines
        self.define(name, [f'CHECK("tree", {name}_at({depth}), {hex(value & MASK)}u);'], value,
                    10 + 3 * fan ** depth, True)

    def f_depend(self):
        """Tasks in the order that their depend clauses give them: as if they were run one after the other."""
        variables = self.rng.randint(1, 6)
        state = [0] * variables
        exclusive = self.chance(0.7)
        lines = [f"u64 v[{variables}] = {{0}}, x = 0;"]
        cost, value = 10, 0
        open_set = {}  # variable -> kind of the set of tasks that is open on it
        use_iterator = self.chance(0.3)
        for _ in range(self.rng.randint(3, 25)):
            chosen = self.rng.sample(range(variables), self.rng.randint(1, min(3, variables)))
            lines_in, clauses = [], ""
            one_set = self.chance(0.3)
            for variable in chosen:
                kinds = ["in", "in", "out", "inout"]
                if exclusive:
                    kinds.append("mutexinoutset")
                if self.compiler == "clang":
                    kinds.append("inoutset")
                kind = self.rng.choice(kinds)
                if one_set and kind == "in" and exclusive:
                    kind = "mutexinoutset"
                constant = self.constant()
                if kind == "in":
                    lines_in.append(f'CHECK("depend in", v[{variable}], {hex(state[variable])}u);')
                elif kind in ("out", "inout"):
                    lines_in.append(f"v[{variable}] = mix(v[{variable}] + {hex(constant)}u);")
                    state[variable] = mix(state[variable] + constant)
                elif kind == "mutexinoutset":
                    lines_in.append(f"u64 was{variable} = v[{variable}];")
                    lines_in.append(f"compute({self.pick(1, 50, 300)});")
                    lines_in.append(f"v[{variable}] = was{variable} + {hex(constant)}u;")
                    state[variable] = (state[variable] + constant) & MASK
                else:
                    lines_in.append(f"add(&v[{variable}], {hex(constant)}u);")
                    state[variable] = (state[variable] + constant) & MASK
                place = f"v[{variable}]"
                if kind == "in" and use_iterator and len(chosen) == 1:
                    clauses += f" depend(iterator(q = {variable}:{variable + 1}), in: v[q])"
                else:
                    clauses += f" depend({kind}: {place})"
                open_set[variable] = kind
            expression, known, price, _ = self.body(150)
            lines_in.append(f"add(&x, {expression});")
            value += known
            cost += price + 10
            clauses += self.task_clauses(final=False)
            lines += [f"#pragma omp task shared(v, x){clauses}", "{", *self.indent(lines_in), "}"]
            if self.chance(0.08):
                lines += ["#pragma omp taskwait"]
            if self.chance(0.08):
                variable = self.rng.randrange(variables)
                lines += [f"#pragma omp taskwait depend(in: v[{variable}])",
                          f'CHECK("taskwait depend", v[{variable}], {hex(state[variable])}u);']
                # reading here ends a set only for what comes after it
        lines += ["#pragma omp taskwait"]
        for variable in range(variables):
            lines.append(f'CHECK("depend", v[{variable}], {hex(state[variable])}u);')
        lines.append(f'CHECK("depend x", x, {hex(value & MASK)}u);')
        self.define(self.name("depend"), lines, value, cost, True)

    def task_space(self, most=40):
        """The iterations of a taskloop. clang 19 makes a task for each number below 2^32 where there is no unsigned
        one, and asks in each whether there is any."""
        while True:
            space = self.space(most=most, kinds=("int", "unsigned", "long", "u64", "long long"))
            if space.values or self.signed(space.kind) or self.compiler == "gcc":
                return space

    def f_taskloop(self):
        space = self.task_space(most=60)
        constant = self.constant()
        expression, known, price, _ = self.body(60)
        value = sum(mix(v + constant) for v in space.values) + known * len(space.values)
        how = self.pick("", f" grainsize({self.rng.randint(1, 9)})", f" num_tasks({self.rng.randint(1, 9)})",
                        f" grainsize(strict: {self.rng.randint(1, 9)})",
                        f" num_tasks(strict: {self.rng.randint(1, 9)})")
        reduction = self.chance(0.4)
        clauses = how + self.task_clauses()
        lines = ["u64 x = 0;"]
        addend = f"mix((u64)i + {hex(constant)}u) + {expression}"
        if reduction:
            lines += [f"#pragma omp taskloop reduction(+: x){clauses}", space.head, f"    x += {addend};"]
        elif self.chance(0.3):
            lines += ["#pragma omp taskgroup", "{", f"#pragma omp taskloop shared(x) nogroup{clauses}", space.head,
                      f"    add(&x, {addend});", "}"]
        elif self.chance(0.3) and space.values:
            lines += [f"{space.kind} last = 0;", f"#pragma omp taskloop shared(x) lastprivate(last){clauses}",
                      space.head + " {", f"    add(&x, {addend});", "    last = i;", "}",
                      f'CHECK("lastprivate", last, ({space.kind}){self.literal(space.values[-1])});']
        elif self.chance(0.3):
            inner = self.rng.randint(0 if self.signed(space.kind) or self.compiler == "gcc" else 1, 5)
            value *= inner
            lines += [f"#pragma omp taskloop shared(x) collapse(2){clauses}", space.head,
                      f"for (int j = 0; j < {inner}; j++)", f"    add(&x, {addend});"]
        else:
            lines += [f"#pragma omp taskloop shared(x){clauses}", space.head, f"    add(&x, {addend});"]
        lines.append(f'CHECK("taskloop", x, {hex(value & MASK)}u);')
        self.define(self.name("taskloop"), lines, value, 20 + len(space.values) * (price + 5) * 3, True)

    def f_task_reduction(self):
        lines = ["u64 x = 0, y = 0;", "#pragma omp taskgroup task_reduction(+: x) task_reduction(^: y)", "{"]
        value, parity, cost = 0, 0, 10
        for _ in range(self.rng.randint(1, 5)):
            expression, known, price, _ = self.body(150)
            constant = self.constant()
            many = self.pick(1, 2, 5, 20) if price < 10 else 1
            lines += [f"    for (int t = 0; t < {many}; t++) {{",
                      f"#pragma omp task in_reduction(+: x) in_reduction(^: y){self.task_clauses(untied=False)}",
                      "        {", f"            x += {expression};", f"            y ^= mix(t + {hex(constant)}u);",
                      "        }", "    }"]
            value += known * many
            for t in range(many):
                parity ^= mix(t + constant)
            cost += many * (price + 5)
        if self.chance(0.4):
            many, constant = self.rng.randint(1, 20), self.constant()
            lines += ["#pragma omp taskloop in_reduction(+: x)" + self.pick("", " grainsize(3)", " num_tasks(4)"),
                      f"    for (int i = 0; i < {many}; i++)", f"        x += mix(i + {hex(constant)}u);"]
            value += sum(mix(i + constant) for i in range(many))
        lines += ["}", f'CHECK("task_reduction", x, {hex(value & MASK)}u);',
                  f'CHECK("task_reduction", y, {hex(parity)}u);']
        self.define(self.name("grouped"), lines, value, cost, True)

    def f_detach(self):
        many = self.rng.randint(1, 6)
        expression, known, price, _ = self.body(100)
        form = self.pick("later", "within", "by_task")
        lines = [f"omp_event_handle_t event[{many}];", "u64 x = 0;"]
        clauses = self.pick("", " untied", " priority(3)")
        if form == "within":
            lines += ["#pragma omp taskgroup", "{", f"    for (int t = 0; t < {many}; t++) {{",
                      "        omp_event_handle_t own;",
                      f"#pragma omp task detach(own) shared(x) firstprivate(t){clauses}", "        {",
                      f"            add(&x, {expression});", "            omp_fulfill_event(own);", "        }",
                      "    }",
                      "}"]
        else:
            # The event is stored when the construct is over, and no thread needs the task to have run.
            lines += ["#pragma omp taskgroup", "{", f"    for (int t = 0; t < {many}; t++) {{",
                      "        omp_event_handle_t own;",
                      f"#pragma omp task detach(own) shared(x) firstprivate(t){clauses}",
                      f"            add(&x, {expression});", "        event[t] = own;", "    }"]
            lines += [f"    for (int t = {many - 1}; t >= 0; t--) {{"]
            if form == "by_task":
                lines += ["#pragma omp task shared(event) firstprivate(t)"]
            lines += ["        omp_fulfill_event(event[t]);", "    }", "}"]
        lines.append(f'CHECK("detach", x, {hex(known * many & MASK)}u);')
        # An included task is waited for on the spot, by the one that would fulfil the event.
        lines = ["if (!omp_in_final() && PEER_HAS_DETACH) {", *self.indent(lines), "}"]
        if form == "within":  # it has no use
            lines.remove(f"    omp_event_handle_t event[{many}];")
        self.define(self.name("detached"), lines, known * many, many * (price + 10), True)

    def f_cancel_taskgroup(self):
        many, at = self.rng.randint(1, 30), self.rng.randint(0, 29)
        lines = ["u64 begun = 0, x = 0;", "#pragma omp taskgroup", "{", f"    for (int t = 0; t < {many}; t++) {{",
                 f"#pragma omp task shared(begun, x) firstprivate(t){self.task_clauses(final=False)}", "        {",
                 "            add(&begun, 1);", f"            if (t == {at}) {{", "#pragma omp cancel taskgroup",
                 "            }", "#pragma omp cancellation point taskgroup",
                 f"            compute({self.pick(1, 100, 1000)});", "            add(&x, 1);", "        }", "    }",
                 "}",
                 f"if (!omp_get_cancellation() || {at} >= {many}) {{", f'    CHECK("all tasks", begun, {many});',
                 f'    CHECK("all tasks", x, {many});', "}", f'CHECK("more than all tasks", begun <= {many}, 1);',
                 'CHECK("begun before done", x <= begun, 1);']
        self.define(self.name("cancelled"), lines, self.constant(), 10 + 4 * many, True)

    def f_task_locks(self):
        many, locks = self.rng.randint(2, 25), self.rng.randint(1, 3)
        nested = self.chance(0.4)
        kind, stem = ("omp_nest_lock_t", "nest_lock") if nested else ("omp_lock_t", "lock")
        hint = "(&lock[l]"
        if self.compiler == "clang" and self.chance(0.3):
            hint = f"_with_hint(&lock[l], {self.pick('omp_sync_hint_contended', 'omp_sync_hint_none')}"
        lines = [f"{kind} lock[{locks}];", f"u64 x[{locks}] = {{0}};", f"for (int l = 0; l < {locks}; l++)",
                 f"    omp_init_{stem}{hint});",
                 f"for (int t = 0; t < {many}; t++) {{",
                 f"#pragma omp task shared(lock, x) firstprivate(t){self.task_clauses()}", "    {",
                 f"        {kind} *mine = &lock[t % {locks}];"]
        if nested:
            lines += ["        omp_set_nest_lock(mine);",
                      '        CHECK("test_nest_lock", omp_test_nest_lock(mine), 2);']
        elif self.chance(0.3):
            lines += ["        while (!omp_test_lock(mine))", "            compute(10);"]
        else:
            lines += ["        omp_set_lock(mine);"]
        lines += [f"        u64 was = x[t % {locks}];", f"        compute({self.pick(0, 10, 200)});",
                  f"        x[t % {locks}] = was + 1;"]
        lines += [f"        omp_unset_{stem}(mine);"] * (2 if nested else 1)
        lines += ["    }", "}", "#pragma omp taskwait", f"for (int l = 0; l < {locks}; l++) {{",
                  f'    CHECK("lock", x[l], {many} / {locks} + (l < {many} % {locks}));',
                  f"    omp_destroy_{stem}(&lock[l]);", "}"]
        self.define(self.name("locked"), lines, self.constant(), 20 + 6 * many, True)
