// Declarations of what a task captures.
#include "emitter.h"

#include <algorithm>

using std::string;
using std::to_string;

namespace taskqc
{

bool is_function(CXType t)
{
    CXTypeKind kind = clang_getCanonicalType(t).kind;
    return kind == CXType_FunctionProto || kind == CXType_FunctionNoProto;
}

string Emitter::qualifiers(CXType t)
{
    return string(clang_isConstQualifiedType(t) ? "const " : "") +
           (clang_isVolatileQualifiedType(t) ? "volatile " : "") +
           (clang_isRestrictQualifiedType(t) ? "__restrict " : "");
}

// A declaration of `inner` (a declarator) with type t. `value` is an expression of that type where the task is
// made.
string Emitter::declare(CXType t, const string &inner, Types &types, const string &value)
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

string Emitter::declare(const Variable *v, const string &inner, Types &types, const string &value)
{
    if (!v->decays)
        return declare(v->type, inner, types, value);
    if (!is_array(v->type))
        return declare(v->type, "(*" + inner + ")", types, value);
    CXType element = clang_getArrayElementType(is_typedef(v->type) ? clang_getCanonicalType(v->type) : v->type);
    bool paren = is_array(element) || is_function(element);
    return declare(element, paren ? "(*" + inner + ")" : "*" + inner, types, "(*" + value + ")");
}
bool Emitter::is_typedef(CXType t)
{
    return t.kind != CXType_ConstantArray && t.kind != CXType_IncompleteArray && t.kind != CXType_VariableArray;
}

string Emitter::qualifiers_once(CXType outer, CXType inner)
{
    return string(clang_isConstQualifiedType(outer) && !clang_isConstQualifiedType(inner) ? "const " : "") +
           (clang_isVolatileQualifiedType(outer) && !clang_isVolatileQualifiedType(inner) ? "volatile " : "");
}

string Emitter::specifier(CXType t, Types &types)
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

bool Emitter::anonymous(const LocalType &t)
{
    string name = take(clang_getCursorSpelling(t.cursor));
    return clang_getCursorKind(t.cursor) != CXCursor_TypedefDecl && (name.empty() || name.find('(') != string::npos);
}
string Emitter::keyword(const LocalType &t)
{
    CXCursorKind kind = clang_getCursorKind(t.cursor);
    return kind == CXCursor_StructDecl ? "struct" : kind == CXCursor_UnionDecl ? "union" : "enum";
}
string Emitter::tag(const LocalType &t) { return "_tq_type" + to_string(t.at); }

void Emitter::need(LocalType *t, Types &types)
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
string Emitter::type_text(Types &types)
{
    std::vector<LocalType *> order = types.needed;
    std::sort(order.begin(), order.end(),
              [](const LocalType *a, const LocalType *b) { return a->at != b->at ? a->at < b->at : a->end > b->end; });
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
        std::sort(inside.begin(), inside.end(), [](const LocalType *a, const LocalType *b) { return a->at > b->at; });
        for (LocalType *other : inside)
            if (written.compare(other->at - t->at, keyword(*other).size(), keyword(*other)) == 0)
                written.insert(other->at - t->at + keyword(*other).size(), " " + tag(*other));
        lines += "    " + written + ";\n";
    }
    return lines;
}

} // namespace taskqc
