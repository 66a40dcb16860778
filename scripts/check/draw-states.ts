import { intentStatusOf } from '../../src/fiat/lifecycle.js'
import { isFinal } from '../../src/kernel/state-machine.js'
import { sendStatesOf } from '../../src/outgoing/lifecycle.js'
import { sdkIntentStatuses } from '../../src/sdk/lifecycle.js'
import { keepDocument, table } from './keep-document.js'
import { type AnyMachine, machines } from './state-machines.js'

// Writes docs/states.md from the tables of `lifecycle.ts`. Without --write it only says whether the document is current.

const document = 'docs/states.md'

const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ')

type Listed = (typeof machines)[number]

/** Fewer steps are as clear in their table. */
const fewSteps = 5

function drawing(machine: AnyMachine): string {
  const { states, initial, steps } = machine
  const lines = [
    ...initial.map((state) => `[*] --> ${state}`),
    ...steps.map(({ from, to }) => `${from} --> ${to}`),
    ...states.filter((state) => isFinal(machine, state)).map((state) => `${state} --> [*]`),
  ]
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n')
}

/** The steps that lead to one state for one reason are one row. Without ledger entries there is no column for them. */
function stepsTable({ steps }: AnyMachine): string {
  const reasons = steps.map(({ to, by, entries }) => JSON.stringify([to, by, entries]))
  const columns = steps.some(({ entries }) => entries.length > 0) ? 4 : 3
  const rows = steps.flatMap(({ to, by, entries }, at) => {
    if (reasons.indexOf(reasons[at] ?? '') < at) return []
    const from = steps.filter((_, other) => reasons[other] === reasons[at]).map((step) => step.from)
    return [[code(from), code([to]), by, code(entries)].slice(0, columns)]
  })
  return table(['from', 'to', 'trigger', 'ledger entries'].slice(0, columns), rows)
}

function section({ file, machine }: Listed, at: number): string {
  const whole = machines.slice(0, at).find((earlier) => hasStepsOf(machine, earlier.machine))
  return [
    `## ${capital(machine.subject)}`,
    `\`${machine.table}\`, declared in \`${file}\`.`,
    ...(whole === undefined ? stepsOf(machine, at) : [reference(machine, whole)]),
  ].join('\n\n')
}

/** What is drawn once, for withdrawals, holds for refunds too. */
function stepsOf(machine: AnyMachine, at: number): string[] {
  const graph = drawing(machine)
  const isDrawn = machines.slice(0, at).some((earlier) => drawing(earlier.machine) === graph)
  return [...(isDrawn || machine.steps.length <= fewSteps ? [] : [graph]), stepsTable(machine)]
}

/** Whether every step of a machine is one of another, for the same reason. */
function hasStepsOf(machine: AnyMachine, other: AnyMachine): boolean {
  const steps = new Set(other.steps.map((step) => JSON.stringify(step)))
  return machine.steps.every((step) => steps.has(JSON.stringify(step)))
}

function reference({ initial }: AnyMachine, { machine: { subject } }: Listed): string {
  return `It begins in ${code(initial)}. Its steps from there are those of [${subject}](#${subject.replaceAll(' ', '-')}).`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const text = `# States

<!-- Made from the tables in lifecycle.ts. Change those, then run: npm run check -- --fix -->

Every stored state, its steps with their triggers, and the functions that post the ledger entries in the same transaction. The database
refuses every other step ([0051](decisions/0051-states-are-tables.md)).

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

keepDocument(document, text)
