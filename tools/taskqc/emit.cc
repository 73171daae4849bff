#include "emit.h"
#include "emitter.h"

#include <algorithm>
#include <functional>

using std::string;
using std::to_string;

namespace taskqc
{

bool by_pointer(const Capture &c)
{
    return c.how == Sharing::shared || (c.how == Sharing::captured && c.variable->array());
}

string name_in(const Variable *v, const Construct *scope)
{
    if (v->is_name)
        return "_tq_func";
    for (const Construct *c = scope; c; c = c->parent) {
        if (v->scope == c || c->shadow(v))
            return v->name;
        if (c->task())
            if (const Capture *capture = c->capture(v))
                return by_pointer(*capture) ? "(*" + v->name + ")" : v->name;
    }
    return v->name;
}

string Emitter::run()
{
    string all;
    for (size_t known = 1; known != tags.size();) { // types get names that stand before what needs them
        known = tags.size();
        criticals.clear();
        names_used.clear();
        all = once();
    }
    return all;
}

string Emitter::once()
{
    Out out(text, tags);
    size_t from = 0;
    bool first = true;
    for (auto &f : tree.functions) {
        if (f->constructs.empty())
            continue;
        current = f.get();
        if (openmp) {
            range(out, from, f->end, nullptr);
            from = f->end;
            continue;
        }
        size_t before = before_function(*f);
        out.source(from, before);
        declared.clear();
        behind.clear();
        Out function(text, tags, 0);
        range(function, before, f->end, nullptr);
        out.own(before, prologue(*f, first) + declared);
        out.append(function);
        out.own(f->end, behind);
        first = false;
        from = f->end;
    }
    out.source(from, text.all.size());
    return out.all;
}

size_t Emitter::before_function(const Function &f) const
{
    size_t best = 0;
    for (size_t b : boundaries)
        if (b <= f.at)
            best = b;
    return best;
}

string Emitter::prologue(const Function &f, bool first)
{
    string lines = first ? "#include <psthread_taskq.h>\n" : "";
    std::function<void(const Construct &)> look = [&](const Construct &c) {
        if (c.directive->kind == Kind::critical && criticals.insert(c.directive->rest).second)
            lines += "__attribute__((weak)) psthread_mutex_t " + critical_name(c) + ";\n";
        for (auto &child : c.children)
            look(*child);
    };
    for (auto &c : f.constructs)
        look(*c);
    return lines;
}

string Emitter::critical_name(const Construct &c)
{
    return "psthread_taskq_critical" + (c.directive->rest.empty() ? "" : "_" + c.directive->rest);
}

// The source's [from, to), which stands in `scope`, with what is replaced.
void Emitter::range(Out &out, size_t from, size_t to, const Construct *scope)
{
    struct Edit {
        size_t at, end;
        const Construct *construct;
        string name;
    };
    std::vector<Edit> edits;
    auto &children = scope ? scope->children : current->constructs;
    for (auto &c : children)
        if (c->directive->at >= from && c->directive->at < to)
            edits.push_back({c->directive->at, c->end, c.get(), ""});
    size_t constructs = edits.size();
    if (!openmp)
        for (const Use &u : current->uses) {
            bool covered = u.at < from || u.at >= to || !u.spelled;
            for (size_t k = 0; k < constructs && !covered; k++)
                covered = u.at >= edits[k].at && u.at < edits[k].end;
            string name = name_in(u.variable, u.scope);
            if (!covered && name != u.variable->name)
                edits.push_back({u.at, u.end, nullptr, name});
        }
    std::sort(edits.begin(), edits.end(), [](const Edit &a, const Edit &b) { return a.at < b.at; });
    for (const Edit &e : edits) {
        if (e.at < from)
            continue;
        out.source(from, e.at);
        if (e.construct)
            construct(out, *e.construct);
        else
            out.instead(e.at, e.name);
        from = e.end;
    }
    out.source(from, to);
}

void Emitter::construct(Out &out, const Construct &c)
{
    switch (c.directive->kind) {
    case Kind::parallel_taskq:
    case Kind::taskq:
        queue(out, c);
        break;
    case Kind::task:
        if (openmp)
            openmp_task(out, c);
        else
            task(out, c);
        break;
    case Kind::ordered:
        if (openmp) // the queue's tasks run one after another
            range(out, c.at, c.end, &c);
        else
            around(out, c, "psthread_taskq_ordered(_tq_task);", "psthread_taskq_ordered_end(_tq_task);");
        break;
    case Kind::critical:
        around(out, c, "psthread_mutex_lock(&" + critical_name(c) + ");",
               "psthread_mutex_unlock(&" + critical_name(c) + ");");
        break;
    case Kind::atomic:
        around(out, c, "psthread_mutex_lock(&psthread_taskq_atomic);",
               "psthread_mutex_unlock(&psthread_taskq_atomic);");
        break;
    case Kind::flush:
        out.own(c.directive->at, "__atomic_thread_fence(__ATOMIC_SEQ_CST);\n", c.directive->at);
        break;
    default: // the compiler's
        out.source(c.directive->at, c.directive->end);
        range(out, c.directive->end, c.end, &c);
    }
}

void Emitter::around(Out &out, const Construct &c, const string &before, const string &after)
{
    out.own(c.directive->at, "{\n    " + before + "\n", c.at);
    range(out, c.at, c.end, &c);
    out.own(c.end, "    " + after + "\n}\n", c.at);
}

} // namespace taskqc

string emit(const Text &text, const Tree &tree, bool openmp)
{
    taskqc::Emitter e(text, tree, openmp);
    e.boundaries = scan(text).boundaries;
    return e.run();
}
