import { readFileSync, writeFileSync } from 'node:fs'
import { intentStatusOf } from '../../src/fiat/lifecycle.js'
import { isFinal } from '../../src/kernel/state-machine.js'
import { sdkIntentStatuses } from '../../src/sdk/lifecycle.js'
import { sendStatesOf } from '../../src/withdrawals/lifecycle.js'
import { type AnyMachine, machines } from './state-machines.js'

// Writes docs/states.md from the tables of `lifecycle.ts`. Without --write it only says whether the document is current.

const document = 'docs/states.md'

const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ')

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.join('\n').replace(/^\| --- .*$/m, `|${head.map(() => '---|').join('')}`)
}

function drawing(machine: AnyMachine): string {
  const { states, initial, steps } = machine
  const lines = [
    ...initial.map((state) => `[*] --> ${state}`),
    ...steps.map(({ from, to }) => `${from} --> ${to}`),
    ...states.filter((state) => isFinal(machine, state)).map((state) => `${state} --> [*]`),
  ]
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n')
}

function section({ file, machine }: (typeof machines)[number]): string {
  const steps = machine.steps.map(({ from, to, by, entries }) => [
    code([from]),
    code([to]),
    by,
    code(entries),
  ])
  return [
    `## ${capital(machine.subject)}`,
    `\`${machine.table}\`, declared in \`${file}\`.`,
    drawing(machine),
    table(['from', 'to', 'what triggers it', 'ledger entries'], steps),
  ].join('\n\n')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const text = `# States

<!-- Made from the tables in lifecycle.ts. Change those, then run: npm run check -- --fix -->

Every state that is stored, the steps between them, what triggers each, and the functions that post its ledger entries in the same
transaction. The database refuses every other step. ([0051](decisions/0051-states-are-tables.md))

${machines.map(section).join('\n\n')}

## Which send states a status may have

${table(
  ['status', 'send states'],
  Object.entries(sendStatesOf).map(([status, states]) => [code([status]), code(states)]),
)}

## Computed, not stored

A fiat intent has the status of its tip, under the API's names (\`src/fiat/lifecycle.ts\`):

${table(
  ['tip', 'fiat intent'],
  Object.entries(intentStatusOf).map(([tip, intent]) => [code([tip]), code([intent])]),
)}

A payment intent has ${code(sdkIntentStatuses)}. \`sdkIntentStatus\` of \`src/sdk/lifecycle.ts\` computes it from the tip
that pays or claims it, and from the time.
`

if (process.argv.includes('--write')) writeFileSync(document, text)
else if (readFileSync(document, 'utf8') !== text) {
  process.stderr.write(`${document} is not current. Run: npm run check -- --fix\n`)
  process.exitCode = 1
}
