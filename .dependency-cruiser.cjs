// The floors of the house, lowest first. A file may import its own floor and those below it, never one above.
const floors = [
  'src/kernel', 'src/platform', 'src/ports', 'src/providers', 'src/http', 'src/services',
  'src/mail', 'src/accounts', 'src/creators', 'src/market', 'src/ledger', 'src/events', 'src/intents', 'src/tips', 'src/outgoing', 'src/fiat',
  'src/withdrawals', 'src/treasury', 'src/reserves', 'src/sdk', 'src/overlay', 'src/public-page', 'src/actions', 'src/receipts', 'src/webhooks', 'src/test-mode', 'src/privacy', 'src/manual', 'src/operators',
  'src/pages', 'src/app', 'src/compose', '(src/web|workers)', 'scripts', 'test',
]
const pages = '^src/pages/'
const path = (floor) => `^${floor}(/|[.]ts$)`
const upward = floors.slice(0, -1).map((floor, index) => ({
  name: `floor-${index}-imports-upward`,
  severity: 'error',
  from: { path: path(floor) },
  to: { path: floors.slice(index + 1).map(path) },
}))
module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'every-folder-has-a-floor', severity: 'error', comment: 'A new folder of src/ gets its place in the list above.',
      from: { path: '^src/', pathNot: floors.map(path) }, to: {},
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans', severity: 'error',
      from: { orphan: true, pathNot: ['[.]test[.]ts$', '[.]d[.]ts$', '^(scripts|migrations)/', '^knexfile[.]ts$'] }, to: {},
    },
    {
      name: 'contract-stands-alone', severity: 'error', comment: 'It tests any server from outside.',
      from: { path: '^test/contract/' }, to: { path: '^(src|workers|migrations|scripts|test)/', pathNot: '^test/contract/' },
    },
    {
      name: 'kernel-is-pure', severity: 'error', from: { path: '^src/kernel/' },
      to: { path: 'node_modules/' },
    },
    {
      name: 'adapters-are-composed-only', severity: 'error', comment: 'Features import ports. Only compose.ts imports vendors.',
      from: { pathNot: ['^src/(compose[.]ts|providers/)', '^(test|scripts)/'] },
      to: { path: '^src/providers/' },
    },
    {
      name: 'sandbox-stays-out-of-production', severity: 'error',
      from: { path: '^(src|workers)/' }, to: { path: '^(scripts|test)/' },
    },
    {
      name: 'one-module-sends-money', severity: 'error', comment: 'Whatever else could send a payout could send it twice. `conformance` sends test money, and takes no other key.',
      from: { pathNot: ['^src/withdrawals/send/payout-kind[.]ts$', '^src/compose[.]ts$', '^src/providers/fiatpay/payout-sender[.]ts$', '^scripts/ops/support/conformance/fiatpay[.]ts$', '^scripts/simulate/', '^test/'] },
      to: { path: ['^src/ports/payout-sender[.]ts$', '^src/providers/fiatpay/payout-sender[.]ts$'] },
    },
    {
      name: 'one-worker-and-one-command-refund', severity: 'error', comment: 'The provider does not refuse a refund that is requested twice. `conformance` lists them.',
      from: { pathNot: ['^src/fiat/provider-refunds[.]ts$', '^src/fiat/refunds/(refund-kind|refund-suspense|resolve-refund)[.]ts$', '^scripts/ops/support/outgoing/payments[.]ts$', '^src/compose[.]ts$', '^src/providers/fiatpay/refunds[.]ts$', '^scripts/ops/support/conformance/fiatpay[.]ts$', '^scripts/simulate/', '^test/'] },
      to: { path: ['^src/ports/refunds[.]ts$', '^src/providers/fiatpay/refunds[.]ts$'] },
    },
    {
      name: 'one-engine-sends', severity: 'error', comment: 'The payouts worker, and the command that refunds what is in suspense.',
      from: { pathNot: ['^workers/payouts[.]ts$', '^scripts/ops/support/outgoing/payments[.]ts$', '^scripts/simulate/', '^test/'] }, to: { path: '^src/outgoing/send[.]ts$' },
    },
    {
      name: 'one-module-signs', severity: 'error', comment: "Whatever else unseals creators' keys could move their tokens.",
      from: { pathNot: ['^src/accounts/wallets/', '^src/treasury/custodian/sign-message[.]ts$', '^test/'] },
      to: { path: '^src/accounts/wallets/seal-key[.]ts$' },
    },
    {
      name: 'koa-on-the-http-side', severity: 'error',
      from: { pathNot: ['^src/(http/|app[.]ts|web[.]ts)', '/(routes|auth|stream|embed)[.]ts$', '-routes[.]ts$', '^(test|scripts)/'] },
      to: { path: 'node_modules/(@koa|koa|koa-body|koa-helmet|@types/koa.*)/' },
    },
    {
      name: 'client-stands-alone', severity: 'error', comment: 'It also runs in browsers, without the service.',
      from: { path: '^src/sdk/client/', pathNot: '[.]mjs$' }, to: { pathNot: '^src/sdk/client/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pages-stand-alone', severity: 'error', comment: 'They run in browsers: the typed client, the name and pure values are all they share.',
      from: { path: pages }, to: { path: '^src/', pathNot: [pages, '^src/sdk/client/', '^src/kernel/(brand|base58|languages|money)[.]ts$'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pages-share-no-code-with-the-service', severity: 'error', comment: 'The service serves what was built of them. A run with faults shows alerts as the page does.',
      from: { path: '^(src|workers|scripts)/', pathNot: [pages, '^scripts/kit/overlay-page[.]ts$'] }, to: { path: pages },
    },
    {
      name: 'bullmq-in-one-place', severity: 'error',
      from: { pathNot: ['^src/platform/', '^(test|scripts)/'] }, to: { path: 'node_modules/(bullmq|ioredis)/' },
    },
    {
      name: 'objection-in-the-models', severity: 'error',
      from: { pathNot: ['^src/[^/]+/models[.]ts$', '^src/platform/database/base-model[.]ts$'] },
      to: { path: 'node_modules/objection/' },
    },
    {
      name: 'solana-in-the-chain-adapters', severity: 'error',
      from: { pathNot: ['^src/providers/(solana|swaps|aggregator-v6|aggregator-ultra|sns)/', '^src/pages/lib/wallets[.]ts$', '^(test|scripts)/'] },
      to: { path: 'node_modules/@solana/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
