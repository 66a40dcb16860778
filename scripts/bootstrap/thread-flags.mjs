/**
 * V8's flags for AVA's threads, on Node 20. Each test file has a thread of its own, which loads everything anew and ends soon.
 * Less optimization: code that V8 optimizes at its usual budget of 67,584 seldom earns that back; with this one only loops that
 * run long are optimized. Room for new objects from the start: otherwise what a file loads is copied each time the room grows.
 */
export const threadFlags = process.versions.node.startsWith('20.')
  ? ['--interrupt-budget=1000000', '--min-semi-space-size=16']
  : []
