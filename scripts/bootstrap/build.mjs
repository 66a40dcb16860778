import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Refusal, run } from './progress.mjs'
import { sourceFiles } from './sources.mjs'

const record = 'dist/.tsbuildinfo'
const stamp = 'dist/.built'
const pagesStamp = 'dist/pages/.built'
const testsStamp = 'dist/bundled/.built'
const bundleStamp = 'dist/node_modules/.built'

/** Compiles what has changed since the last build, and removes the output of deleted sources. */
export async function build(withTests = false) {
  await Promise.all([compile(), buildPages(), bundlePackages()])
  if (withTests) await bundleTests()
}

/** Throws a Refusal when a type is wrong. */
export async function compile() {
  const wanted = fingerprint(
    'tsconfig.json',
    sourceFiles(/[.](ts|tsx|mjs|js)$/).filter((file) => !ofPages(file)),
  )
  const complete = outputIsComplete()
  if (complete && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  if (!complete) rmSync(record, { force: true })
  const tsc = ['node_modules/typescript/bin/tsc', '--incremental', '--tsBuildInfoFile', record]
  if ((await run('compiling', process.execPath, tsc)) !== 0)
    throw new Refusal('the build failed; its messages are above')
  removeOrphans()
  writeFileSync(stamp, wanted)
}

/** The browser pages have their own compiler. */
async function buildPages() {
  const script = 'src/pages/build.mjs'
  if (!existsSync(script)) return
  const wanted = fingerprint(
    script,
    sourceFiles(/./).filter((file) => ofPages(file) || ofClient(file)),
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

async function bundleTests() {
  const script = 'scripts/bootstrap/bundle-tests.mjs'
  const wanted = `${fingerprint(script, [])} ${readFileSync(stamp, 'utf8')}`
  if (existsSync(testsStamp) && readFileSync(testsStamp, 'utf8') === wanted) return
  if ((await run('bundling the tests', process.execPath, [script])) !== 0)
    throw new Refusal('the tests could not be bundled; the messages are above')
  writeFileSync(testsStamp, wanted)
}

const ofPages = (file) => file.startsWith(join('src', 'pages', '/'))
/** The pages include the client library. */
const ofClient = (file) => file.startsWith(join('src', 'sdk', 'client', '/'))

/** A hash of everything a build depends on. Saves the seconds a compiler needs to find that nothing changed. */
function fingerprint(config, sources) {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', config, ...sources.filter((path) => /[.]\w+$/.test(path))])
    if (existsSync(file)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** Whether all compiled files exist. The compiler relies on its record and would not write a deleted file again. */
function outputIsComplete() {
  try {
    const { fileNames } = JSON.parse(readFileSync(record, 'utf8'))
    return fileNames
      .map((name) => relative('.', join(dirname(record), name)))
      .filter(
        (name) => !name.startsWith('node_modules') && !name.startsWith('..') && !/[.]d[.]m?ts$/.test(name),
      )
      .every((name) => existsSync(join('dist', compiled(name))))
  } catch {
    return false
  }
}

function compiled(source) {
  return source.replace(/[.](m?)tsx?$/, '.$1js')
}

/** Removes the output of deleted sources, so that a deleted test does not run and a deleted migration is not applied. */
function removeOrphans() {
  for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const source = relative('dist', file).replace(/[.]map$/, '')
    if (/^(pages|client|node_modules|bundled)[/]/.test(source)) continue
    const candidates = [source, source.replace(/js$/, 'ts'), source.replace(/js$/, 'tsx')]
    if (entry.isFile() && /[.]m?js([.]map)?$/.test(file) && !candidates.some((path) => existsSync(path)))
      rmSync(file)
  }
}
