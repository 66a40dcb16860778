import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Imports and exports that remain when types are removed. The names of a long import may stand on several lines. A dynamic
 * import counts when it names its module in quotes.
 */
const statement =
  /^\s*(?:import|export)\s+(?!type\b)(?:[^'"]*?\bfrom\s*)?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/gm

/**
 * What a source reaches by its imports. Each file is read once.
 * @returns {(file: string) => { files: Set<string>, packages: Set<string> }} `files`: itself and, even if they are missing,
 *   the imported sources; `packages`: the names of everything else
 */
export function createReach() {
  /** @type {Map<string, string[]>} */
  const read = new Map()
  const namesIn = (file) => {
    const names = read.get(file) ?? (existsSync(file) ? importedNames(file) : [])
    read.set(file, names)
    return names
  }
  return (file) => {
    const files = new Set([file])
    const packages = new Set()
    for (const from of files)
      for (const name of namesIn(from))
        if (name.startsWith('.')) files.add(sourceOf(join(dirname(from), name)))
        else packages.add(name)
    return { files, packages }
  }
}

function importedNames(file) {
  return [...readFileSync(file, 'utf8').matchAll(statement)].map(([, from, called]) => from ?? called)
}

/** The source of a module, which is imported by the name of its compiled file. */
function sourceOf(path) {
  const source = path.replace(/js$/, 'ts')
  return existsSync(source) ? source : path
}
