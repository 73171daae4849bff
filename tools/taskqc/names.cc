// What the names in a function's text and in its clauses mean.
#include "walk.h"

#include <algorithm>

using std::string;

namespace taskqc
{

// What the names in the clauses mean where the directive stands.
void Walker::clause_names(const Marked::Piece &piece, CXCursor condition, Construct *c, const State &state)
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
void Walker::check_expressions(const Marked::Piece &piece, CXCursor call, const Construct &c)
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
        bool scalar = whole || (t.kind >= CXType_Float && t.kind <= CXType_LongDouble) || t.kind == CXType_Float128 ||
                      t.kind == CXType_Float16 || t.kind == CXType_Half || t.kind == CXType_Complex ||
                      t.kind == CXType_Pointer;
        if (t.kind == CXType_Invalid || (is("num_threads") ? whole : !is("if") || scalar))
            continue;
        problem(item->at, "'" + item->text + "' has type '" + take(clang_getTypeSpelling(type)) +
                              "': " + (is("if") ? "'if' needs a condition" : "'num_threads' needs a whole number"));
    }
}

bool Walker::is_local(CXCursor decl) const
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

bool Walker::known(CXCursor decl) const
{
    for (auto &v : f->variables)
        if (clang_equalCursors(v->cursor, clang_getCanonicalCursor(decl)))
            return true;
    return false;
}

Variable *Walker::variable(CXCursor decl)
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

void Walker::use(CXCursor c, const State &state)
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
void Walker::function_name(CXCursor c, const State &state)
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
void Walker::use_type(CXCursor decl, const State &state)
{
    for (Construct *c = state.scope; c; c = c->parent)
        if (LocalType *type = local_type(*f, decl))
            if (std::find(c->types.begin(), c->types.end(), type) == c->types.end())
                c->types.push_back(type);
}

} // namespace taskqc
