// The tasks of the library: a function, and a struct of what it captures.
#include "emitter.h"

#include <algorithm>

using std::string;
using std::to_string;

namespace taskqc
{

void Emitter::task(Out &out, const Construct &c)
{
    const Construct &q = *c.queue;
    string name = "_tq_" + current->name + "_" + to_string(text.line(c.directive->at));
    if (std::any_of(names_used.begin(), names_used.end(), [&](const string &n) { return n == name; }))
        name += "_" + to_string(c.number);
    names_used.push_back(name);
    string at_file, here, set, after, inside, last, reduce, release;
    Types types;
    for (LocalType *t : c.types)
        if (!is_inside(t->scope, &c)) {
            need(t, types);
            if (clang_getCursorKind(t->cursor) == CXCursor_TypedefDecl &&
                is_variably_modified(clang_getCursorType(t->cursor)))
                variable_typedef(c, *t, types, at_file, here, set, inside);
        }
    string reductions;
    for (const Capture &k : c.captures) {
        const Variable *v = k.variable;
        const string &n = v->name;
        string ref = name_in(v, c.parent);
        bool vm = v->variably_modified(), parens = v->array() || (!v->decays && is_function(v->type));
        types.prefix = "_tq->" + n + "_";
        types.bounds.clear();
        bool pointed = by_pointer(k);
        string star = pointed ? "*const " + n : n;
        if (pointed && parens)
            star = "(" + star + ")";
        string declaration = declare(v, star, types, ref);
        for (size_t b = 0; b < types.bounds.size(); b++) {
            string length = "    size_t " + n + "_" + to_string(b) + ";\n";
            at_file += length;
            here += length;
            set += ", ." + n + "_" + to_string(b) + " = " + types.bounds[b];
        }
        string member_star = pointed && k.how == Sharing::shared ? "*" + n : n;
        if (k.how == Sharing::shared && parens)
            member_star = "(" + member_star + ")";
        Types unused = types;
        string member = "    " + declare(v, member_star, unused, ref) + ";\n";
        string member_here = "    __typeof__(" + ref + ") " + (k.how == Sharing::shared ? "*" : "") + n + ";\n";
        if (vm)
            member = member_here = "    void *" + n + ";\n";
        switch (k.how) {
        case Sharing::shared:
            at_file += member;
            here += member_here;
            set += ", ." + n + " = " + (vm ? "(void *)&" : "&") + ref;
            inside += "    " + declaration + " = _tq->" + n + ";\n";
            break;
        case Sharing::captured:
            at_file += member;
            here += member_here;
            if (vm && v->array()) {
                set += ", ." + n + " = psthread_taskq_copy(&" + ref + ", sizeof " + ref + ")";
                inside += "    " + declaration + " = _tq->" + n + ";\n";
                release += "    free(_tq->" + n + ");\n";
            } else if (v->array()) {
                after +=
                    "    __builtin_memcpy((void *)&_tq_c." + n + ", (const void *)&" + ref + ", sizeof " + ref + ");\n";
                inside += "    " + declaration + " = &_tq->" + n + ";\n";
            } else {
                set += ", ." + n + " = " + ref;
                inside += "    " + declaration + " = _tq->" + n + ";\n";
                if (!k.referenced && !k.last)
                    inside += "    (void)" + n + ";\n";
            }
            break;
        case Sharing::private_:
            inside += "    " + declaration + ";\n";
            break;
        case Sharing::reduction: {
            string p = "_tq_p_" + n, start = "_tq_i_" + n;
            Types plain;
            at_file += "    " + declare(v, "*" + p, plain, ref) + ";\n";
            here += "    __typeof__(" + ref + ") *" + p + ";\n";
            set += ", ." + p + " = " + pointer(q, v);
            if (k.op == "min" || k.op == "max") {
                at_file += "    " + declare(v, start, plain, ref) + ";\n";
                here += "    __typeof__(" + ref + ") " + start + ";\n";
                set += ", ." + start + " = " + start_value(q, v);
            }
            inside += "    " + declaration + " = " + identity(k.op, "_tq->" + start) + ";\n";
            reduce += "    " + combine("*_tq->" + p, k.op, n) + "\n";
            break;
        }
        }
        if (k.last) {
            at_file += "    void *_tq_p_" + n + ";\n";
            here += "    void *_tq_p_" + n + ";\n";
            set += ", ._tq_p_" + n + " = (void *)" + pointer(q, v);
            string value = pointed ? "(*" + n + ")" : n;
            last +=
                "        __builtin_memcpy(_tq->_tq_p_" + n + ", (const void *)&" + value + ", sizeof " + value + ");\n";
        }
    }
    bool empty = at_file.empty();
    string structure = "struct " + name;
    if (!types.local && !empty)
        declared += "/* what the task of line " + to_string(text.shown_line(c.directive->at)) + " captures */\n" +
                    structure + " {\n" + at_file + "};\n";
    declared += "static void " + name + "(struct psthread_taskq_task *, void *);\n";
    put(out, c, name, structure, empty, types.local, here, set, after);

    Out body(text, tags);
    string head = "static void " + name + "(struct psthread_taskq_task *_tq_task, void *_tq_captured)\n{\n";
    head += type_text(types);
    if (!empty)
        head += (types.local ? "    " + structure + " {\n" + at_file + "    } *_tq = _tq_captured;\n"
                             : "    " + structure + " *_tq = _tq_captured;\n");
    else
        head += "    (void)_tq_captured;\n";
    head += "    (void)_tq_task;\n" + inside;
    if (names_itself(c))
        head += "    static const char _tq_func[] = \"" + current->name + "\";\n";
    body.own(c.directive->at, head);
    range(body, c.at, c.end, &c);
    string tail;
    if (!reduce.empty() || !last.empty())
        tail += "    psthread_taskq_lock(_tq_task);\n" + reduce +
                (last.empty() ? "" : "    if (psthread_taskq_is_last(_tq_task)) {\n" + last + "    }\n") +
                "    psthread_taskq_unlock(_tq_task);\n";
    body.own(c.end, task_queue_end(c) + tail + release + "}\n");
    behind += "\n" + (has_nowait(c) ? with_queue(body.all, c) : body.all);
}

// Whether __func__ stands in the task, and in no task inside of it.
bool Emitter::names_itself(const Construct &c) const
{
    return std::any_of(current->uses.begin(), current->uses.end(), [&](const Use &u) {
        const Construct *around = u.scope;
        while (around && !around->task())
            around = around->parent;
        return u.variable->is_name && around == &c;
    });
}

// A task with a nowait queue inside of it: those tasks are waited for at its end.
bool Emitter::has_nowait(const Construct &c) const
{
    for (auto &child : c.children)
        if (goes_here(*child, c))
            return true;
    return false;
}
bool Emitter::goes_here(const Construct &c, const Construct &task) const
{
    if (c.directive->queue() && tasks_go_to(c) == &task)
        return true;
    if (c.task())
        return false;
    for (auto &child : c.children)
        if (goes_here(*child, task))
            return true;
    return false;
}
string Emitter::task_queue_end(const Construct &c) const
{
    return has_nowait(c) ? "    psthread_taskq_end(&" + queue_name(c) + ");\n" : "";
}
string Emitter::with_queue(const string &body, const Construct &c)
{
    string queue =
        "    struct psthread_taskq " + queue_name(c) + ";\n    psthread_taskq_begin(&" + queue_name(c) + ", 0);\n";
    size_t at = body.find("{\n");
    return body.substr(0, at + 2) + queue + body.substr(at + 2);
}

bool Emitter::is_inside(const Construct *c, const Construct *of)
{
    for (; c; c = c->parent)
        if (c == of)
            return true;
    return false;
}

void Emitter::variable_typedef(const Construct &c, const LocalType &t, Types &types, string &at_file, string &here,
                               string &set, string &inside)
{
    string name = take(clang_getCursorSpelling(t.cursor));
    types.prefix = "_tq->" + name + "_";
    types.bounds.clear();
    string declaration = declare(clang_getTypedefDeclUnderlyingType(t.cursor), name, types, "(*(" + name + " *)0)");
    for (size_t b = 0; b < types.bounds.size(); b++) {
        string length = "    size_t " + name + "_" + to_string(b) + ";\n";
        at_file += length;
        here += length;
        set += ", ." + name + "_" + to_string(b) + " = " + types.bounds[b];
    }
    inside += "    typedef " + declaration + ";\n";
    (void)c;
}

void Emitter::put(Out &out, const Construct &c, const string &name, const string &structure, bool empty, bool local,
                  const string &here, const string &set, const string &after)
{
    const Construct *to = tasks_go_to(*c.queue);
    string queue = "&" + queue_name(*to), lines = "{ /* task */\n";
    if (empty) {
        lines += "    psthread_taskq_put(" + queue + ", " + name + ", 0, 0);\n}\n";
    } else {
        if (local)
            lines += "    " + structure + " {\n" + here + "    };\n";
        lines += "    " + structure + " _tq_c";
        if (!set.empty())
            lines += " = {" + set.substr(2) + "}";
        lines += ";\n" + after + "    psthread_taskq_put(" + queue + ", " + name + ", &_tq_c, sizeof _tq_c);\n}\n";
    }
    out.own(c.directive->at, lines, c.at);
}

} // namespace taskqc
