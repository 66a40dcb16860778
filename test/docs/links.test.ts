import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'ava'

/** All files below a folder, named from the repository. */
function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
}

const documents = ['README.md', ...filesBelow('docs', /\.md$/)]
const read = (file: string): string => readFileSync(file, 'utf8')
const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '')

/** The anchors that GitHub gives the headings of a document. */
function anchorsOf(file: string): string[] {
  const headings = [...withoutCode(read(file)).matchAll(/^#{1,6} +(.+?) *$/gm)]
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The targets of links and pictures that lead to files of the repository. */
function linksOf(file: string): string[] {
  const links = [...withoutCode(read(file)).matchAll(/\]\(([^()\s]+)\)/g)]
  return links.map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target))
}

test('every link of a document leads to a file, and to a heading where it names one', (t) => {
  for (const document of documents)
    for (const link of linksOf(document)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : normalize(join(dirname(document), path))
      t.true(existsSync(target), `${document} links to ${link}: no file ${target}`)
      if (anchor !== undefined && existsSync(target))
        t.true(
          anchorsOf(target).includes(anchor),
          `${document} links to ${link}: no such heading in ${target}`,
        )
    }
})

test('every path that a document names in backticks exists', (t) => {
  const paths = /`((?:src|workers|scripts|test|migrations)\/[\w./-]*)`/g
  for (const document of documents)
    for (const [, path = ''] of withoutCode(read(document)).matchAll(paths))
      t.true(existsSync(path), `${document} names ${path}`)
})

test('a row of the tables of the architecture names what its files declare, and asks about what they say', (t) => {
  const settings = read('.env.example')
  for (const row of read('docs/architecture.md').split('\n')) {
    const [, question = '', where = '', names] = row.split('|')
    const files = [...where.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, file = '']) => file)
    if (files.length === 0 || names === undefined) continue
    const code = files.filter(existsSync).map(read).join('\n')
    for (const [, name = ''] of names.matchAll(/`(\w+)`/g))
      t.regex(
        code,
        new RegExp(
          `^(?:(?:  )?(?:export )?(?:async )?(?:function|const|class)|  async| +create function)\\*? ${name}\\b`,
          'm',
        ),
        `${name} is not declared in ${files.join(', ')}`,
      )
    // An error, a state, a constant: the files say it. A setting has its name in .env.example only.
    for (const [, word = ''] of question.matchAll(/`([\w.]+)`/g))
      t.true(
        (/^[A-Z_]+$/.test(word) ? settings : `${files.join('\n')}\n${code}`).includes(word),
        `${word} is not in ${files.join(', ')}`,
      )
  }
})

test('the README has at most 150 lines of at most 120 characters', (t) => {
  const lines = read('README.md').trimEnd().split('\n')
  t.true(lines.length <= 150, `${lines.length} lines`)
  t.deepEqual(
    lines.filter((line) => line.length > 120),
    [],
  )
})

test('every decision record that the code cites exists', (t) => {
  const numbers = new Set(readdirSync('docs/decisions').map((name) => name.slice(0, 4)))
  const folders = ['src', 'workers', 'scripts', 'test', 'migrations']
  const sources = folders.flatMap((folder) => filesBelow(folder, /\.(ts|tsx|mjs|css)$/))
  for (const source of sources.filter((file) => statSync(file).isFile()))
    for (const [, number = ''] of read(source).matchAll(/docs\/decisions\/(\d{4})/g))
      t.true(numbers.has(number), `${source} cites ${number}`)
})

test('each decision record has a number of its own and says context, decision and consequences', (t) => {
  const names = readdirSync('docs/decisions').filter((name) => name !== 'README.md')
  t.is(new Set(names.map((name) => name.slice(0, 4))).size, names.length)
  for (const name of names) {
    t.regex(name, /^\d{4}-/)
    const headings = [...read(join('docs/decisions', name)).matchAll(/^## (.+)$/gm)].map(([, title]) => title)
    t.deepEqual(headings, ['Context', 'Decision', 'Consequences'], name)
  }
})

test('the list of decision records has each record once, with its title', (t) => {
  const listed = [...read('docs/decisions/README.md').matchAll(/^- \[(\d{4})\]\((\S+)\) (.+)$/gm)]
  const records = readdirSync('docs/decisions').filter((name) => name !== 'README.md')
  t.deepEqual(listed.map(([, , name]) => name).sort(), records.sort())
  for (const [, number, name = '', title] of listed)
    t.true(read(join('docs/decisions', name)).startsWith(`# ${number}. ${title}\n`), name)
})
