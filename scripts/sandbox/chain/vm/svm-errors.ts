import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** A transaction's error as Solana's JSON-RPC writes it: a name, or an object such as `{InstructionError: [0, {Custom: 1}]}`. */
export type TransactionError = string | { readonly [kind: string]: unknown }

const declarations = readFileSync(
  createRequire(import.meta.url).resolve('litesvm/dist/internal.d.ts'),
  'utf8',
)

/**
 * The names of litesvm's numbered errors, in order. litesvm declares them as `const enum`, which is an empty object at run
 * time: reading a name there gives `undefined`, which would look like success. So they are read from its declarations.
 */
function declaredNames(enumName: string): readonly string[] {
  const body = new RegExp(`const enum ${enumName} {([^}]*)}`).exec(declarations)?.[1] ?? ''
  const names: string[] = []
  for (const [, name = '', code] of body.matchAll(/(\w+) = (\d+)/g)) names[Number(code)] = name
  return names
}

export const transactionErrorNames = declaredNames('TransactionErrorFieldless')
export const instructionErrorNames = declaredNames('InstructionErrorFieldless')

/** The name of a numbered error. An unknown number is still an error. */
export function errorName(names: readonly string[], code: number): string {
  return names[code] ?? `Unknown${code}`
}

const messages = new Map([
  ['BlockhashNotFound', 'Blockhash not found'],
  ['AlreadyProcessed', 'This transaction has already been processed'],
  ['AccountNotFound', 'Attempt to debit an account but found no record of a prior credit.'],
])

/** The text that a validator writes after "Transaction simulation failed: ". */
export function errorMessage(error: TransactionError): string {
  if (typeof error === 'string') return messages.get(error) ?? error
  const instruction = error['InstructionError']
  if (!Array.isArray(instruction)) return JSON.stringify(error)
  const [index, cause] = instruction
  const custom = (cause as { Custom?: number }).Custom
  const text = custom === undefined ? String(cause) : `custom program error: 0x${custom.toString(16)}`
  return `Error processing Instruction ${index}: ${text}`
}
