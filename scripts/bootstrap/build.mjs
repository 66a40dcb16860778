import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Refusal, run } from './progress.mjs'
import { sourceFiles, textFiles } from './sources.mjs'
import { transpile } from './transpile.mjs'

const stamp = 'dist/.built'
const pagesStamp = 'dist/pages/.built'
const testsStamp = 'dist/bundled/.built'
const bundleStamp = 'dist/node_modules/.built'

/**
 * Compiles what has changed since the last build, and removes the output of deleted sources.
 * @param {string[]} [tests] the arguments of a test run: its tests are bundled
 */
export async function build(tests) {
  await Promise.all([compile(), buildPages(), bundlePackages()])
  if (tests !== undefined) await bundleTests(tests)
}

/** Removes the types file by file. `npm run check` checks them. */
export async function compile() {
  const sources = [...sourceFiles(/(?<![.]d)[.](tsx?|m?js)$/), ...textFiles()]
  const wanted = fingerprint('scripts/bootstrap/transpile.mjs', sources)
  try {
    await transpile(sources)
  } catch (error) {
    throw new Refusal(`the build failed: ${error.message}`)
  }
  removeOrphans()
  writeFileSync(stamp, wanted)
}

/** The browser pages have their own compiler. */
async function buildPages() {
  const script = 'src/pages/build.mjs'
  if (!existsSync(script)) return
  const wanted = fingerprint(
    script,
    sourceFiles(/./).filter((file) => pagesFolders.some((folder) => file.startsWith(folder))),
  )
  if (existsSync(pagesStamp) && readFileSync(pagesStamp, 'utf8') === wanted) return
  if ((await run('building the pages', process.execPath, [script])) !== 0)
    throw new Refusal('the build of the pages failed; its messages are above')
  writeFileSync(pagesStamp, wanted)
}

/** What V8 has compiled suits one version of Node. */
async function bundlePackages() {
  const script = 'scripts/bootstrap/bundle.mjs'
  if (!existsSync(script)) return
  const wanted = `${fingerprint(script, ['scripts/bootstrap/thread-flags.mjs'])} ${process.version}`
  if (existsSync(bundleStamp) && readFileSync(bundleStamp, 'utf8') === wanted) return
  if ((await run('bundling the packages', process.execPath, [script])) !== 0)
    throw new Refusal('the packages could not be bundled; the messages are above')
  writeFileSync(bundleStamp, wanted)
}

/** When the arguments name files, these alone are bundled, which saves seconds for who works on one test. */
async function bundleTests(args) {
  const script = 'scripts/bootstrap/bundle-tests.mjs'
  const files = args.filter((argument) => !argument.startsWith('-'))
  const named = files.every((file) => existsSync(file)) ? files : []
  const all = `${fingerprint(script, [])} ${readFileSync(stamp, 'utf8')}`
  const wanted = `${all} ${named.join(' ')}`
  const done = existsSync(testsStamp) ? readFileSync(testsStamp, 'utf8') : undefined
  if (done === wanted || done === `${all} `) return
  if ((await run('bundling the tests', process.execPath, [script, ...named])) !== 0)
    throw new Refusal('the tests could not be bundled; the messages are above')
  writeFileSync(testsStamp, wanted)
}

/** The pages include the client library and parts of the kernel. */
const pagesFolders = ['pages', 'sdk/client', 'kernel'].map((folder) => join('src', folder, '/'))

/** A hash of everything a build depends on. Saves the seconds a compiler needs to find that nothing changed. */
function fingerprint(config, sources) {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', config, ...sources.filter((path) => /[.]\w+$/.test(path))])
    if (existsSync(file)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** Removes the output of deleted sources, so that a deleted test does not run and a deleted migration is not applied. */
function removeOrphans() {
  for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const source = relative('dist', file).replace(/[.]map$/, '')
    if (/^(pages|client|node_modules|bundled)[/]/.test(source)) continue
    const candidates = [source, source.replace(/js$/, 'ts'), source.replace(/js$/, 'tsx')]
    if (entry.isFile() && /[.](m?js([.]map)?|md)$/.test(file) && !candidates.some((path) => existsSync(path)))
      rmSync(file)
  }
}
