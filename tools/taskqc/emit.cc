#include "emit.h"

#include <algorithm>
#include <functional>
#include <map>

using std::string;
using std::to_string;

namespace
{

// The task sees the variable by a pointer of its name.
bool by_pointer(const Capture &c)
{
    return c.how == Sharing::shared || (c.how == Sharing::captured && c.variable->array());
}

// How `v` is spelled in the text of `scope`, once that text stands in its task's function.
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

bool is_function(CXType t)
{
    CXTypeKind kind = clang_getCanonicalType(t).kind;
    return kind == CXType_FunctionProto || kind == CXType_FunctionNoProto;
}

string quoted(const string &name)
{
    string q = "\"";
    for (char c : name)
        q += c == '"' || c == '\\' ? string("\\") + c : string(1, c);
    return q + "\"";
}

// What is written, and which line of the source the compiler believes to be in.
class Out
{
  public:
    string all;

    // tags: what is inserted where in the source.
    Out(const Text &of, const std::map<size_t, string> &inserted, size_t at_line = 1)
        : text(of), tags(inserted), line(at_line)
    {
    }

    void append(const Out &other)
    {
        start_line();
        all += other.all;
        line = other.line;
    }

    // [from, to) of the source.
    void source(size_t from, size_t to)
    {
        if (!line) { // the rest of a line whose beginning was replaced
            size_t rest = from;
            while (rest < to && (text.all[rest] == ' ' || text.all[rest] == '\t'))
                rest++;
            if (rest < to && text.all[rest] == '\n')
                from = rest + 1;
        }
        if (from >= to)
            return;
        place(from);
        size_t at = from;
        for (auto tag = tags.lower_bound(from); tag != tags.end() && tag->first < to; ++tag) {
            all.append(text.all, at, tag->first - at);
            all += tag->second;
            at = tag->first;
        }
        all.append(text.all, at, to - at);
        line += static_cast<size_t>(
            std::count(text.all.begin() + static_cast<long>(from), text.all.begin() + static_cast<long>(to), '\n'));
    }
    // In place of something in the source's current line.
    void instead(size_t at, const string &what)
    {
        place(at);
        all += what;
    }
    // Lines of our own; the compiler finds their mistakes where `at` is.
    void own(size_t at, const string &lines, size_t indented_as = string::npos)
    {
        if (lines.empty())
            return;
        start_line();
        all += line_directive(at);
        bool indented = indented_as != string::npos;
        size_t first = indented ? text.starts[text.line(indented_as) - 1] : 0, end = first;
        while (indented && end < text.all.size() && (text.all[end] == ' ' || text.all[end] == '\t'))
            end++;
        bool start = true;
        for (char c : lines) {
            if (start && indented && c != '#' && c != '\n')
                all.append(text.all, first, end - first);
            all += c;
            start = c == '\n';
        }
        start_line();
        line = 0;
    }
    void start_line()
    {
        if (!all.empty() && all.back() != '\n')
            all += '\n', line = line ? line + 1 : 0;
    }

  private:
    const Text &text;
    const std::map<size_t, string> &tags;
    size_t line; // 0: not the source's

    string line_directive(size_t at) const
    {
        return "#line " + to_string(text.shown_line(at)) + " " + quoted(text.shown_name(at)) + "\n";
    }

    void place(size_t at)
    {
        size_t want = text.line(at);
        if (line == want)
            return;
        if (!all.empty() && all.back() != '\n')
            all += '\n';
        all += line_directive(at);
        // the blanks before it, so that columns stay where they are
        for (size_t k = text.starts[want - 1]; k < at && (text.all[k] == ' ' || text.all[k] == '\t'); k++)
            all += text.all[k];
        line = want;
    }
};

class Emitter
{
  public:
    Emitter(const Text &source, const Tree &of, bool for_openmp) : text(source), tree(of), openmp(for_openmp) {}

    string run()
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

    string once()
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

    std::vector<size_t> boundaries;

  private:
    const Text &text;
    const Tree &tree;
    bool openmp;
    const Function *current = nullptr;
    string declared, behind; // before and behind the current function
    std::set<string> criticals;
    std::map<size_t, string> tags; // of the file's types that have none, where they are inserted

    size_t before_function(const Function &f) const
    {
        size_t best = 0;
        for (size_t b : boundaries)
            if (b <= f.at)
                best = b;
        return best;
    }

    string prologue(const Function &f, bool first)
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

    static string critical_name(const Construct &c)
    {
        return "psthread_taskq_critical" + (c.directive->rest.empty() ? "" : "_" + c.directive->rest);
    }

    // --- text ---

    // The source's [from, to), which stands in `scope`, with what is replaced.
    void range(Out &out, size_t from, size_t to, const Construct *scope)
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

    void construct(Out &out, const Construct &c)
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

    void around(Out &out, const Construct &c, const string &before, const string &after)
    {
        out.own(c.directive->at, "{\n    " + before + "\n", c.at);
        range(out, c.at, c.end, &c);
        out.own(c.end, "    " + after + "\n}\n", c.at);
    }

    // --- queues ---

    static string pointer(const Construct &queue, const Variable *v)
    {
        return "_tq_p" + to_string(queue.number) + "_" + v->name;
    }
    static string queue_name(const Construct &c) { return "_tq_q" + to_string(c.number); }
    static string start_value(const Construct &queue, const Variable *v)
    {
        return "_tq_i" + to_string(queue.number) + "_" + v->name;
    }

    // nowait: the tasks are the enclosing queue's, where there is one in the same function, and nothing waits for
    // values.
    const Construct *tasks_go_to(const Construct &c) const
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
    static bool waits(const Construct &c)
    {
        for (const Shadow &s : c.shadows)
            if (s.last || !s.op.empty())
                return true;
        return !c.directive->clause("nowait");
    }

    static string identity(const string &op, const string &start)
    {
        if (op == "*" || op == "&&")
            return "1";
        if (op == "&")
            return "~0";
        return op == "min" || op == "max" ? start : "0";
    }

    static string combine(const string &into, const string &op, const string &value)
    {
        if (op == "min" || op == "max")
            return "if (" + value + (op == "min" ? " < " : " > ") + into + ") " + into + " = " + value + ";";
        // parts of a difference are added
        return into + " = " + into + " " + (op == "-" ? "+" : op) + " " + value + ";";
    }

    void queue(Out &out, const Construct &c)
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
                head += indent + "unsigned long _tq_made" + to_string(c.number) +
                        " __attribute__((unused)) = 0, _tq_last" + to_string(c.number) +
                        " __attribute__((unused)) = 0;\n";
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
    static string condition_of(const Construct &c)
    {
        bool has = c.directive->kind == Kind::parallel_taskq && c.directive->clause("if");
        return has ? "_tq_if" + to_string(c.number) : "";
    }

    string begin(const Construct &c, const string &indent) const
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
    string expression(const Construct &c, const Clause &clause) const
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

    string clause_text(const Construct &c, const char *name) const
    {
        const Clause *clause = c.directive->clause(name);
        return clause ? " " + string(name) + "(" + expression(c, *clause) + ")" : "";
    }

    string shadow(const Construct &c, const Shadow &s, const string &indent)
    {
        const string &name = s.variable->name;
        string of = s.first || s.last || !s.op.empty() ? "*" + pointer(c, s.variable) : name_in(s.variable, c.parent);
        if (!s.op.empty()) {
            string lines;
            if (s.op == "min" || s.op == "max")
                lines = indent + "__typeof__(" + of + ") " + start_value(c, s.variable) + " = " + of + ";\n";
            return lines + indent + "__typeof__(" + of + ") " + name + " = " +
                   identity(s.op, start_value(c, s.variable)) + ";\n";
        }
        string lines, declaration = "__typeof__(" + of + ") " + name;
        if (openmp && s.variable->variably_modified()) {
            // with lengths of its own: GCC 12 cannot copy an array whose type is taken from outside of the region
            Types types;
            types.prefix = "_tq_l" + to_string(c.number) + "_" + name + "_";
            declaration = declare(s.variable, name, types, "(" + of + ")");
            for (size_t k = 0; k < types.bounds.size(); k++)
                lines +=
                    indent + "const __SIZE_TYPE__ " + types.prefix + to_string(k) + " = " + types.bounds[k] + ";\n";
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

    // --- tasks of OpenMP ---

    void openmp_task(Out &out, const Construct &c)
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
                inner +=
                    "    __typeof__(*" + pointer(q, k.variable) + ") " + name + " = " + identity(k.op, start) + ";\n";
                tail += "    " + combine("*" + pointer(q, k.variable), k.op, name) + "\n";
            }
            if (k.last) {
                list(copied, pointer(q, k.variable));
                assign += k.variable->array() ? "        __builtin_memcpy((void *)" + pointer(q, k.variable) + ", " +
                                                    name + ", sizeof " + name + ");\n"
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

    // --- types ---

    struct Types {          // of one task's struct and function
        bool local = false; // some type is the function's own
        std::vector<LocalType *> needed;
        std::vector<string> bounds; // expressions of the current variable's lengths, where the task is made
        string prefix;              // names of the lengths in the task's function
        bool in_prototype = false;
    };

    static string qualifiers(CXType t)
    {
        return string(clang_isConstQualifiedType(t) ? "const " : "") +
               (clang_isVolatileQualifiedType(t) ? "volatile " : "") +
               (clang_isRestrictQualifiedType(t) ? "__restrict " : "");
    }

    // A declaration of `inner` (a declarator) with type t. `value` is an expression of that type where the task is
    // made.
    string declare(CXType t, const string &inner, Types &types, const string &value)
    {
        auto paren = [](CXType of, const string &declarator) {
            return is_array(of) || is_function(of) ? "(" + declarator + ")" : declarator;
        };
        switch (t.kind) {
        case CXType_Pointer: {
            CXType to = clang_getPointeeType(t);
            return declare(to, paren(to, "*" + qualifiers(t) + inner), types, "(*" + value + ")");
        }
        case CXType_ConstantArray:
            return declare(clang_getArrayElementType(t), inner + "[" + to_string(clang_getArraySize(t)) + "]", types,
                           value + "[0]");
        case CXType_IncompleteArray:
            return declare(clang_getArrayElementType(t), inner + "[]", types, value + "[0]");
        case CXType_VariableArray: {
            if (types.in_prototype)
                return declare(clang_getArrayElementType(t), inner + "[*]", types, "");
            string length = types.prefix + to_string(types.bounds.size());
            types.bounds.push_back("sizeof(" + value + ") / sizeof(" + value + "[0])");
            return declare(clang_getArrayElementType(t), inner + "[" + length + "]", types, value + "[0]");
        }
        case CXType_FunctionNoProto:
            return declare(clang_getResultType(t), inner + "()", types, value);
        case CXType_FunctionProto: {
            string arguments;
            int number = clang_getNumArgTypes(t);
            const bool outer = types.in_prototype;
            types.in_prototype = true;
            for (int k = 0; k < number; k++)
                arguments += (k ? ", " : "") + declare(clang_getArgType(t, static_cast<unsigned>(k)), "", types, "");
            types.in_prototype = outer;
            if (clang_isFunctionTypeVariadic(t))
                arguments += number ? ", ..." : "...";
            return declare(clang_getResultType(t), inner + "(" + (arguments.empty() ? "void" : arguments) + ")", types,
                           value);
        }
        case CXType_Elaborated:
        case CXType_Attributed: {
            CXType named = t.kind == CXType_Elaborated ? clang_Type_getNamedType(t) : clang_Type_getModifiedType(t);
            if (named.kind == CXType_Invalid)
                break;
            return qualifiers_once(t, named) + declare(named, inner, types, value);
        }
        case CXType_Typedef:
            if (is_variably_modified(t))
                return qualifiers(t) +
                       declare(clang_getTypedefDeclUnderlyingType(clang_getTypeDeclaration(t)), inner, types, value);
            break;
        case CXType_Record:
        case CXType_Enum:
            break;
        default: {
            CXType canonical = clang_getCanonicalType(t);
            if (canonical.kind != t.kind)
                return declare(canonical, inner, types, value);
        }
        }
        return specifier(t, types) + (inner.empty() ? "" : " ") + inner;
    }

    string declare(const Variable *v, const string &inner, Types &types, const string &value)
    {
        if (!v->decays)
            return declare(v->type, inner, types, value);
        if (!is_array(v->type))
            return declare(v->type, "(*" + inner + ")", types, value);
        CXType element = clang_getArrayElementType(is_typedef(v->type) ? clang_getCanonicalType(v->type) : v->type);
        bool paren = is_array(element) || is_function(element);
        return declare(element, paren ? "(*" + inner + ")" : "*" + inner, types, "(*" + value + ")");
    }
    static bool is_typedef(CXType t)
    {
        return t.kind != CXType_ConstantArray && t.kind != CXType_IncompleteArray && t.kind != CXType_VariableArray;
    }

    static string qualifiers_once(CXType outer, CXType inner)
    {
        return string(clang_isConstQualifiedType(outer) && !clang_isConstQualifiedType(inner) ? "const " : "") +
               (clang_isVolatileQualifiedType(outer) && !clang_isVolatileQualifiedType(inner) ? "volatile " : "");
    }

    string specifier(CXType t, Types &types)
    {
        CXCursor declaration = clang_getTypeDeclaration(t);
        LocalType *local = local_type(const_cast<Function &>(*current), declaration);
        if (local)
            need(local, types);
        if (local && anonymous(*local))
            return qualifiers(t) + keyword(*local) + " " + tag(*local);
        for (const LocalType &type : tree.nameless)
            if (!local && anonymous(type) && clang_equalCursors(type.cursor, declaration) &&
                text.all.compare(type.at, keyword(type).size(), keyword(type)) == 0) {
                tags[type.at + keyword(type).size()] = " " + tag(type);
                return qualifiers(t) + keyword(type) + " " + tag(type);
            }
        return take(clang_getTypeSpelling(t));
    }

    static bool anonymous(const LocalType &t)
    {
        string name = take(clang_getCursorSpelling(t.cursor));
        return clang_getCursorKind(t.cursor) != CXCursor_TypedefDecl &&
               (name.empty() || name.find('(') != string::npos);
    }
    static string keyword(const LocalType &t)
    {
        CXCursorKind kind = clang_getCursorKind(t.cursor);
        return kind == CXCursor_StructDecl ? "struct" : kind == CXCursor_UnionDecl ? "union" : "enum";
    }
    static string tag(const LocalType &t) { return "_tq_type" + to_string(t.at); }

    void need(LocalType *t, Types &types)
    {
        types.local = true;
        if (std::find(types.needed.begin(), types.needed.end(), t) != types.needed.end())
            return;
        types.needed.push_back(t);
        struct Visit {
            Emitter *emitter;
            Types *types;
        } visit = {this, &types};
        clang_visitChildren(
            t->cursor,
            [](CXCursor c, CXCursor, CXClientData data) {
                auto *v = static_cast<Visit *>(data);
                CXCursor to = clang_getCursorReferenced(c);
                if (clang_getCursorKind(to) == CXCursor_EnumConstantDecl)
                    to = clang_getCursorSemanticParent(to);
                if (LocalType *other = local_type(const_cast<Function &>(*v->emitter->current), to))
                    v->emitter->need(other, *v->types);
                return CXChildVisit_Recurse;
            },
            &visit);
    }

    // The needed types' own text, for the task's function.
    string type_text(Types &types)
    {
        std::vector<LocalType *> order = types.needed;
        std::sort(order.begin(), order.end(), [](const LocalType *a, const LocalType *b) {
            return a->at != b->at ? a->at < b->at : a->end > b->end;
        });
        string lines;
        size_t behind_last = 0;
        for (LocalType *t : order) {
            if (t->at < behind_last)
                continue;
            behind_last = t->end;
            if (clang_getCursorKind(t->cursor) == CXCursor_TypedefDecl &&
                is_variably_modified(clang_getCursorType(t->cursor)))
                continue; // its lengths are captured: task()
            string written = text.all.substr(t->at, t->end - t->at);
            // types without a name inside of it get theirs
            std::vector<LocalType *> inside;
            for (LocalType *other : types.needed)
                if (anonymous(*other) && other->at >= t->at && other->end <= t->end)
                    inside.push_back(other);
            std::sort(inside.begin(), inside.end(),
                      [](const LocalType *a, const LocalType *b) { return a->at > b->at; });
            for (LocalType *other : inside)
                if (written.compare(other->at - t->at, keyword(*other).size(), keyword(*other)) == 0)
                    written.insert(other->at - t->at + keyword(*other).size(), " " + tag(*other));
            lines += "    " + written + ";\n";
        }
        return lines;
    }

    // --- tasks of the library ---

    void task(Out &out, const Construct &c)
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
                    after += "    __builtin_memcpy((void *)&_tq_c." + n + ", (const void *)&" + ref + ", sizeof " +
                             ref + ");\n";
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
                last += "        __builtin_memcpy(_tq->_tq_p_" + n + ", (const void *)&" + value + ", sizeof " + value +
                        ");\n";
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
    std::vector<string> names_used;

    // Whether __func__ stands in the task, and in no task inside of it.
    bool names_itself(const Construct &c) const
    {
        return std::any_of(current->uses.begin(), current->uses.end(), [&](const Use &u) {
            const Construct *around = u.scope;
            while (around && !around->task())
                around = around->parent;
            return u.variable->is_name && around == &c;
        });
    }

    // A task with a nowait queue inside of it: those tasks are waited for at its end.
    bool has_nowait(const Construct &c) const
    {
        for (auto &child : c.children)
            if (goes_here(*child, c))
                return true;
        return false;
    }
    bool goes_here(const Construct &c, const Construct &task) const
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
    string task_queue_end(const Construct &c) const
    {
        return has_nowait(c) ? "    psthread_taskq_end(&" + queue_name(c) + ");\n" : "";
    }
    static string with_queue(const string &body, const Construct &c)
    {
        string queue =
            "    struct psthread_taskq " + queue_name(c) + ";\n    psthread_taskq_begin(&" + queue_name(c) + ", 0);\n";
        size_t at = body.find("{\n");
        return body.substr(0, at + 2) + queue + body.substr(at + 2);
    }

    static bool is_inside(const Construct *c, const Construct *of)
    {
        for (; c; c = c->parent)
            if (c == of)
                return true;
        return false;
    }

    void variable_typedef(const Construct &c, const LocalType &t, Types &types, string &at_file, string &here,
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

    void put(Out &out, const Construct &c, const string &name, const string &structure, bool empty, bool local,
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
};

} // namespace

std::vector<Expansion> must_expand(const Scan &scan, Tree &tree, bool openmp)
{
    std::vector<Expansion> wanted = tree.items;
    auto add_once = [&](const Expansion &e) {
        if (std::none_of(wanted.begin(), wanted.end(), [&](const Expansion &w) { return w.at == e.at; }))
            wanted.push_back(e);
    };
    auto of_preprocessor = [&](size_t at) {
        return std::any_of(scan.lines.begin(), scan.lines.end(),
                           [&](const Range &line) { return at >= line.at && at < line.end; });
    };
    auto add = [&](size_t at) {
        for (const Expansion &e : tree.expansions)
            if (at >= e.at && at < e.end && !of_preprocessor(e.at)) {
                add_once(e);
                return true;
            }
        return false;
    };
    for (auto &f : tree.functions) {
        if (openmp) // names stay what they are
            break;
        for (const Use &u : f->uses) {
            const Directive *in = nullptr;
            for (const Directive &d : scan.directives)
                if (u.at >= d.at && u.at < d.end)
                    in = &d;
            if (name_in(u.variable, u.scope) == u.variable->name)
                continue;
            if (in && u.item && !u.spelled)
                add_once({u.item->at, u.item->end, in});
            else if (!in && !add(u.at) && !u.spelled)
                tree.problems.push_back({u.at, "cannot see where '" + u.variable->name + "' is written"});
        }
        bool defines = std::any_of(scan.defines.begin(), scan.defines.end(),
                                   [&](size_t at) { return at >= f->at && at < f->end; });
        std::function<void(const Construct &)> all = [&](const Construct &c) {
            if (c.task())
                for (const Expansion &e : tree.expansions)
                    if (e.at >= c.at && e.at < c.end)
                        add(e.at);
            for (auto &child : c.children)
                all(*child);
        };
        if (defines)
            for (auto &c : f->constructs)
                all(*c);
    }
    for (const Expansion &w : wanted)
        for (const Directive &d : scan.directives)
            if (!w.directive && d.at >= w.at && d.at < w.end)
                tree.problems.push_back({d.name_at, "a directive cannot stand among the arguments of a macro"});
    std::sort(wanted.begin(), wanted.end(), [](const Expansion &a, const Expansion &b) { return a.at < b.at; });
    return wanted;
}

string without_conditionals(const Text &text, const Scan &scan, const Tree &tree)
{
    string blanked = text.all;
    auto blank = [&](size_t from, size_t to) {
        for (size_t at = from; at < to; at++)
            if (blanked[at] != '\n' && blanked[at] != '\r')
                blanked[at] = ' ';
    };
    auto is_skipped = [&](size_t at) {
        return std::any_of(tree.skipped.begin(), tree.skipped.end(),
                           [&](const Range &r) { return at >= r.at && at < r.end; });
    };
    std::function<bool(const Conditional &, const Construct &)> crosses = [&](const Conditional &group,
                                                                              const Construct &c) {
        size_t in_all = 0, in_statement = 0;
        for (const Range &line : group.lines) {
            in_all += line.at >= c.directive->at && line.at < c.end;
            in_statement += line.at >= c.at && line.at < c.end;
        }
        if (in_all && in_statement != group.lines.size())
            return true;
        return std::any_of(c.children.begin(), c.children.end(),
                           [&](const std::unique_ptr<Construct> &child) { return crosses(group, *child); });
    };
    for (const Conditional &group : scan.conditionals) {
        bool wanted = false;
        for (auto &f : tree.functions)
            for (auto &c : f->constructs)
                wanted = wanted || crosses(group, *c);
        for (size_t k = 0; wanted && k < group.lines.size(); k++) {
            blank(group.lines[k].at, group.lines[k].end);
            size_t next = k + 1 < group.lines.size() ? group.lines[k + 1].at : 0;
            if (group.lines[k].end < next && is_skipped(group.lines[k].end))
                blank(group.lines[k].end, next);
        }
    }
    return blanked;
}

string emit(const Text &text, const Tree &tree, bool openmp)
{
    Emitter e(text, tree, openmp);
    e.boundaries = scan(text).boundaries;
    return e.run();
}
