// Builds the client as a package of its own: ES modules, CommonJS and types, without dependencies.
// `node src/sdk/client/build.mjs [folder]`; without a folder dist/client. `npm pack ./dist/client` makes the file to install.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../../..')
const out = resolve(process.argv[2] ?? join(root, 'dist/client'))
const { version, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

rmSync(out, { recursive: true, force: true })
const ok = [
  compile('esm', { module: ts.ModuleKind.ES2022, declaration: true }),
  compile('cjs', { module: ts.ModuleKind.CommonJS, declaration: true }),
].every(Boolean)
writeJson('esm/package.json', { type: 'module' })
writeJson('cjs/package.json', { type: 'commonjs' })
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
process.exitCode = ok ? 0 : 1

function compile(kind, options) {
  const program = ts.createProgram([join(here, 'index.ts')], {
    ...options,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    outDir: join(out, kind),
    rootDir: here,
    strict: true,
    skipLibCheck: true,
  })
  // Comments belong into the types, where editors show them.
  const { diagnostics } = program.emit(undefined, (file, text) => {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, file.endsWith('.js') ? withoutComments(text) : text)
  })
  const faults = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
  const host = {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  }
  if (faults.length > 0) process.stderr.write(ts.formatDiagnostics(faults, host))
  return faults.length === 0
}

function withoutComments(text) {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.Preserve, removeComments: true },
  })
  return outputText
}

function writeJson(name, value) {
  writeFileSync(join(out, name), `${JSON.stringify(value, undefined, 2)}\n`)
}
