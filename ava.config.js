/**
 * Long files that are late in the alphabet. They start first, so that none of them runs alone at the end. Those that start many processes
 * stay apart in the middle.
 */
const first = [
  'treasury/take-outs',
  'withdrawals/request/withdraw',
  'withdrawals/review/operator-actions',
  'world/credentials',
  'browser/crypto-states',
  'browser/flows',
  'browser/naira-states',
  'browser/overlay',
  'browser/safety',
]

function rank(file) {
  const at = first.findIndex((name) => file.endsWith(`/test/${name}.test.js`))
  return at < 0 ? first.length : at
}

export default {
  files: ['dist/test/**/*.test.js', 'dist/bundled/test/**/*.test.js'],
  timeout: '180s',
  concurrency: 4,
  sortTestFiles: (one, other) => rank(one) - rank(other) || one.localeCompare(other),
}
