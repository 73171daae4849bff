"""Statements of a random program's regions that are loops. Each is met by all threads of the region's team, `r` counts
the repetitions."""
from writer import MASK, mix, Writer


class Loops(Writer):
    def p_loop(self, region):
        space = self.space(may_be_tight=True)
        clause, in_order, chunk = self.schedule(space)
        field, constant = self.name("sum"), self.constant()
        region.fields.append(f"u64 {field};")
        expression, known, price, _ = self.body(60)
        count = len(space.values)
        value = sum(mix(v + constant) for v in space.values) + known * count
        region.sum_is(field, value)
        region.cost += count * (price + 2)
        last = self.chance(0.25) and count
        nowait = not last and self.chance(0.5)
        lines = ["{", "    u64 s = 0, before = 0;", "    int first = 1;", "    (void)before, (void)first;"]
        if last:
            variable = self.name("last")
            region.before.append(f"{space.kind} {variable} = 0;")
            clause += f" lastprivate({variable})"
        lines += [f"#pragma omp for{clause}{' nowait' if nowait else ''}", f"    {space.head} {{",
                  f"        s += mix((u64)i + {hex(constant)}u) + {expression};"]
        if last:
            lines.append(f"        {variable} = i;")
        if in_order and count:
            lines += [f"        CHECK(\"in order\", first || {space.index('i')} > before, 1);",
                      f"        before = {space.index('i')}, first = 0;"]
        if chunk and count:
            lines.append(f"        CHECK(\"static chunk\", {space.index('i')} / {chunk} % n, me);")
        lines += ["    }", f"    add(&F->{field}, s);"]
        if last:
            lines += [f'    CHECK("lastprivate", {variable}, ({space.kind}){self.literal(space.values[-1])});',
                      "#pragma omp barrier"]
        lines += ["}"]
        return lines, not last

    def p_same_threads(self, region):
        """Two loops with the same static schedule: iterations on the same threads, without a barrier between them."""
        count, constant = self.rng.randint(1, 60), self.constant()
        owners, field = self.name("data"), self.name("sum")
        chunk = self.pick("", f", {self.rng.randint(1, 9)}")
        region.fields += [f"u64 {owners}[{count}];", f"u64 {field};"]
        region.sum_is(field, sum(mix(constant + i) for i in range(count)))
        region.cost += 3 * count
        return [f"#pragma omp for schedule(static{chunk}) nowait", f"for (int i = 0; i < {count}; i++)",
                f"    F->{owners}[i] = mix({hex(constant)}u + i);", f"#pragma omp for schedule(static{chunk}) nowait",
                f"for (int i = 0; i < {count}; i++) {{", f"    add(&F->{field}, F->{owners}[i]);",
                f"    F->{owners}[i] = 0;", "}"], True

    def p_reduction(self, region):
        space = self.space(may_be_tight=True)
        clause, _, _ = self.schedule(space)
        x, y, top, product = (self.name("red") for _ in range(4))
        constant = self.constant()
        hashes = [mix(v + constant) for v in space.values]
        region.before += [f"u64 {x} = 5, {y} = 0, {top} = 0, {product} = 3;"]
        parity = 0
        for h in hashes:
            parity ^= h
        power = 3
        for h in hashes * region.repeats:
            power = power * (h | 1) & MASK
        region.after += [f'CHECK("reduction +", {x}, {hex((5 + region.repeats * sum(hashes)) & MASK)}u);',
                         f'CHECK("reduction ^", {y}, {hex(parity if region.repeats % 2 else 0)}u);',
                         f'CHECK("reduction max", {top}, {hex(max(hashes, default=0))}u);',
                         f'CHECK("reduction *", {product}, {hex(power)}u);']
        region.cost += 4 * len(hashes)
        nowait = self.pick("", " nowait")
        return [f"#pragma omp for reduction(+: {x}) reduction(^: {y}) reduction(max: {top}) reduction(*: {product})"
                f"{clause}{nowait}", space.head + " {", f"    u64 h = mix((u64)i + {hex(constant)}u);",
                f"    {x} += h;",
                f"    {y} ^= h;", f"    {top} = h > {top} ? h : {top};", f"    {product} *= h | 1;", "}",
                *(["#pragma omp barrier"] if nowait else [])], False

    def p_array_reduction(self, region):
        count, wide, constant = self.rng.randint(0, 60), self.rng.randint(1, 20), self.constant()
        array = self.name("red")
        clause, _, _ = self.schedule()
        region.before.append(f"u64 {array}[{wide}] = {{0}};")
        want = [0] * wide
        for i in range(count):
            want[i % wide] += mix(i + constant)
        for w in range(min(wide, 4)):
            region.after.append(f'CHECK("array reduction", {array}[{w}], {hex(want[w] * region.repeats & MASK)}u);')
        region.cost += 3 * count
        return [f"#pragma omp for reduction(+: {array}){clause}", f"for (int i = 0; i < {count}; i++)",
                f"    {array}[i % {wide}] += mix(i + {hex(constant)}u);"], False

    def p_scan(self, region):
        count, constant = self.rng.randint(1, 50), self.constant()
        x, array = self.name("red"), self.name("data")
        region.before += [f"u64 {x} = 0;"]
        region.fields.append(f"u64 {array}[{count}];")
        total, sums = 0, []
        for i in range(count):
            total = (total + mix(i + constant)) & MASK
            sums.append(total)
        lines = ["#pragma omp single", f"{x} = 0;", f"#pragma omp for reduction(inscan, +: {x})",
                 f"for (int i = 0; i < {count}; i++) {{", f"    {x} += mix(i + {hex(constant)}u);",
                 f"#pragma omp scan inclusive({x})", f"    F->{array}[i] = {x};", "}"]
        for i in {0, count // 2, count - 1}:
            region.after.append(f'CHECK("scan", F->{array}[{i}], {hex(sums[i])}u);')
        region.cost += 4 * count
        return lines, False

    def p_linear(self, region):
        count, step, start = self.rng.randint(1, 50), self.rng.randint(1, 9), self.rng.randint(-5, 5)
        j, field = self.name("linear"), self.name("sum")
        clause, _, chunk = self.schedule()
        region.before.append(f"int {j} = 0;")
        region.fields.append(f"u64 {field};")
        region.sum_is(field, sum((start + i * step) * (i + 1) for i in range(count)))
        region.cost += 2 * count
        return ["#pragma omp single", f"{j} = {start};", f"#pragma omp for linear({j}: {step}){clause}",
                f"for (int i = 0; i < {count}; i++) {{", f"    add(&F->{field}, (u64)(long long){j} * (u64)(i + 1));",
                f"    {j} += {step};", "}",
                f'CHECK("linear", {j}, {start + step * count});', "#pragma omp barrier"], False

    def p_conditional(self, region):
        """The last iteration that assigns."""
        count, every = self.rng.randint(1, 60), self.rng.randint(1, 7)
        variable = self.name("last")
        clause, _, _ = self.schedule(ordered=True)
        region.before.append(f"int {variable} = -1;")
        region.cost += 2 * count
        return [f"#pragma omp for lastprivate(conditional: {variable}){clause}",
                f"for (int i = 0; i < {count}; i++) {{",
                f"    if (i % {every} == 0)", f"        {variable} = i;", "}",
                f'CHECK("lastprivate conditional", {variable}, {(count - 1) // every * every});',
                "#pragma omp barrier"], False

    def p_collapse(self, region):
        field, constant = self.name("sum"), self.constant()
        depth = self.pick(2, 2, 3)
        kinds = ("int", "unsigned", "long", "u64")
        spaces = [self.space(most=(12, 7)[depth - 2], kinds=kinds, var=v) for v in "ijk"[:depth]]
        if self.chance(0.25):
            rows, extra = self.rng.randint(0, 9), self.rng.randint(0, 4)
            pairs = [(i, j) for i in range(rows) for j in range(i, rows + extra)]
            head = [f"for (int i = 0; i < {rows}; i++)", f"for (int j = i; j < {rows + extra}; j++)"]
            value = sum(mix(mix(i + constant) + j) for i, j in pairs)
            expression, total = f"mix(mix((u64)i + {hex(constant)}u) + (u64)j)", len(pairs)
        else:
            head = [s.head for s in spaces]
            values = [constant]
            expression, total = f"{hex(constant)}u", 1
            value = None
            for space, var in zip(spaces, "ijk"):
                values = [mix(h + v) for h in values for v in space.values]
                expression = f"mix({expression} + (u64){var})"
            value, total = sum(values), len(values)
        clause, _, _ = self.schedule()
        if "j = i" in head[1]:
            clause = ""  # those of dependent bounds have none
        region.fields.append(f"u64 {field};")
        region.sum_is(field, value)
        region.cost += 3 * total
        depth = len(head)
        nowait = self.pick("", " nowait")
        return [f"#pragma omp for collapse({depth}){clause}{nowait}", *head,
                f"    add(&F->{field}, {expression});"], True

    def p_ordered(self, region):
        space = self.space(may_be_tight=True)
        clause, _, _ = self.schedule(space, ordered=True)
        order, field, constant = self.name("order"), self.name("sum"), self.constant()
        region.fields += [f"u64 {order}[{region.repeats}];", f"u64 {field};"]
        expression, known, price, _ = self.body(40)
        count = len(space.values)
        region.sum_is(field, sum(mix(v + constant) for v in space.values) + known * count)
        region.cost += count * (price + 5)
        for r in range(min(region.repeats, 3)):
            region.after.append(f'CHECK("ordered", F->{order}[{r}], {count});')
        outside = self.chance(0.5)
        nowait = self.pick("", " nowait")
        lines = [f"#pragma omp for ordered{clause}{nowait}", space.head + " {"]
        addition = f"    add(&F->{field}, mix((u64)i + {hex(constant)}u) + {expression});"
        if outside and self.chance(0.5):
            lines.append(addition)
        skip = self.chance(0.15) and count  # an iteration without its ordered region: only order of the others
        if skip:
            region.after = [a for a in region.after if f"F->{order}[" not in a]
            lines += [f"    if ({space.index('i')} % 3 != 1) {{"]
        lines += ["#pragma omp ordered", "    {"]
        if skip:
            lines += [f"        CHECK(\"ordered\", F->{order}[r] <= {space.index('i')}, 1);",
                      f"        F->{order}[r] = {space.index('i')} + 1;"]
        elif count:
            lines += [f"        CHECK(\"ordered\", F->{order}[r], {space.index('i')});", f"        F->{order}[r]++;"]
        if not (outside and addition in lines) and not outside:
            lines.append("    " + addition)
        lines += ["    }"]
        if skip:
            lines += ["    }"]
            if not outside:
                lines.remove("    " + addition)
                outside = True
        if outside and addition not in lines:
            lines.append(addition)
        lines += ["}"]
        return lines, True

    def p_doacross(self, region):
        data = self.name("data")
        clause, _, _ = self.schedule(ordered=True)
        if self.chance(0.5):
            back = self.pick(1, 1, 2)
            while True:  # a sink in front of the first iteration is a value of the type, too
                # Of unsigned iterations GCC 12 makes wild numbers. clang 19 divides the distance without a sign: the
                # sink in front of the first iteration is a later one then, which waits for ever (also under libomp).
                space = self.space(most=30, kinds=("int", "long"))
                low, high = self.limits(space.kind)
                if all(low <= v - back * space.step <= high for v in space.values):
                    break
            count = len(space.values)
            region.fields.append(f"u64 {data}[{region.repeats}][{count + 1}];")
            values = []
            for k in range(count):
                values.append(mix((values[k - back] if k >= back else 0) + k))
            for k in {0, count // 2, count - 1} if count else ():
                region.after.append(f'CHECK("doacross", F->{data}[{region.repeats - 1}][{k}], {hex(values[k])}u);')
            sign, far = ("-", "+")[space.step < 0], back * abs(space.step)
            lines = [f"#pragma omp for ordered(1){clause}", space.head + " {", f"    const u64 at = {space.index('i')};"
                     if count else "    const u64 at = 0;",
                     f"#pragma omp ordered depend(sink: i {sign} {far})",
                     f"    F->{data}[r][at] = mix((at >= {back} ? F->{data}[r][at - {back}] : 0) + at);",
                     "#pragma omp ordered depend(source)", "}"]
            region.cost += 5 * count
            return lines, True
        rows, columns = self.rng.randint(1, 8), self.rng.randint(1, 8)
        region.fields.append(f"u64 {data}[{region.repeats}][{rows}][{columns}];")
        value = [[0] * columns for _ in range(rows)]
        for i in range(rows):
            for j in range(columns):
                value[i][j] = mix((value[i - 1][j] if i else 0) + (value[i][j - 1] if j else 0) + 1)
        region.after.append(f'CHECK("doacross", F->{data}[0][{rows - 1}][{columns - 1}], {hex(value[-1][-1])}u);')
        region.cost += 8 * rows * columns
        base = self.pick(0, -3, 2147483600)
        up, left = f"F->{data}[r][i - {base} - 1][j]", f"F->{data}[r][i - {base}][j - 1]"
        collapse = self.pick("", "", " collapse(2)")
        return [f"#pragma omp for{collapse} ordered(2){clause}", f"for (int i = {base}; i < {base + rows}; i++)",
                f"    for (int j = 0; j < {columns}; j++) {{",
                "#pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)",
                f"        F->{data}[r][i - {base}][j] = mix((i > {base} ? {up} : 0) + (j > 0 ? {left} : 0) + 1);",
                "#pragma omp ordered depend(source)", "    }"], True
