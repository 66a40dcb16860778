// Bundles the packages that the service uses, because loading them costs a second of CPU time: 1900 files, each looked up,
// read and compiled. A run of the tests starts some 300 threads and processes. The bundle is one file, and V8 reads its
// compiled code from another. It is in dist/node_modules, where Node looks before node_modules for whatever dist imports.
// A release (`npm run build`) has none. AVA's threads get their part of AVA as a bundle too: 390 files for each test file.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { threadFlags } from './thread-flags.mjs'

const folder = 'dist/node_modules'
const loader = join(folder, 'bundle.cjs')
/** Packages that find files by their own path: machine code, a thread's program. */
const apart =
  /^(@node-rs[/]argon2|sharp|dejavu-fonts-ttf|lean-qr|pino|bigint-buffer|msgpackr-extract|bufferutil|utf-8-validate)$/
/** Only the stand-ins use them. */
const ofStandIns = ['litesvm', 'postal-mime', 'smtp-server', 'ws']

const loaderText = `const { readFileSync, writeFileSync } = require('node:fs')
const { wrap } = require('node:module')
const { cachedDataVersionTag } = require('node:v8')
const { Script, constants } = require('node:vm')

const file = require.resolve('./packages.cjs')
const compiledFile = file + '.' + cachedDataVersionTag()
let cachedData
try {
  cachedData = readFileSync(compiledFile)
} catch {}
const script = new Script(wrap(readFileSync(file, 'latin1')), {
  filename: file,
  cachedData,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
const bundle = { exports: {} }
script.runInThisContext()(bundle.exports, require, bundle, file, __dirname)
exports.load = (name) => bundle.exports.packages[name]()
exports.writeCompiledCode = () => writeFileSync(compiledFile, script.createCachedData())
`

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
// The last one checks every answer that a test gets.
const bundled = Object.keys(dependencies).filter((name) => !apart.test(name) && !ofStandIns.includes(name))
const names = [...bundled, 'ajv/dist/2020.js']
await writeBundle()
for (const name of names) await writePackage(name)
await writeAva()
// V8 accepts compiled code only under the flags it was made with: those of a process, and those of AVA's threads.
writeCompiledCode([])
writeCompiledCode(threadFlags)

async function writeBundle() {
  const entry = resolve('bundled-packages.mjs')
  const functions = names.map((name) => `${JSON.stringify(name)}: () => import(${JSON.stringify(name)}),`)
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    plugins: [
      {
        name: 'packages',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? `export const packages = { ${functions.join('\n')} }` : undefined),
      },
    ],
    external: (id) => isBuiltin(id) || apart.test(id),
    // Packages offer drivers that nobody has installed.
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'cjs', codeSplitting: false, minify: false })
  // ASCII alone is read in half the time, because V8 then keeps one byte for each character.
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(join(folder, 'packages.cjs'), output[0].code.replace(/[^\0-\x7f]/g, escaped))
  writeFileSync(loader, loaderText)
}

/** A package of the same name and exports, which takes them out of the bundle. */
async function writePackage(name) {
  const { default: _, ...exports } = await import(name)
  const [, top, path = ''] = /^((?:@[^/]+[/])?[^/]+)(.*)$/.exec(name)
  const file = join(folder, top, 'index.js')
  mkdirSync(dirname(file), { recursive: true })
  const manifest = { type: 'module', exports: { [`.${path}`]: './index.js' } }
  writeFileSync(join(folder, top, 'package.json'), JSON.stringify(manifest))
  const own = Object.keys(exports).filter((key) => /^[\w$]+$/.test(key))
  const lines = [
    `import { load } from '${relative(dirname(file), loader)}'`,
    `const all = await load('${name}')`,
    'export default all.default',
    ...own.map((key, index) => `const e${index} = all.${key}`),
    `export { ${own.map((key, index) => `e${index} as ${key}`).join(', ')} }`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
}

/** What a thread of AVA runs (scripts/bootstrap/ava.mjs), and the package `ava` that test files import there. */
async function writeAva() {
  const bundle = await rolldown({
    input: { worker: 'node_modules/ava/lib/worker/base.js', index: 'node_modules/ava/entrypoints/main.mjs' },
    platform: 'node',
    plugins: [
      {
        name: 'no-providers',
        // It serves AVA's TypeScript package, which we do not use, and loads a third of the files.
        load: (id) => (id.endsWith('/ava/lib/provider-manager.js') ? 'export default {}' : undefined),
      },
    ],
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' }
  await bundle.write({ dir: join(folder, 'ava'), format: 'es', ...names })
  writeFileSync(join(folder, 'ava/package.json'), JSON.stringify({ type: 'module', exports: './index.js' }))
}

function writeCompiledCode(flags) {
  const program = `const { load, writeCompiledCode } = require(${JSON.stringify(resolve(loader))})
    const names = ${JSON.stringify(names)}
    Promise.all(names.map(load)).then(writeCompiledCode).then(() => process.exit())`
  const { status } = spawnSync(process.execPath, [...flags, '-e', program], { stdio: 'inherit' })
  if (status !== 0) throw new Error('the bundle of packages does not load')
}
