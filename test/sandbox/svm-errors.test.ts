import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'
import {
  errorMessage,
  errorName,
  instructionErrorNames,
  transactionErrorNames,
} from '../../scripts/sandbox/chain/vm/svm-errors.js'

const declarations = readFileSync(
  createRequire(import.meta.url).resolve('litesvm/dist/internal.d.ts'),
  'utf8',
)

function declaredNames(enumName: string): string[] {
  const body = new RegExp(`const enum ${enumName} {([^}]*)}`).exec(declarations)?.[1] ?? ''
  const names: string[] = []
  for (const [, name = '', code] of body.matchAll(/(\w+) = (\d+)/g)) names[Number(code)] = name
  return names
}

test('the error names are the ones that litesvm declares', (t) => {
  t.true(transactionErrorNames.length > 30)
  t.deepEqual(declaredNames('TransactionErrorFieldless'), [...transactionErrorNames])
  t.deepEqual(declaredNames('InstructionErrorFieldless'), [...instructionErrorNames])
})

test('an unknown error number is still an error', (t) => {
  t.is(errorName(transactionErrorNames, 999), 'Unknown999')
})

test('error messages are those of a validator', (t) => {
  t.is(errorMessage('BlockhashNotFound'), 'Blockhash not found')
  t.is(
    errorMessage({ InstructionError: [2, { Custom: 17 }] }),
    'Error processing Instruction 2: custom program error: 0x11',
  )
  t.is(
    errorMessage({ InstructionError: [0, 'InvalidAccountData'] }),
    'Error processing Instruction 0: InvalidAccountData',
  )
  t.is(
    errorMessage({ InsufficientFundsForRent: { account_index: 1 } }),
    '{"InsufficientFundsForRent":{"account_index":1}}',
  )
})
