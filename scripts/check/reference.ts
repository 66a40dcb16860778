import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { withGuardDefaults } from '../../src/platform/config/guards.js'
import { type ProcessKind, secretsOf } from '../../src/platform/config/process-secrets.js'
import { createMetrics } from '../../src/platform/monitoring/metrics.js'
import { listedPrograms, opsHelp, opsPrograms } from '../bootstrap/ops.mjs'
import type { Command } from '../ops/support/command.js'
import { keepDocument, table } from './keep-document.js'

// Writes docs/reference.md: the settings from .env.example, the operators' commands from their help, the metrics from the code and the
// alerts from rules.yml. Without --write it only says whether the document is current.

const document = 'docs/reference.md'
const runbook = 'operations.md'

const matchAll = (text: string, pattern: RegExp): string[][] =>
  [...text.matchAll(pattern)].map((match) => match.map((part) => part ?? ''))

/** A pipe would end the cell of a table, and a word in angle brackets would be taken for HTML. */
const cell = (text: string): string => text.replace(/[|<]/g, '\\$&')

/** Each paragraph of .env.example is a group: its first line is the heading, and what follows that a sentence about the group. */
function settingsText(): string {
  const [, ...groups] = readFileSync('.env.example', 'utf8').trimEnd().split('\n\n')
  return groups.map(groupText).join('\n\n')
}

function groupText(group: string): string {
  const [first = '', ...lines] = group.split('\n')
  const [, heading = '', note = ''] = /^# (.+?)(?:[.] (.*))?$/.exec(first) ?? []
  const rows = lines.map((line) => {
    const [, name, value, meaning] = /^# ([A-Z0-9_]+)=(\S*) +# (.*)$/.exec(line) ?? []
    if (name === undefined || meaning === undefined) throw new Error(`.env.example: ${line}`)
    return [`\`${name}\``, value ?? '', cell(meaning.replace(/; `npm run dev`.*$/, ''))]
  })
  return [`### ${heading}`, note === '' ? '' : `${note}.`, table(['setting', 'default', 'meaning'], rows)]
    .filter((part) => part !== '')
    .join('\n\n')
}

function guardsText(): string {
  const names = Object.keys(withGuardDefaults({}))
  const contract = withGuardDefaults({ GUARDS: 'contract' })
  return table(
    ['setting', '`contract`'],
    names.map((name) => [`\`${name}\``, contract[name] ?? '']),
  )
}

/** The options that the introduction describes. */
const common = ['--apply', '--as', '--confirm', '--json', '--help', '--reason', '--user']

/** Of a help text: the lines before the first empty one, and the indented lists of verbs and options with the line above each list. */
function usageOf(help: string): string {
  const lines = help.split('\n')
  const end = lines.indexOf('')
  let keeps = true
  const kept = lines.filter((line, at) => {
    if (at < end) return true
    if (/^ {2}\S/.test(line)) keeps = !common.some((option) => line.startsWith(`  ${option} `))
    else if (!line.startsWith('   ')) return line.endsWith(':') && lines[at + 1]?.startsWith('  ')
    return keeps
  })
  const usage = kept.join('\n').replaceAll('npm run ops -- ', 'ops ')
  return usage.replace(/ \[--apply --confirm <[^>]+> --reason <text>\]/g, ' [--apply ...]')
}

function secretsText(name: string): string {
  const secrets: readonly string[] = secretsOf[`ops ${name}` as ProcessKind]
  if (secrets === secretsOf['ops doctor']) return 'Secrets: whatever is set.'
  return secrets.length === 0 ? '' : `Secrets: ${secrets.map((secret) => `\`${secret}\``).join(', ')}.`
}

async function commandOf(file: string): Promise<Command<never>> {
  const { command } = (await import(pathToFileURL(file).href)) as { readonly command: Command<never> }
  return command
}

/** `above`: what the reader has seen of the command, which is not repeated. */
async function usageText(file: string, above = ''): Promise<string> {
  const seen = new Set(above.split('\n'))
  const lines = usageOf((await commandOf(file)).help).split('\n')
  return lines.filter((line) => !seen.has(line)).join('\n')
}

const fenced = (text: string): string => `\`\`\`\n${text}\n\`\`\``

const words = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join(' ')

/** A subject's commands stand below it, each with its own name too. */
async function commandsText(): Promise<string> {
  const summaries = new Map(
    matchAll(opsHelp(), /^ {2}(\S+) +(.*)$/gm).map(([, name = '', text = '']) => [name, text]),
  )
  const sections: string[] = []
  for (const [name, file] of listedPrograms()) {
    const purpose = summaries.get(name) ?? ''
    const own = [...opsPrograms()].filter(([, path]) => path.startsWith(file.replace(/[.]js$/, '/')))
    const hasVerbs = (await commandOf(file)).verbs !== undefined
    const usage = hasVerbs ? '' : await usageText(file)
    sections.push(`### ${name}`, words(purpose, hasVerbs ? '' : secretsText(name)))
    if (!hasVerbs) sections.push(fenced(usage))
    for (const [alias, path] of own)
      sections.push(
        !hasVerbs && secretsText(alias) === secretsText(name)
          ? `Also \`${alias}\`, with the same secrets.`
          : words(`Also \`${alias}\`.`, secretsText(alias)),
        fenced(await usageText(path, usage)),
      )
  }
  return sections.join('\n\n')
}

async function metricsText(): Promise<string> {
  const { registry } = createMetrics()
  const families = (await registry.getMetricsAsJSON()).filter(
    ({ name }) => !/^tipping_(process|nodejs)_/.test(name),
  )
  return table(
    ['metric', 'type', 'meaning'],
    families.map(({ name, type, help }) => {
      const { labelNames = [] } = registry.getSingleMetric(name) as {
        readonly labelNames?: readonly string[]
      }
      const labels = labelNames.length === 0 ? '' : `{${labelNames.join(',')}}`
      return [`\`${name}${labels}\``, String(type), help]
    }),
  )
}

function alertsText(): string {
  const rules = readFileSync('scripts/deploy/monitoring/rules.yml', 'utf8')
  const pattern =
    /- alert: (\S+)\n +expr: '.*'\n(?: +for: (\S+)\n)? +labels: \{ severity: (\w+) \}\n +annotations: \{ summary: "(.*?)", runbook_url/g
  const alerts = matchAll(rules, pattern)
  if (alerts.length !== matchAll(rules, /- alert: /g).length)
    throw new Error('rules.yml has a rule that is not read')
  return table(
    ['alert', 'severity', 'after', 'meaning'],
    alerts.map(([, name = '', after = '', severity = '', summary = '']) => [
      `[\`${name}\`](${runbook}#${name})`,
      severity,
      after,
      summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, '`$1`'),
    ]),
  )
}

const text = `# Reference

<!-- Made from .env.example, the code and the rules by scripts/check/reference.ts. Change those, then run: npm run check -- --fix -->

When to use what is in the [runbook](${runbook}); the secrets are in [keys.md](keys.md).

## Settings

Environment variables; an empty value counts as absent. A process with a bad setting does not start, and prints every fault in one
message. After a change restart the processes that read the setting.

${settingsText()}

### Values of GUARDS

Under \`recommended\` the defaults above hold.

${guardsText()}

## Operators' commands

The [runbook](${runbook}) says what \`ops\` stands for, how a command acts and how it exits; \`--help\` explains each in full. All take
\`--json\` (one object, also for errors) and read a \`.env\` in the folder of the clone. Only \`migrate\`, \`backup\`, \`reserves --make\` and
\`outgoing act ask\` act without \`--apply\`. \`...\`: also \`--confirm <the id once more>\`, of several ids how many they are, and
\`--reason <text>\`, which goes into the audit log with \`--as <name>\`. A command needs the secrets named here; one with more than
\`DATABASE_URL\` reads the other required settings too, unless its help says otherwise. To list, \`suspense\`, \`disputes\`, \`refunds\` and
\`reserves\` need only \`DATABASE_URL\`.

${await commandsText()}

## Metrics

Also \`tipping_process_*\` and \`tipping_nodejs_*\`: memory, CPU and event loop of the process. A lag is seen twice a second
and includes the 0.5 s between two samples.

${await metricsText()}

## Alerts

\`page\`: get up now. \`ticket\`: within the day. After: how long the condition holds before the alert fires.

${alertsText()}
`

keepDocument(document, text)
