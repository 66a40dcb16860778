import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Refusal, run } from './progress.mjs'
import { sourceFiles } from './sources.mjs'

const record = 'dist/.tsbuildinfo'
const stamp = 'dist/.built'
const pagesStamp = 'dist/pages/.built'

/** Compiles what changed since the last time and removes what no source stands behind any more. */
export async function build() {
  await Promise.all([compile(), buildPages()])
}

async function compile() {
  const wanted = fingerprint(
    'tsconfig.json',
    sourceFiles(/[.](ts|tsx|mjs|js)$/).filter((file) => !ofPages(file)),
  )
  const whole = recordHolds()
  if (whole && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  if (!whole) rmSync(record, { force: true })
  const tsc = ['node_modules/typescript/bin/tsc', '--incremental', '--tsBuildInfoFile', record]
  if ((await run('build', process.execPath, tsc)) !== 0) throw new Refusal('the build failed, see above')
  removeOrphans()
  writeFileSync(stamp, wanted)
}

/** The pages, which have a compiler of their own. */
async function buildPages() {
  const script = 'src/pages/build.mjs'
  if (!existsSync(script)) return
  const wanted = fingerprint(
    script,
    sourceFiles(/./).filter((file) => ofPages(file) || ofClient(file)),
  )
  if (existsSync(pagesStamp) && readFileSync(pagesStamp, 'utf8') === wanted) return
  if ((await run('build of the pages', process.execPath, [script])) !== 0)
    throw new Refusal('the build of the pages failed, see above')
  writeFileSync(pagesStamp, wanted)
}

const ofPages = (file) => file.startsWith(join('src', 'pages', '/'))
/** What pages are made with besides their own code. */
const ofClient = (file) => file.startsWith(join('src', 'sdk', 'client', '/'))

/** What was built from what: the compilers take seconds only to find that nothing changed. */
function fingerprint(config, sources) {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', config, ...sources.filter((path) => /[.]\w+$/.test(path))])
    if (existsSync(file)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** The compiler trusts its record: a compiled file deleted by hand would never be written again. */
function recordHolds() {
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

/** A test that was deleted must not run, and a deleted migration not be applied, from what it was compiled to. */
function removeOrphans() {
  for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const source = relative('dist', file).replace(/[.]map$/, '')
    if (source.startsWith('pages/')) continue
    const candidates = [source, source.replace(/js$/, 'ts'), source.replace(/js$/, 'tsx')]
    if (entry.isFile() && /[.]m?js([.]map)?$/.test(file) && !candidates.some((path) => existsSync(path)))
      rmSync(file)
  }
}
