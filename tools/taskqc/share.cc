#include "share.h"

#include <algorithm>

using std::string;

namespace
{

// How each task and each queue sees the variables of its function.
class Sharer
{
  public:
    Sharer(const Text &source, Function &of, Tree &into) : text(source), f(of), tree(into) {}

    void share()
    {
        for (auto &c : f.constructs)
            queues(*c);
        for (auto &c : f.constructs)
            tasks(*c);
    }

  private:
    const Text &text;
    Function &f;
    Tree &tree;

    void problem(size_t at, const string &what) { tree.problems.push_back({at, what}); }

    static Shadow &shadow_of(Construct &c, Variable *v)
    {
        for (Shadow &s : c.shadows)
            if (s.variable == v)
                return s;
        c.shadows.push_back({v});
        return c.shadows.back();
    }

    void queues(Construct &c)
    {
        if (c.directive->queue())
            for (const Clause &clause : c.directive->clauses)
                for (const Item &item : clause.items) {
                    auto found = c.names.find(&item);
                    if (found == c.names.end() || clause.name == "shared" || clause.name == "if" ||
                        clause.name == "num_threads")
                        continue;
                    Variable *v = found->second;
                    check_copy(v, item, clause);
                    Shadow &s = shadow_of(c, v);
                    s.first = s.first || clause.name == "firstprivate";
                    s.last = s.last || clause.name == "lastprivate";
                    s.op = clause.op;
                }
        for (auto &child : c.children)
            queues(*child);
    }

    void check_copy(const Variable *v, const Item &item, const Clause &clause)
    {
        CXType t = clang_getCanonicalType(v->type);
        if (v->is_function)
            problem(item.at, "'" + v->name + "' is a function");
        else if (t.kind == CXType_IncompleteArray && !v->decays)
            problem(item.at, "'" + v->name + "' has no complete type");
        if (clause.name == "reduction") {
            bool arithmetic = (t.kind >= CXType_Bool && t.kind <= CXType_LongDouble) || t.kind == CXType_Float128 ||
                              t.kind == CXType_Half || t.kind == CXType_Float16 || t.kind == CXType_Enum ||
                              (t.kind == CXType_Complex && (clause.op == "+" || clause.op == "*" || clause.op == "-"));
            bool real = t.kind == CXType_Float || t.kind == CXType_Double || t.kind == CXType_LongDouble ||
                        t.kind == CXType_Float128 || t.kind == CXType_Half || t.kind == CXType_Float16;
            if (!arithmetic)
                problem(item.at, "'" + v->name + "' has type '" + take(clang_getTypeSpelling(v->type)) +
                                     "': a reduction needs a number");
            else if (real && (clause.op == "&" || clause.op == "|" || clause.op == "^"))
                problem(item.at, "'" + clause.op + "' reduces integers, and '" + v->name + "' has type '" +
                                     take(clang_getTypeSpelling(v->type)) + "'");
        }
        if (clause.name != "private" && clause.name != "firstprivate" && clang_isConstQualifiedType(t) &&
            clause.name != "captureprivate")
            problem(item.at, "'" + v->name + "' is const: '" + clause.name + "' would change it");
    }

    static bool inside(const Construct *c, const Construct *of)
    {
        for (; c; c = c->parent)
            if (c == of)
                return true;
        return false;
    }

    void tasks(Construct &c)
    {
        if (c.task() && c.queue)
            task(c);
        for (auto &child : c.children)
            tasks(*child);
    }

    const Clause *named(const Construct &c, const Variable *v) const
    {
        for (const Clause &clause : c.directive->clauses)
            for (const Item &item : clause.items) {
                auto found = c.names.find(&item);
                if (found != c.names.end() && found->second == v && clause.name != "if" && clause.name != "num_threads")
                    return &clause;
            }
        return nullptr;
    }

    void task(Construct &c)
    {
        std::vector<std::pair<Variable *, size_t>> seen;
        auto see = [&](Variable *v, size_t at) {
            for (auto &[other, where] : seen)
                if (other == v)
                    return;
            seen.push_back({v, at});
        };
        for (const Use &u : f.uses)
            if (inside(u.scope, &c) && !inside(u.variable->scope, &c) && !u.variable->is_name &&
                (!u.variable->is_global || of_a_construct(c, u.variable)))
                see(u.variable, u.at);
        size_t referenced = seen.size();
        for (const Shadow &s : c.queue->shadows)
            if (s.last)
                see(s.variable, c.directive->name_at);
        for (const Clause &clause : c.directive->clauses)
            for (const Item &item : clause.items) {
                auto found = c.names.find(&item);
                if (found != c.names.end())
                    check_copy(found->second, item, clause);
            }
        for (size_t k = 0; k < seen.size(); k++) {
            auto [v, at] = seen[k];
            c.captures.push_back(decide(c, v, at));
            c.captures.back().referenced = k < referenced;
        }
    }

    // Whether a variable of the file's is another one here: a copy that this task or something around it has.
    bool of_a_construct(const Construct &c, const Variable *v) const
    {
        if (named(c, v))
            return true;
        for (const Construct *around = c.parent; around; around = around->parent)
            if (around->rehomes(v))
                return true;
        return false;
    }

    Capture decide(Construct &c, Variable *v, size_t at)
    {
        const Shadow *shadow = c.queue->shadow(v);
        if (const Clause *own = named(c, v)) {
            if (own->name == "private")
                return {v, Sharing::private_};
            if (own->name != "shared")
                return {v, Sharing::captured, shadow && shadow->last};
        } else if (shadow && !shadow->op.empty()) {
            return {v, Sharing::reduction, false, true, shadow->op};
        } else if (shadow) {
            return {v, Sharing::captured, shadow->last};
        } else if (inside(v->scope, c.queue) && !v->is_static && !v->is_extern && !v->is_function) {
            return {v, Sharing::captured};
        } else {
            check_default(c, v, at);
        }
        if (v->is_register && !shadow)
            problem(at, "'" + v->name + "' is a register variable and has no address to share: captureprivate(" +
                            v->name + ") copies it");
        return {v, Sharing::shared};
    }

    // default(none) of the region around: what tasks share is named.
    void check_default(const Construct &c, const Variable *v, size_t at)
    {
        for (const Construct *q = c.queue; q; q = q->parent) {
            if (inside(v->scope, q) || named(*q, v))
                return;
            const Clause *none = q->directive->ours() ? q->directive->clause("default") : nullptr;
            if (none && none->items[0].text == "none" && !v->is_static && !v->is_function && !v->is_extern)
                problem(at, "'" + v->name + "' is in no clause of the 'parallel taskq' of line " +
                                std::to_string(text.shown_line(q->directive->at)) + ", which has default(none)");
            if (q->directive->kind == Kind::parallel_taskq)
                return;
        }
    }
};

} // namespace

void taskqc::share(const Text &text, Function &function, Tree &tree) { Sharer(text, function, tree).share(); }
