#include "walk.h"

#include <algorithm>

using std::string;

namespace taskqc
{

void Walker::walk()
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
std::vector<Text::Naming> Walker::namings(const Text &text) const
{
    std::vector<Text::Naming> all;
    string name = text.name;
    size_t next = 1;
    for (size_t line = 1; line <= text.starts.size(); line++, next++) {
        CXString shown;
        unsigned number = 0;
        clang_getPresumedLocation(clang_getLocation(tree.unit, main, static_cast<unsigned>(line), 1), &shown, &number,
                                  nullptr);
        string of = take(shown);
        if (number == 0 || (number == next && of == name))
            continue;
        name = of;
        next = number;
        all.push_back({line, number, name});
    }
    return all;
}

bool Walker::in_main(CXCursor c, size_t *at) const { return in_main(clang_getCursorLocation(c), at); }
bool Walker::in_main(CXSourceLocation location, size_t *at) const
{
    CXFile file;
    unsigned offset;
    clang_getFileLocation(location, &file, nullptr, nullptr, &offset);
    if (at)
        *at = offset;
    return file && clang_File_isEqual(file, main);
}

void Walker::each(CXCursor c, const std::function<void(CXCursor)> &fn)
{
    auto visit = [](CXCursor child, CXCursor, CXClientData data) {
        (*static_cast<const std::function<void(CXCursor)> *>(data))(child);
        return CXChildVisit_Continue;
    };
    clang_visitChildren(c, visit, const_cast<void *>(static_cast<const void *>(&fn)));
}

std::vector<CXCursor> Walker::children(CXCursor c)
{
    std::vector<CXCursor> all;
    each(c, [&](CXCursor child) { all.push_back(child); });
    return all;
}

std::pair<size_t, size_t> Walker::extent(CXCursor c) const
{
    CXSourceRange range = clang_getCursorExtent(c);
    size_t from = 0, to = 0;
    in_main(clang_getRangeStart(range), &from);
    in_main(clang_getRangeEnd(range), &to);
    return {from, to};
}

// Where a statement begins; one that a directive stands before begins with it.
size_t Walker::start(CXCursor c) const
{
    size_t at = extent(c).first;
    const Marked::Piece *piece = marked.piece(at);
    return piece ? piece->directive->at : marked.back(at);
}

void Walker::problem(size_t at_in_source, const string &what) { tree.problems.push_back({at_in_source, what}); }
size_t Walker::place(CXCursor c) const
{
    size_t at = 0;
    in_main(c, &at);
    return marked.back(at);
}

void Walker::at_top(CXCursor c)
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
void Walker::nameless(CXCursor c)
{
    CXCursorKind kind = clang_getCursorKind(c);
    if (kind != CXCursor_StructDecl && kind != CXCursor_UnionDecl && kind != CXCursor_EnumDecl)
        return;
    auto [from, to] = extent(c);
    tree.nameless.push_back({c, marked.back(from), marked.back(to), nullptr});
    each(c, [&](CXCursor child) { nameless(child); });
}

void Walker::outermost_expansions()
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

void Walker::one_function(CXCursor c)
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

void Walker::check_jumps()
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
            problem(j.at, outwards ? "goto '" + j.label + "' leaves the block of '" + j.scope->directive->words + "'"
                                   : "goto '" + j.label + "' enters the block of '" + target->directive->words + "'");
    }
}

// The innermost construct around that is ours, or one that a task or a queue stands around.
Construct *Walker::task_around(Construct *c)
{
    while (c && !c->task())
        c = c->parent;
    return c;
}
Construct *Walker::ours_around(Construct *c)
{
    while (c && !c->directive->ours())
        c = c->parent;
    return c;
}

// Behind the attributes that follow a type's closing brace.
size_t Walker::behind_attributes(size_t at) const
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
size_t Walker::statement_end(CXCursor c) const
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

void Walker::visit(CXCursor c, State state)
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
        f->types.push_back(std::make_unique<LocalType>(LocalType{c, marked.back(from), marked.back(to), state.scope}));
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
            problem(marked.back(at), "asm goto cannot stand in the block of '" + state.scope->directive->words + "'");
        break;
    }
    case CXCursor_AddrLabelExpr:
        for (CXCursor target : children(c))
            if (clang_getCursorKind(target) == CXCursor_LabelRef)
                jumps.push_back({text_of(target), place(c), state.scope, true});
        break;
    case CXCursor_IndirectGotoStmt:
        if (state.scope)
            problem(place(c),
                    "a goto to a computed label cannot stand in the block of '" + state.scope->directive->words + "'");
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
bool Walker::label(CXCursor c, const State &state)
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

void Walker::construct(const Marked::Piece &piece, CXCursor condition, CXCursor body, const State &state)
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

void Walker::find_queue(Construct *c, Construct *ours)
{
    const Directive &d = *c->directive;
    if (ours && ours->directive->queue()) {
        c->queue = ours;
    } else if (ours) {
        problem(d.name_at, "a task directly inside of a task: between them must stand a taskq of its own");
    } else if (d.intel || d.clause("captureprivate")) {
        problem(d.name_at, "'task' stands in no taskq of this function");
    } else if (!openmp) {
        tree.warnings.push_back({d.name_at, "'task' stands in no taskq: it is OpenMP's own and left to the compiler"});
    }
}

// Another directive of OpenMP's inside of a queue or a task, for code on libpsthreads.
void Walker::other(const Directive &d, Construct *ours)
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
        tree.warnings.push_back(
            {d.name_at, "'omp " + d.words + "' inside of '" + ours->directive->words + "' is left to the compiler"});
    } else {
        problem(d.name_at, "'omp " + d.words + "' cannot stand in a " + ours->directive->words +
                               ": a queue's threads are no team; task, taskq, ordered, critical, atomic and flush can");
    }
}

bool Walker::here(CXCursor c, const State &state)
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

} // namespace taskqc
