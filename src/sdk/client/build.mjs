// Builds the client as a package of its own: ES module, CommonJS and types, without dependencies.
// `node src/sdk/client/build.mjs [folder]`; without a folder dist/client. `npm pack ./dist/client` makes the file to install.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import ts from 'typescript'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../../..')
const out = resolve(process.argv[2] ?? join(root, 'dist/client'))
const input = join(here, 'index.ts')
const { version, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const kinds = { esm: 'module', cjs: 'commonjs' }

rmSync(out, { recursive: true, force: true })
const bundle = await rolldown({ input, platform: 'neutral' })
for (const [format, type] of Object.entries(kinds)) {
  // Comments belong into the types, where editors show them. Functions keep their names, so that stacks can be read.
  const minify = { mangle: { toplevel: false }, compress: true, codegen: { removeWhitespace: true } }
  await bundle.write({ file: join(out, format, 'index.js'), format, comments: false, minify })
  writeJson(`${format}/package.json`, { type })
}
writeTypes()
const entry = (kind) => ({ types: `./${kind}/index.d.ts`, default: `./${kind}/index.js` })
writeJson('package.json', {
  name: 'tipping-client',
  version,
  description: 'Client of the tipping service for a page and for a backend',
  license,
  engines,
  sideEffects: false,
  main: './cjs/index.js',
  types: './cjs/index.d.ts',
  exports: { import: entry('esm'), require: entry('cjs') },
})
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'))

function writeTypes() {
  const program = ts.createProgram([input], {
    declaration: true,
    emitDeclarationOnly: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ES2022,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    strict: true,
    skipLibCheck: true,
  })
  const { diagnostics } = program.emit(undefined, (file, text) => {
    for (const kind of Object.keys(kinds)) writeFileSync(join(out, kind, basename(file)), text)
  })
  const faults = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
  const host = {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  }
  if (faults.length === 0) return
  process.stderr.write(ts.formatDiagnostics(faults, host))
  process.exitCode = 1
}

function writeJson(name, value) {
  writeFileSync(join(out, name), `${JSON.stringify(value, undefined, 2)}\n`)
}
