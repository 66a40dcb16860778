import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Not `dist`, because the compiler relies on what it has written there. */
const outputFolder = 'dist-unit'

/** @param {string} source */
export function transpiledFile(source) {
  return join(outputFolder, source.replace(/ts$/, 'js'))
}

/**
 * Removes the types of the sources that have changed since the last time. Types are not checked. Output has the time of its
 * source, and that of a missing source is removed.
 * @param {Iterable<string>} sources
 */
export async function transpile(sources) {
  const changed = [...sources].filter((source) => timeOf(source) !== timeOf(transpiledFile(source)))
  if (changed.length === 0) return
  const removeTypes = await createTypeRemover()
  for (const source of changed) {
    const target = transpiledFile(source)
    const time = timeOf(source)
    if (time === undefined) rmSync(target)
    else {
      mkdirSync(dirname(target), { recursive: true })
      if (source.endsWith('ts')) removeTypes(source, target)
      else copyFileSync(source, target)
      utimesSync(target, time, time)
    }
  }
}

/** With the options of the build, but each file by itself. */
async function createTypeRemover() {
  const { default: ts } = await import('typescript')
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  const compilerOptions = { ...options, module: ts.ModuleKind.ESNext, moduleResolution: undefined }
  return (source, target) => {
    const text = readFileSync(source, 'utf8')
    const { outputText, sourceMapText } = ts.transpileModule(text, {
      fileName: basename(source),
      compilerOptions,
    })
    const map = { ...JSON.parse(sourceMapText), sources: [join(process.cwd(), source)] }
    writeFileSync(`${target}.map`, JSON.stringify(map))
    writeFileSync(target, outputText)
  }
}

/** Seconds with the three digits that every file system keeps, or undefined when there is no such file. */
function timeOf(file) {
  const milliseconds = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return milliseconds === undefined ? undefined : Math.floor(milliseconds) / 1000
}
