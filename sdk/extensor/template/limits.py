"""Bounds on what a template may ask for, so that a hostile one ends in an error and not in a dead machine."""

MAX_TEMPLATE_BYTES = 16 * 1024 * 1024
"""Bytes of one template or parameter file."""

MAX_DEPTH = 128
"""Levels of objects and arrays in a document."""

MAX_EXPRESSION_CHARACTERS = 24_576
"""Characters of one expression, brackets included (Azure Resource Manager's own limit)."""

MAX_EXPRESSION_DEPTH = 100
"""Levels of calls and brackets in one expression; the deepest that compilers were seen to emit is 19."""

MAX_TEXT_CHARACTERS = 16 * 1024 * 1024
"""Characters of one evaluated string."""

MAX_VALUES = 1_000_000
"""Values inside one evaluated array or object, nested ones counted."""

MAX_WORK = 1_000_000
"""Calls of lambdas and user functions, and loop iterations, and the elements they give, in one evaluation."""

MAX_COPIES = 100_000
"""Iterations of one copy loop."""

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
