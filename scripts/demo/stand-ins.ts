/** What the demo pays with, and where it must point to. */
const needed = {
  SOLANA_RPC_URLS: 'tips with money of its own chain and pays a sweep there',
  FIATPAY_URL: 'pays and withdraws at the bank stand-in',
} as const

/**
 * Throws, before anything is sent, unless the stack uses the stand-ins at `sandbox` for all that costs money. The settings are
 * those that the stack has written, so this also finds the settings of another stack.
 */
export async function requireStandIns(sandbox: string): Promise<void> {
  const { port } = new URL(sandbox)
  const stack = `the stack of DATA_DIR=${process.env['DATA_DIR'] || '.data'}`
  const faults =
    process.env['FIATPAY_URL'] === undefined
      ? [`no settings of ${stack}: is npm run dev running with this DATA_DIR?`]
      : Object.entries(needed)
          .filter(([name]) => !isLocal(process.env[name] ?? '', port))
          .map(([name, why]) => `the demo ${why}, and ${name} of ${stack} is not ${sandbox}`)
  if (!(await answers(sandbox))) faults.push(`no stand-ins answer at ${sandbox} (SANDBOX_PORT)`)
  if (faults.length === 0) return
  throw new Error(
    [
      'this is not a stack that the demo can use, and nothing was sent to it:',
      ...faults,
      'It needs npm run dev without SOLANA_RPC_URLS and FIATPAY_URL, and the PORT, SANDBOX_PORT and DATA_DIR of that stack.',
    ].join('\n  '),
  )
}

function isLocal(url: string, port: string): boolean {
  const found = URL.canParse(url) ? new URL(url) : undefined
  return found?.port === port && ['127.0.0.1', 'localhost'].includes(found.hostname)
}

async function answers(sandbox: string): Promise<boolean> {
  return fetch(`${sandbox}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}
