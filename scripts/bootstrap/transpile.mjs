import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

const outputFolder = 'dist'

/** @param {string} source */
export function transpiledFile(source) {
  return join(outputFolder, source.replace(/tsx?$/, 'js'))
}

/**
 * Removes the types of the sources that have changed since the last time. Types are not checked. Output has the time of its
 * source, and that of a missing source is removed.
 * @param {Iterable<string>} sources
 */
export async function transpile(sources) {
  const changed = [...sources].filter((source) => timeOf(source) !== timeOf(transpiledFile(source)))
  if (changed.length === 0) return
  const { transformSync } = await import('rolldown/experimental')
  for (const source of changed) {
    const target = transpiledFile(source)
    const time = timeOf(source)
    if (time === undefined) rmSync(target)
    else {
      mkdirSync(dirname(target), { recursive: true })
      if (/tsx?$/.test(source)) removeTypes(transformSync, source, target)
      else copyFileSync(source, target)
      utimesSync(target, time, time)
    }
  }
}

function removeTypes(transformSync, source, target) {
  const { code, map, errors } = transformSync(source, readFileSync(source, 'utf8'), {
    sourcemap: true,
    typescript: { onlyRemoveTypeImports: true },
    jsx: { runtime: 'automatic', importSource: 'preact' },
  })
  if (errors.length > 0) throw new Error(`${source}: ${errors.map(({ message }) => message).join('; ')}`)
  const { sourcesContent: _, ...links } = { ...map, sources: [relative(dirname(target), source)] }
  writeFileSync(`${target}.map`, JSON.stringify(links))
  writeFileSync(target, `${code}//# sourceMappingURL=${basename(target)}.map\n`)
}

/** Seconds with the three digits that every file system keeps, or undefined when there is no such file. */
function timeOf(file) {
  const milliseconds = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return milliseconds === undefined ? undefined : Math.floor(milliseconds) / 1000
}
