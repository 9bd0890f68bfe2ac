/** Rules of this project's own, for oxlint. */

/** A constant of a module, or a list where it is used: the source says how long it is. */
function isWritten(argument) {
  switch (argument.type) {
    case "Identifier":
      return /^[A-Z][A-Z_]*$/.test(argument.name);
    case "ConditionalExpression":
      return isWritten(argument.consequent) && isWritten(argument.alternate);
    default:
      return argument.type === "ArrayExpression";
  }
}

/**
 * Arguments are put on the stack: a call with some 120,000 of them ends in "Maximum call stack size
 * exceeded". A spread into a call needs a comment that says why the array is short. Spreads into
 * arrays and objects are on the heap, and free.
 */
const spreadIntoCall = {
  meta: {
    messages: {
      long: "A long array does not fit on the stack: use a loop, or disable this rule and say why it is short.",
    },
  },
  create(context) {
    /** The rest parameters of the functions around: what a function was called with it may hand on. */
    const rests = [];
    const enter = ({ params }) => {
      const last = params.at(-1);
      rests.push(last?.type === "RestElement" ? last.argument.name : undefined);
    };
    const leave = () => void rests.pop();
    const isFree = (argument) =>
      isWritten(argument) || (argument.type === "Identifier" && rests.includes(argument.name));
    const check = ({ callee, arguments: given }) => {
      for (const argument of given)
        if (argument.type === "SpreadElement" && !isFree(argument.argument))
          context.report({ node: argument, messageId: "long" });
      const isApply = callee.type === "MemberExpression" && callee.property.name === "apply";
      if (isApply && given.length === 2 && !isFree(given[1]))
        context.report({ node: given[1], messageId: "long" });
    };
    return {
      FunctionDeclaration: enter,
      "FunctionDeclaration:exit": leave,
      FunctionExpression: enter,
      "FunctionExpression:exit": leave,
      ArrowFunctionExpression: enter,
      "ArrowFunctionExpression:exit": leave,
      CallExpression: check,
      NewExpression: check,
    };
  },
};

/** Private members are `#private`, which holds at run time too; constructors have no other way. */
const hashPrivate = {
  meta: { messages: { keyword: "Write #{{name}} instead of private {{name}}." } },
  create(context) {
    const check = (node) => {
      if (node.accessibility === "private" && node.kind !== "constructor")
        context.report({ node, messageId: "keyword", data: { name: node.key?.name ?? "name" } });
    };
    return {
      MethodDefinition: check,
      PropertyDefinition: check,
      TSParameterProperty: (node) => check({ ...node, key: node.parameter }),
    };
  },
};

export default {
  meta: { name: "arkgraph" },
  rules: { "spread-into-call": spreadIntoCall, "hash-private": hashPrivate },
};
