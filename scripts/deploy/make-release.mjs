// Makes a release with the steps of the Containerfile, but without a container engine, each stage in a bare folder. Then it runs
// what the release has to run, as another user and in a folder that nobody may write to. docs/deploy.md uses it.
//
//   node scripts/deploy/make-release.mjs [--out <folder>]
//
// --out: where the release goes, a folder that does not exist yet; without it, it is only proven.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const print = (text) => process.stdout.write(`${text}\n`)
const source = resolve(import.meta.dirname, '../..')
const nobody = 65_534
/** Left over from work in a clone; an image is built without them (.containerignore). */
const ignored = readFileSync(join(source, '.containerignore'), 'utf8').trim().split('\n')
const { values } = parseArgs({ options: { out: { type: 'string' } } })
if (values.out !== undefined && existsSync(values.out)) throw new Error(`${values.out} exists already`)
const top = mkdtempSync(join(tmpdir(), 'tipping-release-'))
const nothing = () => undefined
/** What each word of the Containerfile does to a stage. The last ones are about running the image. */
const steps = {
  WORKDIR(stage, folder) {
    stage.folder = join(stage.root, folder)
    mkdirSync(stage.folder, { recursive: true })
  },
  ENV(stage, rest) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(rest)
    stage.env[name] = value
  },
  COPY: (stage, rest, stages) => copy(stages, stage, rest.split(' ')),
  RUN(stage, command) {
    print(`${basename(stage.root)}: ${command}`)
    const env = { PATH: process.env.PATH, HOME: top, ...proxies(), ...stage.env }
    const { status } = spawnSync('sh', ['-c', command], { cwd: stage.folder, env, stdio: 'inherit' })
    if (status !== 0) throw new Error(`${command}: exit code ${status}`)
  },
  USER: nothing,
  EXPOSE: nothing,
  CMD: nothing,
}

try {
  const release = buildStages()
  // What is run below cannot install, build or write anything in it.
  spawnSync('chmod', ['-R', 'a-w,a+rX', release.folder])
  spawnSync('chmod', ['755', top, dirname(release.folder)])
  proveCommands(release)
  if (values.out !== undefined) {
    mkdirSync(dirname(resolve(values.out)), { recursive: true })
    const { status } = spawnSync('cp', ['-a', release.folder, values.out], { stdio: 'inherit' })
    if (status !== 0) throw new Error(`the release was not copied to ${values.out}`)
  }
  print(`the release holds, ${sizeOf(release.folder)}; it ran without a right to write in it`)
} finally {
  spawnSync('chmod', ['-R', 'u+w', top])
  rmSync(top, { recursive: true, force: true })
}

/** Runs every stage. Returns the folder and the environment of the last. */
function buildStages() {
  const stages = new Map()
  let stage
  for (const line of readFileSync(join(source, 'scripts/deploy/Containerfile'), 'utf8').split('\n')) {
    const [, word, rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (word === 'FROM') stage = newStage(stages, / AS (\w+)$/.exec(rest)?.[1] ?? 'release')
    else if (word !== undefined) steps[word](stage, rest, stages)
  }
  return stage
}

function newStage(stages, name) {
  const root = join(top, name)
  mkdirSync(root)
  const stage = { root, folder: root, env: {} }
  stages.set(name, stage)
  return stage
}

/** What npm needs on a machine behind a proxy or with a registry of its own. */
function proxies() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(https?_proxy|no_proxy|npm_config_.*|node_extra_ca_certs)$/i.test(name),
    ),
  )
}

function copy(stages, stage, words) {
  const from = words[0].startsWith('--from=') ? words.shift().slice('--from='.length) : undefined
  const target = words.pop()
  for (const word of words) {
    const place = from === undefined ? join(source, word) : join(stages.get(from).root, word)
    const intoFolder = word !== '.' && target.endsWith('/')
    cpSync(place, join(stage.folder, target, intoFolder ? basename(word) : ''), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => from !== undefined || !ignored.includes(relative(source, file)),
    })
  }
}

/** The words that run a program as a user who owns nothing, if this one may change the user. */
function asNobody(words) {
  if (process.getuid() !== 0) return words
  return ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--no-new-privs', ...words]
}

function proveCommands({ folder, env }) {
  const own = { PATH: process.env.PATH, HOME: '/nonexistent', ...env }
  const run = (...words) => {
    const [program, ...args] = asNobody(words)
    return spawnSync(program, args, { cwd: folder, env: own, encoding: 'utf8' })
  }
  const list = run('npm', 'run', '--silent', 'ops', '--', '--help')
  if (list.status !== 0) throw new Error(`npm run ops: ${list.stderr}`)
  const names = list.stdout.split('\n').flatMap((line) => /^ {2}([\w-]+) {2}/.exec(line)?.[1] ?? [])
  for (const name of names) {
    const { status, stdout, stderr } = run('node', 'scripts/bootstrap.mjs', 'ops', name, '--help')
    if (status !== 0 || !stdout.includes('--help')) throw new Error(`ops ${name}: ${stderr}`)
  }
  const dev = run('npm', 'run', '--silent', 'dev')
  if (dev.status !== 1 || !dev.stderr.includes('release'))
    throw new Error(`npm run dev in a release: ${dev.stderr}`)
  // Loads every package of theirs.
  const standIns = run('node', '-e', "import('./dist/scripts/sandbox/server.js')")
  if (standIns.status !== 0) throw new Error(`the stand-ins: ${standIns.stderr}`)
  print(`${names.length} operators' commands start, and the stand-ins have their packages`)
}

function sizeOf(folder) {
  return spawnSync('du', ['-sh', folder], { encoding: 'utf8' }).stdout.split('\t')[0]
}
