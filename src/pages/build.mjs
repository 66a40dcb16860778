// Builds the pages into dist/pages: every src/pages/<name>/main.tsx is a page, src/pages/embed/main.ts is embed.js.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

const root = 'src/pages'
const out = 'dist/pages'
const manifest = join(out, 'manifest.json')
/** Compression does not make smaller files any smaller. */
const leastCompressedBytes = 512

const common = {
  root,
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}
const output = {
  outDir: join('..', '..', out),
  // Keep the previous release's files: a page that is open during a deploy still loads them.
  emptyOutDir: false,
  target: 'es2022',
  modulePreload: false,
  assetsInlineLimit: 0,
}

/** What several pages share, in few files: each costs a phone another request and its headers. */
const sharedFiles = [
  {
    name: 'base',
    test: /preact|src\/(pages\/lib\/(browser|money)|kernel\/(money|languages)|sdk\/client\/(request|errors|wait))[.]/,
  },
  { name: 'forms', test: /src\/pages\/(ui\/(fields|kit)|lib\/amount-text)[.]/ },
  {
    name: 'wallets',
    test: /src\/(pages\/lib\/(failures|rpc|solana|wallets|wallet-faults|step-history)|kernel\/base58)[.]/,
  },
]

const before = filesOf(manifest)
await buildPages()
await buildEmbedScript()
removeAllBut(new Set([...before, ...filesOf(manifest)]))
for (const file of builtFiles()) compress(file)

function buildPages() {
  const pages = readdirSync(root).filter((name) => existsSync(join(root, name, 'main.tsx')))
  const input = Object.fromEntries(pages.map((name) => [name, join(root, name, 'main.tsx')]))
  const rolldownOptions = { input, output: { codeSplitting: { groups: sharedFiles } } }
  return build({ ...common, build: { ...output, manifest: 'manifest.json', rolldownOptions } })
}

/** One file under a fixed name, because other sites load it. */
function buildEmbedScript() {
  const rolldownOptions = {
    input: join(root, 'embed/main.ts'),
    preserveEntrySignatures: 'strict',
    output: { entryFileNames: 'embed.js', codeSplitting: false },
  }
  return build({ ...common, build: { ...output, rolldownOptions } })
}

/** The built files that a manifest lists. */
function filesOf(file) {
  if (!existsSync(file)) return []
  return Object.values(JSON.parse(readFileSync(file, 'utf8'))).flatMap(
    ({ file: own, css = [], assets = [] }) => [own, ...css, ...assets],
  )
}

function removeAllBut(kept) {
  for (const name of readdirSync(join(out, 'assets')))
    if (!kept.has(`assets/${name.replace(/\.(gz|br)$/, '')}`)) rmSync(join(out, 'assets', name))
}

function builtFiles() {
  const assets = readdirSync(join(out, 'assets')).map((name) => join(out, 'assets', name))
  return [join(out, 'embed.js'), ...assets].filter((file) => /\.(js|css|svg)$/.test(file))
}

/** At build time, so that no request waits for compression. */
function compress(file) {
  const bytes = readFileSync(file)
  if (bytes.length < leastCompressedBytes) return
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  writeFileSync(`${file}.br`, brotliCompressSync(bytes))
}
