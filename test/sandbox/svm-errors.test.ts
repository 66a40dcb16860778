import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'
import {
  errorName,
  errorSentence,
  instructionErrorNames,
  transactionErrorNames,
} from '../../scripts/sandbox/chain/svm-errors.js'

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

test('the error tables are litesvm’s own', (t) => {
  t.true(transactionErrorNames.length > 30)
  t.deepEqual(declaredNames('TransactionErrorFieldless'), [...transactionErrorNames])
  t.deepEqual(declaredNames('InstructionErrorFieldless'), [...instructionErrorNames])
})

test('an error the table does not know is still an error', (t) => {
  t.is(errorName(transactionErrorNames, 999), 'Unknown999')
})

test('errors read like a validator’s', (t) => {
  t.is(errorSentence('BlockhashNotFound'), 'Blockhash not found')
  t.is(
    errorSentence({ InstructionError: [2, { Custom: 17 }] }),
    'Error processing Instruction 2: custom program error: 0x11',
  )
  t.is(
    errorSentence({ InstructionError: [0, 'InvalidAccountData'] }),
    'Error processing Instruction 0: InvalidAccountData',
  )
  t.is(
    errorSentence({ InsufficientFundsForRent: { account_index: 1 } }),
    '{"InsufficientFundsForRent":{"account_index":1}}',
  )
})
