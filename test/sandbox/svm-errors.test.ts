import test from 'ava'
import {
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
