// Bundles the compiled tests and the programs that many of them start. A test with a world loads 500 of our modules. Looking each
// up, reading and compiling it costs a thread or a process 0.3 s of CPU time. The bundle in dist/bundled is the code of dist in few
// files: nothing is left out or shortened. Arguments are the tests to bundle; without any, all are.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { sourceFiles } from './sources.mjs'
import { createReach } from './unit/imports.mjs'

const folder = 'dist/bundled'
const named = process.argv.slice(2).map((file) => normalize(file))
const tests = sourceFiles(/^test[/](?!contract[/]).*[.]test[.]ts$/).filter(
  (file) => named.length === 0 || named.includes(file),
)
/** Tests import the operators' commands by their paths. */
const programs = sourceFiles(
  /^(src[/]web|workers[/]main|scripts[/]kit[/]resident-commands|scripts[/]ops[/](?!support[/]).*)[.]ts$/,
)

/** What has the service, or imports the commands, loads all of the service, as one file. Other tests load only what they import. */
const wholeService = ['src/compose.ts', 'scripts/dev/built.ts']

rmSync(folder, { recursive: true, force: true })
const reach = createReach()
const hasService = (test) => wholeService.some((file) => reach(test).files.has(file))
await write([...tests.filter(hasService), ...programs], {
  groups: [
    { name: 'service', test: /dist[/]src[/](app|compose)[.]js$/ },
    { name: 'workers', test: /dist[/]workers[/]registry[.]js$/ },
  ],
})
await write(
  tests.filter((test) => !hasService(test)),
  {},
)

async function write(sources, codeSplitting) {
  if (sources.length === 0) return
  const bundle = await rolldown({
    input: Object.fromEntries(sources.map((file) => [file.replace(/[.]ts$/, ''), compiledFile(file)])),
    platform: 'node',
    // Rolldown has a helper of its own for templates that hold `</script>`.
    external: (id) => isBuiltin(id) || (/^[@\w]/.test(id) && !id.startsWith('@oxc-project/')),
    treeshake: false,
    optimization: { inlineConst: false },
    plugins: [{ name: 'compiled', load }],
    logLevel: 'warn',
  })
  await bundle.write({
    dir: folder,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    codeSplitting,
    // By default Rolldown leaves out calls that it takes for useless, such as one of decodeURIComponent that is there to throw.
    minify: false,
    sourcemap: true,
    sourcemapExcludeSources: true,
  })
}

function compiledFile(source) {
  return join(process.cwd(), 'dist', source.replace(/ts$/, 'js'))
}

/** A module keeps its own URL, by which it finds pages and migrations, and a map that leads to its source, unless it is a copy of it. */
function load(id) {
  const code = readFileSync(id, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
  return existsSync(`${id}.map`) ? { code, map: readFileSync(`${id}.map`, 'utf8') } : { code }
}
