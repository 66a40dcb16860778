import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { compile } from './build.mjs'
import { printProgress, Refusal } from './progress.mjs'
import { sourceFiles, sourcePlaces } from './sources.mjs'

const bin = (name) => join('tools/node_modules/.bin', name)
const maxReportBytes = 256 * 1024 * 1024

/**
 * Runs every check, even after one has failed. With `--fix` first formats the code and makes the safe fixes of the linter.
 * @param {string[]} args @returns {Promise<number>} the exit code
 */
export async function check(args) {
  const unknown = args.find((argument) => argument !== '--fix')
  if (unknown !== undefined) throw new Refusal(`npm run check takes --fix only, not ${unknown}`, 2)
  await compile()
  const fix = args.includes('--fix') ? ['--write'] : []
  const results = [
    await timed('biome: format and lint', () => tool('biome', ['check', '--error-on-warnings', ...fix, '.'])),
    await timed('tsc: types', () => tool('tsc', ['--noEmit'])),
    await timed('tsc: types of the pages', () => tool('tsc', ['--project', 'src/pages'])),
    await timed('dependency-cruiser: floors', floors),
    await timed('folders: one way', () => node('dist/scripts/check/folder-circles.js')),
    await timed('walks: docs/architecture.md', () => node('dist/scripts/check/walks.js', fix)),
    await timed('knip: dead code', () => tool('knip', [])),
    await timed('states: docs/states.md', () => node('dist/scripts/check/draw-states.js', fix)),
    await timed('reference: docs/reference.md', () => node('dist/scripts/check/reference.js', fix)),
    await timed('figures: docs/promises.md', () => node('dist/scripts/check/figures.js', fix)),
    await timed('creators: docs/scale.md', () => node('dist/scripts/check/creator-keys.js', fix)),
    await timed('owners of the tables', () => node('dist/scripts/check/table-owners.js')),
    await timed('python: src/sdk/python/tipping.py', () => node('dist/scripts/check/python-client.js', fix)),
    await timed('redocly: the OpenAPI document', () => node('dist/scripts/check/openapi.js')),
  ]
  const failed = results.filter((passed) => !passed).length
  printProgress(failed === 0 ? 'every check passed' : `${failed} of ${results.length} checks failed`)
  return failed === 0 ? 0 : 1
}

async function timed(title, work) {
  const began = Date.now()
  const passed = await work()
  printProgress(`${passed ? 'passed' : 'FAILED'}  ${title} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
  return passed
}

function tool(name, args) {
  return spawnSync(bin(name), args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
}

function node(script, args = []) {
  return (
    spawnSync(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
  )
}

/**
 * Checks the imports against the layers. A dependency-cruiser that cannot read TypeScript reports no violations, so its
 * list of files is compared with ours.
 */
function floors() {
  const config = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json']
  const { stdout } = spawnSync(bin('depcruise'), [...config, ...sourcePlaces()], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: maxReportBytes,
  })
  const report = parse(stdout)
  if (report === undefined) return false
  const cruised = new Set(report.modules.map(({ source }) => source))
  const missed = sourceFiles(/(?<![.]d)[.]tsx?$/).filter((file) => !cruised.has(file))
  const faults = report.summary.violations.filter(({ rule }) => rule.severity === 'error')
  for (const file of missed) process.stdout.write(`not checked: ${file}\n`)
  for (const { rule, from, to } of faults) process.stdout.write(`${rule.name}: ${from} -> ${to}\n`)
  return missed.length === 0 && faults.length === 0
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
