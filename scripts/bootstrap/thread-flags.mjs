/**
 * V8's flags for AVA's threads, on Node 20: less optimization. Each test file has a thread of its own, which loads everything
 * anew and ends soon: code that V8 optimizes at its usual budget of 67,584 seldom earns that back. With this one only loops
 * that run long are optimized.
 */
export const threadFlags = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : []
