#include "tree.h"

#include <algorithm>
#include <functional>
#include <tuple>

using std::string;

Tree::~Tree()
{
    if (unit)
        clang_disposeTranslationUnit(unit);
    if (index)
        clang_disposeIndex(index);
}

string take(CXString s)
{
    const char *text = clang_getCString(s);
    string copy = text ? text : "";
    clang_disposeString(s);
    return copy;
}

bool Variable::array() const { return !decays && is_array(type); }

bool Variable::variably_modified() const
{
    return decays && is_array(type) ? is_variably_modified(clang_getArrayElementType(clang_getCanonicalType(type)))
                                    : is_variably_modified(type);
}

const Capture *Construct::capture(const Variable *v) const
{
    for (const Capture &c : captures)
        if (c.variable == v)
            return &c;
    return nullptr;
}

const Shadow *Construct::shadow(const Variable *v) const
{
    for (const Shadow &s : shadows)
        if (s.variable == v)
            return &s;
    return nullptr;
}

bool is_array(CXType type)
{
    CXType t = clang_getCanonicalType(type);
    return t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray || t.kind == CXType_VariableArray;
}

bool is_variably_modified(CXType type)
{
    CXType t = clang_getCanonicalType(type);
    switch (t.kind) {
    case CXType_VariableArray:
        return true;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
        return is_variably_modified(clang_getArrayElementType(t));
    case CXType_Pointer:
        return is_variably_modified(clang_getPointeeType(t));
    case CXType_FunctionProto:
    case CXType_FunctionNoProto:
        return is_variably_modified(clang_getResultType(t));
    default:
        return false;
    }
}

LocalType *local_type(Function &f, CXCursor declaration)
{
    for (auto &t : f.types)
        if (clang_equalCursors(t->cursor, declaration))
            return t.get();
    return nullptr;
}

namespace
{

const char HEADER[] = "/taskqc/markers.h";
const char DECLARATIONS[] = "int _tq_list(int, ...);\nvoid _tq_here(int);\n";

// The copy of the source with the markers, and the way back.
struct Marked {
    struct Piece { // of the copy that is not the source's
        size_t at, end;
        const Directive *directive;
        std::vector<std::tuple<size_t, size_t, const Item *>> items; // [at, end) of each
    };
    string all;
    std::vector<Piece> pieces;
    const Text &text;

    Marked(const Text &source, const Scan &scan) : text(source)
    {
        size_t from = 0;
        for (unsigned k = 0; k < scan.directives.size(); k++) {
            const Directive &d = scan.directives[k];
            all.append(text.all, from, d.at - from);
            mark(d, k);
            from = d.end;
        }
        all.append(text.all, from);
    }

    void mark(const Directive &d, unsigned number)
    {
        Piece piece{all.size(), 0, &d, {}};
        if (d.kind == Kind::flush || d.kind == Kind::other_alone) {
            all += "_tq_here(" + std::to_string(number) + ");";
        } else {
            all += "_tq_" + std::to_string(number) + ": while (_tq_list(0";
            for (const Clause &c : d.clauses)
                for (const Item &item : c.items) {
                    if (c.name == "default")
                        continue;
                    bool expression = c.name == "if" || c.name == "num_threads";
                    all += expression ? ", (" : ", sizeof(";
                    size_t at = all.size();
                    all += item.text;
                    piece.items.push_back({at, all.size(), &item});
                    all += ")";
                }
            all += "))";
        }
        all.append(static_cast<size_t>(std::count(text.all.begin() + d.at, text.all.begin() + d.end, '\n')), '\n');
        piece.end = all.size();
        pieces.push_back(piece);
    }

    // The place in the source; inside of a marker: the clause's, or the directive's.
    size_t back(size_t at) const
    {
        size_t source = at;
        for (const Piece &p : pieces) {
            if (at < p.at)
                break;
            if (at < p.end) {
                for (auto &[from, to, item] : p.items)
                    if (at >= from && at <= to)
                        return item->at;
                return p.directive->name_at;
            }
            source = p.directive->end + (at - p.end);
        }
        return source;
    }

    const Piece *piece(size_t at) const
    {
        for (const Piece &p : pieces)
            if (at >= p.at && at < p.end)
                return &p;
        return nullptr;
    }
};

string text_of(CXCursor c) { return take(clang_getCursorSpelling(c)); }

class Walker
{
  public:
    Walker(const Text &source, const Scan &scanned, const Marked &copy, bool for_openmp, Tree &into)
        : scan(scanned), marked(copy), openmp(for_openmp), tree(into)
    {
        main = clang_getFile(tree.unit, source.name.c_str());
    }

    void walk()
    {
        each(clang_getTranslationUnitCursor(tree.unit), [&](CXCursor c) { at_top(c); });
        outermost_expansions();
        CXSourceRangeList *skipped = clang_getSkippedRanges(tree.unit, main);
        for (unsigned k = 0; skipped && k < skipped->count; k++) {
            size_t from = 0, to = 0;
            in_main(clang_getRangeStart(skipped->ranges[k]), &from);
            in_main(clang_getRangeEnd(skipped->ranges[k]), &to);
            tree.skipped.push_back({marked.back(from), marked.back(to)});
        }
        if (skipped)
            clang_disposeSourceRangeList(skipped);
    }

    // The lines of the copy are the source's.
    std::vector<Text::Naming> namings(const Text &text) const
    {
        std::vector<Text::Naming> all;
        string name = text.name;
        size_t next = 1;
        for (size_t line = 1; line <= text.starts.size(); line++, next++) {
            CXString shown;
            unsigned number = 0;
            clang_getPresumedLocation(clang_getLocation(tree.unit, main, static_cast<unsigned>(line), 1), &shown,
                                      &number, nullptr);
            string of = take(shown);
            if (number == 0 || (number == next && of == name))
                continue;
            name = of;
            next = number;
            all.push_back({line, number, name});
        }
        return all;
    }

    bool in_main(CXCursor c, size_t *at = nullptr) const { return in_main(clang_getCursorLocation(c), at); }
    bool in_main(CXSourceLocation location, size_t *at = nullptr) const
    {
        CXFile file;
        unsigned offset;
        clang_getFileLocation(location, &file, nullptr, nullptr, &offset);
        if (at)
            *at = offset;
        return file && clang_File_isEqual(file, main);
    }

  private:
    const Scan &scan;
    const Marked &marked;
    bool openmp;
    Tree &tree;
    CXFile main;
    std::vector<Expansion> expansions; // in the copy
    Function *f = nullptr;
    size_t function_at = 0, function_end = 0; // in the copy

    struct State {
        Construct *scope = nullptr;
        bool may_break = true, may_continue = true; // inside of the innermost construct of ours, or in none
        Construct *of_switch = nullptr;             // where the innermost switch stands
    };
    struct Jump {
        string label;
        size_t at;
        Construct *scope;
        bool by_address = false;
    };
    std::vector<Jump> jumps;
    std::map<string, Construct *> labels;

    static void each(CXCursor c, const std::function<void(CXCursor)> &fn)
    {
        auto visit = [](CXCursor child, CXCursor, CXClientData data) {
            (*static_cast<const std::function<void(CXCursor)> *>(data))(child);
            return CXChildVisit_Continue;
        };
        clang_visitChildren(c, visit, const_cast<void *>(static_cast<const void *>(&fn)));
    }

    static std::vector<CXCursor> children(CXCursor c)
    {
        std::vector<CXCursor> all;
        each(c, [&](CXCursor child) { all.push_back(child); });
        return all;
    }

    std::pair<size_t, size_t> extent(CXCursor c) const
    {
        CXSourceRange range = clang_getCursorExtent(c);
        size_t from = 0, to = 0;
        in_main(clang_getRangeStart(range), &from);
        in_main(clang_getRangeEnd(range), &to);
        return {from, to};
    }

    // Where a statement begins; one that a directive stands before begins with it.
    size_t start(CXCursor c) const
    {
        size_t at = extent(c).first;
        const Marked::Piece *piece = marked.piece(at);
        return piece ? piece->directive->at : marked.back(at);
    }

    void problem(size_t at_in_source, const string &what) { tree.problems.push_back({at_in_source, what}); }
    size_t place(CXCursor c) const
    {
        size_t at = 0;
        in_main(c, &at);
        return marked.back(at);
    }

    void at_top(CXCursor c)
    {
        CXCursorKind kind = clang_getCursorKind(c);
        if (!in_main(c))
            return;
        if (kind == CXCursor_MacroExpansion) {
            auto [from, to] = extent(c);
            expansions.push_back({from, to});
        } else if (kind == CXCursor_FunctionDecl && clang_isCursorDefinition(c)) {
            one_function(c);
        } else {
            nameless(c);
        }
    }

    // Types of the file's, and inside of them, that a task's struct cannot name.
    void nameless(CXCursor c)
    {
        CXCursorKind kind = clang_getCursorKind(c);
        if (kind != CXCursor_StructDecl && kind != CXCursor_UnionDecl && kind != CXCursor_EnumDecl)
            return;
        auto [from, to] = extent(c);
        tree.nameless.push_back({c, marked.back(from), marked.back(to), nullptr});
        each(c, [&](CXCursor child) { nameless(child); });
    }

    void outermost_expansions()
    {
        std::sort(expansions.begin(), expansions.end(),
                  [](const Expansion &a, const Expansion &b) { return a.at != b.at ? a.at < b.at : a.end > b.end; });
        size_t behind = 0;
        for (const Expansion &e : expansions) {
            if (e.at < behind || marked.piece(e.at))
                continue;
            behind = e.end;
            tree.expansions.push_back({marked.back(e.at), marked.back(e.end)});
        }
    }

    void one_function(CXCursor c)
    {
        std::tie(function_at, function_end) = extent(c);
        bool wanted = false;
        for (const Marked::Piece &p : marked.pieces)
            wanted = wanted || (p.at >= function_at && p.at < function_end && p.directive->ours());
        if (!wanted)
            return;
        auto made = std::make_unique<Function>();
        f = made.get();
        f->name = text_of(c);
        f->cursor = c;
        f->at = marked.back(function_at);
        f->end = marked.back(function_end);
        jumps.clear();
        labels.clear();
        State state;
        each(c, [&](CXCursor child) { visit(child, state); });
        check_jumps();
        tree.functions.push_back(std::move(made));
    }

    void check_jumps()
    {
        for (const Jump &j : jumps) {
            auto to = labels.find(j.label);
            Construct *target = to == labels.end() ? nullptr : to->second;
            if (target == j.scope)
                continue;
            bool outwards = j.scope != nullptr;
            for (Construct *c = target; c; c = c->parent)
                if (c == j.scope)
                    outwards = false;
            if (j.by_address)
                problem(j.at, "the address of label '" + j.label + "', which is " +
                                  (outwards ? "outside of the block of '" + j.scope->directive->words + "'"
                                            : "inside of the block of '" + target->directive->words + "'"));
            else
                problem(j.at, outwards
                                  ? "goto '" + j.label + "' leaves the block of '" + j.scope->directive->words + "'"
                                  : "goto '" + j.label + "' enters the block of '" + target->directive->words + "'");
        }
    }

    // The innermost construct around that is ours, or one that a task or a queue stands around.
    static Construct *task_around(Construct *c)
    {
        while (c && !c->task())
            c = c->parent;
        return c;
    }
    static Construct *ours_around(Construct *c)
    {
        while (c && !c->directive->ours())
            c = c->parent;
        return c;
    }

    // Behind the attributes that follow a type's closing brace.
    size_t behind_attributes(size_t at) const
    {
        const string &s = marked.all;
        for (;;) {
            size_t next = skip_blank(s, at);
            if (s.compare(next, 13, "__attribute__") != 0)
                return at;
            size_t depth = 0;
            for (next = s.find('(', next); next < s.size(); next++) {
                depth += s[next] == '(' ? 1 : s[next] == ')' ? static_cast<size_t>(-1) : 0;
                if (depth == 0)
                    break;
            }
            at = std::min(next + 1, s.size());
        }
    }

    // The end of a statement, with its semicolon.
    size_t statement_end(CXCursor c) const
    {
        size_t end = extent(c).second;
        std::vector<CXCursor> inner = children(c);
        switch (clang_getCursorKind(c)) {
        case CXCursor_CompoundStmt:
        case CXCursor_NullStmt:
        case CXCursor_DeclStmt:
            return end;
        case CXCursor_IfStmt:
        case CXCursor_ForStmt:
        case CXCursor_WhileStmt:
        case CXCursor_SwitchStmt:
        case CXCursor_LabelStmt:
        case CXCursor_CaseStmt:
        case CXCursor_DefaultStmt:
            if (inner.empty())
                return end;
            return std::max(end, statement_end(inner.back()));
        default:
            break;
        }
        size_t semicolon = skip_blank(marked.all, end);
        return semicolon < marked.all.size() && marked.all[semicolon] == ';' ? semicolon + 1 : end;
    }

    void visit(CXCursor c, State state)
    {
        switch (clang_getCursorKind(c)) {
        case CXCursor_LabelStmt:
            if (label(c, state))
                return;
            break;
        case CXCursor_CallExpr:
            if (here(c, state))
                return;
            break;
        case CXCursor_DeclRefExpr:
            use(c, state);
            break;
        case CXCursor_UnexposedExpr:
            function_name(c, state);
            break;
        case CXCursor_TypeRef:
            use_type(clang_getCursorReferenced(c), state);
            break;
        case CXCursor_VarDecl:
        case CXCursor_ParmDecl:
        case CXCursor_FunctionDecl:
            variable(c)->scope = state.scope;
            break;
        case CXCursor_StructDecl:
        case CXCursor_UnionDecl:
        case CXCursor_EnumDecl:
        case CXCursor_TypedefDecl: {
            auto [from, to] = extent(c);
            to = behind_attributes(to);
            if (clang_getCursorKind(c) == CXCursor_TypedefDecl) // libclang's ends with the name
                to = std::min(marked.all.find(';', to), function_end);
            f->types.push_back(
                std::make_unique<LocalType>(LocalType{c, marked.back(from), marked.back(to), state.scope}));
            break;
        }
        case CXCursor_ReturnStmt:
            if (Construct *around = state.scope)
                problem(place(c), "return leaves the block of '" + around->directive->words + "'");
            break;
        case CXCursor_BreakStmt:
            if (!state.may_break)
                problem(place(c), "break leaves the block of '" + state.scope->directive->words + "'");
            break;
        case CXCursor_ContinueStmt:
            if (!state.may_continue)
                problem(place(c), "continue leaves the block of '" + state.scope->directive->words + "'");
            break;
        case CXCursor_GotoStmt:
            for (CXCursor target : children(c))
                if (clang_getCursorKind(target) == CXCursor_LabelRef)
                    jumps.push_back({text_of(target), place(c), state.scope});
            break;
        case CXCursor_GCCAsmStmt: {
            const string &all = marked.all;
            size_t at = extent(c).first, word = all.find("goto", at);
            if (state.scope && word < all.find('(', at))
                problem(marked.back(at),
                        "asm goto cannot stand in the block of '" + state.scope->directive->words + "'");
            break;
        }
        case CXCursor_AddrLabelExpr:
            for (CXCursor target : children(c))
                if (clang_getCursorKind(target) == CXCursor_LabelRef)
                    jumps.push_back({text_of(target), place(c), state.scope, true});
            break;
        case CXCursor_IndirectGotoStmt:
            if (state.scope)
                problem(place(c), "a goto to a computed label cannot stand in the block of '" +
                                      state.scope->directive->words + "'");
            break;
        case CXCursor_ForStmt:
        case CXCursor_WhileStmt:
        case CXCursor_DoStmt:
            state.may_break = state.may_continue = true;
            break;
        case CXCursor_SwitchStmt:
            state.may_break = true;
            state.of_switch = state.scope;
            break;
        case CXCursor_CaseStmt:
        case CXCursor_DefaultStmt:
            if (state.scope != state.of_switch)
                problem(place(c), string(clang_getCursorKind(c) == CXCursor_CaseStmt ? "case" : "default") +
                                      " enters the block of '" + state.scope->directive->words + "'");
            break;
        default:
            break;
        }
        each(c, [&](CXCursor child) { visit(child, state); });
    }

    // A label: a marker's, or the program's own (false).
    bool label(CXCursor c, const State &state)
    {
        string name = text_of(c);
        size_t at = extent(c).first;
        const Marked::Piece *piece = marked.piece(at);
        if (!piece || name.compare(0, 4, "_tq_") != 0) {
            labels[name] = state.scope;
            return false;
        }
        tree.found.insert(piece->directive);
        std::vector<CXCursor> inner = children(c);
        std::vector<CXCursor> loop;
        if (inner.size() == 1)
            loop = children(inner[0]);
        if (loop.size() != 2 || extent(loop[1]).second <= piece->end) {
            misplaced.push_back(piece->directive);
            return true;
        }
        construct(*piece, loop[0], loop[1], state);
        return true;
    }

    void construct(const Marked::Piece &piece, CXCursor condition, CXCursor body, const State &state)
    {
        const Directive &d = *piece.directive;
        auto made = std::make_unique<Construct>();
        Construct *c = made.get();
        c->directive = &d;
        c->number = static_cast<unsigned>(&d - scan.directives.data());
        c->function = f;
        c->parent = state.scope;
        c->at = start(body);
        c->end = marked.back(statement_end(body));
        Construct *ours = ours_around(state.scope);
        State inside = state;
        bool keep = d.ours() || (ours && (!openmp || d.kind == Kind::ordered));
        if (d.ours()) {
            CXCursorKind kind = clang_getCursorKind(body);
            if (kind == CXCursor_DeclStmt)
                problem(d.name_at, "'" + d.words + "' must stand before a statement, not before a declaration");
            if (c->task())
                find_queue(c, ours);
            else if (ours && d.kind == Kind::parallel_taskq && !ours->task())
                problem(d.name_at, "'parallel taskq' directly inside of '" + ours->directive->words +
                                       "': it must stand in a task, or be a taskq");
            if (c->task() && !c->queue)
                keep = false;
        } else if (keep) {
            other(d, ours);
        }
        if (keep) {
            inside.scope = c;
            if (d.ours() || d.kind != Kind::other)
                inside.may_break = inside.may_continue = false;
        }
        clause_names(piece, condition, c, state);
        auto &list = state.scope ? state.scope->children : f->constructs;
        if (keep)
            list.push_back(std::move(made));
        else
            loose.push_back(std::move(made));
        visit(body, inside);
    }
    std::vector<std::unique_ptr<Construct>> loose; // what is left to the compiler

    void find_queue(Construct *c, Construct *ours)
    {
        const Directive &d = *c->directive;
        if (ours && ours->directive->queue()) {
            c->queue = ours;
        } else if (ours) {
            problem(d.name_at, "a task directly inside of a task: between them must stand a taskq of its own");
        } else if (d.intel || d.clause("captureprivate")) {
            problem(d.name_at, "'task' stands in no taskq of this function");
        } else if (!openmp) {
            tree.warnings.push_back(
                {d.name_at, "'task' stands in no taskq: it is OpenMP's own and left to the compiler"});
        }
    }

    // Another directive of OpenMP's inside of a queue or a task, for code on libpsthreads.
    void other(const Directive &d, Construct *ours)
    {
        if (d.kind == Kind::ordered) {
            Construct *task = task_around(ours);
            if (!task || ours != task)
                problem(d.name_at, "'ordered' must stand in a task");
            else if (!task->queue->directive->clause("ordered"))
                problem(d.name_at, "the taskq of this task has no clause 'ordered'");
            else
                task->has_ordered = true;
        } else if (d.kind == Kind::critical || d.kind == Kind::atomic || d.kind == Kind::flush) {
            if (d.kind == Kind::critical && d.rest == "?")
                problem(d.name_at, "behind 'critical' a name in parentheses can stand, and nothing else");
        } else if (d.words == "parallel" || d.words == "simd") {
            tree.warnings.push_back({d.name_at, "'omp " + d.words + "' inside of '" + ours->directive->words +
                                                    "' is left to the compiler"});
        } else {
            problem(d.name_at,
                    "'omp " + d.words + "' cannot stand in a " + ours->directive->words +
                        ": a queue's threads are no team; task, taskq, ordered, critical, atomic and flush can");
        }
    }

    // What the names in the clauses mean where the directive stands.
    void clause_names(const Marked::Piece &piece, CXCursor condition, Construct *c, const State &state)
    {
        in_clause = true;
        visit(condition, state);
        in_clause = false;
        check_expressions(piece, condition, *c);
        std::set<const Item *> by_macro;
        for (const Use &u : f->uses)
            if (u.item && u.item->at >= piece.directive->at && u.item->at < piece.directive->end) {
                if (!u.spelled)
                    by_macro.insert(u.item);
                else if (u.variable->name == u.item->text)
                    c->names[u.item] = u.variable;
            }
        for (const Clause &clause : c->directive->clauses) {
            bool data = clause.name != "if" && clause.name != "num_threads" && clause.name != "default";
            for (const Item &item : clause.items)
                if (data && by_macro.count(&item))
                    tree.items.push_back({item.at, item.end, c->directive});
                else if (data && clause.name != "shared" && c->names.count(&item) == 0)
                    not_a_local.push_back({&item, &clause});
        }
    }

    // The marker's call has an argument for each item, behind the first one.
    void check_expressions(const Marked::Piece &piece, CXCursor call, const Construct &c)
    {
        for (size_t k = 0; k < piece.items.size(); k++) {
            const Item *item = std::get<2>(piece.items[k]);
            auto is = [&](const char *name) {
                const Clause *clause = c.directive->clause(name);
                return clause && &clause->items[0] == item;
            };
            CXType type = clang_getCursorType(clang_Cursor_getArgument(call, static_cast<unsigned>(k + 1)));
            CXType t = clang_getCanonicalType(type);
            bool whole = (t.kind >= CXType_Bool && t.kind <= CXType_Int128) || t.kind == CXType_Enum;
            bool scalar = whole || (t.kind >= CXType_Float && t.kind <= CXType_LongDouble) ||
                          t.kind == CXType_Float128 || t.kind == CXType_Float16 || t.kind == CXType_Half ||
                          t.kind == CXType_Complex || t.kind == CXType_Pointer;
            if (t.kind == CXType_Invalid || (is("num_threads") ? whole : !is("if") || scalar))
                continue;
            problem(item->at, "'" + item->text + "' has type '" + take(clang_getTypeSpelling(type)) +
                                  "': " + (is("if") ? "'if' needs a condition" : "'num_threads' needs a whole number"));
        }
    }

    bool in_clause = false;

  public:
    std::vector<std::pair<const Item *, const Clause *>> not_a_local;
    std::vector<const Directive *> misplaced; // libclang finds no statement behind them

  private:
    bool here(CXCursor c, const State &state)
    {
        const Marked::Piece *piece = text_of(c) == "_tq_here" ? marked.piece(extent(c).first) : nullptr;
        if (!piece)
            return false;
        tree.found.insert(piece->directive);
        Construct *ours = ours_around(state.scope);
        const Directive &d = *piece->directive;
        if (!ours || openmp)
            return true;
        if (d.kind != Kind::flush) {
            other(d, ours);
            return true;
        }
        auto made = std::make_unique<Construct>();
        made->directive = &d;
        made->number = static_cast<unsigned>(&d - scan.directives.data());
        made->function = f;
        made->parent = state.scope;
        made->at = made->end = d.end;
        state.scope->children.push_back(std::move(made));
        return true;
    }

    bool is_local(CXCursor decl) const
    {
        CXCursorKind kind = clang_getCursorKind(decl);
        if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl && kind != CXCursor_FunctionDecl)
            return false;
        if (clang_equalCursors(decl, f->cursor))
            return false;
        if (clang_getCursorKind(clang_getCursorLexicalParent(decl)) != CXCursor_FunctionDecl &&
            clang_getCursorKind(clang_getCursorSemanticParent(decl)) != CXCursor_FunctionDecl)
            return false;
        size_t at;
        return !in_main(decl, &at) || (at >= function_at && at < function_end);
    }

    bool known(CXCursor decl) const
    {
        for (auto &v : f->variables)
            if (clang_equalCursors(v->cursor, clang_getCanonicalCursor(decl)))
                return true;
        return false;
    }

    Variable *variable(CXCursor decl)
    {
        if (!is_local(decl))
            decl = clang_getCanonicalCursor(decl);
        for (auto &v : f->variables)
            if (clang_equalCursors(v->cursor, decl))
                return v.get();
        auto v = std::make_unique<Variable>();
        v->name = text_of(decl);
        v->cursor = decl;
        v->type = clang_getCursorType(decl);
        v->at = place(decl);
        CXTypeKind kind = clang_getCanonicalType(v->type).kind;
        v->decays = clang_getCursorKind(decl) == CXCursor_ParmDecl &&
                    (is_array(v->type) || kind == CXType_FunctionProto || kind == CXType_FunctionNoProto);
        CX_StorageClass storage = clang_Cursor_getStorageClass(decl);
        v->is_static = storage == CX_SC_Static;
        v->is_extern = storage == CX_SC_Extern;
        v->is_register = storage == CX_SC_Register;
        v->is_function = clang_getCursorKind(decl) == CXCursor_FunctionDecl;
        f->variables.push_back(std::move(v));
        return f->variables.back().get();
    }

    void use(CXCursor c, const State &state)
    {
        CXCursor decl = clang_getCursorReferenced(c);
        if (clang_getCursorKind(decl) == CXCursor_EnumConstantDecl) {
            use_type(clang_getCursorSemanticParent(decl), state);
            return;
        }
        bool local = is_local(decl);
        if (!local && !(clang_getCursorKind(decl) == CXCursor_VarDecl && (in_clause || known(decl))))
            return;
        Variable *v = variable(decl);
        v->is_global = !local;
        size_t at = 0;
        if (!in_main(c, &at)) {
            problem(f->at, "'" + v->name + "' is used in a file that is included inside of the function");
            return;
        }
        bool whole = marked.all.compare(at, v->name.size(), v->name) == 0 &&
                     !(at + v->name.size() < marked.all.size() && is_name_char(marked.all[at + v->name.size()]));
        Use seen{marked.back(at), 0, v, state.scope, whole};
        if (const Marked::Piece *piece = marked.piece(at))
            for (auto &[from, to, item] : piece->items)
                if (at >= from && at < to) {
                    seen.item = item;
                    seen.within = at - from;
                }
        seen.end = seen.at + v->name.size();
        for (const Use &u : f->uses)
            if (u.at == seen.at && u.within == seen.within && u.variable == v && u.spelled)
                return;
        f->uses.push_back(seen);
    }

    // __func__ in a task: the task's function has another name.
    void function_name(CXCursor c, const State &state)
    {
        CXFile file;
        unsigned offset = 0;
        size_t size = 0, at = 0;
        if (!task_around(state.scope))
            return;
        clang_getSpellingLocation(clang_getCursorLocation(c), &file, nullptr, nullptr, &offset);
        const char *all = file ? clang_getFileContents(tree.unit, file, &size) : nullptr;
        for (const string &name : {string("__func__"), string("__FUNCTION__"), string("__PRETTY_FUNCTION__")}) {
            if (!all || offset + name.size() > size || name.compare(0, name.size(), all + offset, name.size()) != 0 ||
                !in_main(c, &at))
                continue;
            auto v = std::make_unique<Variable>();
            v->name = name;
            v->is_name = true;
            size_t source = marked.back(at);
            bool whole = marked.all.compare(at, name.size(), name) == 0;
            f->uses.push_back({source, source + name.size(), v.get(), state.scope, whole});
            f->variables.push_back(std::move(v));
        }
    }

    // A type of the function's that the text of a construct names.
    void use_type(CXCursor decl, const State &state)
    {
        for (Construct *c = state.scope; c; c = c->parent)
            if (LocalType *type = local_type(*f, decl))
                if (std::find(c->types.begin(), c->types.end(), type) == c->types.end())
                    c->types.push_back(type);
    }
};

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

void diagnostics(const Text &text, const Marked &marked, Tree &tree, const Walker &walker)
{
    std::vector<Problem> errors;
    for (unsigned k = 0; k < clang_getNumDiagnostics(tree.unit); k++) {
        CXDiagnostic d = clang_getDiagnostic(tree.unit, k);
        CXDiagnosticSeverity severity = clang_getDiagnosticSeverity(d);
        string what = take(clang_getDiagnosticSpelling(d));
        size_t at = 0;
        bool here = walker.in_main(clang_getDiagnosticLocation(d), &at),
             absent = what.find("file not found") != string::npos;
        if (severity >= CXDiagnostic_Error && here) {
            const Marked::Piece *piece = marked.piece(at);
            size_t source = marked.back(at);
            bool matters = absent || (piece && piece->directive->ours());
            // elsewhere the compiler, which knows more of its own C than libclang does, has the word
            for (auto &f : tree.functions)
                matters = matters || (source >= f->at && source < f->end);
            bool sure = absent || piece || what.find("function definition is not allowed") != string::npos;
            if (matters)
                (sure ? tree.problems : errors).push_back({source, what});
        } else if (severity >= CXDiagnostic_Error && absent) {
            tree.elsewhere.push_back(
                take(clang_formatDiagnostic(d, CXDiagnostic_DisplaySourceLocation | CXDiagnostic_DisplayColumn)));
        }
        clang_disposeDiagnostic(d);
    }
    // No statement behind a directive: because there is none, or because what is there is wrong by itself.
    for (const Directive *d : walker.misplaced) {
        size_t behind = skip_blank(text.all, d->end);
        bool none = errors.empty() || std::any_of(errors.begin(), errors.end(), [&](const Problem &p) {
                        return p.at == behind && p.what.compare(0, 8, "expected") == 0;
                    });
        if (!none) {
            tree.unread.push_back({d->name_at, "libclang cannot read the statement behind '" + d->words + "'"});
            continue;
        }
        tree.problems.push_back({d->name_at, "'" + d->words + "' must stand before a statement"});
        errors.clear();
    }
    tree.doubts = errors;
}

} // namespace

void parse(Text &text, const Scan &scan, const std::vector<string> &options, bool openmp, Tree &tree)
{
    Marked marked(text, scan);
    std::vector<const char *> arguments = {"-x", "c", "-std=gnu17", "-w", "-ferror-limit=0", "-include", HEADER};
    for (const string &o : options)
        arguments.push_back(o.c_str());
    CXUnsavedFile files[] = {{HEADER, DECLARATIONS, sizeof DECLARATIONS - 1},
                             {text.name.c_str(), marked.all.c_str(), marked.all.size()}};
    tree.index = clang_createIndex(0, 0);
    CXErrorCode code = clang_parseTranslationUnit2(
        tree.index, text.name.c_str(), arguments.data(), static_cast<int>(arguments.size()), files, 2,
        CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing, &tree.unit);
    if (code != CXError_Success) {
        tree.elsewhere.push_back(text.name + ": libclang cannot parse it (error " + std::to_string(code) + ")");
        return;
    }
    Walker walker(text, scan, marked, openmp, tree);
    walker.walk();
    text.namings = walker.namings(text);
    diagnostics(text, marked, tree, walker);
    if (tree.problems.empty() && tree.doubts.empty())
        for (auto [item, clause] : walker.not_a_local)
            tree.problems.push_back(
                {item->at, "'" + item->text + "' is no variable, which '" + clause->name + "' needs"});
    for (auto &f : tree.functions)
        Sharer(text, *f, tree).share();
}
