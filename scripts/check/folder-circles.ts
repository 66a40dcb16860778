import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

// Inside each folder of src/, no folder may be in a circle of imports with the folders and files beside it. Two folders share code through
// a third one, or through a file beside them.

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<![.]d)[.]tsx?$/.test(file))
  .map((file) => join('src', file))
const folders = [...new Set(files.map((file) => dirname(file)))]

function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/(?:from|import) '([.][^']+)[.]js'/g)]
    .map(([, path = '']) => join(dirname(file), path))
    .flatMap((path) => [`${path}.ts`, `${path}.tsx`].filter((source) => existsSync(source)))
}

/** The entry of a folder that a file is in; undefined: it is elsewhere. */
function entryOf(folder: string, file: string): string | undefined {
  const path = relative(folder, file)
  return path.startsWith('..') ? undefined : path.split(sep)[0]
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>

function graphOf(folder: string, imports: ReadonlyMap<string, readonly string[]>): Graph {
  const graph = new Map<string, Set<string>>()
  for (const [file, targets] of imports) {
    const from = entryOf(folder, file)
    for (const target of from === undefined ? [] : targets) {
      const to = entryOf(folder, target)
      if (from === undefined || to === undefined || to === from) continue
      graph.set(from, (graph.get(from) ?? new Set()).add(to))
    }
  }
  return graph
}

/** A way from an entry back to itself. */
function circleFrom(graph: Graph, start: string): string[] | undefined {
  const seen = new Set<string>()
  const ways = [[start]]
  for (const way of ways)
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, start]
      if (!seen.has(next)) ways.push([...way, next])
      seen.add(next)
    }
  return undefined
}

const imports = new Map(files.map((file) => [file, importsOf(file)]))
const circles = folders.flatMap((folder) => {
  const graph = graphOf(folder, imports)
  const inside = [...graph.keys()].filter((entry) => !entry.includes('.'))
  const circle = inside.map((entry) => circleFrom(graph, entry)).find((way) => way !== undefined)
  return circle === undefined ? [] : [`${folder}: ${circle.join(' -> ')}`]
})
for (const circle of circles) process.stdout.write(`${circle}\n`)
process.exitCode = circles.length === 0 ? 0 : 1
