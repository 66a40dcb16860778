import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sourceFiles } from '../sources.mjs'
import { transpile, transpiledFile } from '../transpile.mjs'
import { createReach } from './imports.mjs'
import { runUnitTests } from './unit-tests.mjs'

const writer = 'scripts/kit/figures.ts'

/**
 * Explores every model, each with all of its runs, and keeps the figures, unless something else is asked for.
 * @param {readonly string[]} args models, and options of AVA
 * @returns {Promise<number>} the exit code
 */
export async function runModels(args) {
  process.env.TEST_RUNS ??= 'all'
  // The traces run the product, so they are no unit test.
  const models = sourceFiles(/^test[/]models[/](?!traces[.]).*[.]test[.]ts$/)
  if (args.length > 0 || process.env.TEST_RUNS !== 'all')
    return runUnitTests(args.some((argument) => !argument.startsWith('-')) ? args : [...models, ...args])
  const folder = mkdtempSync(join(tmpdir(), 'tipping-models-'))
  try {
    process.env.MODEL_COUNTS = join(folder, 'counts')
    const code = await runUnitTests(models)
    if (code === 0) await keepFigures(readFileSync(process.env.MODEL_COUNTS, 'utf8'))
    return code
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @param {string} counts lines of a name and a number */
async function keepFigures(counts) {
  const sums = new Map()
  for (const [, name, count] of counts.matchAll(/^(.+) (\d+)$/gm))
    sums.set(name, (sums.get(name) ?? 0) + Number(count))
  await transpile(createReach()(writer).files)
  const { writeFigures } = await import(pathToFileURL(resolve(transpiledFile(writer))).href)
  writeFigures('npm run models', [...sums])
}
