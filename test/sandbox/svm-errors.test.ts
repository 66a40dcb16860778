import test from 'ava'
import {
  errorMessage,
  errorName,
  instructionErrorNames,
  transactionErrorNames,
} from '../../scripts/sandbox/chain/vm/svm-errors.js'

test('the numbers of errors are named', (t) => {
  t.is(errorName(transactionErrorNames, 7), 'BlockhashNotFound')
  t.is(errorName(instructionErrorNames, 3), 'InvalidAccountData')
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
