// Queues, and the tasks of OpenMP: blocks that stay where they are.
#include "emitter.h"

#include <algorithm>

using std::string;
using std::to_string;

namespace taskqc
{

string Emitter::pointer(const Construct &queue, const Variable *v)
{
    return "_tq_p" + to_string(queue.number) + "_" + v->name;
}
string Emitter::queue_name(const Construct &c) { return "_tq_q" + to_string(c.number); }
string Emitter::start_value(const Construct &queue, const Variable *v)
{
    return "_tq_i" + to_string(queue.number) + "_" + v->name;
}

// nowait: the tasks are the enclosing queue's, where there is one in the same function, and nothing waits for
// values.
const Construct *Emitter::tasks_go_to(const Construct &c) const
{
    const Construct *outer = c.parent;
    while (outer && !outer->directive->ours())
        outer = outer->parent;
    bool values = c.directive->clause("ordered");
    for (const Shadow &s : c.shadows)
        values = values || s.last || !s.op.empty();
    if (!c.directive->clause("nowait") || values || !outer)
        return &c;
    if (outer->task())
        return outer;
    const Construct *to = tasks_go_to(*outer);
    return to->directive->clause("ordered") ? &c : to;
}

// The same for OpenMP, where the next thread waits.
bool Emitter::waits(const Construct &c)
{
    for (const Shadow &s : c.shadows)
        if (s.last || !s.op.empty())
            return true;
    return !c.directive->clause("nowait");
}

string Emitter::identity(const string &op, const string &start)
{
    if (op == "*" || op == "&&")
        return "1";
    if (op == "&")
        return "~0";
    return op == "min" || op == "max" ? start : "0";
}

string Emitter::combine(const string &into, const string &op, const string &value)
{
    if (op == "min" || op == "max")
        return "if (" + value + (op == "min" ? " < " : " > ") + into + ") " + into + " = " + value + ";";
    // parts of a difference are added
    return into + " = " + into + " " + (op == "-" ? "+" : op) + " " + value + ";";
}

void Emitter::queue(Out &out, const Construct &c)
{
    const Directive &d = *c.directive;
    string head, tail, indent = "    ";
    const string condition = openmp ? condition_of(c) : "";
    if (openmp && d.kind == Kind::parallel_taskq) {
        if (!condition.empty())
            head += "{\n    const int " + condition + " = !!(" + expression(c, *d.clause("if")) + ");\n";
        head += "#pragma omp parallel" + clause_text(c, "num_threads") +
                (condition.empty() ? "" : " if(" + condition + ")") + "\n#pragma omp single\n";
    }
    head += "{ /* " + d.words + " */\n";
    for (const Shadow &s : c.shadows)
        if (s.first || s.last || !s.op.empty())
            head += indent + "__typeof__(" + name_in(s.variable, c.parent) + ") *const " + pointer(c, s.variable) +
                    " = &" + name_in(s.variable, c.parent) + ";\n";
    bool has_last = std::any_of(c.shadows.begin(), c.shadows.end(), [](const Shadow &s) { return s.last; });
    if (!openmp) {
        if (tasks_go_to(c) == &c)
            head += begin(c, indent);
    } else {
        if (d.clause("ordered"))
            head += indent + "char _tq_turn" + to_string(c.number) + " __attribute__((unused)) = 0;\n";
        if (has_last)
            head += indent + "unsigned long _tq_made" + to_string(c.number) + " __attribute__((unused)) = 0, _tq_last" +
                    to_string(c.number) + " __attribute__((unused)) = 0;\n";
    }
    bool inner = !c.shadows.empty();
    if (inner)
        head += indent + "{\n";
    for (const Shadow &s : c.shadows)
        head += shadow(c, s, indent + "    ");
    out.own(d.at, head, c.at);
    range(out, c.at, c.end, &c);
    if (!openmp && tasks_go_to(c) == &c)
        tail += indent + "psthread_taskq_end(&" + queue_name(c) + ");\n";
    if (openmp && waits(c))
        tail += "#pragma omp taskwait\n";
    for (const Shadow &s : c.shadows)
        if (!s.op.empty())
            tail += indent + combine("*" + pointer(c, s.variable), s.op, s.variable->name) + "\n";
    if (inner)
        tail += indent + "}\n";
    out.own(c.end, tail + (condition.empty() ? "}\n" : "}\n}\n"), c.at);
}

// The variable with the value of the if clause of c itself, a region; "": there is none.
string Emitter::condition_of(const Construct &c)
{
    bool has = c.directive->kind == Kind::parallel_taskq && c.directive->clause("if");
    return has ? "_tq_if" + to_string(c.number) : "";
}

string Emitter::begin(const Construct &c, const string &indent) const
{
    const Directive &d = *c.directive;
    string ordered = d.clause("ordered") ? "1" : "0", name = queue_name(c);
    string lines = indent + "struct psthread_taskq " + name + ";\n" + indent;
    if (d.kind == Kind::taskq)
        return lines + "psthread_taskq_begin(&" + name + ", " + ordered + ");\n";
    const Clause *limit = d.clause("num_threads"), *condition = d.clause("if");
    return lines + "psthread_taskq_begin_parallel(&" + name + ", " + ordered + ", " +
           (limit ? expression(c, *limit) : "0") + ", " +
           (condition ? "(" + expression(c, *condition) + ") != 0" : "1") + ");\n";
}

// A clause's expression, its variables as the text around spells them.
string Emitter::expression(const Construct &c, const Clause &clause) const
{
    const Item &item = clause.items[0];
    string written = item.text;
    if (openmp)
        return written;
    std::vector<const Use *> uses;
    for (const Use &u : current->uses)
        if (u.item == &item && u.spelled)
            uses.push_back(&u);
    std::sort(uses.begin(), uses.end(), [](const Use *a, const Use *b) { return a->within > b->within; });
    for (const Use *u : uses)
        written.replace(u->within, u->variable->name.size(), name_in(u->variable, c.parent));
    return written;
}

string Emitter::clause_text(const Construct &c, const char *name) const
{
    const Clause *clause = c.directive->clause(name);
    return clause ? " " + string(name) + "(" + expression(c, *clause) + ")" : "";
}

string Emitter::shadow(const Construct &c, const Shadow &s, const string &indent)
{
    const string &name = s.variable->name;
    string of = s.first || s.last || !s.op.empty() ? "*" + pointer(c, s.variable) : name_in(s.variable, c.parent);
    if (!s.op.empty()) {
        string lines;
        if (s.op == "min" || s.op == "max")
            lines = indent + "__typeof__(" + of + ") " + start_value(c, s.variable) + " = " + of + ";\n";
        return lines + indent + "__typeof__(" + of + ") " + name + " = " + identity(s.op, start_value(c, s.variable)) +
               ";\n";
    }
    string lines, declaration = "__typeof__(" + of + ") " + name;
    if (openmp && s.variable->variably_modified()) {
        // with lengths of its own: GCC 12 cannot copy an array whose type is taken from outside of the region
        Types types;
        types.prefix = "_tq_l" + to_string(c.number) + "_" + name + "_";
        declaration = declare(s.variable, name, types, "(" + of + ")");
        for (size_t k = 0; k < types.bounds.size(); k++)
            lines += indent + "const __SIZE_TYPE__ " + types.prefix + to_string(k) + " = " + types.bounds[k] + ";\n";
    }
    lines += indent + declaration;
    if (s.first && !s.variable->array())
        return lines + " = " + of + ";\n";
    if (s.first)
        return lines + ";\n" + indent + "__builtin_memcpy((void *)&" + name + ", " + pointer(c, s.variable) +
               ", sizeof " + name + ");\n";
    // tasks copy what may have no value yet: no warning of that
    if (!s.variable->array())
        return lines + " = " + name + ";\n";
    return lines + ";\n" + indent + "__asm__(\"\" : : \"r\"(&" + name + ") : \"memory\");\n";
}

void Emitter::openmp_task(Out &out, const Construct &c)
{
    const Construct &q = *c.queue;
    string shared, copied, own, head, inner, tail, assign;
    auto list = [](string &to, const string &name) { to += (to.empty() ? "" : ", ") + name; };
    for (const Capture &k : c.captures) {
        const string &name = k.variable->name;
        if (k.variable->is_function)
            continue;
        if (k.how == Sharing::shared && !k.variable->is_extern)
            list(shared, name);
        else if (k.how == Sharing::captured)
            list(copied, name);
        else if (k.how == Sharing::private_)
            list(own, name);
        if (k.how == Sharing::reduction) {
            list(copied, pointer(q, k.variable));
            string start = start_value(q, k.variable);
            if (k.op == "min" || k.op == "max")
                list(copied, start);
            inner += "    __typeof__(*" + pointer(q, k.variable) + ") " + name + " = " + identity(k.op, start) + ";\n";
            tail += "    " + combine("*" + pointer(q, k.variable), k.op, name) + "\n";
        }
        if (k.last) {
            list(copied, pointer(q, k.variable));
            assign += k.variable->array() ? "        __builtin_memcpy((void *)" + pointer(q, k.variable) + ", " + name +
                                                ", sizeof " + name + ");\n"
                                          : "        *" + pointer(q, k.variable) + " = " + name + ";\n";
        }
    }
    string number = to_string(q.number), indent = assign.empty() ? "" : "    ";
    if (!assign.empty()) {
        head = "{\n    unsigned long _tq_n" + number + " = ++_tq_made" + number + ";\n";
        list(copied, "_tq_n" + number);
        list(shared, "_tq_last" + number);
        tail += "    if (_tq_n" + number + " > _tq_last" + number + ") {\n        _tq_last" + number + " = _tq_n" +
                number + ";\n" + assign + "    }\n";
    }
    string at_once; // where the region's condition does not hold: what the task makes too
    for (const Construct *around = &q; around; around = around->parent)
        if (around->directive->kind == Kind::parallel_taskq) {
            const string condition = condition_of(*around);
            if (!condition.empty())
                at_once = " if(" + condition + ") final(!" + condition + ")";
            break;
        }
    head += "#pragma omp task" + at_once + (shared.empty() ? "" : " shared(" + shared + ")") +
            (copied.empty() ? "" : " firstprivate(" + copied + ")") + (own.empty() ? "" : " private(" + own + ")") +
            (q.directive->clause("ordered") ? " depend(inout: _tq_turn" + number + ")" : "") + "\n{\n" + inner;
    out.own(c.directive->at, head, c.at);
    range(out, c.at, c.end, &c);
    if (!tail.empty())
        tail = "#pragma omp critical(_tq_values)\n    {\n" + tail + "    }\n";
    out.own(c.end, tail + "}\n" + (assign.empty() ? "" : "}\n"), c.at);
}

} // namespace taskqc
